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
  if (isSheet()) opener?.closest("figure, blockquote, p, li, td")?.scrollIntoView({ block: "nearest" });
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

// On a telephone it is a sheet over the lower half, which is closed by pulling its head down.
const isSheet = () => getComputedStyle(pane).position === "fixed";
let pulledFrom = null;

pane.addEventListener("pointerdown", ({ target, clientY }) => {
  if (isSheet() && target.closest(".pane-head") && !target.closest("a, button")) pulledFrom = clientY;
});
document.addEventListener("pointermove", ({ clientY }) => {
  if (pulledFrom !== null) pane.style.translate = `0 ${Math.max(0, clientY - pulledFrom)}px`;
});
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, ({ type, clientY }) => {
    if (pulledFrom !== null && type === "pointerup" && clientY - pulledFrom > 60) close();
    pulledFrom = null;
    pane.style.translate = "";
  });
}

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

// Keys for what is done often, and what a form does by itself where there is a script.
const typing = (element) => element.closest("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const field = document.querySelector("#question, main input[type=search]");
  if (event.key === "/" && field) {
    event.preventDefault();
    field.focus();
  }
  if ((event.key === "n" || event.key === "p") && document.querySelector(".answer")) {
    const links = [...document.querySelectorAll(".answer .cited a")];
    const place = links.indexOf(document.activeElement);
    const next = links[place < 0 ? 0 : place + (event.key === "n" ? 1 : -1)];
    next?.closest("details")?.setAttribute("open", "");
    next?.focus();
    next?.click();
  }
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
});

// Behind the empty row of a form there is another one as soon as it is written in.
document.addEventListener("input", ({ target }) => {
  const row = target.closest("[data-grows]");
  if (!row) return;
  const next = row.cloneNode(true);
  for (const one of next.querySelectorAll("[name]")) {
    one.name = one.name.replace(/\d+/, (number) => Number(number) + 1);
    if (one.type === "checkbox") one.checked = false;
    else if (one.type !== "hidden") one.value = "";
  }
  row.after(next);
  row.removeAttribute("data-grows");
});

document.addEventListener("submit", (event) => {
  const asked = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
  if (asked && !window.confirm(asked)) event.preventDefault();
  else if (event.target.action.endsWith("/logout")) sessionStorage.clear(); // what was asked
}, true);

document.addEventListener("click", async ({ target }) => {
  const copied = document.getElementById(target.dataset.copiesText);
  if (!copied) return;
  await navigator.clipboard.writeText(copied.textContent);
  target.textContent = "Copied";
});

// A cell of a table opens its first source wherever it is clicked.
document.addEventListener("click", (event) => {
  const cell = event.target.closest(".minutes td");
  if (!cell || event.target.closest("a, summary") || !window.getSelection().isCollapsed) return;
  cell.querySelector(".cited a")?.click();
});

// Times as its reader has them.
const clock = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "short" });
const tellTimes = () => {
  for (const one of document.querySelectorAll("main time")) one.textContent = clock.format(new Date(one.dateTime));
};
tellTimes();
document.addEventListener("htmx:after:swap", tellTimes);
