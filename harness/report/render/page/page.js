// What holds the page together: colours, contents, copying, and folds on paper.
const themeButton = document.getElementById("theme");
const isDark = () =>
  (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const tellTheme = () => themeButton.setAttribute("aria-pressed", String(isDark()));
themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("report-theme", document.documentElement.dataset.theme);
  } catch {
    // Without a memory the choice lasts as long as the page.
  }
  tellTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellTheme);
themeButton.hidden = false;
tellTheme();

const contents = document.querySelector(".contents");
if (contents) {
  const wide = matchMedia("(min-width: 68rem)");
  const unfold = () => { contents.open = wide.matches; };
  unfold();
  wide.addEventListener("change", unfold);
  const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const inView = new Set();
  const watched = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) inView[isIntersecting ? "add" : "delete"](target.id);
    const current = [...links.keys()].find((name) => inView.has(name));
    for (const [name, link] of links) {
      if (name === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-10% 0px -60% 0px" });
  for (const section of document.querySelectorAll("main > section")) watched.observe(section);
}

for (const figure of document.querySelectorAll(".code")) {
  const button = element("button", { type: "button", class: "quiet copy" }, say("page.copy"));
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = say("page.copied");
    setTimeout(() => { button.textContent = say("page.copy"); }, 1500);
  });
  if (navigator.clipboard) figure.append(button);
}

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const fold of opened) fold.open = true;
});
addEventListener("afterprint", () => {
  for (const fold of opened) fold.open = false;
});

for (const block of document.querySelectorAll(".table")) {
  if (block.querySelector(":scope > script")) bringAlive(block);
}
watchPictures();
