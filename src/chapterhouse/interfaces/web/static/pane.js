// The source beside what is read: opened by a citation, closed by Escape, never scrolling the page.
const pane = document.getElementById("pane");
let opener = null;

const show = (link) => { // which of the citations is open
  opener?.removeAttribute("aria-current");
  opener = link;
  opener?.setAttribute("aria-current", "true");
};

const close = () => {
  if (window.history.state?.pane) window.history.back(); // which comes back to this
  else clear();
};

const clear = () => {
  pane.replaceChildren();
  document.documentElement.classList.remove("has-pane");
  opener?.focus({ preventScroll: true });
  show(null);
};

document.addEventListener("htmx:before:request", (event) => {
  const source = event.detail?.ctx?.sourceElement;
  if (source?.getAttribute("hx-target") === "#pane" && !pane.contains(source)) show(source);
});

const toMark = () => {
  const mark = pane.querySelector("mark, .rectangle");
  const place = mark && mark.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  pane.scrollTop = mark ? pane.scrollTop + place - pane.clientHeight / 3 : 0;
};

document.addEventListener("htmx:after:swap", (event) => {
  if (!pane.childElementCount) return;
  document.documentElement.classList.add("has-pane");
  if (!window.history.state?.pane) window.history.pushState({ pane: true }, "");
  const swapped = event.detail?.ctx?.target;
  if (swapped !== pane) return;
  toMark();
  const image = pane.querySelector(".page-image img");
  image?.addEventListener("load", () => {
    toMark();
    if (image.dataset.next) new Image().src = image.dataset.next; // while this one is read
  }, { once: true });
  pane.focus({ preventScroll: true });
});

window.addEventListener("popstate", () => {
  if (pane.childElementCount) clear();
});

document.addEventListener("submit", (event) => {
  if (event.target.id !== "ask" || !pane.childElementCount) return;
  show(null); // the next question is what is looked at
  close();
}, true);

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-closes]")) {
    event.preventDefault();
    close();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && pane.childElementCount) close();
});
