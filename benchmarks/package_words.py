"""The words that an Office or OpenDocument package shows, counted without any of the readers.

A check of the readers: what the text elements of a package say, found by one streaming parse,
against what a reader made of the same file. Numbers of a sheet are counted only where they are
shown as they are stored.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pyexpat import ExpatError, ParserCreate

from chapterhouse.errors import RejectedError
from chapterhouse.reading.completeness import count
from chapterhouse.reading.office.parts import Parts

_BYTES_CEILING = 50_000_000  # of all parts together; more would take seconds
_WHOLE_NUMBER = re.compile(r"-?\d{1,15}")
_SHARED_STRINGS = "xl/sharedStrings.xml"
_PARTS = {
    "docx": re.compile(
        r"word/(?:document\d*|header\d*|footer\d*|footnotes|endnotes|comments|charts/chart\d*|"
        r"diagrams/data\d*)\.xml"
    ),
    "pptx": re.compile(
        r"ppt/(?:slides/slide\d+|notesSlides/notesSlide\d+|charts/chart\d*|diagrams/data\d*)\.xml"
    ),
    "xlsx": re.compile(
        r"xl/(?:worksheets/\w+|charts/chart\d*|drawings/drawing\d+|comments\w*|"
        r"threadedComments/\w+)\.xml"
    ),
    "odt": re.compile(r"(?:content|styles)\.xml"),
    "odg": re.compile(r"content\.xml"),
    "odp": re.compile(r"content\.xml"),
    "ods": re.compile(r"content\.xml"),
}
# Local names: whose text is shown, what ends a word, and what is not shown. Tables of contents
# repeat the headings; of alternatives the second says the same as the first; formulas are shown
# by signs that readers write in their own ways.
_TEXTS = frozenset({"t", "v", "text", "Text"})
_BREAKS = frozenset(
    {"p", "br", "cr", "tab", "tc", "noBreakHyphen", "pt", "tx", "si", "c", "comment", "text"}
    | {"Text"}
)
_LINES = frozenset({"p", "h"})  # breaks that begin a line
_HIDDEN = frozenset(
    {"del", "moveFrom", "Fallback", "rPh", "f", "extLst", "tabs", "oMath", "oMathPara"}
)
_ODF_TEXTS = frozenset({"p", "h"})
_ODF_BREAKS = frozenset({"p", "h", "s", "tab", "line-break", "note", "annotation", "frame"})
_ODF_HIDDEN = frozenset(
    {
        "tracked-changes",
        "table-of-content",
        "note-citation",
        "ruby-text",
        "page-number",
        "page-count",
        "creator",
        "date",
        "desc",
        "title",
        "forms",
        "binary-data",
    }
)
_NOT_ON_SLIDES = frozenset({"dt", "sldNum"})  # what only counts
_NOT_IN_NOTES = _NOT_ON_SLIDES | {"sldImg", "ftr", "hdr"}
_LABELS = frozenset({"cat", "xVal"})
_STYLES = re.compile(rb"<(?:\w+:)?cellXfs\b.*?</(?:\w+:)?cellXfs>", re.DOTALL)
_NUMBER_FORMAT = re.compile(rb"<(?:\w+:)?xf\b(?:[^>]*?\bnumFmtId=[\"'](\d+))?")
_AS_STORED = frozenset({b"", b"0", b"1"})  # the formats General and 0 ([ECMA-376] part 1, 18.8.30)


def package_words(parts: Parts, format_: str) -> Counter[str] | None:
    """Count the words (NFKC, case folded runs of letters and digits) that a package shows.

    Args:
        parts: Of the whole file, nothing of it replaced.
        format_: ``docx``, ``xlsx``, ``pptx``, ``odt``, ``ods``, ``odp`` or ``odg``.

    Returns:
        None for other formats, and where a part is damaged or there is too much to parse.
    """
    if format_ not in _PARTS:
        return None
    try:
        return count("\n".join(_texts(parts, format_)))
    except (RejectedError, ExpatError, ValueError):
        return None


def _texts(parts: Parts, format_: str) -> Iterator[str]:
    """Yield the shown text of one part after the other.

    Raises:
        RejectedError: the container is damaged.
        ExpatError: a part is not well-formed.
        ValueError: a part declares a document type or is too deep, or there is too much.
    """
    limits = parts.limits
    chosen = [name for name in parts.names() if _PARTS[format_].fullmatch(name)]
    if any("/threadedComments/" in name for name in chosen):  # the plain ones only say so
        chosen = [name for name in chosen if "/comments" not in name]
    sizes = (len(parts.content(name) or b"") for name in (*chosen, _SHARED_STRINGS))
    if sum(sizes) > _BYTES_CEILING:
        raise ValueError("too much to parse")
    open_document = format_.startswith("od")
    texts = _ODF_TEXTS if open_document else _TEXTS
    breaks = _ODF_BREAKS if open_document else _BREAKS
    hidden = _ODF_HIDDEN if open_document else _HIDDEN
    strings = _Collector(texts, breaks, hidden, limits.xml_depth)
    if shared := parts.content(_SHARED_STRINGS):
        strings.parse(shared)
    for name in chosen:
        copied = "/charts/" in name and format_ == "xlsx"  # its values are those of the sheets
        shown = texts - {"v"} if copied else texts
        part = _Collector(shown, breaks, hidden, limits.xml_depth)
        if "/worksheets/" in name:
            part.strings, part.as_stored = strings.strings, _stored_styles(parts)
            part.is_sheet = True
        part.furniture = _NOT_IN_NOTES if "/notesSlides/" in name else _NOT_ON_SLIDES
        part.parse(parts.content(name) or b"")
        yield "".join(part.pieces)


def _stored_styles(parts: Parts) -> frozenset[str]:
    """Return the numbers of the cell styles that show a whole number as it is stored."""
    found = _STYLES.search(parts.content("xl/styles.xml") or b"")
    formats = _NUMBER_FORMAT.findall(found[0]) if found else [b"0"]
    return frozenset(str(index) for index, name in enumerate(formats) if name in _AS_STORED)


@dataclass(slots=True)
class _Collector:
    """Gathers the shown text of one part in one pass over its XML."""

    texts: frozenset[str]
    breaks: frozenset[str]
    hidden: frozenset[str]
    depth: int
    furniture: frozenset[str] = frozenset()
    as_stored: frozenset[str] = frozenset()
    is_sheet: bool = False
    labelled: bool = False  # the labels of a chart were met; each series repeats them
    pieces: list[str] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    hidden_below: int = 0  # length of the path where what is not shown begins, or 0
    shown: int = 0  # text elements that are open
    begun: int = 0  # where the text of the string, or value of the cell, begins
    cell: tuple[str, str] | None = None  # type and style

    def parse(self, content: bytes) -> None:
        """Collect one part.

        Raises:
            ExpatError: it is not well-formed.
            ValueError: it declares a document type or is too deep.
        """
        parser = ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.Parse(content, True)  # noqa: FBT003 - has no names

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        self.path.append(name)
        if len(self.path) > self.depth:
            raise ValueError("too deep")
        if self.hidden_below:
            return
        if name in self.hidden:
            self.hidden_below = len(self.path)
        elif name == "ph" and attributes.get("type") in self.furniture and "sp" in self.path:
            self.hidden_below = self.path.index("sp") + 1
        elif name in _LABELS and "ser" in self.path:
            self.hidden_below = len(self.path) if self.labelled else 0
            self.labelled = True
        if name in self.breaks:
            self.pieces.append("\n" if name in _LINES else " ")
        if name == "c" and self.is_sheet:
            self.cell = (attributes.get("t", "n"), attributes.get("s", "0"))
        if name in {"si", "v"}:
            self.begun = len(self.pieces)
        self.shown += name in self.texts

    def _end(self, tag: str) -> None:
        name = tag.rpartition(" ")[2]
        if not self.hidden_below:
            self.shown -= name in self.texts
            if name in self.breaks:
                self.pieces.append(" ")
            if name == "si":
                self.strings.append("".join(self.pieces[self.begun :]))
            elif name == "v" and self.cell is not None:
                self.pieces[self.begun :] = [self._value("".join(self.pieces[self.begun :]))]
            elif name == "c":
                self.cell = None
        elif len(self.path) == self.hidden_below:
            self.hidden_below = 0
        self.path.pop()

    def _text(self, text: str) -> None:
        if self.shown and not self.hidden_below:
            self.pieces.append(text)

    def _value(self, stored: str) -> str:
        """Return what a cell shows, where that is certain."""
        kind, style = self.cell or ("", "")
        if kind == "s":
            known = stored.isdecimal() and int(stored) < len(self.strings)
            return self.strings[int(stored)] if known else ""
        if kind == "n":
            certain = style in self.as_stored and _WHOLE_NUMBER.fullmatch(stored)
            return stored if certain else ""
        return stored if kind == "str" else ""


def _refuse(*_declaration: object) -> None:
    raise ValueError("a document type is declared")
