"""Independent readers: what a file shows, as plain text, by what shares no code with ours.

Each takes a path. It raises `FileNotFoundError` where its program is not installed, and
`subprocess.SubprocessError` where the program cannot read the file.
"""

import base64
import codecs
import html
import json
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message
from html.parser import HTMLParser
from pathlib import Path

from printing import convert

_SECONDS = 120
SHEETS = ("xlsx", "ods", "xls")
SLIDES = ("pptx", "odp", "ppt")
_TIMES = re.compile(r"^(?:\d+|WEBVTT.*|(?:\d+:)?\d+:\d+[.,]\d+ --> .*)$", re.MULTILINE)
_HEADERS = ("Subject", "From", "To", "Cc", "Date")
_MARKED = (("utf-32", codecs.BOM_UTF32_LE), ("utf-32", codecs.BOM_UTF32_BE),
           ("utf-16", codecs.BOM_UTF16_LE), ("utf-16", codecs.BOM_UTF16_BE))  # fmt: skip
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
        target = Path(folder) / "out"
        convert([path], wanted, target, _SECONDS)
        written = sorted(file for file in target.glob("*") if file.is_file())
        if not written:
            raise subprocess.SubprocessError(f"LibreOffice writes nothing for {path.name}")
        if suffix in SLIDES:
            return pdftotext(written[0])
        return "\n".join(file.read_text("utf-8-sig", "replace") for file in written)


# --- from their bytes -----------------------------------------------------------------------------


def plain_text(path: Path) -> str:
    """Return a text file in the encoding that its folder is called after, else UTF-8 or cp1252."""
    data = path.read_bytes()
    marked = [name for name, mark in _MARKED if data.startswith(mark)]
    for name in (*marked, *_encodings(path.parent.name), "utf-8-sig", "cp1252"):
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return ""


def _encodings(folder: str) -> Iterator[str]:
    """Yield what ``iso-8859-9-turkish`` or ``MacCyrillic`` may call an encoding."""
    yield folder
    yield folder.rpartition("-")[0]
    yield re.sub(r"(?<=[a-z])(?=[A-Z])", "-", folder)


def subtitles(path: Path) -> str:
    """Return what is said in subtitles, without their times and numbers."""
    return _TIMES.sub("", plain_text(path).replace("\r", ""))


def mail(path: Path) -> str:
    """Return the headers of a message that people read, and its texts."""
    message = message_from_bytes(path.read_bytes())
    return "\n".join([*_headers(message), *_bodies(message)])


def _headers(message: Message) -> Iterator[str]:
    stated = {name.title(): str(value) for name, value in message.raw_items()}
    for name in _HEADERS:
        written = stated.get(name, "").encode("utf-8", "surrogateescape")
        value = written.decode("utf-8", "replace")
        try:
            yield str(make_header(decode_header(value)))
        except (LookupError, ValueError):
            yield value


def _bodies(part: Message) -> Iterator[str]:
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment" or kind == "message/rfc822":
        return
    inside = part.get_payload()
    if isinstance(inside, list):
        texts = ["\n".join(_bodies(child)) for child in inside if isinstance(child, Message)]
        is_choice = kind == "multipart/alternative"
        yield from [text for text in texts if text.strip()][:1] if is_choice else texts
    elif kind in {"text/plain", "text/html"}:
        content = part.get_payload(decode=True)
        content = content if isinstance(content, bytes) else b""
        try:
            text = content.decode(part.get_content_charset("utf-8"))
        except (LookupError, UnicodeDecodeError):
            text = content.decode("cp1252", "replace")
        yield _without_tags(text) if kind == "text/html" else text


def epub(path: Path) -> str:
    """Return the text of every page of an e-book."""
    with zipfile.ZipFile(path) as book:
        pages = [name for name in book.namelist() if name.endswith((".xhtml", ".html", ".htm"))]
        texts = [_without_tags(book.read(name).decode("utf-8", "replace")) for name in pages]
    return "\n".join(texts)


class _Texts(HTMLParser):
    """Collects the text of HTML that is no style, script or title."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self._hidden += tag in {"style", "script", "title"}

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"style", "script", "title"}

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def _without_tags(markup: str) -> str:
    parser = _Texts()
    parser.feed(markup)
    return " ".join(parser.texts)


WRITTEN = ("txt", "md", "csv", "tsv", "json", "yaml", "xml", "rst", "adoc")
TEXTS = ("docx", "odt", "doc", "rtf")
READERS: dict[str, Callable[[Path], str]] = {
    "pdf": pdftotext,
    "html": chromium,
    "eml": mail,
    "epub": epub,
    "srt": subtitles,
    **dict.fromkeys(WRITTEN, plain_text),
    **dict.fromkeys((*TEXTS, *SHEETS, *SLIDES), libreoffice),
}
