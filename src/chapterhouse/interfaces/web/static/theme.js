// Light, dark, or as the system: said before the page is painted, so that nothing flashes.
const themes = ["", "light", "dark"];
const chosen = () => localStorage.getItem("theme") ?? "";
const apply = () => { document.documentElement.dataset.theme = chosen(); };
apply();
document.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector("[data-theme-toggle]");
  if (!button) return;
  const name = () => { button.textContent = `Theme: ${chosen() || "system"}`; };
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    localStorage.setItem("theme", themes[(themes.indexOf(chosen()) + 1) % themes.length]);
    apply();
    name();
  });
});
