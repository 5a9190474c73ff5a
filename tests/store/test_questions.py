"""Questions as they are counted: the figures, and what a removal leaves of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.databases import NewPlace

from chapterhouse.store.sqlite import Store
from chapterhouse.types import (
    Memory,
    OutcomeCounts,
    QuestionFigures,
    QuestionOutcome,
    QuestionRecord,
)
from chapterhouse.types.analytics import DAY

DOCUMENTS = ("note-0001", "plan-0001", "rules-0001")
TEXT = "Where do the otters of Osk sleep in winter?"
NAMES = st.lists(st.sampled_from((*DOCUMENTS, "gone-0001")), max_size=4, unique=True).map(tuple)
RECORDS = st.builds(
    QuestionRecord,
    asked=st.integers(0, 5 * DAY),
    outcome=st.sampled_from(QuestionOutcome),
    interface=st.sampled_from(["cli", "mcp"]),
    persona=st.sampled_from(["", "maria"]),
    council=st.sampled_from(["", "", "board"]),
    text=st.sampled_from(["", "Why?"]),
    cited=NAMES,
    nearest=NAMES,
)


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, new_place: NewPlace, make_parts: Any
) -> Iterable[Store]:
    with new_place(tmp_path_factory.mktemp("questions"), "questions")() as store:
        for name in ("note", "plan", "rules"):
            store.put(*make_parts(name))
        yield store


def outcomes(records: Iterable[QuestionRecord]) -> OutcomeCounts:
    found = Counter(one.outcome for one in records)
    return OutcomeCounts(found.total(), *(found[one] for one in QuestionOutcome))


def having(records: Iterable[QuestionRecord], field: str) -> dict[str, int]:
    found = Counter(name for one in records for name in getattr(one, field) if name in DOCUMENTS)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def check(found: QuestionFigures, records: Sequence[QuestionRecord]) -> None:
    assert found.outcomes == outcomes(records)
    assert found.by_interface == Counter(one.interface for one in records)
    assert list(found.cited.items()) == list(having(records, "cited").items())
    assert found.cited_documents == len(having(records, "cited"))
    assert sorted(found.never_cited) == sorted({*DOCUMENTS} - found.cited.keys())
    unanswered: dict[tuple[str, ...], list[QuestionRecord]] = {}
    for one in records:
        if one.outcome in {QuestionOutcome.PASSAGES, QuestionOutcome.NOT_FOUND}:
            named = dict.fromkeys((*one.cited, *one.nearest))
            text = "" if "gone-0001" in named else one.text
            nearest = next((name for name in named if name in DOCUMENTS), "")
            place = (text, one.persona, one.council, nearest)
            unanswered.setdefault(place, []).append(one)
    for seen in found.unanswered:
        own = unanswered.pop((seen.text, seen.persona, seen.council, seen.nearest))
        assert (seen.questions, seen.last) == (len(own), max(one.asked for one in own))
        assert seen.not_found == sum(one.outcome is QuestionOutcome.NOT_FOUND for one in own)
    assert not unanswered
    counts = [one.questions for one in found.unanswered]
    assert counts == sorted(counts, reverse=True)


@given(st.lists(RECORDS, max_size=25), st.integers(0, 4 * DAY))
def test_figures_are_those_of_a_plain_recount(
    whole: Store, records: list[QuestionRecord], since: int
) -> None:
    questions = whole.questions()
    questions.clear()
    for record in records:
        questions.record(record, 0)
    within = [one for one in records if one.asked >= since]
    found = questions.figures(since, 9 * DAY, 0)
    check(found, within)
    assert questions.first() == min((one.asked for one in records), default=None)
    assert questions.clear() == len(records)


def test_lists_are_limited(whole: Store) -> None:
    whole.questions().clear()
    found = whole.questions().figures(0, 1_700_000_000 + 40 * DAY, 2)
    assert found.never_cited == DOCUMENTS[:2]
    assert found.ages == {40: 3}


def test_a_removed_document_is_named_nowhere(store: Store, make_parts: Any, tmp_path: Path) -> None:
    store.label_root("/home/user/notes", "notes")
    store.put(*make_parts("note"))
    store.put(*make_parts("plan"))
    record = QuestionRecord(1, QuestionOutcome.NOT_FOUND, text=TEXT, nearest=DOCUMENTS[:2])
    store.questions().record(record, 0)
    other = replace(record, text="What is planned?", nearest=DOCUMENTS[1:2])
    store.questions().record(other, 0)
    store.remove("note-0001")
    found = store.questions().figures(0, 0, 0).unanswered
    left = {(one.text, one.nearest) for one in found}
    assert left == {("", "plan-0001"), ("What is planned?", "plan-0001")}
    # One who asked before the removal and is recorded after it brings nothing back.
    store.questions().record(record, 0)
    assert TEXT not in {one.text for one in store.questions().figures(0, 0, 0).unanswered}
    assert not list(store.examination().faults(thorough=True))
    store.forget_removals(store.sequence())
    store.compact()
    for path in tmp_path.glob("library.db*"):
        assert TEXT.encode() not in path.read_bytes()
        assert b"note-0001" not in path.read_bytes()


@pytest.mark.parametrize("whole_persona", [False, True])
def test_a_text_goes_with_the_memory_of_the_same_question(
    store: Store, *, whole_persona: bool
) -> None:
    memories = store.memories()
    known = memories.remember(Memory("", "", 1, 0, TEXT, "No.", found=False, method="m"))
    for text in (TEXT, "Another?"):
        store.questions().record(QuestionRecord(1, QuestionOutcome.NOT_FOUND, text=text), 0)
    memories.forget_all([""]) if whole_persona else memories.forget([known.id])
    assert {one.text for one in store.questions().figures(0, 0, 0).unanswered} == {"", "Another?"}


@pytest.mark.parametrize("memories", [True, False])
def test_a_copy_has_questions_only_with_memories(
    store: Store, tmp_path: Path, *, memories: bool
) -> None:
    store.questions().record(QuestionRecord(1, QuestionOutcome.NOT_FOUND, text=TEXT), 0)
    store.snapshot(tmp_path / "copy.db", lambda: None, memories=memories)
    assert (TEXT.encode() in (tmp_path / "copy.db").read_bytes()) is memories
