"""Blocks on a terminal: nothing that a document says may steer it or look like a line of ours."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from chapterhouse.presenting import blocks
from chapterhouse.presenting.citing import citation_line
from chapterhouse.presenting.styled import columns, indented, one_line, shown, styled
from chapterhouse.text.sanitise import inert
from chapterhouse.types import Citation

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_LONGEST_HEADING: Final = 60  # characters in a line that names a place
_HASH_DIGITS: Final = 12
_STYLES: Final = {
    blocks.Style.STRONG: "bold",
    blocks.Style.WARNING: "yellow",
    blocks.Style.QUIET: "dim",
    blocks.Style.KEY: "bold",
    blocks.Style.GOOD: "green",
    blocks.Style.BAD: "bold red",
    blocks.Style.TITLE: "bold cyan",
    blocks.Style.NOTABLE: "cyan",
}


# --- parts -------------------------------------------------------------------------------------


def show(
    target: "Console",
    part: blocks.Part,
    options: str | None = "",
    *,
    detailed: bool = False,
    by: int = 0,
) -> None:
    """Print all of a part but its own title, with an empty line between the parts below it.

    ``options`` open the same library in another command; None where none can. ``detailed`` shows
    sources with their quotations and checksums.
    """
    for block in part.blocks:
        if isinstance(block, blocks.Sources):
            sources(target, block.citations, options, detailed=detailed)
        else:
            show_block(target, block, by)
    for number, below in enumerate(part.parts):
        if number or part.blocks:
            target.print()
        if below.title:
            target.print(styled((quiet_line(below.title), "bold cyan")))
        show(target, below, options, detailed=detailed, by=3 if below.title else 0)


def draw(target: "Console", found: Iterable[blocks.TerminalBlock]) -> None:
    """Print blocks one below the other."""
    for block in found:
        show_block(target, block, 0)


def show_block(target: "Console", block: blocks.TerminalBlock, by: int) -> None:  # noqa: C901 - one for each kind
    """Print a block moved to the right; sources are for ``sources`` to print."""
    match block:
        case blocks.Paragraph() | blocks.Lines():
            for line in blocks.lines_of(block):
                indented(target, text_of(target, line), by)
        case blocks.Bullets(lines, marks):
            for line, mark in zip(lines, marks or (blocks.Mark(),) * len(lines), strict=True):
                words = text_of(target, (blocks.Words(f"{mark.number or '•'} "), *line))
                indented(target, words, by + 2 * mark.depth)
        case blocks.Code(text):
            indented(target, text.expandtabs(4), by + 4)
        case blocks.Verbatim(line, indent):
            runs = (
                (_marked(target, run.text, run.style), _STYLES.get(run.style, "")) for run in line
            )
            indented(target, styled(*runs), by + indent)
        case blocks.Raw(text):
            target.out(shown(text), highlight=False, end="" if text.endswith("\n") else "\n")
        case blocks.Columns():
            columns(target, block)
        case blocks.Grid():
            _rows(target, block, by)
        case blocks.Sources():
            pass


def _rows(target: "Console", grid: blocks.Grid, by: int) -> None:
    """Show a table row by row, which fits any width."""
    for row in grid.rows:
        indented(target, text_of(target, row[0].line), by)
        for column, cell in zip(grid.columns[1:], row[1:], strict=True):
            if not cell.whole:
                continue
            indented(target, text_of(target, (blocks.Words(f"{column}: "), *cell.whole)), by + 2)


# --- words -------------------------------------------------------------------------------------


def text_of(target: "Console", line: blocks.Line) -> "Text":
    """Return a line; without colours what tells stands between marks."""
    return styled(*(part for run in line for part in _run(target, run)))


def _run(
    target: "Console", run: blocks.Words | blocks.CitationBlock | blocks.StatementName
) -> Iterator[tuple[str, str]]:
    match run:
        case blocks.Words(text, style):
            yield _marked(target, quiet_line(text), style), _STYLES.get(style, "")
        case blocks.CitationBlock(names):
            yield f" {numbers(names)}", "bold"
        case blocks.StatementName(name):
            yield quiet_line(name), "cyan"


def _marked(target: "Console", text: str, style: blocks.Style) -> str:
    """Return a text, between marks where it is the key and there are no colours."""
    is_plain = style is blocks.Style.KEY and (target.no_color or not target.is_terminal)
    return f"»{text}«" if is_plain else text


def quiet_line(text: str) -> str:
    """Return words on one line in which nothing looks like a number of ours."""
    return inert(shown(re.sub(r"\s+", " ", text)))


def numbers(names: Iterable[object]) -> str:
    """Return numbers of citations as they are shown."""
    return "".join(f"[{name}]" for name in names)


# --- sources -----------------------------------------------------------------------------------


def sources(
    target: "Console",
    citations: Iterable[tuple[str, Citation]],
    options: str | None = "",
    *,
    detailed: bool = False,
) -> None:
    """Print one line for each place that is cited, or all that is needed to check each source."""
    places: dict[tuple[str, str, str], list[str]] = {}
    for number, (name, citation) in enumerate(citations):
        if detailed:
            if number:
                target.print()
            source(target, name, citation, options)
        warning = "" if citation.verified else " NOT VERIFIED"
        place = quiet_line(citation_line(citation, _LONGEST_HEADING))
        key = (citation.document_id, place, warning)
        places.setdefault(key, []).append(name)
    for (_, place, warning), names in places.items() if not detailed else ():
        opens = "" if options is None else f" — chapterhouse open {names[0]}{options}"
        target.print(
            styled((f"{numbers(names)} ", "bold"), place, (warning, "bold red"), (opens, "dim"))
        )


def source(target: "Console", name: str, citation: Citation, options: str | None) -> None:
    """Print a source with its quotation, and the command that shows it in its document."""
    title = quiet_line(citation_line(citation))
    target.print(styled((f"[{name}] ", "bold"), (title, "bold cyan")))
    facts = [
        citation.source,
        f"characters {citation.start}–{citation.end}",
        f"sha256 {citation.text_sha256[:_HASH_DIGITS]}",
    ]
    verdict = ("verified", "green") if citation.verified else ("NOT VERIFIED", "bold red")
    indented(target, styled((" · ".join(map(quiet_line, facts)) + " · ", "dim"), verdict))
    if citation.header:
        indented(target, styled((quiet_line(citation.header), "dim")))
    indented(target, f"“{inert(citation.quote)}”")
    if citation.link:
        indented(target, styled((one_line(citation.link), "dim")))
    if options is None or citation.tool:
        return
    opens = f"chapterhouse docs show {citation.document_id} --span {citation.start}:{citation.end}"
    indented(target, styled((opens + options, "dim")))
