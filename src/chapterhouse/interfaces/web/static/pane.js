// The source beside what is read: opened by a citation, closed by Escape, never scrolling the page.
const pane = document.getElementById("pane");
let opener = null;

const close = () => {
  if (window.history.state?.pane) window.history.back(); // which comes back to this
  else clear();
};

const clear = () => {
  pane.replaceChildren();
  document.body.classList.remove("has-pane");
  opener?.focus({ preventScroll: true });
  opener = null;
};

document.addEventListener("htmx:before:request", (event) => {
  const source = event.detail?.ctx?.sourceElement;
  if (source?.getAttribute("hx-target") === "#pane" && !pane.contains(source)) opener = source;
});

document.addEventListener("htmx:after:swap", (event) => {
  if (!pane.childElementCount) return;
  document.body.classList.add("has-pane");
  if (!window.history.state?.pane) window.history.pushState({ pane: true }, "");
  const swapped = event.detail?.ctx?.target;
  if (swapped !== pane) return;
  const mark = pane.querySelector("mark, .rectangle");
  if (mark) {
    const place = mark.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    pane.scrollTop += place - pane.clientHeight / 3;
  } else pane.scrollTop = 0;
  pane.focus({ preventScroll: true });
});

window.addEventListener("popstate", () => {
  if (pane.childElementCount) clear();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-closes]")) {
    event.preventDefault();
    close();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && pane.childElementCount) close();
});
