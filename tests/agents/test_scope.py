"""A question to some shelves is answered as if no others were there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse.library import Library

CREW = {
    "Gate": "# Gate\n\nThe harbour gate closes at 21:30 in winter.\n\nThe tide office (TO) does.",
    "Speed": "# Speed\n\nInside the harbour no vessel may exceed 4 knots. Amber weather halves it.",
    "Berth": "# Berths\n\nA berth for a night costs 30 crowns. See Gate for the hours.",
}
GUESTS = {
    "Winter": "# Winter\n\n" + "The harbour gate of Varnholm closes late, said the master. " * 9,
    "Speeds": "# Speed\n\nVessels and vesels: knots, knots, knots. The tide office (TOF) measures.",
    "Gate": "# Gate\n\nThe gate that guests use is always open, in amber weather too.",
    "Deutsch": "# Hafen\n\nDas Tor des Hafens schließt um acht Uhr, und die Gäste gehen heim.",
}
QUESTIONS = (
    "When does the harbour gate close in winter?",
    "How fast may a vesel go?",  # misspelled, and a guest's document spells it so
    '"amber weather"',
    "What does a berth cost, and who opens the gate?",
    "What does the TO do?",
    "Who measures the weathr?",
    "What do penguins eat?",
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "home") as opened:
        for title, text in CREW.items():
            opened.documents.add_text(text, title=title, shelf="crew")
        yield opened


def seen(library: Library) -> list[object]:
    """Return everything that asking the shelf of the crew gives, by every way of asking."""

    shelves = ["crew"]
    given: list[object] = []
    for question in QUESTIONS:
        given += [
            library.search.hits(question, shelves=shelves, limit=20),
            library.search.hits(question, shelves=shelves, limit=1),
            library.search.all(question, shelves=shelves),
            library.search.context(question, shelves=shelves, maximum=300),
            library.answers.ask(question, shelves=shelves, remember=False),
        ]
    return given


def test_other_shelves_change_no_hit_no_score_and_no_answer(library: Library) -> None:
    alone = seen(library)
    for title, text in GUESTS.items():
        library.documents.add_text(text, title=title, shelf="guests")
    assert seen(library) == alone


def test_no_shelf_is_nothing_and_saying_nothing_is_everything(library: Library) -> None:
    assert library.search.hits("harbour gate", shelves=[]).hits == ()
    assert library.search.hits("harbour gate", shelves=[]).documents == 0
    assert library.search.all("harbour gate", shelves=[]).hits == ()
    assert list(library.documents.list([])) == []
    assert not library.answers.ask("When does the harbour gate close?", shelves=[]).found
    listed = len(list(library.documents.list()))
    assert library.search.hits("harbour gate").documents == len(CREW) == listed
