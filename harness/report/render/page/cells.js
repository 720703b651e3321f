"use strict";
// How a person reads one value of a table: the same rules as render/cells.py, so that no text changes when rows move.
const told = JSON.parse(document.getElementById("told").textContent);
const say = (key, values = {}) =>
  told.words[key].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

const grouped = (digits) => digits.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

// As Python rounds: what lies exactly between two goes to the even one. Only such numbers are odd times 2^-(digits+1).
const rounded = (number, digits) => {
  const doubled = Math.abs(number) * 2 ** (digits + 1);
  if (!Number.isInteger(doubled) || doubled % 2 === 0) return number.toFixed(digits);
  const below = Math.floor(Math.abs(number) * 10 ** digits);
  const even = below % 2 === 0 ? below : below + 1;
  return (number < 0 ? "-" : "") + (even / 10 ** digits).toFixed(digits);
};

const shown = (cell, digits) => {
  if (cell === true) return say("page.cell.yes");
  if (cell === false) return say("page.cell.no");
  if (cell === null) return "–";
  if (typeof cell === "string") return cell;
  if (digits === null) digits = Number.isInteger(cell) ? 0 : 3;
  const least = 10 ** -digits;
  return cell > 0 && cell < least / 2 ? `<${least.toFixed(digits)}` : grouped(rounded(cell, digits));
};

const count = (number) => grouped(String(number));

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const symbol = (level) => {
  const space = "http://www.w3.org/2000/svg";
  const made = document.createElementNS(space, "svg");
  made.setAttribute("class", "symbol");
  made.setAttribute("aria-hidden", "true");
  made.setAttribute("viewBox", "0 0 16 16");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#symbol-${level}`);
  made.append(use);
  return made;
};
