// A meeting as it goes on: what the server made is put where it says. Nothing scrolls the reader.
const meeting = document.querySelector("[data-events]");

function put(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  for (const part of [...made.content.children]) {
    const { fills, into } = part.dataset;
    const own = part.id && document.getElementById(part.id);
    if (fills) document.getElementById(fills)?.replaceChildren(part);
    else if (own) own.replaceWith(part);
    else document.getElementById(into)?.append(part);
    htmx.process(part);
  }
}

if (meeting) {
  const source = new EventSource(meeting.dataset.events);
  source.addEventListener("show", (event) => put(JSON.parse(event.data)));
  source.addEventListener("end", (event) => {
    source.close();
    put(JSON.parse(event.data));
  });
}

// A cell of a table opens its first source wherever it is clicked.
document.addEventListener("click", (event) => {
  const cell = event.target.closest(".minutes td");
  if (!cell || event.target.closest("a, summary") || !window.getSelection().isCollapsed) return;
  cell.querySelector(".cited a")?.click();
});
