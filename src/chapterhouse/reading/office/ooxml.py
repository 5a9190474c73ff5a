"""What Office Open XML formats share: relations between parts, charts, formulas, comments.

Names are matched without their namespace, because strict files have other namespaces than
transitional ones and mean the same.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from chapterhouse.reading.markdown import escaped, lowered, markdown_table, raised
from chapterhouse.reading.office.parts import Parts

_ROOT_RELATIONS = "_rels/.rels"
_POINTS_CEILING = 10_000  # of one chart; what it shows is in a sheet as well
_FIELDS = {name: name for name in ("created", "modified", "language", "keywords")} | {
    "creator": "author"
}
_FORMULAS = {  # parts of a formula by name; in brackets, what is grouped
    "f": "{(num)}{chr}{<den>}",
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), "{(e)}{sub}{sup}"),
    "sPre": "{sub}{sup}{e}",
    "rad": "{deg}√{<e>}",
    "nary": "{chr}{sub}{sup} {e}",
    **dict.fromkeys(("limLow", "limUpp"), "{e}{lim}"),
    "func": "{fName} {e}",
    "acc": "{e}{chr}",
    "bar": "{e}\u0305",
}
# What libraries write into each file that they make: the moment of their template, to the second,
# moments from which computers count, and names of programs.
_TEMPLATE_MOMENTS = frozenset(
    ("2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z", "2012-11-17T11:07:40Z")
)
_NO_MOMENT = re.compile(
    r"(?:0001|1601|1900|1970|1980)-01-01(?:T00:00:00(?:\.0+)?Z?)?|1899-12-3[01].*"
)
_PROGRAMS = re.compile(
    "python-docx|python-pptx|openpyxl|docx4j|apache poi|un-named|unknown creator", re.IGNORECASE
)
_DRAWN = re.compile(r"word/(?:charts/chart|diagrams/data)\d*\.xml")


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


def children(element: Iterable[Element], name: str) -> Iterator[Element]:
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
    """Return the title and the other fields of the core properties."""
    stated = () if parts.damage(_ROOT_RELATIONS) else relations(parts, "")
    usual = "docProps/core.xml"
    name = next((found.target for found in stated if found.kind == "core-properties"), usual)
    root = None if parts.damage(name) else parts.xml(name)
    stated_fields = () if root is None else root
    fields = {local(child): (child.text or "").strip() for child in stated_fields}
    named = {_FIELDS[name]: text for name, text in fields.items() if name in _FIELDS}
    return fields.get("title", ""), without_templates(named)


def without_templates(fields: dict[str, str]) -> dict[str, str]:
    """Return the fields of a document that say something of it, and not of the program."""
    return {
        name: text
        for name, text in fields.items()
        if text
        and not (name in {"created", "modified"} and _is_no_moment(text))
        and not (name == "author" and _PROGRAMS.fullmatch(text))
    }


def _is_no_moment(text: str) -> bool:
    return text in _TEMPLATE_MOMENTS or _NO_MOMENT.fullmatch(text) is not None


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
    return list(map(escaped, filter(None, titles)))


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
            paragraphs = (descendants(one, "t", "tab", "br") for one in descendants(root, "p"))
            texts = ("".join(piece.text or " " for piece in one) for one in paragraphs)
            lines = (f"- {' '.join(text.split())}" for text in texts if text.strip())
            blocks.append("\n".join(lines))
    return blocks


def equation(element: Element) -> str:
    """Return a formula of Office as people type it: ``(−b±√(b²−4ac))/(2a)``.

    [ECMA-376] part 1, 22.1.
    """
    kind = local(element)
    if kind == "t":
        return (element.text or "").replace("\u2061", "")  # sets a function apart, not to be seen
    inner = [child for child in element if not local(child).endswith("Pr")]
    if kind in {"m", "mr", "eqArr", "d", "oMathPara"}:
        between = {"m": "; ", "mr": ", ", "eqArr": "; ", "oMathPara": " "}.get(kind)
        between = _character(element, "sepChr", "|") if between is None else between
        begin, end = ("[", "]") if kind == "m" else ("", "")
        if kind == "d":
            begin, end = _character(element, "begChr", "("), _character(element, "endChr", ")")
        return f"{begin}{between.join(map(equation, inner))}{end}"
    form = _FORMULAS.get(kind)
    if form is None:
        return _row(inner)
    parts = dict.fromkeys(("e", "num", "den", "deg", "fName", "sub", "sup", "lim"), "")
    parts |= {local(child): equation(child).strip() for child in inner}
    marks = {"sub": "_", "sup": "^", "deg": "", "lim": "_" if kind == "limLow" else "^"}
    parts |= {name: _script(parts[name], mark) for name, mark in marks.items()}
    parts |= {f"({name})": _grouped(text, str.isalnum) for name, text in parts.items()} | {
        f"<{name}>": _grouped(text, str.isdecimal) for name, text in parts.items()
    }
    if kind == "f":  # without a bar, one over the other
        parts["chr"] = "¦" if _character(element, "type", "bar") == "noBar" else "/"
    else:
        parts["chr"] = _character(element, "chr", "∫" if kind == "nary" else "\u0302")
    return form.format_map(parts)


def _row(inner: Iterable[Element]) -> str:
    """Return what stands side by side in a formula; what follows a fraction is not part of it."""
    written, is_fraction = "", False
    for child in inner:
        text = equation(child)
        written += " " * (is_fraction and text[:1].isalnum()) + text
        is_fraction = local(child) == "f"
    return written


def _character(element: Element, name: str, usual: str) -> str:
    """Return the sign that the properties of a formula's part name, else the usual one."""
    stated = next((one for one in element if local(one).endswith("Pr")), Element(""))
    found = next(children(stated, name), None)
    return usual if found is None else attribute(found, "val")


def _grouped(text: str, is_one: Callable[[str], bool]) -> str:
    """Return a part of a formula in brackets, unless it is one sign or word or has some."""
    is_whole = is_one(text) or (text[:1] == "(" and text.find(")") == len(text) - 1)
    return text if is_whole or len(text) <= 1 else f"({text})"


def _script(text: str, mark: str) -> str:
    """Return raised or lowered text, marked as such if there are no such characters."""
    shown = lowered(text) if mark == "_" else raised(text, "")
    if shown != text or not text:
        return shown
    return f"{mark}{text}" if len(text) == 1 else f"{mark}({text})"
