// Before anything is shown: a page that changes its colours after a moment hurts the eyes.
document.documentElement.classList.add("js");
try {
  const chosen = localStorage.getItem("report-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A page from disk may be refused a memory; it then follows the system.
}
