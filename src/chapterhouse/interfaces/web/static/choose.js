// Documents that were chosen stay so while others are looked for, until something is done with them
// or their reader signs out.
const KEY = `chosen ${document.body.dataset.workspace} ${document.body.dataset.csrf.slice(0, 16)}`;
const chosen = new Map(JSON.parse(sessionStorage.getItem(KEY) ?? "[]")); // rows by their documents

function keep(box) {
  if (box.checked) chosen.set(box.value, box.closest("li").outerHTML);
  else chosen.delete(box.value);
  sessionStorage.setItem(KEY, JSON.stringify([...chosen]));
}

function show() {
  const rows = document.querySelector(".rows");
  for (const one of document.querySelectorAll("[data-kept]")) one.remove();
  for (const [id, row] of chosen) {
    const box = () => rows?.querySelector(`input[value=${CSS.escape(id)}]`);
    if (!box()) rows?.insertAdjacentHTML("afterbegin", row.replace("<li", "<li data-kept"));
    if (box()) box().checked = true;
  }
}

document.addEventListener("change", ({ target }) => {
  if (target.matches(".rows input")) keep(target);
});
document.addEventListener("click", ({ target }) => {
  for (const box of target.closest("[data-chooses]")?.form.querySelectorAll(".rows input") ?? []) {
    box.checked = true;
    keep(box);
  }
});
document.addEventListener("submit", ({ target }) => {
  if (target.id === "listed") sessionStorage.removeItem(KEY);
});
document.addEventListener("htmx:after:swap", show);
show();
