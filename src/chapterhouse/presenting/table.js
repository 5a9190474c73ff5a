"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const text = (row, column) => row.cells[column].textContent.trim();
  const order = new Intl.Collator(undefined, { numeric: true });
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = rows.slice().sort((a, b) => order.compare(text(a, column), text(b, column)));
      body.append(...(down ? sorted.reverse() : sorted));
    });
    head.replaceChildren(button);
  });
  if (rows.length < 8) continue; // which are seen at a glance
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "Show rows with …";
  search.setAttribute("aria-label", "Show rows with these words");
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const own = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => own.includes(word));
    }
  });
  table.parentElement.before(search);
}
