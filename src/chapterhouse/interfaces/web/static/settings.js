// A secret that is shown once, into the clipboard.
for (const button of document.querySelectorAll("[data-copies-text]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copiesText).textContent);
    button.textContent = "Copied";
  });
}
