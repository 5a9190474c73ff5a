"""What Office Open XML formats share: relations between parts, charts, comments ([ECMA-376]).

Names are matched without their namespace, because strict files have other namespaces than
transitional ones and mean the same.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from xml.etree.ElementTree import Element

from chapterhouse.reading.markdown import lowered, markdown_table, raised, running_text
from chapterhouse.reading.office.parts import Parts
from chapterhouse.types import Notice

_ROOT_RELATIONS = "_rels/.rels"
_POINTS_CEILING = 10_000  # of one chart; what it shows is in a sheet as well
_FIELDS = {name: name for name in ("created", "modified", "language", "keywords")} | {
    "creator": "author"
}
_MAIN = "word/document.xml"
_CONCERNED = re.compile(
    r"_rels/\.rels|word/(?:_rels/document\d*\.xml\.rels|"
    r"(?:header\d*|footer\d*|footnotes|endnotes|comments|styles|numbering|charts/chart\d*|"
    r"diagrams/data\d*)\.xml)"
)
_DRAWN = re.compile(r"word/(?:charts/chart|diagrams/data)\d*\.xml")
_BREAK = re.compile(rb"<w:br\b[^>]*w:type=[\"'](?:page|column)[\"'][^>]*/>")
# A run's raised or lowered text.
_RAISED = re.compile(
    rb"""<w:vertAlign\s+w:val=["'](super|sub)script["']\s*/>((?:(?!</w:r>).){0,2000}?<w:t(?:\s[^>]*)?>)"""
    rb"([^<]{1,200})(?=</w:t>)",
    re.DOTALL,
)
_MOVED_AWAY = re.compile(rb"<w:moveFrom(?=[\s>]).*?</w:moveFrom>", re.DOTALL)
_COUNTING = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|SECTION)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Relation:
    """A part that another part refers to. ``kind`` is the last word of its type's address."""

    id: str
    kind: str
    target: str


def local(element: Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element, name: str) -> str:
    """Return an attribute by its name without namespace, or an empty string."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")


def relation_id(element: Element) -> str:
    """Return the ``r:id`` of an element; a plain ``id`` is something else."""
    return next((value for key, value in element.items() if key.endswith("relationships}id")), "")


def children(element: Element, name: str) -> Iterator[Element]:
    """Yield the direct children of one name."""
    return (child for child in element if local(child) == name)


def descendants(element: Element, *names: str) -> Iterator[Element]:
    """Yield all elements of some names below, in document order."""
    return (child for child in element.iter() if local(child) in names)


def relations_part(part: str) -> str:
    """Return the name of the part that says what another part refers to."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def relations(parts: Parts, part: str) -> tuple[Relation, ...]:
    """Return what a part refers to inside the container."""
    folder = posixpath.dirname(part)
    root = parts.xml(relations_part(part))
    found = []
    for element in children(root, "Relationship") if root is not None else ():
        if element.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/" + folder, element.get("Target", "")))
            kind = element.get("Type", "").rpartition("/")[2]
            found.append(Relation(element.get("Id", ""), kind, target.lstrip("/")))
    return tuple(found)


def main_part(parts: Parts, usual: str) -> str:
    """Return the name of the part that the container is about."""
    if parts.damage(_ROOT_RELATIONS):
        return usual
    return next(
        (found.target for found in relations(parts, "") if found.kind == "officeDocument"), usual
    )


def core_properties(parts: Parts) -> tuple[str, dict[str, str]]:
    """Return the title and the other fields of ``docProps/core.xml``."""
    root = parts.xml("docProps/core.xml")
    stated = () if root is None else root
    fields = {local(child): (child.text or "").strip() for child in stated}
    named = {_FIELDS[name]: text for name, text in fields.items() if text and name in _FIELDS}
    return fields.get("title", ""), named


def chart_blocks(root: Element) -> list[str]:
    """Return a chart's title and its cached numbers as a table, one column a series."""
    header, columns, labels = [""], [], {}
    for series in descendants(root, "ser"):
        names = (value for name in children(series, "tx") for value in descendants(name, "v"))
        name = next((value.text or "" for value in names), "")
        values: dict[int, str] = {}
        sizes: dict[int, str] = {}
        for child in series:
            if local(child) in {"cat", "xVal"}:
                labels.update(_points(child))
            elif local(child) in {"val", "yVal"}:
                values = _points(child)
            elif local(child) == "bubbleSize":
                sizes = _points(child)
        header += [" ".join(name.split()), *["Size"] * bool(sizes)]
        columns += [values, *[sizes] * bool(sizes)]
    indices = sorted({index for column in columns for index in column} | labels.keys())
    rows = [
        [labels.get(index, ""), *(column.get(index, "") for column in columns)] for index in indices
    ]
    return [*chart_titles(root), *([markdown_table([header, *rows])] if rows else [])]


def chart_titles(root: Element) -> list[str]:
    """Return the titles of a chart and of its axes, and what was written on single points."""
    titles = (
        "".join(piece.text or "" for piece in descendants(title, "t")).strip()
        for title in descendants(root, "title", "dLbl")
    )
    return list(filter(None, titles))


def comment_blocks(root: Element) -> list[str]:
    """Return the comments of a part, each with the cell it stands on where there is one."""
    blocks = []
    for comment in descendants(root, "comment", "threadedComment", "cm", "reply"):
        own = [child for child in comment if local(child) not in {"replyLst", "reply"}]
        pieces = [piece.text or "" for child in own for piece in descendants(child, "t", "text")]
        text = " ".join("".join(pieces).split())
        if text:
            place = comment.get("ref", "")
            blocks.append(f"Comment on {place}: {text}" if place else f"Comment: {text}")
    return blocks


def _points(element: Element) -> dict[int, str]:
    """Return the cached values of a chart by index; of several label levels the innermost."""
    found: dict[int, str] = {}
    for point in descendants(element, "pt"):
        index = point.get("idx", "")
        value = next((child.text or "" for child in children(point, "v")), "")
        if index.isdecimal() and len(found) < _POINTS_CEILING:
            found.setdefault(int(index), value)
    return found


def prepare_docx(parts: Parts) -> tuple[Notice, ...]:
    """Make a Word file such that the library reads all of it, and say what cannot be read.

    The library refuses a document for one damaged part, joins the words on both sides of a page
    break inside a paragraph, shows moved text in both places, and reads raised text in tables as if
    it stood in the line.
    """
    main = main_part(parts, _MAIN)
    notices = parts.repair(_CONCERNED, main)
    document = parts.content(main) or b""
    if main != _MAIN:  # the only name that the library knows
        parts.replace(relations_part(_MAIN), parts.content(relations_part(main)) or b"")
    changed = _RAISED.sub(_in_line, _MOVED_AWAY.sub(b"", _BREAK.sub(b"<w:br/>", document)))
    if changed != document or main != _MAIN:
        parts.replace(_MAIN, changed)
    return notices


def _in_line(run: re.Match[bytes]) -> bytes:
    """Return a run whose raised or lowered text is written so that it reads in the line."""
    text = unescape(run[3].decode("utf-8", "replace"))
    ended = run.string.rfind(b"</w:t>", 0, run.start())
    before = run.string[max(ended - 80, 0) : max(ended, 0)].rpartition(b">")[2]
    is_raised = run[1] == b"super"
    written = raised(text, before.decode("utf-8", "replace")) if is_raised else lowered(text)
    return run[2] + escape(written, quote=False).encode("utf-8")


def drawn_texts(parts: Parts) -> list[str]:
    """Return the texts of charts and SmartArt in a Word file, in order of their parts."""
    names = sorted(filter(_DRAWN.fullmatch, parts.names()), key=lambda name: (len(name), name))
    blocks = []
    for root in map(parts.xml, names):
        if root is None:
            continue
        if local(root) == "chartSpace":
            blocks += chart_blocks(root)
        else:
            texts = (" ".join("".join(_pieces(p)).split()) for p in descendants(root, "p"))
            blocks.append("\n".join(f"- {text}" for text in texts if text))
    return blocks


def headers_and_footers(parts: Parts) -> list[str]:
    """Return the text of each header and footer once, page numbers left out."""
    lines: dict[str, None] = {}
    for relation in relations(parts, main_part(parts, _MAIN)):
        is_running = relation.kind in {"header", "footer"}
        if is_running and (root := parts.xml(relation.target)) is not None:
            paragraphs = ("".join(_pieces(p)) for p in descendants(root, "p"))
            if text := running_text(" ".join(paragraphs)):
                lines[f"{relation.kind.capitalize()}: {text}"] = None
    return list(lines)


def _pieces(paragraph: Element) -> Iterator[str]:
    """Yield the text of a paragraph without the results of fields that count pages."""
    fields: list[str] = []  # instruction of each open field; its result follows it
    for element in _shown(paragraph):
        match local(element):
            case "fldChar":
                kind = attribute(element, "fldCharType")
                if kind == "begin":
                    fields.append("")
                elif kind == "end" and fields:
                    fields.pop()
            case "instrText" if fields:
                fields[-1] += element.text or ""
            case "t" if not any(map(_COUNTING.match, fields)):
                yield element.text or ""
            case "tab" | "br":
                yield " "


def _shown(element: Element) -> Iterator[Element]:
    """Yield what is shown inside a paragraph, but for the paragraphs of its text boxes."""
    for child in element:
        name = local(child)
        counts = name == "fldSimple" and _COUNTING.match(attribute(child, "instr"))
        if name not in {"del", "moveFrom", "Fallback", "p", "pPr"} and not counts:
            yield child
            yield from _shown(child)
