"""Questions as they are counted: the figures, and what a removal leaves of them."""

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapterhouse.store.blobs import FolderBlobs
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import (
    Memory,
    OutcomeCounts,
    QuestionFigures,
    QuestionOutcome,
    QuestionRecord,
)
from chapterhouse.types.analytics import DAY, WEAK, day_of

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
    confidence=st.sampled_from([0.0, 0.5, 0.79, 0.8, 1.0]),
    milliseconds=st.integers(0, 20),
    model=st.sampled_from(["", "small", "large"]),
    cached=st.booleans(),
    input_tokens=st.integers(0, 9),
    output_tokens=st.integers(0, 9),
    cost=st.one_of(st.none(), st.floats(0, 9)),
    text=st.sampled_from(["", "Why?"]),
    cited=NAMES,
    nearest=NAMES,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, make_parts: Any) -> Iterable[SqliteStore]:
    folder = tmp_path_factory.mktemp("questions")
    with SqliteStore(folder / "library.db", blobs=FolderBlobs(folder / "blobs")) as store:
        for name in ("note", "plan", "rules"):
            store.put(*make_parts(name))
        yield store


def outcomes(records: Iterable[QuestionRecord]) -> OutcomeCounts:
    found = Counter(one.outcome for one in records)
    return OutcomeCounts(found.total(), *(found[one] for one in QuestionOutcome))


def rank(values: Sequence[int], share: float) -> int:
    """Return the nearest-rank percentile."""
    return sorted(values)[math.ceil(share * len(values)) - 1] if values else 0


def cost(records: Sequence[QuestionRecord]) -> Any:
    known = [one.cost for one in records if one.cost is not None]
    return pytest.approx(math.fsum(known)) if known else None


def having(records: Iterable[QuestionRecord], field: str) -> dict[str, int]:
    found = Counter(name for one in records for name in getattr(one, field) if name in DOCUMENTS)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def check(found: QuestionFigures, records: Sequence[QuestionRecord]) -> None:
    assert found.outcomes == outcomes(records)
    assert found.by_interface == Counter(one.interface for one in records)
    days = sorted({one.asked // DAY for one in records})
    assert [(one.day, one.outcomes) for one in found.by_day] == [
        (day_of(day * DAY), outcomes(one for one in records if one.asked // DAY == day))
        for day in days
    ]
    assert list(found.cited.items()) == list(having(records, "cited").items())
    assert found.cited_documents == len(having(records, "cited"))
    assert sorted(found.never_cited) == sorted({*DOCUMENTS} - found.cited.keys())
    weak = [
        one
        for one in sorted(records, key=lambda one: one.asked)
        if one.outcome in {QuestionOutcome.PASSAGES, QuestionOutcome.NOT_FOUND}
        or (one.outcome is QuestionOutcome.ANSWER and one.confidence < WEAK)
    ]
    assert [(one.asked, one.outcome, one.confidence) for one in found.weak] == [
        (one.asked, one.outcome, one.confidence) for one in weak
    ]
    for seen, one in zip(found.weak, weak, strict=True):
        named = dict.fromkeys((*one.cited, *one.nearest))
        assert seen.nearest == tuple(name for name in named if name in DOCUMENTS)
        assert seen.text == ("" if "gone-0001" in named else one.text)


def check_groups(found: QuestionFigures, records: Sequence[QuestionRecord]) -> None:
    assert [one.model for one in found.models] == sorted({one.model for one in records})
    for model in found.models:
        own = [one for one in records if one.model == model.model]
        times = [one.milliseconds for one in own if not one.cached]
        assert (model.questions, model.cached) == (len(own), len(own) - len(times))
        assert (model.median, model.percentile_95) == (rank(times, 0.5), rank(times, 0.95))
        assert model.input_tokens == sum(one.input_tokens for one in own)
        assert model.output_tokens == sum(one.output_tokens for one in own)
        assert model.cost == cost(own)
        assert model.unpriced == sum(one.cost is None for one in own)
    names = sorted({(one.persona, one.council) for one in records})
    assert [(one.persona, one.council) for one in found.asked] == names
    for asked in found.asked:
        own = [
            one for one in records if (one.persona, one.council) == (asked.persona, asked.council)
        ]
        assert asked.outcomes == outcomes(own)
        assert asked.median == rank([one.milliseconds for one in own], 0.5)
        assert asked.cost == cost(own)


@settings(max_examples=60, deadline=None)
@given(st.lists(RECORDS, max_size=25), st.integers(0, 4 * DAY))
def test_figures_are_those_of_a_plain_recount(
    whole: SqliteStore, records: list[QuestionRecord], since: int
) -> None:
    questions = whole.questions()
    questions.clear()
    for record in records:
        questions.record(record, 0)
    within = [one for one in records if one.asked >= since]
    found = questions.figures(since, 9 * DAY, 0)
    check(found, within)
    check_groups(found, within)
    assert questions.first() == min((one.asked for one in records), default=None)
    assert questions.clear() == len(records)


def test_lists_are_limited(whole: SqliteStore) -> None:
    whole.questions().clear()
    found = whole.questions().figures(0, 1_700_000_000 + 40 * DAY, 2)
    assert found.never_cited == DOCUMENTS[:2]
    assert found.ages == {40: 3}


def test_old_questions_are_dropped(store: SqliteStore) -> None:
    questions = store.questions()
    for asked in (10, 20, 30):
        questions.record(QuestionRecord(asked, QuestionOutcome.ANSWER), asked - 10)
    assert questions.first() == 20


def test_a_removed_document_is_named_nowhere(
    store: SqliteStore, make_parts: Any, tmp_path: Path
) -> None:
    store.label_root("/home/user/notes", "notes")
    store.put(*make_parts("note"))
    store.put(*make_parts("plan"))
    record = QuestionRecord(1, QuestionOutcome.NOT_FOUND, text=TEXT, nearest=DOCUMENTS[:2])
    store.questions().record(record, 0)
    other = replace(record, text="What is planned?", nearest=DOCUMENTS[1:2])
    store.questions().record(other, 0)
    store.remove("note-0001")
    first, second = store.questions().figures(0, 0, 0).weak
    assert (first.text, first.nearest) == ("", ("plan-0001",))
    assert second.text == "What is planned?"
    # One who asked before the removal and is recorded after it brings nothing back.
    store.questions().record(record, 0)
    assert [one.text for one in store.questions().figures(0, 0, 0).weak].count(TEXT) == 0
    assert not list(store.examination().faults(thorough=True))
    store.forget_removals(store.sequence())
    store.compact()
    for path in tmp_path.glob("library.db*"):
        assert TEXT.encode() not in path.read_bytes()
        assert b"note-0001" not in path.read_bytes()


@pytest.mark.parametrize("whole_persona", [False, True])
def test_a_text_goes_with_the_memory_of_the_same_question(
    store: SqliteStore, *, whole_persona: bool
) -> None:
    memories = store.memories()
    known = memories.remember(Memory("", "", 1, 0, TEXT, "No.", found=False, method="m"))
    for text in (TEXT, "Another?"):
        store.questions().record(QuestionRecord(1, QuestionOutcome.NOT_FOUND, text=text), 0)
    memories.forget_all([""]) if whole_persona else memories.forget([known.id])
    assert [one.text for one in store.questions().figures(0, 0, 0).weak] == ["", "Another?"]


@pytest.mark.parametrize("memories", [True, False])
def test_a_copy_has_questions_only_with_memories(
    store: SqliteStore, tmp_path: Path, *, memories: bool
) -> None:
    store.questions().record(QuestionRecord(1, QuestionOutcome.NOT_FOUND, text=TEXT), 0)
    store.snapshot(tmp_path / "copy.db", lambda: None, memories=memories)
    assert (TEXT.encode() in (tmp_path / "copy.db").read_bytes()) is memories


def test_two_processes_record_at_once(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    SqliteStore(path, blobs=FolderBlobs(tmp_path / "blobs")).close()
    script = Path(__file__).with_name("question_process.py")
    running = [
        subprocess.Popen([sys.executable, str(script), str(path), name, "60"])
        for name in ("cli", "mcp")
    ]
    assert [process.wait(60) for process in running] == [0, 0]
    with SqliteStore(path, blobs=FolderBlobs(tmp_path / "blobs")) as store:
        assert store.questions().figures(0, 0, 0).by_interface == {"cli": 60, "mcp": 60}


def test_counts_are_those_of_no_question_in_a_new_library() -> None:
    with (
        TemporaryDirectory() as name,
        SqliteStore(Path(name) / "library.db", blobs=FolderBlobs(Path(name))) as store,
    ):
        check(replace(store.questions().figures(0, 0, 0), never_cited=DOCUMENTS), [])
