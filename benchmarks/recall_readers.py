"""Independent readers: what a file shows, as plain text, by programs that share no code with ours.

Each takes a path. It raises `FileNotFoundError` where its program is not installed, and
`subprocess.SubprocessError` where the program cannot read the file.
"""

import base64
import html
import json
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from recall_texts import WRITTEN, epub, mail, plain_text, subtitles

_SECONDS = 120
# Fields, quotes, encoding UTF-8, all sheets (-1), values as they are shown.
_CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1"
_SENTENCES = 100  # characters of a line of sentences
_END = re.compile(r"[.!?…。！？]['\"”’)\]]*(?:\s|$)")
_RESULT = re.compile(r'<pre id="result">([A-Za-z0-9+/=]*)</pre>')
# A page in a frame without scripts and without a network; what is navigation by its element goes.
_FRAME = """<!doctype html><meta charset="utf-8"><body>
<iframe sandbox="allow-same-origin" width="1200" height="2000" src={address}></iframe>
<script>addEventListener("load", () => {{
  const page = document.querySelector("iframe").contentDocument;
  for (const part of page.querySelectorAll({furniture})) part.remove();
  const bytes = new TextEncoder().encode(page.body ? page.body.innerText : "");
  const text = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  document.body.innerHTML = '<pre id="result">' + btoa(text) + "</pre>";
}})</script>"""
_FURNITURE = (
    "nav, footer, aside, menu, [role=navigation], [role=banner], [role=contentinfo], "
    "[role=complementary], [role=search], [role=dialog]"
)


def pdftotext(path: Path) -> str:
    """Return the text of a PDF in reading order by poppler."""
    return _run("pdftotext", "-enc", "UTF-8", str(path), "-")


def chromium(path: Path) -> str:
    """Return the sentences that Chromium shows of a web page, all of its text where it has none.

    Landmarks of navigation are left out; links, labels and menus are no sentences.
    """
    with tempfile.TemporaryDirectory() as folder:
        frame = Path(folder) / "frame.html"
        page = _FRAME.format(
            address=html.escape(json.dumps(path.resolve().as_uri()), quote=False),
            furniture=json.dumps(_FURNITURE),
        )
        frame.write_text(page, "utf-8")
        shown = _run(
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={folder}/profile",
            "--dump-dom",
            frame.as_uri(),
        )
    found = _RESULT.search(shown)
    if found is None:
        raise subprocess.SubprocessError(f"Chromium shows nothing of {path.name}")
    lines = base64.b64decode(found[1]).decode("utf-8").split("\n")
    sentences = [line for line in lines if len(line) >= _SENTENCES and _END.search(line)]
    return "\n".join(sentences or lines)


def _run(*command: str) -> str:
    done = subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
    return done.stdout.decode("utf-8", "replace")


def libreoffice(path: Path) -> str:
    """Return the text that LibreOffice writes of a file; of slides by way of a PDF."""
    suffix = path.suffix.lower().lstrip(".")
    wanted = _CSV if suffix in SHEETS else "pdf" if suffix in SLIDES else "txt:Text (encoded):UTF8"
    with tempfile.TemporaryDirectory() as folder:
        home = f"-env:UserInstallation=file://{folder}/home"
        target = f"{folder}/out"
        _run("soffice", "--headless", home, "--convert-to", wanted, "--outdir", target, str(path))
        written = sorted(Path(target).glob("*"))
        if not written:
            raise subprocess.SubprocessError(f"LibreOffice writes nothing for {path.name}")
        if suffix in SLIDES:
            return pdftotext(written[0])
        return "\n".join(file.read_text("utf-8-sig", "replace") for file in written)


TEXTS = ("docx", "odt", "doc", "rtf")
SHEETS = ("xlsx", "ods", "xls")
SLIDES = ("pptx", "odp", "ppt")
READERS: dict[str, Callable[[Path], str]] = {
    "pdf": pdftotext,
    "html": chromium,
    "eml": mail,
    "epub": epub,
    "srt": subtitles,
    **dict.fromkeys(WRITTEN, plain_text),
    **dict.fromkeys((*TEXTS, *SHEETS, *SLIDES), libreoffice),
}
