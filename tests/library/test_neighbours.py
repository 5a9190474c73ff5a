"""Names in the first hits are followed in a library, as far as they were read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.types import Scope

pytestmark = pytest.mark.usefixtures("vectors_later")
MAYOR = "Ross Alger was a politician from Alberta. He was the mayor of Calgary until 1980."
SKIER = "Franck Piccard came to Calgary from France with two pairs of skis. A racer, he won."
QUESTION = "Which racer was best in the city that had Ross Alger as its mayor?"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "home") as opened:
        opened.documents.add_bytes(MAYOR.encode(), "mayor.txt", shelf="open")
        opened.documents.add_bytes(SKIER.encode(), "skier.txt", shelf="snow")
        for number in range(8):
            text = f"Which racer was best in the city is asked in lane {number} each year."
            opened.documents.add_bytes(text.encode(), f"racer{number}.txt", shelf="open")
        yield opened


def neighbours(library: Library) -> list[str]:
    hits = library.search.hits(QUESTION, limit=8).hits
    return [hit.document.source.rpartition("/")[2] for hit in hits if "neighbour" in hit.stages]


def test_names_are_followed_when_they_are_read_and_not_before(library: Library) -> None:
    library.search.hits(QUESTION)
    waiting = library._runtime.graph.pending()
    assert waiting == 10  # a question reads nothing
    assert neighbours(library) == []
    library.encoders.embed_pending()
    assert neighbours(library) == ["skier.txt"]


def test_who_sees_a_part_is_led_nowhere_else(library: Library) -> None:
    library.encoders.embed_pending()
    assert neighbours(library.within(Scope.of(["open", "snow"]))) == ["skier.txt"]
    assert neighbours(library.within(Scope.of(["open"]))) == []


def test_it_can_be_turned_off(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.encoders.embed_pending()
    monkeypatch.setenv("CHAPTERHOUSE_EXPANSION__NEIGHBOURS", "false")
    with Library.open(library.home) as again:
        assert neighbours(again) == []
