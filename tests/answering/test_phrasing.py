"""How a passage reads in an answer."""

from chapterhouse.answering.passages import Passage
from chapterhouse.answering.phrasing import phrase
from chapterhouse.types import Chunk, Document, Hit, Kind

TABLE = (
    "| Item | Cost | Note |\n"
    "| --- | --- | --- |\n"
    "| Dredging | 120 |  |\n"
    "| Paint \\| tar | 7 | x |\n"
)
DOCUMENT = Document("d", "s", "/s", "T", "md", "t", "", "", 0, 0)


def passage(text: str, line: str, kind: Kind = Kind.PROSE, header: str = "") -> Passage:
    chunk = Chunk("d", 0, 100, 100 + len(text), text, kind, header)
    start = 100 + text.index(line)
    return Passage(Hit(1, 1.0, chunk, DOCUMENT), start, start + len(line), line, frozenset())


def test_a_row_names_its_columns() -> None:
    assert (
        phrase(passage(TABLE, "| Dredging | 120 |  |", Kind.TABLE)) == "Item: Dredging · Cost: 120"
    )


def test_a_row_of_a_continued_table_takes_the_repeated_header() -> None:
    header, rows = TABLE[: TABLE.index("| Dredging")], TABLE[TABLE.index("| Paint") :]
    told = phrase(passage(rows, "| Paint \\| tar | 7 | x |", Kind.TABLE, header))
    assert told == "Item: Paint | tar · Cost: 7 · Note: x"


def test_marks_of_markdown_are_left_out() -> None:
    assert phrase(passage("- **Bold** claim.", "- **Bold** claim.")) == "Bold claim."


def test_code_is_shown_as_code() -> None:
    assert phrase(passage("```\nx = 1\n```", "x = 1", Kind.CODE)) == "`x = 1`"
