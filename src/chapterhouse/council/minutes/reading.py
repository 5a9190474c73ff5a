"""What each member's documents say, for readers: a table, or a list where there is little room."""

from collections.abc import Sequence
from typing import Final

from chapterhouse.council.minutes.wording import Reader, legible
from chapterhouse.presenting.blocks import (
    Block,
    Bullets,
    Grid,
    GridCell,
    Line,
    Paragraph,
    Style,
    Words,
    plain,
)
from chapterhouse.presenting.styled import cut, one_line
from chapterhouse.types import (
    Aspect,
    Position,
    PositionComparison,
    PositionKind,
    PositionRelation,
)

_MOST_VALUES: Final = 4
_OLDER: Final = 60  # characters of an older sentence
SHORT: Final = 160  # characters of a sentence on the first screen
_KINDS: Final = {
    PositionKind.YES: "yes",
    PositionKind.NO: "no",
    PositionKind.CONDITIONAL: "under a condition",
    PositionKind.SILENT: "silent",
}
_RELATIONS: Final = {
    PositionRelation.AGREE: "They say the same",
    PositionRelation.DIFFER: "They seem to differ",
    PositionRelation.CONDITIONAL: "They differ in a condition",
    PositionRelation.NOT_COMPARABLE: "Not compared: each says something different",
    PositionRelation.SILENT: "Nobody's documents speak of it",
}
_TONES: Final = {
    PositionKind.YES: "supports",
    PositionKind.NO: "contradicts",
    PositionKind.SILENT: "silent",
}


def reading_grid(reader: Reader) -> tuple[Block, ...]:
    """Return the table: a row for each aspect, a column for each member, how they compare last."""
    reading = reader.minutes.reading
    if not reading.aspects:
        return ()
    rows = tuple(
        (
            GridCell((Words(aspect_title(aspect.text), Style.STRONG),)),
            *(_cell(reader, cell) for cell in cells),
            GridCell(plain(relation_text(reader, comparison, cells))),
        )
        for aspect, cells, comparison in _rows(reader)
    )
    names = [reader.title(member.key) for member in reader.minutes.members]
    columns = ("Asked", *names, "Together")
    return (Grid("What each member's documents say", columns, rows, sortable=True),)


def _cell(reader: Reader, cell: Position) -> GridCell:
    """Return a position with the sentence that opens below it."""
    word = position_word(cell)
    style = Style.QUIET if cell.kind is PositionKind.SILENT else Style.STRONG
    head: Line = (Words(word, style),) if word else ()
    return GridCell(head, _TONES.get(cell.kind, ""), _sentence(reader, cell))


def reading_lines(reader: Reader, most: int = SHORT) -> tuple[Block, ...]:
    """Return the same as a list below each aspect, sentences cut to ``most`` characters."""
    blocks: list[Block] = []
    for aspect, cells, comparison in _rows(reader):
        together = relation_text(reader, comparison, cells)
        head: Line = (Words(aspect_title(aspect.text), Style.STRONG),)
        head = (*head, Words(f" {together}.")) if together else head
        blocks.append(Paragraph(head))
        lines = [
            (
                Words(f"{reader.title(cell.member)}: ", Style.QUIET),
                *position_line(reader, cell, most),
            )
            for cell in cells
        ]
        blocks.append(Bullets(tuple(lines)))
    return tuple(blocks)


def _rows(
    reader: Reader,
) -> Sequence[tuple[Aspect, Sequence[Position], PositionComparison]]:
    reading = reader.minutes.reading
    return [
        (aspect, [cell for cell in reading.positions if cell.aspect == aspect.id], comparison)
        for aspect, comparison in zip(reading.aspects, reading.comparisons, strict=True)
    ]


def aspect_title(asked: str) -> str:
    """Return what is asked, as a title."""
    text = one_line(asked)
    return f"{text[:1].upper()}{text[1:]}?"


def position_line(reader: Reader, cell: Position, most: int = 0) -> Line:
    """Return a position: its value or its yes or no, the sentence, what is older.

    Args:
        reader: Names of the meeting.
        cell: The position.
        most: Characters of the sentence that are shown; 0 shows all.
    """
    word = position_word(cell)
    if cell.kind is PositionKind.SILENT:
        return (Words(word, Style.QUIET),)
    head: Line = (Words(word, Style.STRONG), Words(": ")) if word else ()
    return (*head, *_sentence(reader, cell, most))


def _sentence(reader: Reader, cell: Position, most: int = 0) -> Line:
    """Return the sentence of a position with its source and date, and what is older."""
    if cell.kind is PositionKind.SILENT:
        return ()
    text = legible(one_line(cell.text))
    date = (Words(f" ({cell.date})", Style.QUIET),) if cell.date else ()
    older: Line = ()
    if cell.outdated:
        before = position_word(cell.outdated) or cut(one_line(cell.outdated.text), _OLDER)
        older = (
            Words(f" Before, {cell.outdated.date}: {before}", Style.WARNING),
            *reader.cited(cell.outdated.citations),
        )
    shown = _around(text, cell.values[0] if cell.values else "", most) if most else text
    return (Words(shown), *reader.cited(cell.citations), *date, *older)


def _around(text: str, value: str, most: int) -> str:
    """Return a text cut to so many characters, the value among them."""
    place = text.find(value)
    if place + len(value) <= most - 1 or place < 0:
        return cut(text, most)
    begin = text.find(" ", max(0, place - most // 2)) + 1
    return f"… {cut(text[begin:], most)}"


def position_word(cell: Position) -> str:
    """Return a position in a word or a value; empty where there is only the sentence."""
    if cell.kind is PositionKind.VALUE:
        return ", ".join(cell.values[:_MOST_VALUES])
    return _KINDS.get(cell.kind, "")


def relation_text(reader: Reader, comparison: PositionComparison, cells: Sequence[Position]) -> str:
    """Return how the members stand to each other, with who holds what where they differ.

    Nothing where there is one member alone.
    """
    if len(cells) == 1:
        return ""
    if comparison.relation is PositionRelation.ONE_ONLY:
        return f"Only the documents of {reader.titles(comparison.groups[0])} speak of it"
    text = _RELATIONS[comparison.relation]
    if comparison.same_source:
        return f"{text}; all quote one document"
    if comparison.relation in {PositionRelation.DIFFER, PositionRelation.CONDITIONAL}:
        own = {cell.member: cell for cell in cells}
        sides = [
            f"{position_word(own[group[0]])} ({reader.titles(group)})"
            for group in comparison.groups
        ]
        return f"{text}: {'; '.join(sides)}"
    return text
