"""How a model reads a chunk."""

from dataclasses import replace

from tests.retrieval.scripted import document

from chapterhouse.retrieval.shortlist import passage_text
from chapterhouse.types import Chunk

CHUNK = Chunk("tariff", 0, 0, 12, "80 euros a metre.", section_path=("Fees", "Berths"))


def test_a_passage_begins_with_where_it_stands() -> None:
    text = passage_text(CHUNK, document("tariff", title="Tariff of 2025"))
    place, _, said = text.partition("\n")
    assert said == "80 euros a metre."
    assert place.startswith("Tariff of 2025 / ")
    assert "Berths" in place


def test_a_row_is_read_under_its_header() -> None:
    text = passage_text(replace(CHUNK, header="| berth | fee |\n"), None)
    assert text.endswith("\n| berth | fee |\n80 euros a metre.")


def test_without_title_and_section_there_is_only_the_text() -> None:
    assert passage_text(replace(CHUNK, section_path=()), None) == CHUNK.text
