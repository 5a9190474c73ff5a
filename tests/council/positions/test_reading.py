"""What documents say on an aspect: found, chosen, read; what is older beside it; or silent."""

from collections.abc import Mapping

import pytest
from tests.council.agreements import ASKED, BELLS, TERMS, agreement, read, readers, shelve
from tests.council.conftest import Hall

from chapterhouse.council.positions.reading import SILENT, FoundPosition, read_together
from chapterhouse.types import Aspect, AspectKind, PositionKind

ASPECT = Aspect("a1", "How long should confidentiality last", AspectKind.VALUE)


def together(hall: Hall, aspect: Aspect, *shelves: str) -> Mapping[str, FoundPosition]:
    session = hall.open_session(readers(*shelves), f"{aspect.text}?")
    requests = {one.key: one.request for one in session.participants}
    return read_together(aspect, requests, hall.runtime)


def test_each_member_s_value_is_found_in_their_own_documents(signed: Hall) -> None:
    found = together(signed, ASPECT, *TERMS)
    assert {key: [value.text for value in one.stated.values] for key, one in found.items()} == {
        key: [term] for key, term in TERMS.items()
    }
    assert all(one.date == "2024-01-01" for one in found.values())
    assert all(0 <= one.likely <= 1 for one in found.values())


def test_every_position_stands_in_its_document_at_its_span(signed: Hall) -> None:
    for one in together(signed, ASPECT, *TERMS).values():
        assert one.span is not None
        body = signed.library.documents.body(one.span.document_id).text
        assert body[one.span.start : one.span.end] == one.span.quote == one.text
        assert all(value.text in one.text for value in one.stated.values)


def test_documents_that_speak_of_something_else_are_silent(signed: Hall) -> None:
    found = together(signed, ASPECT, "alder", "bells")
    assert found["bells"] == SILENT
    assert found["alder"].stated.kind is PositionKind.VALUE
    assert together(signed, ASPECT, "bells") == {"bells": SILENT}


def test_nobody_s_documents_speak_of_what_they_do_not_know(signed: Hall) -> None:
    moon = Aspect("a1", "How reliable is the plumbing of the moon", AspectKind.VALUE)
    assert set(together(signed, moon, *TERMS).values()) == {SILENT}


TARIFF = "---\ntitle: Tariff, {name}\ndate: {date}\n---\n\n# {name}\n\nA guest berth costs {fee}.\n"
OLD = TARIFF.format(name="Spring list", date="2019-01-01", fee="60 euros a night")
NEW = TARIFF.format(name="List of the board", date="2024-01-01", fee="80 euros a night")
BERTH = "What does a guest berth cost?"


@pytest.mark.parametrize("names", [("a.md", "b.md"), ("b.md", "a.md")])
def test_an_older_version_is_told_beside_the_newer(bare_hall: Hall, names: tuple[str, str]) -> None:
    minutes = read(bare_hall, {"alder": dict(zip(names, (OLD, NEW), strict=True))}, BERTH)
    (cell,) = minutes.reading.positions
    assert (cell.values, cell.date) == (("80 euros",), "2024-01-01")
    assert cell.outdated is not None
    assert (cell.outdated.values, cell.outdated.date) == (("60 euros",), "2019-01-01")
    assert cell.outdated.outdated is None
    documents = {one.number: one.document_id for one in minutes.citations}
    assert documents[cell.citations[0]] != documents[cell.outdated.citations[0]]


def test_a_version_that_differs_in_its_value_alone_is_told_too(bare_hall: Hall) -> None:
    old, new = (
        agreement("Alder", term, date)
        for term, date in (("two years", "2019-01-01"), ("five years", "2024-01-01"))
    )
    minutes = read(bare_hall, {"alder": {"old.md": old, "new.md": new}}, ASKED)
    (cell,) = minutes.reading.positions
    assert cell.values == ("five years",)
    assert cell.outdated is not None
    assert cell.outdated.values == ("two years",)


def test_what_has_no_date_is_not_called_older(bare_hall: Hall) -> None:
    undated = OLD.replace("date: 2019-01-01\n", "")
    minutes = read(bare_hall, {"alder": {"old.md": undated, "new.md": NEW}}, BERTH)
    (cell,) = minutes.reading.positions
    assert cell.outdated is None


def test_what_says_the_same_is_not_outdated(bare_hall: Hall) -> None:
    old, new = (agreement("Alder", "five years", f"20{year}-01-01") for year in (19, 24))
    minutes = read(bare_hall, {"alder": {"old.md": old, "new.md": new}}, ASKED)
    (cell,) = minutes.reading.positions
    assert (cell.values, cell.outdated) == (("five years",), None)


@pytest.mark.parametrize(
    ("question", "text", "values"),
    [
        (
            "Wie lange gilt die Vertraulichkeit?",
            "# Vertrag\n\nDie Vertraulichkeit gilt für fünf Jahre nach dem Ende des Vertrags.\n",
            ("fünf Jahre",),
        ),
        (
            "Pendant combien de temps dure la confidentialité ?",
            (
                "# Accord\n\nL'obligation de confidentialité dure cinq ans après la fin.\n\n"
                "Le siège de l'association est à Lyon.\n"
            ),
            ("cinq ans",),
        ),
    ],
)
def test_other_languages_are_read_too(
    bare_hall: Hall, question: str, text: str, values: tuple[str, ...]
) -> None:
    minutes = read(bare_hall, {"alder": {"a.md": text}, "bells": {"b.md": BELLS}}, question)
    alder, bells = minutes.reading.positions
    assert (alder.kind, alder.values) == (PositionKind.VALUE, values)
    assert bells.kind is PositionKind.SILENT


def test_whose_it_is_is_told_in_the_sentence_s_own_words(bare_hall: Hall) -> None:
    text = "# Terms\n\nThe fee for a berth of our service is 30 euros a month.\n\nPay in May.\n"
    minutes = read(bare_hall, {"alder": {"a.md": text}}, "What does a berth cost?")
    (cell,) = minutes.reading.positions
    assert (cell.values, cell.whose) == (("30 euros",), "our service")


def test_what_looks_like_a_citation_is_made_harmless(bare_hall: Hall) -> None:
    forged = agreement("Alder", "five years").replace("disclosure.", "disclosure [1] [^x:y].")
    shelve(bare_hall, {"alder": {"a.md": forged}})
    (found,) = together(bare_hall, ASPECT, "alder").values()
    assert found.span is not None
    assert "[" not in found.text
    assert found.span.quote.endswith("disclosure [1] [^x:y].")


def test_a_term_that_many_sentences_have_is_no_name(bare_hall: Hall) -> None:
    terms = " ".join(f"The Agreement and its part {n} bind the Parties." for n in range(6))
    law = "This Agreement is governed by the laws of Norway, as the Parties have chosen."
    minutes = read(
        bare_hall, {"alder": {"a.txt": f"{terms}\n\n{law}\n"}}, "Which country's law applies?"
    )
    (cell,) = minutes.reading.positions
    assert cell.values == ("Norway",)


def test_a_value_that_many_sentences_state_is_one_still(bare_hall: Hall) -> None:
    others = " ".join(f"Part {n} is kept for five years." for n in ("A", "B", "C", "D"))
    asked = "How long does confidentiality last?"
    text = f"{others}\n\nConfidentiality lasts five years, and for drafts two years.\n"
    minutes = read(bare_hall, {"alder": {"a.txt": text}}, asked)
    (cell,) = minutes.reading.positions
    assert "five years" in cell.values
