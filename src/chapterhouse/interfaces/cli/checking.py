"""What ``docs check`` does: a document beside its file, as a page and as lines."""

from typing import TYPE_CHECKING, Final

from chapterhouse.files import write_output
from chapterhouse.interfaces.cli import viewer
from chapterhouse.interfaces.cli.output_files import destination, is_marked, marked
from chapterhouse.interfaces.cli.session import Outcome
from chapterhouse.interfaces.cli.terminal import one_line, styled
from chapterhouse.presenting.comparison import comparison_page, share_text

if TYPE_CHECKING:
    from rich.console import Console

    from chapterhouse.library import Library
    from chapterhouse.types import Comparison, OriginalLine

_MOST_LINES: Final = 20  # that are listed on the terminal
_LONGEST: Final = 120  # characters of one


def checked(library: "Library", name: str, output: str, pages: str, *, may_open: bool) -> Outcome:
    """Write the page of a comparison and return what is missing.

    Raises:
        UsageError, NotFoundError, RejectedError: as ``Library.compare``.
        RefusedError: a file of something else stands where the page is to be written.
    """
    document = library.document(name)
    wanted = output or f"check-{document.id}.html"
    path = destination(wanted, "The page", "--output check.html", is_marked)
    found = library.compare(document.id, pages=pages)
    write_output(path, marked(comparison_page(found)))
    command = viewer.viewer_command(path.absolute(), None) if may_open else ()
    opened = bool(command) and viewer.start(command)
    data = {
        "file": str(path),
        "document": found.document,
        "share": found.share,
        "missing": [
            {"page": number, "line": line.text, "words": _words(line)}
            for number, line in found.missing
        ],
        "remarks": found.remarks,
        "opened": opened,
    }

    def show(target: "Console") -> None:
        target.print(styled((f"Wrote {one_line(str(path))}", "bold")))
        if may_open and not opened:
            target.print(styled(("There is no browser to show it in: open the file.", "yellow")))
        _show(target, found)

    return Outcome(data, show)


def _words(line: "OriginalLine") -> list[str]:
    return [line.text[start:end] for start, end in line.missing]


def _show(target: "Console", found: "Comparison") -> None:
    target.print(styled((f"Taken: {share_text(found.share)}.", "")))
    for sentence in (*(n.sentence for n in found.document.notices), *found.remarks):
        target.print(styled((one_line(sentence), "yellow")))
    missing = found.missing
    for number, line in missing[:_MOST_LINES]:
        where = f"page {number}: " if number is not None else ""
        told = one_line(line.text)
        cut = f"{told[:_LONGEST]}..." if len(told) > _LONGEST else told
        words = one_line(", ".join(_words(line)))[:_LONGEST]
        lacking = "" if line.wholly else f" (missing: {words})"
        target.print(styled((f"Not taken, {where}{cut}{lacking}", "")))
    if len(missing) > _MOST_LINES:
        target.print(styled((f"... and {len(missing) - _MOST_LINES:,} more: see the page.", "dim")))
