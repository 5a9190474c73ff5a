"""Notebooks (Jupyter's format, versions 3 to 5): texts, code, and what the code printed."""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from chapterhouse import lazy
from chapterhouse.reading.encodings import decode
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.markdown import code_block, fence_after, first_heading, joined
from chapterhouse.types import ExtractedPage, Extraction, Notice

if TYPE_CHECKING:
    from chapterhouse.reading.html import page as html_page
else:
    html_page = lazy("chapterhouse.reading.html.page")

_TERMINAL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # colours, and where the cursor goes
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,30}")
_TABLE: Final = re.compile(r"<table[\s>]", re.IGNORECASE)
_OBJECT: Final = re.compile(r"\s*<[^<>\n]*>\s*")  # a program's name for what it shows as a picture
_PICTURE: Final = re.compile(r"!\[([^\]\n]{0,300})\]\((?:attachment|data):[^)\n]*\)")
_BASE64: Final = re.compile(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/]{76,}+={0,2}")
_SHOWN: Final = 500  # characters of an error


def read_notebook(data: bytes) -> Extraction:
    """Read a notebook; its pictures go, and what is no notebook is read as plain text."""
    text, notices = decode(data)
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError):
        stated = None
    cells = _cells(stated)
    if cells is None:
        sentence = "The notebook is damaged: it is read as plain text."
        page = ExtractedPage(_BASE64.sub("", text))
        notices = (*notices, Notice("part-unreadable", sentence))
        return Extraction((page,), "ipynb", METHOD, markdown=False, notices=notices)
    language = _language(stated)
    shown = joined(block for cell in cells for block in _blocks(cell, language))
    title = _text(_object(stated.get("metadata")).get("title")) or first_heading(shown)
    return Extraction((ExtractedPage(shown),), "ipynb", METHOD, title=title, notices=notices)


def _cells(notebook: object) -> list[dict[str, Any]] | None:
    """Return the cells, which stood in sheets before version 4; nothing where there is no list."""
    stated = _object(notebook)
    sheets = [_object(sheet) for sheet in _list(stated.get("worksheets"))] or [stated]
    if not all(isinstance(sheet.get("cells"), list) for sheet in sheets):
        return None
    return [_object(cell) for sheet in sheets for cell in sheet["cells"]]


def _language(notebook: dict[str, Any]) -> str:
    metadata = _object(notebook.get("metadata"))
    info, kernel = (_object(metadata.get(name)) for name in ("language_info", "kernelspec"))
    name = _text(info.get("name")) or _text(kernel.get("language"))
    return name.lower() if _LANGUAGE.fullmatch(name) else ""


def _blocks(cell: dict[str, Any], language: str) -> Iterator[str]:
    text = _text(cell.get("source", cell.get("input")))
    match cell.get("cell_type"):
        case "markdown":
            yield _closed(_without_pictures(text))
        case "heading":
            level = cell.get("level")
            marks = "#" * (level if isinstance(level, int) and 0 < level < 7 else 1)  # noqa: PLR2004 - of Markdown
            yield f"{marks} {' '.join(text.split())}"
        case "code":
            yield code_block(text, language)
            yield from _outputs(_list(cell.get("outputs")))
        case _:
            yield code_block(text, "")


def _closed(text: str) -> str:
    """Return Markdown with an end to its last code block, or the next cells would be in it."""
    fence = ""
    for line in text.splitlines():
        fence = fence_after(fence, line)
    return f"{text}\n{fence}" if fence else text


def _without_pictures(text: str) -> str:
    return _BASE64.sub("", _PICTURE.sub(r"\1", text))


def _outputs(outputs: list[Any]) -> Iterator[str]:
    printed = ""  # which comes in pieces
    for output in map(_object, outputs):
        if output.get("output_type") == "stream":
            printed += _text(output.get("text"))
            continue
        yield _printed(printed)
        printed = ""
        yield _error(output) if "ename" in output else _result(output)
    yield _printed(printed)


def _printed(text: str) -> str:
    """Return what a terminal shows in the end: a bar of progress writes over its own line."""
    lines = _TERMINAL.sub("", text).split("\n")
    return code_block(
        "\n".join(one.rstrip("\r").rpartition("\r")[2] for one in lines).strip("\n"), ""
    )


def _error(output: dict[str, Any]) -> str:
    error = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    return code_block(" ".join(_TERMINAL.sub("", error).split())[:_SHOWN], "")


def _result(output: dict[str, Any]) -> str:
    """Return a result as a table, Markdown or text, whichever it has; a picture is none."""
    # Before version 4 the kinds had short names and no object of their own.
    data = _object(output.get("data")) or {
        "text/plain": output.get("text"), "text/html": output.get("html"),
        "image/png": output.get("png"),
    }  # fmt: skip
    page, plain = _text(data.get("text/html")), _text(data.get("text/plain"))
    if _TABLE.search(page):
        return "\n\n".join(one.text for one in html_page.read_html(page.encode()).pages)
    if markdown := _text(data.get("text/markdown")):
        return _closed(_without_pictures(markdown))
    has_picture = any(kind.startswith("image/") and data[kind] for kind in data)
    if has_picture and _OBJECT.fullmatch(plain):
        return ""
    if not plain and page:
        return html_page.strip_tags(page)
    return _printed(plain or _text(data.get("text/latex")))


def _text(value: object) -> str:
    """Return a text, which may be stored as a list of its lines."""
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
