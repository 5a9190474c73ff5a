"""The table of minutes without a model, for readers: a row for each thing that was asked."""

from chapterhouse.council.minutes.wording import Reader, question_title
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Grid,
    GridCell,
    Style,
    Words,
    plain,
)
from chapterhouse.presenting.styled import one_line
from chapterhouse.types import TableCell

TITLE = "What each member's documents say"
NOTHING = "nothing found"
_NO_DOCUMENTS = "there are no documents."


def table_grid(reader: Reader) -> tuple[Block, ...]:
    """Return the table: a row for each thing that was asked, a column for each member."""
    table = reader.minutes.table
    if not table:
        return ()
    rows = tuple(
        (
            GridCell((Words(question_title(row.asked), Style.STRONG),)),
            *(_cell(reader, cell) for cell in row.cells),
        )
        for row in table
    )
    columns = ("Asked", *(reader.title(cell.member) for cell in table[0].cells))
    return (Grid(TITLE, columns, rows, sortable=True),)


def nothing_found(reader: Reader) -> tuple[Block, ...]:
    """Return who has nothing on what was asked."""
    asked: dict[str, list[str]] = {}
    for row in reader.minutes.table:
        for cell in row.cells:
            if not cell.text:
                asked.setdefault(cell.member, []).append(question_title(row.asked))
    empty = {member.key for member in reader.minutes.members if not member.documents}
    lines = tuple(
        (
            Words(f"{reader.title(member)}: ", Style.STRONG),
            *plain(_NO_DOCUMENTS if member in empty else " ".join(titles)),
        )
        for member, titles in asked.items()
    )
    return (Bullets(lines),) if lines else ()


def _cell(reader: Reader, cell: TableCell) -> GridCell:
    if not cell.text:
        return GridCell((Words(NOTHING, Style.QUIET),), "silent")
    return GridCell((Words(one_line(cell.text)), *reader.cited(cell.citations)))
