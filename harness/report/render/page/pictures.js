// Pictures that answer the mouse. Each is drawn when it comes into view; until then, and on paper, the still one stands.
const WIDE_MAX = 900;
const NARROW = 520;

// Without a width the page chooses it; with one, a picture that is too wide is drawn for the room there is.
const fitted = (spec, still, room) => {
  const single = !["hconcat", "vconcat", "concat", "facet", "repeat"].some((key) => key in spec)
    && !["row", "column", "facet"].some((key) => key in (spec.encoding || {}));
  const chosen = typeof spec.width === "number" || spec.width === undefined;
  if (!single || !chosen) return spec;
  const natural = still.viewBox.baseVal.width;
  const height = spec.height === undefined && !hasRows(spec) ? { height: 260 } : {};
  if (natural <= room && spec.width !== undefined) return { ...height, ...spec };
  const width = Math.max(240, spec.width === undefined ? Math.min(room, WIDE_MAX) : room);
  return { ...height, ...spec, width: Math.floor(width), autosize: { type: "fit-x", contains: "padding" } };
};

const hasRows = (spec) => ["nominal", "ordinal"].includes(spec.encoding?.y?.type) || (spec.layer || []).some(hasRows);

const themeFor = (room) => {
  const theme = structuredClone(told.theme);
  theme.background = "transparent";
  theme.font = getComputedStyle(document.body).fontFamily;
  if (room < NARROW) {
    theme.legend.columns = 2;
    theme.axisXDiscrete.labelAngle = -40;
  }
  return theme;
};

// One name and one sentence for the whole, as the still picture has them, instead of a name for each mark.
const nameLike = (still, drawn) => {
  for (const part of [drawn, ...drawn.querySelectorAll("*")]) {
    for (const { name } of [...part.attributes]) {
      if (name === "role" || name.startsWith("aria-")) part.removeAttribute(name);
    }
  }
  for (const name of ["role", "aria-labelledby", "aria-describedby"]) {
    if (still.hasAttribute(name)) drawn.setAttribute(name, still.getAttribute(name));
  }
};

const FORMATS = ["svg", "png"];
const save = async (plot, format) => {
  const { view } = plot.view;
  // For a document that is white, whatever this page looks like.
  await view.background("white").runAsync();
  const address = await view.toImageURL(format, format === "png" ? 2 : 1);
  await view.background("transparent").runAsync();
  const name = plot.closest("figure").id.replace(/^picture-/, "");
  element("a", { href: address, download: `${name}.${format}` }).click();
};

const offerToSave = (plot) => {
  const heading = plot.closest("figure").querySelector(".heading");
  if (heading.querySelector(".saves")) return;
  const saves = element("div", { class: "saves" });
  for (const format of FORMATS) {
    const told = say(`page.picture.${format}`);
    const button = element("button", { type: "button", class: "quiet", "aria-label": told, title: told }, format.toUpperCase());
    button.addEventListener("click", () => save(plot, format));
    saves.append(button);
  }
  heading.append(saves);
};

const draw = async (plot) => {
  const room = plot.clientWidth;
  if (!room || plot.room === room) return;
  const still = plot.querySelector(".still");
  const drawn = plot.querySelector(".drawn") || element("div", { class: "drawn" });
  plot.room = room;
  plot.append(drawn);
  try {
    plot.view?.finalize();
    const spec = JSON.parse(plot.querySelector("script").textContent);
    plot.view = await vegaEmbed(drawn, fitted(spec, still.querySelector("svg"), room), {
      // Expressions are read, not compiled: the page's policy forbids making programs out of text.
      ast: true,
      mode: "vega-lite",
      renderer: "svg",
      config: themeFor(room),
      tooltip: { theme: "report", id: "vg-tooltip-element" },
      actions: false,
    });
    nameLike(still, drawn.querySelector("svg.marks"));
    plot.classList.add("live");
    offerToSave(plot);
    if (plot.scrollWidth > plot.clientWidth) plot.tabIndex = 0;
  } catch (problem) {
    // The still picture says the same.
    drawn.remove();
    plot.classList.remove("live");
    console.error(problem);
  }
};

const watchPictures = () => {
  if (typeof vegaEmbed === "undefined") return;
  const watched = new IntersectionObserver((seen) => {
    for (const entry of seen) if (entry.isIntersecting) draw(entry.target);
  }, { rootMargin: "400px" });
  let waiting;
  const resized = new ResizeObserver((changed) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const { target } of changed) if (target.classList.contains("live")) draw(target);
    }, 200);
  });
  for (const plot of document.querySelectorAll(".plot")) {
    watched.observe(plot);
    resized.observe(plot);
  }
};
