// Tables that can be sorted, searched and narrowed. Only the rows that are seen become elements.
const SEARCHED_FROM_ROWS = 9;
const CHOICES_MAX = 1000;
const HELPING = 300;
const TEXT_SHORT_WIDTH = 40;
const isLong = (text) => text.length + (text.match(/[\u2e80-\uffff]/g) || []).length > TEXT_SHORT_WIDTH;
const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });

const compared = (one, other) => {
  if (one === null || other === null) return (one === null) - (other === null);
  if (typeof one === "string" && typeof other === "string") return collator.compare(one, other);
  if (typeof one === "string" || typeof other === "string") return typeof one === "string" ? 1 : -1;
  return one - other;
};

const cellOf = (data, row, place, mark) => {
  const value = row[place];
  const text = shown(value, data.digits[place]);
  const made = document.createElement("td");
  if (data.numbers[place]) made.className = "number";
  else if (isLong(text)) made.className = "long";
  if (mark) made.append(symbol(mark), element("span", { class: "unseen" }, `${data.levels[mark]} `));
  if (value === null) made.append(element("span", { class: "none", title: say("page.cell.none") }, text));
  else made.append(text);
  return made;
};

const rowOf = (data, number) => {
  const made = document.createElement("tr");
  const mark = data.marks[number];
  if (mark) made.className = mark;
  const row = data.rows[number];
  for (let place = 0; place < row.length; place += 1) made.append(cellOf(data, row, place, place === 0 && mark));
  return made;
};

const matches = (data, state) => {
  const sought = state.text.trim().toLowerCase();
  const picked = [...state.picked];
  const found = [];
  for (let number = 0; number < data.rows.length; number += 1) {
    const row = data.rows[number];
    if (!picked.every(([place, text]) => shown(row[place], data.digits[place]) === text)) continue;
    if (sought) {
      data.texts[number] ??= row.map((cell, place) => shown(cell, data.digits[place])).join("\n").toLowerCase();
      if (!data.texts[number].includes(sought)) continue;
    }
    found.push(number);
  }
  if (state.order) {
    const { place, down } = state.order;
    found.sort((one, other) => {
      const [first, second] = [data.rows[one][place], data.rows[other][place]];
      if (first === null || second === null) return compared(first, second) || one - other;
      return (down ? compared(second, first) : compared(first, second)) || one - other;
    });
  }
  return found;
};

// Of many rows those become elements that somebody scrolls to: ten thousand at once would stop the page.
const addRows = (body, data, state) => {
  const part = document.createDocumentFragment();
  for (const number of state.visible.slice(state.made, state.made + HELPING)) part.append(rowOf(data, number));
  state.made += HELPING;
  body.append(part);
};

const fill = (scroll, body, data, state) => {
  state.made = 0;
  body.replaceChildren();
  addRows(body, data, state);
  scroll.scrollTop = 0;
};

const addWhenScrolled = (scroll, body, data, state) => {
  scroll.addEventListener("scroll", () => {
    const near = scroll.scrollTop + 2 * scroll.clientHeight > scroll.scrollHeight;
    if (near && state.made < state.visible.length) addRows(body, data, state);
  }, { passive: true });
};

const choices = (data, place) => {
  const seen = new Set(data.rows.map((row) => shown(row[place], data.digits[place])));
  return [...seen].sort(collator.compare);
};

const toolsOf = (data, state, changed) => {
  const tools = element("div", { class: "tools" });
  const find = element("input", {
    type: "search", placeholder: say("page.table.find"), "aria-label": say("page.table.find"),
  });
  let waiting;
  find.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { state.text = find.value; changed(); }, 120);
  });
  tools.append(find);
  for (const place of data.filters) {
    const texts = choices(data, place);
    if (texts.length < 2 || texts.length > CHOICES_MAX) continue;
    const all = say("page.table.any", { column: data.titles[place] });
    const choice = element("select", { "aria-label": data.titles[place] }, new Option(all, ""));
    for (const [position, text] of texts.entries()) choice.append(new Option(text, String(position)));
    choice.addEventListener("change", () => {
      if (choice.value === "") state.picked.delete(place);
      else state.picked.set(place, texts[Number(choice.value)]);
      changed();
    });
    tools.append(choice);
  }
  return tools;
};

const makeSortable = (heads, state, changed) => {
  for (const [place, head] of heads.entries()) {
    // No real button: on paper, Chromium leaves those out where a heading is repeated on the next sheet.
    const button = element("span", { role: "button", tabindex: "0", class: "sort", title: say("page.table.sort") });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("keydown", (pressed) => {
      if (pressed.key !== "Enter" && pressed.key !== " ") return;
      pressed.preventDefault();
      button.click();
    });
    button.addEventListener("click", () => {
      const down = state.order?.place === place ? !state.order.down : false;
      // The third click gives the order of the report back.
      state.order = state.order?.place === place && state.order.down ? null : { place, down };
      for (const other of heads) other.removeAttribute("aria-sort");
      if (state.order) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      changed();
    });
  }
};

const bringAlive = (block) => {
  const data = JSON.parse(block.querySelector(":scope > script").textContent);
  data.texts = [];
  data.levels = told.levels;
  const total = data.rows.length;
  const state = { text: "", picked: new Map(), order: null, all: false, visible: [], made: 0 };
  const scroll = block.querySelector(".scroll");
  const body = scroll.querySelector("tbody");
  const number = element("output", { "aria-live": "polite" });
  const more = element("button", { type: "button", class: "quiet" });
  const under = element("p", { class: "more" }, more);
  const nothing = element("p", { class: "nothing" }, say("page.table.nothing"));

  const tellCounts = (matching, visible) => {
    const narrowed = matching !== total;
    const key = narrowed ? "page.table.matching" : visible < total ? "page.table.part" : "page.table.rows";
    number.textContent = say(key, { shown: count(visible), matching: count(matching), total: count(total) });
    under.hidden = matching <= data.shown;
    more.textContent = state.all
      ? say("page.table.fewer", { shown: count(data.shown) })
      : say("page.table.all", { matching: count(matching) });
    nothing.hidden = matching !== 0;
  };
  const changed = () => {
    const found = matches(data, state);
    state.visible = state.all ? found : found.slice(0, data.shown);
    scroll.classList.toggle("tall", state.all);
    fill(scroll, body, data, state);
    tellCounts(found.length, state.visible.length);
  };
  more.addEventListener("click", () => {
    state.all = !state.all;
    changed();
    if (!state.all) block.scrollIntoView({ block: "start" });
  });

  addWhenScrolled(scroll, body, data, state);
  makeSortable([...scroll.querySelectorAll("th")], state, changed);
  if (total >= SEARCHED_FROM_ROWS || total > data.shown) {
    const tools = toolsOf(data, state, changed);
    tools.append(number);
    scroll.before(tools);
    scroll.after(nothing, under);
    scroll.classList.remove("tall");
    for (const row of [...body.rows].slice(data.shown)) row.remove();
    tellCounts(total, Math.min(data.shown, total));
  }
};
