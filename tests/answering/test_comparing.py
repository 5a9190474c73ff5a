"""The highest or lowest value of a column: the row is quoted, or the table is shown."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from chapterhouse.library import Library
from chapterhouse.types import AnswerOutcome

FILES: Final = {
    "boats.csv": 'Boat,Places,Price per day\nSvale,4,95.00\nTerne,12,"1,240.00"\nMåke,6,310.50\n',
    "rain.md": "# Rain in Bergen\n\n| Month | Rain | Sunny days |\n|---|---|---|\n"
    "| January | 190 mm | 4 |\n| February | 152 mm | 9 |\n| October | 271 mm | 6 |\n"
    "| Total | 613 mm | 19 |\n",
    "staff.html": "<html><body><h1>Staff</h1><table><tr><th>Name</th><th>Office</th><th>Salary</th>"
    "</tr><tr><td>Ivo</td><td>Riga</td><td>€ 41,000</td></tr><tr><td>Maja</td><td>Oslo</td>"
    "<td>€ 58,500</td></tr><tr><td>Pia</td><td>Riga</td><td>€ 47,200</td></tr></table></body>",
    "Zimmer.md": "# Zimmer im Gasthof\n\n| Zimmer | Betten | Preis |\n|---|---|---|\n"
    "| Linde | 2 | 89,50 EUR |\n| Ahorn | 3 | 1.110,00 EUR |\n| Buche | 1 | 74,00 EUR |\n",
    "communes.csv": "Commune;Habitants\nAubrac;1 204\nLozère;980\nSaint-Flour;6 403\n",
    "rutas.md": "# Rutas de montaña\n\nEstas son las rutas que se pueden hacer en verano con los"
    " niños y con la familia.\n\n| Ruta | Desnivel |\n|---|---|\n| Cares | 430 m |\n"
    "| Urriellu | 1.250 m |\n| Covadonga | 310 m |\n",
    "gaps.md": "# Wells\n\n| Well | Depth | Dug |\n|---|---|---|\n| North | 31 m | 1901 |\n"
    "| South | unknown | 1950 |\n| East | 44 m | 1922 |\n",
    "loans.md": "# Loans\n\n| Loan | Amount |\n|---|---|\n| Alpha | $ 500 |\n| Beta | € 900 |\n",
}
COMPARED: Final = (
    ("Which boat is cheapest?", "Svale", "the lowest of 3 values in “Price per day”"),
    ("Which boat is the most expensive?", "Terne", "the highest of 3 values in “Price per day”"),
    ("Which boat has the most places?", "Terne", "the highest of 3 values in “Places”"),
    ("Which month had the most rain?", "October", "the highest of 3 values in “Rain”"),
    ("which month had the fewest sunny days", "January", "the lowest of 3 values in “Sunny days”"),
    ("Who has the highest salary?", "Maja", "the highest of 3 values in “Salary”"),
    ("Who has the highest salary in Riga?", "Pia", "the highest of 2 values in “Salary”"),
    ("Welches Zimmer ist am teuersten?", "Ahorn", "the highest of 3 values in “Preis”"),
    ("Welches ist das günstigste Zimmer?", "Buche", "the lowest of 3 values in “Preis”"),
    ("Quelle commune a le plus d'habitants ?", "Saint-Flour", "the highest of 3 values in"),
    ("¿Qué ruta tiene el mayor desnivel?", "Urriellu", "the highest of 3 values in “Desnivel”"),
)
NOT_COMPARED: Final = (
    "Which well has the greatest depth?",  # a cell is no number, and no other column is meant
    "Which loan has the highest amount?",  # two currencies
    "Who has the highest salary in Paris?",  # of which the table says nothing
    "Which is the biggest boat?",  # two columns of numbers, and none is named
    "Which boat is the second most expensive?",
    "Which two boats are cheapest?",
    "Which boat has at least 5 places?",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("comparing")
    (folder / "papers").mkdir()
    for name, text in FILES.items():
        (folder / "papers" / name).write_text(text)
    with Library.open(folder / "home") as opened:
        opened.documents.add(folder / "papers")
        yield opened


@pytest.mark.parametrize(("asked", "row", "note"), COMPARED)
def test_the_row_is_quoted_with_its_headings_and_how_it_was_found(
    library: Library, asked: str, row: str, note: str
) -> None:
    answer = library.answers.ask(asked)
    (sentence,) = answer.sentences
    assert answer.outcome is AnswerOutcome.ANSWER
    assert f": {row} · " in sentence.text
    assert sentence.note.startswith(note)
    assert all(citation.verified and row in citation.quote for citation in answer.citations)


@pytest.mark.parametrize("asked", NOT_COMPARED)
def test_what_cannot_be_compared_is_not(library: Library, asked: str) -> None:
    answer = library.answers.ask(asked)
    assert answer.sentences or "Paris" in asked  # a word that no document has
    assert not any("values in" in sentence.note for sentence in answer.sentences)


def test_rows_of_one_value_are_all_quoted(tmp_path: Path) -> None:
    (tmp_path / "ferries.csv").write_text("Ferry,Cars\nFrøya,40\nHitra,55\nSmøla,55\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "ferries.csv")
        answer = library.answers.ask("Which ferry has the most cars?")
        assert [one.text[:12] for one in answer.sentences] == ["Ferry: Hitra", "Ferry: Smøla"]


def test_where_marks_could_be_either_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("Kiosk,Omsk\nB1,980\nB2,1.204\nB3,310\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "x.csv")
        answer = library.answers.ask("Which kiosk has the highest Omsk?")
        assert not any(sentence.note for sentence in answer.sentences)
