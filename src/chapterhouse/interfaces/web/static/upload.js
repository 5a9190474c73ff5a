// Files and folders that are dropped or chosen: sent three at a time, counted as they are read.
const form = document.querySelector("[data-drop]");
const AT_ONCE = 3;
const ASKED = 100; // jobs at a time
const headers = { "HX-Request": "true", Accept: "text/html" };
const isLeftOut = (name) => /^\.|^(node_modules|__pycache__|__MACOSX|thumbs\.db|desktop\.ini)$/i.test(name);
const parsed = (text) => new DOMParser().parseFromString(text, "text/html");
const pause = (seconds) => new Promise((done) => { setTimeout(done, 1000 * seconds); });
const megabytes = (bytes) => (bytes / 1048576).toFixed(1);
let batch = null;

async function* filesIn(entry, above = "") {
  const chosen = entry?.webkitRelativePath || entry?.name || ".";
  if (chosen.split("/").some(isLeftOut)) return;
  if (entry instanceof File) yield { file: entry, path: chosen };
  if (entry.isFile) yield { file: await new Promise((done, fail) => { entry.file(done, fail); }), path: above + entry.name };
  const reader = entry.isDirectory && entry.createReader();
  while (reader) {
    const some = await new Promise((done, fail) => { reader.readEntries(done, fail); });
    if (!some.length) return;
    for (const one of some) yield* filesIn(one, `${above}${entry.name}/`);
  }
}

function begin() {
  const shown = document.getElementById("uploading").content.firstElementChild.cloneNode(true);
  document.getElementById("uploads").replaceChildren(shown);
  const made = { files: 0, read: 0, refused: 0, stopped: 0, sent: 0, size: 0, senders: 0, shown, queue: [], requests: new Set(), open: [], current: "", isCancelled: false };
  shown.querySelector("[data-cancels]").addEventListener("click", () => cancel(made));
  return made;
}

function say(one) {
  const ended = one.read + one.refused + one.stopped;
  const isOver = ended === one.files && !one.senders;
  let text = one.files ? `${one.read} of ${one.files} read` : "There is no file in what was chosen.";
  if (one.refused) text += `, ${one.refused} ${one.refused === 1 ? "was" : "were"} not`;
  if (one.stopped) text += `, ${one.stopped} stopped`;
  if (one.senders) text += ` (${megabytes(one.sent)} of ${megabytes(one.size)} MB sent)`;
  const count = one.shown.querySelector("[data-count]");
  if (count.textContent !== text) count.textContent = text; // or it would be read out each time
  one.shown.querySelector("[data-current]").textContent = isOver ? "" : one.current;
  one.shown.querySelector("progress").value = ended / (one.files || 1);
  for (const part of one.shown.querySelectorAll("[data-going]")) part.hidden = isOver;
  one.shown.querySelector("[data-ended]").hidden = !isOver || !one.read;
  return isOver;
}

function post(one, { file, path }) {
  const data = new FormData(form);
  data.delete("file");
  data.append("file", file, path);
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  let loaded = 0;
  const move = (now) => { one.sent += now - loaded; loaded = now; say(one); };
  request.upload.addEventListener("progress", (event) => move(Math.min(event.loaded, file.size)));
  one.requests.add(request);
  return new Promise((done) => {
    request.addEventListener("loadend", () => {
      one.requests.delete(request);
      move(request.status === 200 ? file.size : 0);
      done(request);
    });
    request.send(data);
  });
}

async function send(one) {
  one.senders += 1;
  for (let next = one.queue.shift(); next; next = one.queue.shift()) {
    const request = await post(one, next);
    const page = parsed(request.responseText);
    if ([429, 503].includes(request.status) && !one.isCancelled) {
      one.queue.unshift(next);
      await pause(Number(request.getResponseHeader("Retry-After")) || 1);
    } else if (request.status === 200) one.open.push(page.querySelector("[data-job]").dataset.job);
    else if (one.isCancelled) one.stopped += 1;
    else {
      one.refused += 1;
      const why = [...page.querySelectorAll(".problem p:not(.row)")].map((part) => part.textContent).join(" ");
      const item = document.createElement("li");
      item.textContent = `${next.path}: ${why || "It could not be sent, the server does not answer."}`;
      one.shown.querySelector(".reasons").append(item);
    }
  }
  one.senders -= 1;
}

async function follow(one) {
  for (let seconds = 1; !say(one); await Promise.race([pause(seconds), new Promise((done) => { one.look = done; })])) {
    const asked = one.open.slice(0, ASKED);
    const address = `/jobs?${new URLSearchParams(asked.map((id) => ["job", id]))}`;
    const answer = asked.length ? await fetch(address, { headers }).catch(() => null) : null;
    const page = answer?.ok ? parsed(await answer.text()) : null;
    one.current = page?.querySelector("[data-state=running] h2")?.textContent ?? "";
    const ended = page ? asked.filter((id) => !page.querySelector(`[data-job=${id}]:is([data-state=pending], [data-state=running])`)) : [];
    for (const id of ended) {
      const job = page.querySelector(`[data-job=${id}]`);
      one[{ failed: "refused", done: "read", partial: "read" }[job?.dataset.state] ?? "stopped"] += 1;
      if (job) one.shown.querySelector(".reasons").append(...job.querySelectorAll(".reasons li"));
    }
    one.open = one.open.filter((id) => !ended.includes(id));
    seconds = ended.length === ASKED ? 0.1 : 1; // of jobs that ended long ago nothing is known any more
  }
  const list = document.getElementById("listed");
  if (list && !list.querySelector(":checked")) window.htmx.ajax("GET", window.location.href, { target: list, swap: "outerHTML" });
}

async function cancel(one) {
  one.isCancelled = true;
  const button = one.shown.querySelector("[data-cancels]");
  [button.disabled, button.textContent] = [true, "Stopping …"];
  one.stopped += one.queue.length;
  one.queue = [];
  for (const request of one.requests) request.abort();
  say(one);
  await Promise.all(one.open.map((id) => fetch(`/jobs/${id}/cancel`, { method: "POST", headers })));
  one.look?.();
}

async function receive(entries) {
  const isNew = !batch || batch.isCancelled || say(batch);
  if (isNew) batch = begin();
  const one = batch;
  for (const entry of entries) {
    for await (const next of filesIn(entry)) {
      if (one.isCancelled) return; // a folder may hold thousands
      one.queue.push(next);
      one.files += 1;
      one.size += next.file.size;
    }
  }
  if (one.isCancelled) return;
  while (one.senders < AT_ONCE && one.queue.length) send(one);
  if (isNew) follow(one);
}

if (form) {
  form.addEventListener("change", async ({ target }) => {
    if (target.type !== "file") return;
    await receive([...target.files]);
    target.value = "";
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      form.classList.toggle("over", name === "dragover");
      form.closest("details")?.setAttribute("open", "");
      if (name === "drop") receive([...event.dataTransfer.items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile()));
    });
  }
}
