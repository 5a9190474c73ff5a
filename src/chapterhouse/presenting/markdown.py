"""Blocks as Markdown, with numbered footnotes that name and quote their sources.

Nothing that a document or a model says can become a link, an image, a heading, a table or a
footnote of ours.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from chapterhouse.presenting import blocks
from chapterhouse.presenting.citing import citation_line, clean
from chapterhouse.text.sanitise import inert, sanitise
from chapterhouse.types import Citation

# Also what many renderers make links of by themselves: https://, www. and the like.
_SPECIAL: Final = re.compile(r"([\\`*_\[\]|<>~$^&@]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
# At the beginning of a line: a heading, a list, a rule.
_LEADING: Final = re.compile(r"^(\d{0,9})([#+=.)-])")
_TICKS: Final = re.compile(r"`{3,}")
# Brackets of anybody else are escaped.
_FOOTNOTE: Final = re.compile(r"(?<!\\)\[\^([\w-]+)\]")
_DEEPEST: Final = 6  # level of a heading
_LEVEL: Final = 4  # columns of a list within a list
_AROUND: Final = {blocks.Style.STRONG: "**", blocks.Style.KEY: "**", blocks.Style.WARNING: "*"}


def markdown(part: blocks.Part, *, titled: bool = True) -> str:
    """Return a part as a page of Markdown, its sources as footnotes at the end."""
    return "\n\n".join((*_texts(part, titled=titled), *footnotes(sources_of(part)))) + "\n"


@dataclass(frozen=True, slots=True)
class Marker:
    """Where a text names a citation: ``text[start:end]`` is ``[name]``."""

    name: str
    start: int
    end: int


def bracketed_markdown(part: blocks.Part, *, titled: bool = True) -> tuple[str, tuple[Marker, ...]]:
    """Return a part as Markdown whose citations stand in brackets, and where they stand.

    Its sources are left out. Arguments as of ``markdown``.
    """
    text, markers = "", list[Marker]()
    for written in _texts(part, titled=titled):
        text += "\n\n" if text else ""
        rest = 0
        is_code = written.startswith("```")  # nothing in it is ours
        for found in () if is_code else _FOOTNOTE.finditer(written):
            text += written[rest : found.start()]
            rest = found.end()
            markers.append(Marker(found[1], len(text), len(text) + len(found[1]) + 2))
            text += f"[{found[1]}]"
        text += written[rest:]
    return text, tuple(markers)


def _texts(part: blocks.Part, *, titled: bool) -> Iterator[str]:
    return _part(part, 1) if titled else (text for one in part.parts for text in _part(one, 1))


def sources_of(part: blocks.Part) -> Iterator[tuple[str, Citation]]:
    """Yield every source in a part."""
    for block in part.blocks:
        if isinstance(block, blocks.Sources):
            yield from block.citations
    for below in part.parts:
        yield from sources_of(below)


def footnotes(citations: Iterable[tuple[str, Citation]]) -> Iterator[str]:
    """Yield the footnotes of citations, by how they are called."""
    for name, citation in ((name, clean(one)) for name, one in citations):
        link = f" <{citation.link}>" if citation.link else ""
        yield (
            f"[^{name}]: {words(citation_line(citation), begins=True)}.{link} "
            f"“{words(citation.quote, begins=True)}” "
            f"(cited as {escaped(citation.marker)}; {escaped(citation.source)}, "
            f"characters {citation.start}–{citation.end}, "
            f"SHA-256 {escaped(citation.text_sha256[:12])})"
        )


def block_text(block: blocks.Block) -> str:
    """Return a block as Markdown; sources stand at the end of the page."""
    match block:
        case blocks.Paragraph(line):
            return line_text(line, begins=True)
        case blocks.Lines(lines):
            return "\\\n".join(line_text(line, begins=True) for line in lines)
        case blocks.Bullets():
            return _bullets(block)
        case blocks.Code(text):
            return _code(text)
        case blocks.Grid():
            return _grid(block)
        case blocks.Sources():
            return ""


def line_text(line: blocks.Line, *, begins: bool = False) -> str:
    """Return a line as Markdown; ``begins`` where it may not look like a heading or a list."""
    return "".join(_run(run, begins=begins and not place) for place, run in enumerate(line)).strip()


def words(text: str, *, begins: bool = False) -> str:
    """Return words that Markdown shows as they stand, and in which nothing looks like ours."""
    plain = inert(sanitise(text).text).strip()
    line = escaped(plain) if begins else escaped(f"x{plain}")[1:]
    return f"{line[:-1]}\\!" if line.endswith("!") else line  # a footnote behind it is no image


def escaped(text: str) -> str:
    """Return text that Markdown shows as it stands, on one line."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _LEADING.sub(r"\1\\\2", line)


def heading(text: str, level: int) -> str:
    """Return a heading; number signs at its end would be taken for its own."""
    line = words(text)
    line = f"{line[:-1]}\\#" if line.endswith("#") else line
    return f"{'#' * min(level, _DEEPEST)} {line}"


def _part(part: blocks.Part, level: int) -> Iterator[str]:
    shown = [text for text in map(block_text, part.blocks) if text]
    if part.title and (shown or part.parts):
        yield heading(part.title, level)
    yield from shown
    for below in part.parts:
        yield from _part(below, level + 1)


def _bullets(block: blocks.Bullets) -> str:
    """Return a list; numbers that Markdown would count anew are written out as words."""
    lines = [line_text(line, begins=True) for line in block.lines]
    marks = block.marks or (blocks.Mark(),) * len(lines)
    if _counts_on(marks):
        return "\n".join(
            f"{' ' * _LEVEL * mark.depth}{mark.number or '-'} {line}"
            for mark, line in zip(marks, lines, strict=True)
        )
    named = (escaped(mark.number) or "•" for mark in marks)
    return "\\\n".join(f"{name} {line}" for name, line in zip(named, lines, strict=True))


def _counts_on(marks: Iterable[blocks.Mark]) -> bool:
    """Whether Markdown shows every number as it is written, at a depth that it sees."""
    open_lists: list[str] = []
    for mark in marks:
        number, sign = mark.number[:-1], mark.number[-1:]
        if number and not number.isdecimal():
            return False
        before = "".join(open_lists[mark.depth : mark.depth + 1])
        jumps = sign and before[-1:] == sign and int(number) != int(before[:-1]) + 1
        if jumps or mark.depth > len(open_lists) or number[:1] == "0":
            return False
        open_lists = [*open_lists[: mark.depth], mark.number]
    return True


def _code(text: str) -> str:
    """Return lines between fences that none of them can close."""
    lines = sanitise(text).text
    fence = max((*_TICKS.findall(lines), "``"), key=len) + "`"
    return f"{fence}\n{lines}\n{fence}"


def _run(run: blocks.Words | blocks.CitationBlock | blocks.StatementName, *, begins: bool) -> str:
    match run:
        case blocks.Words(text, style):
            return _styled(text, _AROUND.get(style, ""), begins=begins)
        case blocks.CitationBlock(names):
            return "".join(f"[^{name}]" for name in names)
        case blocks.StatementName(name, _, stated):
            return _styled(name, "**" if stated else "", begins=begins)


def _styled(text: str, around: str, *, begins: bool = False) -> str:
    """Return words with marks around them; spaces stay outside, or the marks would not close."""
    styled = words(text, begins=begins and not around)
    if not styled:
        return " " if text else ""
    before = " " if text[0].isspace() else ""
    behind = " " if text[-1].isspace() else ""
    return f"{before}{around}{styled}{around}{behind}"


def _grid(grid: blocks.Grid) -> str:
    rows = [[line_text(cell.whole) for cell in row] for row in grid.rows]
    return _table([words(column) for column in grid.columns], rows)


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
