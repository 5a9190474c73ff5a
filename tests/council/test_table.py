from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.council.conftest import Hall, furnished

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.council.meeting.chair import check_citation
from chapterhouse.council.minutes.outline import minutes_markdown
from chapterhouse.council.passages import MOST_ASPECTS, MOST_WORDS, aspects_of
from chapterhouse.text.counting import count_words
from chapterhouse.types import GAP, Minutes, Quotation, Scope

ASKED = "How long should confidentiality last?"
AGREEMENT = """---
title: Mutual Non-Disclosure Agreement of {party}
date: {date}
---

# Mutual Non-Disclosure Agreement

This agreement is made between {party} and the Recipient.

## Confidential information

The Recipient shall hold all Confidential Information in strict confidence.

## Term

The obligations of confidentiality shall continue for {term} from the date of disclosure.

## Governing law

This agreement is governed by the laws of England.
"""
TERMS = {"alder": "five years", "birch": "two (2) years", "cedar": "eighteen months"}
BELLS = "# Bells\n\nThe bells of the church ring at noon every day.\n"


def agreement(party: str, term: str, date: str = "2024-01-01") -> str:
    return AGREEMENT.format(party=party, term=term, date=date)


def shelve(hall: Hall, shelves: Mapping[str, Mapping[str, str]]) -> None:
    """Lay documents on shelves of the library, by shelf and name."""
    for shelf, texts in shelves.items():
        folder = hall.folder / f"papers-{shelf}"
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text, "utf-8")
        hall.library.documents.add(folder, shelf=shelf)


def readers(*shelves: str, options: tuple[str, ...] = ()) -> Council:
    """Return a council of roles that each read a shelf of their own."""
    made = Council.new("readers")
    for shelf in shelves:
        made = made.add_member(name=shelf, shelves=(shelf,), instructions="Read your documents.")
    for entry in ("independent_analysis", "cross_examination", "rebuttal"):
        made = made.add_round(entry)
    return made.decide_between(*options)


def read(hall: Hall, shelves: Mapping[str, Mapping[str, str]], question: str) -> Minutes:
    """Return what documents say on a question, each shelf read by a member."""
    shelve(hall, shelves)
    return hall.convene(readers(*shelves), question)


@pytest.fixture(scope="module")
def agreements(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A library with three agreements, and a shelf that speaks of something else."""
    folder = tmp_path_factory.mktemp("agreements")
    with Library.open(furnished(folder / "home")) as library:
        texts = {name: {"nda.md": agreement(name.title(), term)} for name, term in TERMS.items()}
        shelve(Hall(library, folder), {**texts, "bells": {"bells.md": BELLS}})
        yield library


@pytest.fixture
def signed(agreements: Library, tmp_path: Path) -> Hall:
    """The hall of the three agreements, which no test changes."""
    return Hall(agreements, tmp_path)


MANY = "How long should confidentiality last, which law governs, and who rings the bells?"


def cells(minutes: Minutes) -> dict[tuple[str, str], str]:
    return {(row.asked, cell.member): cell.text for row in minutes.table for cell in row.cells}


@pytest.mark.parametrize("shelves", [("alder",), ("alder", "birch"), (*TERMS, "bells")])
@pytest.mark.parametrize(("question", "rows"), [(ASKED, 1), (MANY, 3)])
def test_it_has_all_cells(signed: Hall, shelves: tuple[str, ...], question: str, rows: int) -> None:
    minutes = signed.convene(readers(*shelves), question)
    assert [[cell.member for cell in row.cells] for row in minutes.table] == [list(shelves)] * rows


def test_each_cell_has_the_words_of_that_member(signed: Hall) -> None:
    minutes = signed.convene(readers(*TERMS), ASKED)
    assert [row.asked for row in minutes.table] == [ASKED.removesuffix("?")]
    for (_, member), text in cells(minutes).items():
        assert [term for term in TERMS.values() if term in text] == [TERMS[member]]


def test_every_quotation_stands_in_the_member_s_own_document(signed: Hall) -> None:
    minutes = signed.convene(readers(*TERMS, "bells"), MANY)
    cited = {citation.number: citation for citation in minutes.citations}
    assert any(cells(minutes).values())
    for cell in (cell for row in minutes.table for cell in row.cells):
        assert bool(cell.citations) is bool(cell.text)
        assert count_words(cell.text) <= MOST_WORDS
        for citation in map(cited.__getitem__, cell.citations):
            body = signed.library.documents.body(citation.document_id).text
            assert citation.verified
            assert body[citation.start : citation.end] == citation.quote
            shelves = signed.library.documents.get(citation.document_id).shelves
            assert shelves == (cell.member,)


def test_nothing_else_is_said(signed: Hall) -> None:
    """No position, no comparison, no decision: a row, the sources, and who has nothing."""
    minutes = signed.convene(readers(*TERMS, "bells"), ASKED)
    assert not minutes.debated
    bare = Minutes(
        minutes.council, minutes.title, minutes.question, members=minutes.members,
        table=minutes.table, citations=minutes.citations,
    )  # fmt: skip
    assert minutes == bare
    text = minutes_markdown(minutes).casefold()
    verdicts = ("same", "differ", "disput", "decided", "decision", "supports", "silent")
    assert [word for word in verdicts if word in text] == []


def test_who_has_nothing_on_it_is_named(bare_hall: Hall) -> None:
    shelves = {
        "alder": {"nda.md": agreement("Alder", "five years")},
        "numbers": {"n.md": "17 19 23 29\n"},
    }
    minutes = read(bare_hall, shelves, ASKED)
    assert cells(minutes)[ASKED.removesuffix("?"), "numbers"] == ""
    assert "nothing found" in minutes_markdown(minutes)
    assert f"**numbers:** {ASKED}" in minutes_markdown(minutes)


def test_what_nobody_s_documents_are_near_is_found_nowhere(signed: Hall) -> None:
    minutes = signed.convene(readers(*TERMS), "Qwfp zxcv arstd?")
    assert not any(cells(minutes).values())
    assert not minutes.citations


def test_a_sentence_that_shares_a_word_is_not_near_what_is_asked(bare_hall: Hall) -> None:
    shelves = {
        "north": {"a.md": "The crew may keep a dog aboard if it is on a leash.\n"},
        "south": {"b.md": "The crane may lift nine tonnes.\n"},
    }
    found = cells(read(bare_hall, shelves, "If a sailor has a dog, may it come aboard?"))
    assert [bool(text) for text in found.values()] == [True, False]


def test_a_misspelled_question_is_quoted_by_what_is_meant(bare_hall: Hall) -> None:
    text = "You will be offered health insurance when you leave. The canteen opens at noon.\n"
    assert "insurance" in cell_of(bare_hall, text, "Do you offer helth insurence?")


def cell_of(hall: Hall, text: str, question: str, name: str = "a.md") -> str:
    (found,) = cells(read(hall, {"one": {name: text}}, question)).values()
    return found


def test_a_row_of_a_table_is_quoted_with_its_header(bare_hall: Hall) -> None:
    text = "# Tariffs\n\n| Berth | Fee | Due |\n|---|---|---|\n" + "".join(
        f"| {name} quay | {fee} euros | May |\n" for name, fee in (("North", 40), ("South", 55))
    )
    found = cell_of(bare_hall, text, "What is the fee for a berth at the south quay?")
    assert found == "Berth: South quay · Fee: 55 euros · Due: May"


def test_of_a_long_sentence_the_best_clauses_are_quoted(bare_hall: Hall) -> None:
    filler = "the parties shall keep their boats clean, and paint them in spring, "
    text = f"# Rules\n\nWhereas {filler * 5}the berth must be left by noon on Sunday, {filler * 5}."
    found = cell_of(bare_hall, text, "When must the berth be left?")
    assert "left by noon on Sunday" in found
    assert found.startswith(f"{GAP} ")
    assert found.endswith(f" {GAP}")
    assert count_words(found) <= MOST_WORDS + 2


@pytest.mark.parametrize(
    "text",
    [
        "# When must the berth be left?\n\nThe berth must be left by noon.\n",
        "# Rules\n\nWhen must the berth be left?\n\nThe berth must be left by noon.\n",
        "# Rules\n\n**Leaving the berth**\n\nThe berth must be left by noon.\n",
        "# Rules\n\nThe berth must be left:\n\n- by noon\n",
        "# Rules\n\nThe berth must be left by noon.\n\nBerth left on: ______________\n",
        "# Rules\n\nThe berth must be left by noon.\n\nBerth left on ______ by the tenant.\n",
        "---\ntitle: When must the berth be left?\n---\n\n# Rules\n\nLeave the berth by noon.\n",
    ],
)
def test_what_says_nothing_never_stands_alone(bare_hall: Hall, text: str) -> None:
    found = cell_of(bare_hall, text, "When must the berth be left?")
    assert "by noon" in found
    assert "____" not in found
    assert "title" not in found


def test_how_long_is_answered_with_a_length_of_time(bare_hall: Hall) -> None:
    text = (
        "# Rules\n\n## 1. How long secrecy lasts\n\n1. Secrecy of 3 lists lasts long.\n\n"
        "## 2. Other\n\n2. Nothing is told for two (2) years thereafter.\n"
    )
    assert "two (2) years" in cell_of(bare_hall, text, "How long does secrecy last?")


@pytest.mark.usefixtures("vectors_soon")
def test_what_is_near_by_meaning_alone_is_found(bare_hall: Hall) -> None:
    text = "# Notes\n\nThe physician examines sick passengers every Tuesday.\n"
    assert "physician" in cell_of(bare_hall, text, "When does the doctor see ill travellers?")


def test_a_span_that_does_not_stand_there_is_no_citation(signed: Hall) -> None:
    store, scope = signed.runtime.store, Scope.of(("alder",))
    (cited,) = signed.convene(readers("alder"), ASKED).citations
    found = Quotation(cited.document_id, cited.start, cited.end, cited.quote)
    assert check_citation(found, store, scope) is not None
    assert check_citation(replace(found, quote="x" * len(found.quote)), store, scope) is None
    assert check_citation(found, store, Scope.of(("birch",))) is None  # of another's shelf
    assert check_citation(Quotation("nowhere", 0, 1, "x"), store, scope) is None


def test_options_of_the_caller_are_not_used_and_it_is_said(signed: Hall) -> None:
    minutes = signed.convene(readers(*TERMS), ASKED, options=("Sign it", "Do not sign it"))
    assert minutes.options == ()
    assert any("options are not used" in warning for warning in minutes.warnings)


def test_a_council_that_is_a_member_has_one_column(bare_hall: Hall) -> None:
    shelve(
        bare_hall, {"alder": {"nda.md": agreement("Alder", "five years")}, "bells": {"b.md": BELLS}}
    )
    bare_hall.library.councils.create(readers("alder"))
    made = replace(readers("bells"), slug="both").add_member(council="readers")
    minutes = bare_hall.convene(made, ASKED)
    assert "five years" in cells(minutes)[ASKED.removesuffix("?"), "readers"]


@pytest.mark.parametrize(
    ("question", "language", "asked"),
    [
        ("How long should confidentiality last?", "en", ["How long should confidentiality last"]),
        ("What is the notice period, and who may terminate?", "en",
         ["What is the notice period", "who may terminate"]),
        ("Which court decides? Which law governs?", "en",
         ["Which court decides", "Which law governs"]),
        ("Give me an overview of who owns what.", "en", ["who owns what"]),
        ("Harbour fees", "en", ["Harbour fees"]),
        ("Wie lange gilt die Vertraulichkeit, und wer darf kündigen?", "de",
         ["Wie lange gilt die Vertraulichkeit", "wer darf kündigen"]),
        ("Combien de temps dure la confidentialité et qui peut résilier ?", "fr",
         ["Combien de temps dure la confidentialité", "qui peut résilier"]),
    ],
)  # fmt: skip
def test_what_a_question_asks(question: str, language: str, asked: list[str]) -> None:
    assert [one.text for one in aspects_of(question, {language: 1})] == asked


@pytest.mark.parametrize(
    ("question", "language", "context", "asked"),
    [
        ("Two companies share data: who owns it and how long is it kept?", "en",
         "Two companies share data", ["who owns it", "how long is it kept"]),
        ("We want to hire two people. May they start in May?", "en", "We want to hire two people",
         ["May they start in May"]),
        ("If a supplier is late, what may we do?", "en", "If a supplier is late",
         ["what may we do"]),
        ("Wenn der Verein aufgelöst wird, wer bekommt das Vermögen?", "de",
         "Wenn der Verein aufgelöst wird", ["wer bekommt das Vermögen"]),
    ],
)  # fmt: skip
def test_the_rest_is_context(question: str, language: str, context: str, asked: list[str]) -> None:
    found = aspects_of(question, {language: 1})
    assert [one.text for one in found] == asked
    assert {one.context for one in found} == {context}


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who approves it? When?", ["Who approves it? When"]),
        (
            "What would it cost, and when? And who pays it?",
            ["What would it cost, and when", "who pays it"],
        ),
        ("When? And who pays?", ["When? And who pays"]),
        ("May we, and do we have to warn the owner?", ["May we, and do we have to warn the owner"]),
        ("When?", ["When"]),
    ],
)
def test_each_part_is_a_whole_question(question: str, asked: list[str]) -> None:
    assert [one.text for one in aspects_of(question, {"en": 1})] == asked


def test_a_part_has_the_part_before_it_as_context_and_there_are_only_so_many() -> None:
    one, other = aspects_of("Who keeps the papers, and where are they kept?", {"en": 1})
    assert (one.context, other.context) == ("", one.text)
    many = " ".join(f"Who owns part {number}?" for number in range(3 * MOST_ASPECTS))
    assert len(aspects_of(many, {"en": 1})) == MOST_ASPECTS


@given(st.text(max_size=300))
def test_any_question_has_aspects_of_its_own_words(question: str) -> None:
    found = aspects_of(question, {"en": 1})
    assert 1 <= len(found) <= MOST_ASPECTS
    flat = " ".join(question.split())
    assert all(one.text in flat or one.text in question for one in found)
    assert aspects_of(question, {"en": 1}) == found
