"""Minutes as one page that stands alone: no script, nothing from elsewhere, fit for paper."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Final

from chapterhouse.answering.footnotes import citation_line
from chapterhouse.answering.markers import inert
from chapterhouse.council.minutes.blocks import (
    Block,
    Bullets,
    Cited,
    ClaimName,
    Facing,
    Grid,
    GridCell,
    Line,
    Opposed,
    Paragraph,
    Part,
    Style,
    Words,
)
from chapterhouse.council.minutes.citing import shown_citations
from chapterhouse.council.minutes.markup import Markup, element, joined
from chapterhouse.council.minutes.outline import outline
from chapterhouse.types import Citation, Minutes

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_DEEPEST: Final = 6  # level of a heading
_STYLED: Final[Mapping[Style, tuple[str, str]]] = {
    Style.STRONG: ("strong", ""),
    Style.WARNING: ("strong", "warning"),
    Style.QUIET: ("span", "quiet"),
}
# Parts that are read first and stand out, by the end of their key.
_NOTABLE: Final = frozenset({"decision", "dissent", "warnings", "absences", "missing"})


def html(minutes: Minutes) -> str:
    """Return minutes as a whole HTML document."""
    whole = outline(minutes)
    sources = tuple(shown_citations(minutes))
    top, *rest = whole.blocks
    head = element(
        "head",
        element("meta", attributes={"charset": "utf-8"}),
        element("meta", attributes={"http-equiv": "Content-Security-Policy", "content": POLICY}),
        element(
            "meta",
            attributes={"name": "viewport", "content": "width=device-width, initial-scale=1"},
        ),
        element("meta", attributes={"name": "generator", "content": "Chapterhouse"}),
        element("meta", attributes={"name": "referrer", "content": "no-referrer"}),
        element("meta", attributes={"name": "color-scheme", "content": "light dark"}),
        element("title", f"{whole.title}: {minutes.question}"),
        element("style", Markup(_style_sheet())),
    )
    body = element(
        "body",
        element("a", "Skip to the minutes", attributes={"class": "skip", "href": "#minutes"}),
        element(
            "header",
            element("p", "Minutes of a council", attributes={"class": "kind"}),
            element("h1", inert(whole.title)),
            element("div", _block(top), attributes={"class": "question"}),
            *map(_block, rest),
        ),
        _contents(whole, bool(sources)),
        element(
            "main",
            *(_part(part, 2) for part in whole.parts),
            _sources(sources, _citing(whole)),
            attributes={"id": "minutes", "tabindex": "-1"},
        ),
        element(
            "footer",
            element(
                "p",
                "Made by Chapterhouse. Every number leads to a quotation that was compared with "
                "its document to the character.",
            ),
        ),
    )
    page = element("html", head, body, attributes={"lang": "en"})
    return f"<!DOCTYPE html>\n{page}\n"


@cache
def _style_sheet() -> str:
    return resources.files(__package__).joinpath("style.css").read_text("utf-8")


def _contents(whole: Part, cites: bool) -> Markup:  # noqa: FBT001 - of one caller
    titled = [(part.key, part.title) for part in whole.parts]
    titled += [("sources", "Sources")] if cites else []
    entries = (
        element("li", element("a", inert(title), attributes={"href": f"#{key}"}))
        for key, title in titled
    )
    return element("nav", element("ol", *entries), attributes={"aria-label": "Contents"})


def _part(part: Part, level: int) -> Markup:
    """Return a section; what a member said is an article."""
    kind = part.key.rpartition("-")[0].rpartition("-")[2]
    last = part.key.rpartition("-")[2]
    shown = last if last in _NOTABLE else kind if kind in {"round", "statement"} else ""
    title = element(
        f"h{min(level, _DEEPEST)}", inert(part.title), attributes={"id": f"title-{part.key}"}
    )
    return element(
        "article" if kind == "statement" else "section",
        title,
        *map(_block, part.blocks),
        *(_part(below, level + 1) for below in part.parts),
        attributes={"id": part.key, "class": shown, "aria-labelledby": f"title-{part.key}"},
    )


# --- blocks ------------------------------------------------------------------------------------


def _block(block: Block) -> Markup:
    match block:
        case Paragraph(line):
            return element("p", _line(line))
        case Bullets(lines):
            return element("ul", *(_bullet(line) for line in lines))
        case Grid():
            return _grid(block)
        case Opposed():
            return _opposed(block)


def _bullet(line: Line) -> Markup:
    """Return a line of a list; where a claim is stated, links lead to it."""
    first = line[0] if line else None
    anchor = first.anchor if isinstance(first, ClaimName) and first.stated else ""
    return element("li", _line(line), attributes={"id": anchor, "class": "claim" if anchor else ""})


def _line(line: Line) -> Markup:
    return joined(*map(_run, line))


def _run(run: Words | Cited | ClaimName) -> Markup:
    match run:
        case Words(text, style):
            return _words(text, style)
        case Cited(names):
            return element("sup", *_links(names), attributes={"class": "cited"})
        case ClaimName(name, anchor, stated):
            told = {"class": "claim-name"}
            if stated or not anchor:
                return element("span", inert(name), attributes=told)
            return element("a", inert(name), attributes={**told, "href": f"#{anchor}"})


def _words(text: str, style: Style) -> Markup:
    if style not in _STYLED:
        return joined(inert(text))
    name, shown = _STYLED[style]
    return element(name, inert(text), attributes={"class": shown})


def _links(names: Iterable[str]) -> Iterator[Markup]:
    for place, name in enumerate(names):
        told = {"href": f"#source-{name}", "aria-label": f"Source {name}"}
        yield joined(", " if place else "", element("a", name, attributes=told))


def _grid(grid: Grid) -> Markup:
    head = element(
        "tr", *(element("th", inert(c), attributes={"scope": "col"}) for c in grid.columns)
    )
    rows = (
        element("tr", _grid_cell("th", row[0], "row"), *(_grid_cell("td", c, "") for c in row[1:]))
        for row in grid.rows
    )
    table = element(
        "table",
        element("caption", grid.caption),
        element("thead", head),
        element("tbody", *rows),
    )
    # What is wider than a telephone is moved sideways, with the keyboard too.
    told = {"class": "wide", "role": "region", "aria-label": grid.caption, "tabindex": "0"}
    return element("div", table, attributes=told)


def _grid_cell(name: str, cell: GridCell, scope: str) -> Markup:
    return element(name, _line(cell.line), attributes={"scope": scope, "class": cell.tone})


def _opposed(found: Opposed) -> Markup:
    return element(
        "div",
        element("p", inert(found.title), attributes={"class": "about"}),
        element("div", *map(_facing, found.sides), attributes={"class": "sides"}),
        element("p", inert(found.verdict), attributes={"class": "verdict"}),
        attributes={"class": "dispute"},
    )


def _facing(side: Facing) -> Markup:
    facts = [side.date, *([side.value] if side.value else [])]
    return element(
        "div",
        element("p", inert(side.who or "Nobody in particular"), attributes={"class": "who"}),
        element("p", inert(" · ".join(facts)), attributes={"class": "facts"}),
        element("p", _line(side.line)),
        attributes={"class": "side newer" if side.newer else "side"},
    )


# --- sources -----------------------------------------------------------------------------------


def _citing(part: Part) -> dict[str, list[tuple[str, str]]]:
    """Return for each citation where it is used: anchors of claims and parts, and their names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for block in part.blocks:
        for line in _lines(block):
            first = line[0] if line else None
            stated = isinstance(first, ClaimName) and first.stated and first.anchor
            place = (first.anchor, first.name) if stated else (part.key, part.title)  # type: ignore[union-attr]  # it is a name where it is stated
            for name in (name for run in line if isinstance(run, Cited) for name in run.names):
                if place not in found.setdefault(name, []):
                    found[name].append(place)
    for below in part.parts:
        for name, places in _citing(below).items():
            known = found.setdefault(name, [])
            known += [place for place in places if place not in known]
    return found


def _lines(block: Block) -> Iterator[Line]:
    match block:
        case Paragraph(line):
            yield line
        case Bullets(lines):
            yield from lines
        case Grid():
            yield from (cell.line for row in block.rows for cell in row)
        case Opposed():
            yield from (side.line for side in block.sides)


def _sources(
    sources: tuple[tuple[str, Citation], ...], citing: Mapping[str, list[tuple[str, str]]]
) -> Markup:
    if not sources:
        return Markup("")
    entries = (_source(name, citation, citing.get(name, [])) for name, citation in sources)
    return element(
        "section",
        element("h2", "Sources", attributes={"id": "title-sources"}),
        element("ol", *entries, attributes={"class": "sources"}),
        attributes={"id": "sources", "aria-labelledby": "title-sources"},
    )


def _source(name: str, citation: Citation, places: list[tuple[str, str]]) -> Markup:
    link = citation.link
    told = {"href": link, "rel": "noopener noreferrer nofollow", "class": "link"}
    verdict = "compared with the document" if citation.verified else "NOT FOUND IN THE DOCUMENT"
    return element(
        "li",
        element("span", name, attributes={"class": "number"}),
        element("p", element("cite", citation_line(citation)), attributes={"class": "title"}),
        element("blockquote", element("p", citation.quote)),
        element("p", element("a", link, attributes=told)) if link else "",
        element(
            "details",
            element("summary", "How to check it"),
            element("dl", *_facts(citation)),
        ),
        element(
            "p",
            element("span", verdict, attributes={"class": "" if citation.verified else "warning"}),
            *_back(places),
            attributes={"class": "quiet"},
        ),
        attributes={"id": f"source-{name}"},
    )


def _facts(citation: Citation) -> Iterator[Markup]:
    facts = {
        "File": citation.source,
        "Document": citation.document_id,
        "Characters": f"{citation.start}–{citation.end}",
        "Cited as": citation.marker,
        "SHA-256 of its text": citation.text_sha256,
    }
    for name, value in facts.items():
        if value:
            yield element("div", element("dt", name), element("dd", value))


def _back(places: list[tuple[str, str]]) -> Iterator[Markup]:
    for number, (anchor, name) in enumerate(places):
        yield joined(" · cited by " if not number else ", ")
        yield element("a", inert(name), attributes={"href": f"#{anchor}"})
