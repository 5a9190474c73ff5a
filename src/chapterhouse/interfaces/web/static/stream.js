// An answer as it comes. What is being read never moves: text is added below, and nothing scrolls
// unless the reader was at the end.
const form = document.getElementById("ask");
const turns = document.getElementById("turns");
const toEnd = document.querySelector("[data-to-end]");
const only = document.getElementById("only"); // documents that alone are asked
let running = null;

const atEnd = () => window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 80;
const stay = () => { toEnd.hidden = atEnd(); };

async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const name = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (name) yield [name, JSON.parse(data)];
    }
  }
}

function say(article, text) {
  const outcome = article.querySelector("[data-progress]");
  if (outcome) outcome.textContent = text;
}

function finish(article, html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  const turn = made.content.querySelector(".turn");
  article.replaceWith(turn);
  form.elements.before.value = turn.dataset.before;
  htmx.process(turn);
  remember();
  document.getElementById("question").placeholder = "Ask on, or something else";
}

// What was asked in this tab comes back with it, until its reader signs out.
const KEY = document.body.dataset.reader;
const remember = () => sessionStorage.setItem(KEY, JSON.stringify({ turns: turns.innerHTML, before: form.elements.before.value, who: form.elements.who?.value, only: only.innerHTML }));
const beginAnew = () => { sessionStorage.removeItem(KEY); form.elements.before.value = ""; };
const named = new URLSearchParams(window.location.search);
const isNamed = named.has("who") || named.has("document"); // who is asked: another conversation

function recall() {
  if (isNamed && !turns.querySelector(".turn")) beginAnew();
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  if (!stored || turns.querySelector(".turn") || form.elements.question.value) return;
  turns.innerHTML = stored.turns;
  form.elements.before.value = stored.before;
  if (stored.who && form.elements.who) form.elements.who.value = stored.who;
  only.innerHTML = stored.only ?? "";
  htmx.process(turns);
  form.querySelector("[data-begins-anew]").hidden = false;
}

async function ask() {
  const data = new URLSearchParams(new FormData(form));
  const question = form.elements.question.value.trim();
  form.elements.question.setCustomValidity(question ? "" : "Write a question.");
  if (!form.reportValidity()) return;
  if (isNamed) window.history.replaceState(null, "", "/"); // where the conversation comes back
  running?.abort();
  running = new AbortController();
  document.querySelector(".hello")?.remove();
  form.querySelector("[data-begins-anew]").hidden = false;
  const article = document.getElementById("asked").content.firstElementChild.cloneNode(true);
  article.querySelector(".question").textContent = question;
  turns.append(article);
  article.scrollIntoView({ block: "start", behavior: "instant" });
  form.elements.question.value = "";
  const stop = form.querySelector("[data-stops]");
  stop.hidden = false;
  try {
    const response = await fetch(form.action, {
      method: "POST", body: data, signal: running.signal, headers: { Accept: "text/event-stream" },
    });
    if (!response.ok || !response.body) throw new Error((await response.json()).detail);
    for await (const [name, value] of events(response)) {
      if (name === "reading") say(article, value);
      if (name === "draft") {
        article.querySelector(".answer").innerHTML = value;
        say(article, "writing");
      }
      if (name === "answer") finish(article, value);
      if (name === "go") window.location.assign(value);
      if (name === "error" || name === "stopped") throw new Error(value.detail);
      stay();
    }
  } catch (error) {
    say(article, error.name === "AbortError" ? "stopped" : error.message);
    article.querySelector("[data-progress]")?.classList.toggle("warning", error.name !== "AbortError");
    article.removeAttribute("aria-busy");
    form.elements.question.value ||= question;
  } finally {
    stop.hidden = true;
    stay();
  }
}

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  form.elements.question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.querySelector("[data-stops]").addEventListener("click", () => running?.abort());
  toEnd.addEventListener("click", () => window.scrollTo(0, document.documentElement.scrollHeight));
  document.addEventListener("scroll", stay, { passive: true });
  form.elements.question.addEventListener("input", () => form.elements.question.setCustomValidity(""));
  recall();
}

document.addEventListener("click", async (event) => {
  const asked = event.target.closest("[data-asks]");
  if (asked && form) {
    event.preventDefault();
    form.elements.question.value = asked.textContent;
    form.requestSubmit();
  }
  const anew = event.target.closest("[data-begins-anew]");
  if (anew) {
    anew.href = form.elements.who?.value ? `/?${new URLSearchParams({ who: form.elements.who.value })}` : "/";
    beginAnew();
  }
  const copies = event.target.closest("[data-copies]");
  if (!copies) return;
  const data = new URLSearchParams(new FormData(copies.form));
  data.set("format", "md");
  const response = await fetch(copies.form.action, { method: "POST", body: data });
  await navigator.clipboard.writeText(await response.text());
  copies.textContent = "Copied";
});
