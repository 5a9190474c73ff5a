// Documents that were chosen stay so, above the others, while others are looked for.
let chosen = [];

document.addEventListener("htmx:before:swap", () => {
  chosen = [...document.querySelectorAll(".rows li:has(:checked)")];
});
document.addEventListener("htmx:after:swap", () => {
  const rows = document.querySelector(".rows");
  for (const row of chosen.filter((one) => !one.isConnected)) {
    rows?.querySelector(`li:has([value="${CSS.escape(row.querySelector("input").value)}"])`)?.remove();
    rows?.prepend(row);
  }
});
document.addEventListener("click", ({ target }) => {
  for (const box of target.closest("[data-chooses]")?.form.querySelectorAll(".rows input") ?? []) box.checked = true;
});
