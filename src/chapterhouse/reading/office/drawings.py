"""Visio drawings in Office Open XML ([MS-VSDX]): the texts of the shapes on each page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element

from chapterhouse.errors import RejectedError
from chapterhouse.reading.office.ooxml import (
    children,
    core_properties,
    descendants,
    main_part,
    relation_id,
    relations,
)
from chapterhouse.reading.office.parts import Parts
from chapterhouse.reading.plain import METHOD
from chapterhouse.reading.titles import believable_title
from chapterhouse.types import ExtractedPage, Extraction

_MAIN: Final = "visio/document.xml"
_CONCERNED: Final = re.compile(
    r"_rels/\.rels|visio/(?:pages|masters)/(?:_rels/)?[^/]+\.(?:xml|rels)|docProps/core\.xml"
    r"|visio/(?:_rels/)?(?:document|comments)\.xml(?:\.rels)?"
)
_ROW: Final = 0.25  # inches by which shapes that stand side by side may differ in height

Masters = Mapping[str, Mapping[str, Element]]  # shapes by master and their id; first by ""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A shape's texts, those inside it included, and its middle in inches; y counts upwards."""

    x: float
    y: float
    texts: tuple[str, ...]


def read_vsdx(parts: Parts) -> Extraction:
    """Read a drawing: one page a page, its shapes row by row from the top.

    Raises:
        RejectedError: the container or its XML is damaged, bombed or too deep.
    """
    main = main_part(parts, _MAIN)
    notices = parts.repair(_CONCERNED)
    found = {relation.kind: relation.target for relation in relations(parts, main)}
    index = found.get("pages", "visio/pages/pages.xml")
    if (root := parts.xml(index)) is None:
        raise RejectedError("unreadable", f"The drawing's list of pages, {index!r}, is missing.")
    masters = _masters(parts, found.get("masters", ""))
    targets = {relation.id: relation.target for relation in relations(parts, index)}
    comments = _comments(parts, found.get("comments", ""))
    pages = []
    for number, page in enumerate(children(root, "Page"), 1):
        rel = next(children(page, "Rel"), None)
        part = targets.get(relation_id(rel), "") if rel is not None else ""
        blocks = [*_page(parts, part, masters), *comments.get(page.get("ID", ""), ())]
        label = " ".join(page.get("Name", "").split())
        heading = [f"## {label}"] if label and blocks else []
        text = "\n\n".join([*heading, *blocks])
        pages.append(ExtractedPage(f"{text}\n" if text else "", number, label))
    title, metadata = core_properties(parts)
    return Extraction(
        tuple(pages),
        "vsdx",
        METHOD,
        page_kind="page",
        title=title if believable_title(title, "\n".join(page.text for page in pages)) else "",
        metadata=metadata,
        notices=notices,
    )


def _masters(parts: Parts, index: str) -> Masters:
    """Return the shapes that shapes of pages are made after, whose texts they may show."""
    root = parts.xml(index)
    if root is None:
        return {}
    targets = {relation.id: relation.target for relation in relations(parts, index)}
    masters: dict[str, dict[str, Element]] = {}
    for master in children(root, "Master"):
        rel = next(children(master, "Rel"), None)
        content = parts.xml(targets.get(relation_id(rel), "")) if rel is not None else None
        if content is not None:
            by_id = masters.setdefault(master.get("ID", ""), {})
            for shape in descendants(content, "Shape"):
                by_id.setdefault("", shape)
                by_id[shape.get("ID", "")] = shape
    return masters


def _page(parts: Parts, part: str, masters: Masters) -> tuple[str, ...]:
    root = parts.xml(part)
    if root is None:
        return ()
    return _in_order([_placed(shape, "", masters) for shape in _shapes(root)])


def _shapes(element: Element) -> Iterator[Element]:
    """Yield the shapes directly in a page or group, those left out that its master has."""
    for inside in children(element, "Shapes"):
        yield from (shape for shape in children(inside, "Shape") if shape.get("Del") != "1")


def _placed(shape: Element, master: str, masters: Masters) -> _Placed:
    """Return the texts of a shape and of those in it, which is a master's where it has none."""
    master = shape.get("Master", master)
    known = masters.get(master, {})
    model = known.get(shape.get("MasterShape", "" if "Master" in shape.attrib else "none"))
    own = next(children(shape, "Text"), None)
    if own is None and model is not None:
        own = next(children(model, "Text"), None)
    hidden = _cell(shape, model, "HideText") == 1
    text = "" if own is None or hidden else _written(own)
    inside = _in_order([_placed(child, master, masters) for child in _shapes(shape)])
    texts = ((text,) if text else ()) + inside
    return _Placed(_cell(shape, model, "PinX"), _cell(shape, model, "PinY"), texts)


def _in_order(placed: Sequence[_Placed]) -> tuple[str, ...]:
    """Return texts row by row, from the left in each."""
    rows: list[list[_Placed]] = []
    for one in sorted((one for one in placed if one.texts), key=lambda one: (-one.y, one.x)):
        if rows and rows[-1][0].y - one.y <= _ROW:
            rows[-1].append(one)
        else:
            rows.append([one])
    ordered = (one for row in rows for one in sorted(row, key=lambda one: one.x))
    return tuple(text for one in ordered for text in one.texts)


def _written(text: Element) -> str:
    """Return a text, its lines kept; fields in it hold what they show."""
    lines = (" ".join(line.split()) for line in "".join(text.itertext()).splitlines())
    return "  \n".join(line for line in lines if line)


def _cell(shape: Element, model: Element | None, name: str) -> float:
    """Return a number of a shape or of what it is made after, 0 where there is none."""
    for element in (shape, model):
        for cell in children(element, "Cell") if element is not None else ():
            if cell.get("N") == name:
                try:
                    return float(cell.get("V", ""))
                except ValueError:
                    return 0.0
    return 0.0


def _comments(parts: Parts, part: str) -> dict[str, list[str]]:
    """Return the comments by the page on which they stand."""
    found: dict[str, list[str]] = {}
    root = parts.xml(part)
    for comment in descendants(root, "CommentEntry") if root is not None else ():
        if text := " ".join("".join(comment.itertext()).split()):
            found.setdefault(comment.get("PageID", ""), []).append(f"Comment: {text}")
    return found
