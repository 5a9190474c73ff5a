"""Blocks as one page that stands alone: nothing from elsewhere, fit for paper.

A page has no script but the one that sorts and searches its tables, which is named in its policy by
its hash; without it the tables are as they were written. Text can only ever be text in it.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib import resources
from typing import Final

from chapterhouse.presenting import blocks
from chapterhouse.presenting.citing import citation_line, clean
from chapterhouse.text.sanitise import inert, sanitise
from chapterhouse.types import Citation

_NAME: Final = re.compile(r"[a-z][a-z0-9]*")
_ATTRIBUTE: Final = re.compile(r"[a-z][a-z-]*")
_WITHOUT_END: Final = frozenset({"meta", "br", "hr"})
_NONE: Final[Mapping[str, str]] = {}


class Markup(str):
    """Text that is markup of ours already; any other text is escaped."""

    __slots__ = ()


def element(name: str, *content: "str | Markup", attributes: Mapping[str, str] = _NONE) -> Markup:
    """Return an element: markup as it stands, text and values escaped, empty attributes left out.

    Raises:
        ValueError: a name is none.
    """
    if not _NAME.fullmatch(name) or not all(map(_ATTRIBUTE.fullmatch, attributes)):
        raise ValueError(f"{name} {list(attributes)} are no names of an element.")
    given = "".join(f' {key}="{_escaped(value)}"' for key, value in attributes.items() if value)
    inside = "".join(map(markup, content))
    end = "" if name in _WITHOUT_END else f"{inside}</{name}>"
    return Markup(f"<{name}{given}>{end}")


def html_page(
    title: str, policy: str, style: str, body: Markup, names: Mapping[str, str] = _NONE
) -> str:
    """Return a whole document, which takes nothing from elsewhere; ``names`` are its metadata."""
    stated = {
        "viewport": "width=device-width, initial-scale=1",
        "generator": "Chapterhouse",
        "referrer": "no-referrer",
        **names,
    }
    head = element(
        "head",
        element("meta", attributes={"charset": "utf-8"}),
        element("meta", attributes={"http-equiv": "Content-Security-Policy", "content": policy}),
        *(element("meta", attributes={"name": n, "content": c}) for n, c in stated.items()),
        element("title", title),
        element("style", Markup(style)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, attributes={'lang': 'en'})}\n"


def markup(content: "str | Markup") -> Markup:
    """Return markup as it stands, and text escaped."""
    return content if isinstance(content, Markup) else Markup(_escaped(content))


def joined(*content: "str | Markup") -> Markup:
    """Return several pieces as one."""
    return Markup("".join(map(markup, content)))


def _escaped(text: str) -> str:
    return escape(sanitise(text).text, quote=True)


Citing = Mapping[str, list[tuple[str, str]]]  # where a citation is used: anchors, their names

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_SORTS: Final = "table.js"
_DEEPEST: Final = 6  # level of a heading
_STYLED: Final[Mapping[blocks.Style, tuple[str, str]]] = {
    blocks.Style.STRONG: ("strong", ""),
    blocks.Style.WARNING: ("strong", "warning"),
    blocks.Style.QUIET: ("span", "quiet"),
    blocks.Style.KEY: ("strong", "key"),
}
# Parts that are read first and stand out, by the end of their key.
_NOTABLE: Final = frozenset({"decision", "dissent", "warnings", "absences", "missing"})


def page(whole: blocks.Part, kind: str) -> str:
    """Return a part as a whole HTML document; what is first in it stands out below its title.

    Its key and that of each part below are unique; ``kind`` is as ``Minutes of a council``.
    """
    citing = _citing(whole)
    question, *rest = [_block(block, citing) for block in whole.blocks] or [Markup("")]
    body = element(
        "body",
        element("a", "Skip to the text", attributes={"class": "skip", "href": f"#{whole.key}"}),
        element(
            "header",
            element("p", kind, attributes={"class": "kind"}),
            element("h1", inert(whole.title)),
            element("div", question, attributes={"class": "question"}) if question else "",
            *rest,
        ),
        _contents(whole),
        element(
            "main",
            *(_part(part, 2, citing) for part in whole.parts),
            attributes={"id": whole.key, "tabindex": "-1"},
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
    names = {"color-scheme": "light dark"}
    if not _is_sortable(whole):
        return html_page(whole.title, POLICY, _text("style.css"), body, names)
    script = _text(_SORTS)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"{POLICY}; script-src 'sha256-{digest}'"
    with_script = joined(body, element("script", Markup(script)))
    return html_page(whole.title, policy, _text("style.css"), with_script, names)


def _is_sortable(part: blocks.Part) -> bool:
    own = any(isinstance(block, blocks.Grid) and block.sortable for block in part.blocks)
    return own or any(map(_is_sortable, part.parts))


@cache
def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _contents(whole: blocks.Part) -> Markup:
    entries = [
        element("li", element("a", inert(part.title), attributes={"href": f"#{part.key}"}))
        for part in whole.parts
        if part.title
    ]
    if not entries:
        return Markup("")
    return element("nav", element("ol", *entries), attributes={"aria-label": "Contents"})


def _part(part: blocks.Part, level: int, citing: Citing) -> Markup:
    """Return a section; what a member said is an article."""
    kind = part.key.rpartition("-")[0].rpartition("-")[2]
    last = part.key.rpartition("-")[2]
    shown = last if last in _NOTABLE else kind if kind in {"round", "statement"} else ""
    name = f"title-{part.key}" if part.title else ""
    heading = f"h{min(level, _DEEPEST)}"
    return element(
        "article" if kind == "statement" else "section",
        element(heading, inert(part.title), attributes={"id": name}) if part.title else "",
        *(_block(block, citing) for block in part.blocks),
        *(_part(below, level + 1, citing) for below in part.parts),
        attributes={"id": part.key, "class": shown, "aria-labelledby": name},
    )


# --- blocks ------------------------------------------------------------------------------------


def _block(block: blocks.Block, citing: Citing) -> Markup:  # noqa: PLR0911 - one for each kind
    match block:
        case blocks.Paragraph(line):
            return element("p", _line(line))
        case blocks.Lines(lines):
            rest = (joined(element("br"), _line(line)) for line in lines[1:])
            return element("p", _line(lines[0]), *rest)
        case blocks.Bullets(lines, ()):
            return element("ul", *map(_bullet, lines))
        case blocks.Bullets(lines, marks):
            items = map(_marked, lines, marks)
            return element("ul", *items, attributes={"class": "as-written"})
        case blocks.Code(text):
            return element("pre", text)
        case blocks.Grid():
            return _grid(block)
        case blocks.Sources(citations):
            entries = (_source(name, clean(one), citing.get(name, [])) for name, one in citations)
            return element("ol", *entries, attributes={"class": "sources"})


def _marked(line: blocks.Line, mark: blocks.Mark) -> Markup:
    """Return an item with the number that it has in its document."""
    attributes = {"class": f"depth-{mark.depth}"}
    return element("li", mark.number or "•", " ", _line(line), attributes=attributes)


def _bullet(line: blocks.Line) -> Markup:
    """Return a line of a list; where a statement is made, links lead to it."""
    first = line[0] if line else None
    anchor = first.anchor if isinstance(first, blocks.StatementName) and first.stated else ""
    return element(
        "li", _line(line), attributes={"id": anchor, "class": "statement" if anchor else ""}
    )


def _line(line: blocks.Line) -> Markup:
    return joined(*map(_run, line))


def _run(run: blocks.Words | blocks.CitationBlock | blocks.StatementName) -> Markup:
    match run:
        case blocks.Words(text, style):
            return _words(text, style)
        case blocks.CitationBlock(names):
            return element("sup", *_links(names), attributes={"class": "cited"})
        case blocks.StatementName(name, anchor, stated):
            attributes = {"class": "statement-name"}
            if stated or not anchor:
                return element("span", inert(name), attributes=attributes)
            return element("a", inert(name), attributes={**attributes, "href": f"#{anchor}"})


def _words(text: str, style: blocks.Style) -> Markup:
    if style not in _STYLED:
        return joined(inert(text))
    name, shown = _STYLED[style]
    return element(name, inert(text), attributes={"class": shown})


def _links(names: Iterable[str]) -> Iterator[Markup]:
    for place, name in enumerate(names):
        attributes = {"href": f"#source-{name}", "aria-label": f"Source {name}"}
        yield joined(", " if place else "", element("a", name, attributes=attributes))


def _grid(grid: blocks.Grid) -> Markup:
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
        attributes={"class": "sortable" if grid.sortable else ""},
    )
    # What is wider than a telephone is moved sideways, with the keyboard too.
    attributes = {"class": "wide", "role": "region", "aria-label": grid.caption, "tabindex": "0"}
    return element("div", table, attributes=attributes)


def _grid_cell(name: str, cell: blocks.GridCell, scope: str) -> Markup:
    line = _line(cell.line)
    if cell.more:
        line = element("details", element("summary", line or "…"), element("p", _line(cell.more)))
    return element(name, line, attributes={"scope": scope, "class": cell.tone})


# --- sources -----------------------------------------------------------------------------------


def _citing(part: blocks.Part) -> dict[str, list[tuple[str, str]]]:
    """Return for each citation where it is used: anchors and their names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for block in part.blocks:
        for line in blocks.lines_of(block):
            first = line[0] if line else None
            place = (part.key, part.title)
            if isinstance(first, blocks.StatementName) and first.stated and first.anchor:
                place = (first.anchor, first.name)
            for name in (
                name for run in line if isinstance(run, blocks.CitationBlock) for name in run.names
            ):
                if place[1] and place not in found.setdefault(name, []):
                    found[name].append(place)
    for below in part.parts:
        for name, places in _citing(below).items():
            known = found.setdefault(name, [])
            known += [place for place in places if place not in known]
    return found


def _source(name: str, citation: Citation, places: list[tuple[str, str]]) -> Markup:
    link = citation.link
    attributes = {"href": link, "rel": "noopener noreferrer nofollow", "class": "link"}
    whole = "kept text" if citation.tool else "document"
    verdict = (
        f"compared with the {whole}" if citation.verified else f"NOT FOUND IN THE {whole.upper()}"
    )
    return element(
        "li",
        element("span", name, attributes={"class": "number"}),
        element("p", element("cite", citation_line(citation)), attributes={"class": "title"}),
        element("blockquote", element("p", citation.quote)),
        element("p", element("a", link, attributes=attributes)) if link else "",
        element("details", element("summary", "How to check it"), element("dl", *_facts(citation))),
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
        "From" if citation.tool else "File": citation.source,
        "Kept as" if citation.tool else "Document": citation.document_id,
        "Characters": f"{citation.start}–{citation.end}",
        "CitationBlock as": citation.marker,
        "SHA-256 of its text": citation.text_sha256,
    }
    for name, value in facts.items():
        if value:
            yield element("div", element("dt", name), element("dd", value))


def _back(places: list[tuple[str, str]]) -> Iterator[Markup]:
    for number, (anchor, name) in enumerate(places):
        yield joined(" · cited by " if not number else ", ")
        yield element("a", inert(name), attributes={"href": f"#{anchor}"})
