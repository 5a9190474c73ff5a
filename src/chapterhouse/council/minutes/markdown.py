"""Minutes as Markdown, with numbered footnotes that name and quote their sources.

Nothing that a document or a model says can become a link, an image, a heading, a table or a
footnote of ours.
"""

from collections.abc import Iterator
from typing import Final

from chapterhouse.answering.footnotes import escaped, footnote
from chapterhouse.answering.markers import inert
from chapterhouse.council.minutes.blocks import (
    Block,
    Bullets,
    Cited,
    ClaimName,
    Grid,
    Line,
    Opposed,
    Paragraph,
    Part,
    Style,
    Words,
)
from chapterhouse.council.minutes.citing import shown_citations
from chapterhouse.council.minutes.outline import outline
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import Minutes

_DEEPEST: Final = 6  # level of a heading
_AROUND: Final = {Style.STRONG: "**", Style.WARNING: "*"}


def markdown(minutes: Minutes) -> str:
    """Return minutes as Markdown with footnotes."""
    parts = [*_part(outline(minutes), 1), *footnotes(minutes)]
    return "\n\n".join(parts) + "\n"


def footnotes(minutes: Minutes, names: frozenset[str] | None = None) -> Iterator[str]:
    """Yield the footnotes of citations, of all without ``names``."""
    for name, citation in shown_citations(minutes):
        if names is None or name in names:
            yield footnote(citation, name)


def block_text(block: Block) -> str:
    """Return a block as Markdown."""
    match block:
        case Paragraph(line):
            return line_text(line, begins=True)
        case Bullets(lines):
            return "\n".join(f"- {line_text(line, begins=True)}" for line in lines)
        case Grid():
            return _grid(block)
        case Opposed():
            return _opposed(block)


def line_text(line: Line, *, begins: bool = False) -> str:
    """Return a line as Markdown; ``begins`` where it may not look like a heading or a list."""
    return "".join(_run(run, begins=begins and not place) for place, run in enumerate(line)).strip()


def words(text: str, *, begins: bool = False) -> str:
    """Return words that Markdown shows as they stand, and in which nothing looks like ours."""
    plain = inert(sanitise(text).text).strip()
    line = escaped(plain) if begins else escaped(f"x{plain}")[1:]
    return f"{line[:-1]}\\!" if line.endswith("!") else line  # a footnote behind it is no image


def heading(text: str, level: int) -> str:
    """Return a heading; number signs at its end would be taken for its own."""
    line = words(text)
    line = f"{line[:-1]}\\#" if line.endswith("#") else line
    return f"{'#' * min(level, _DEEPEST)} {line}"


def _part(part: Part, level: int) -> Iterator[str]:
    yield heading(part.title, level)
    yield from map(block_text, part.blocks)
    for below in part.parts:
        yield from _part(below, level + 1)


def _run(run: Words | Cited | ClaimName, *, begins: bool) -> str:
    match run:
        case Words(text, style):
            return _styled(text, _AROUND.get(style, ""), begins=begins)
        case Cited(names):
            return "".join(f"[^{name}]" for name in names)
        case ClaimName(name, _, stated):
            return _styled(name, "**" if stated else "", begins=begins)


def _styled(text: str, around: str, *, begins: bool = False) -> str:
    """Return words with marks around them; spaces stay outside, or the marks would not close."""
    told = words(text, begins=begins and not around)
    if not told:
        return " " if text else ""
    before = " " if text[0].isspace() else ""
    behind = " " if text[-1].isspace() else ""
    return f"{before}{around}{told}{around}{behind}"


def _grid(grid: Grid) -> str:
    rows = [[line_text(cell.line) for cell in row] for row in grid.rows]
    return _table([words(column) for column in grid.columns], rows)


def _opposed(found: Opposed) -> str:
    first, second = found.sides
    rows = [
        [words(side.date) for side in found.sides],
        [_styled(side.value, "**") for side in found.sides],
        [line_text(side.line) for side in found.sides],
    ]
    header = [words(first.who or "one"), words(second.who or "the other")]
    table = _table(header, [row for row in rows if any(row)])
    return f"**{words(found.title)}**\n\n{table}\n\n{words(found.verdict, begins=True)}"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
