"""Collections and files of questions: a temporary library, and names that fit documents."""

from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import UsageError
from chapterhouse.evaluation.collection import (
    Task,
    collection_task,
    limited,
    open_collection,
    question_task,
)
from chapterhouse.evaluation.comparing import evaluate
from chapterhouse.evaluation.datasets import CorpusDocument, Dataset, Question, load_dataset
from chapterhouse.settings import Settings
from chapterhouse.types import Progress


def test_settings_hold_in_the_temporary_library(beir: Path) -> None:
    settings = Settings.model_validate(
        {"chunking": {"strategy": "fixed", "size": 30, "overlap": 0}}
    )
    dataset = load_dataset(beir)
    told: list[Progress] = []
    with open_collection(
        dataset.documents, settings=settings, on_progress=told.append
    ) as collection:
        assert collection.library.status().chunks > 8
        folder = collection.library.home
    assert not folder.exists()
    assert [entry.done for entry in told] == [1, 2, 3, 4, 5] * 2  # stored, then embedded


def test_a_document_without_text_is_found_by_its_title() -> None:
    documents = [
        CorpusDocument("a", "Tide tables of Brixham", " "),
        CorpusDocument("b", "", "Berth fees are due in March."),
        CorpusDocument("c", "", "\n"),
    ]
    relevant = {"q": {"a": 1}}
    dataset = Dataset("set", tuple(documents), {"q": "tide tables"}, {}, relevant)
    with open_collection(dataset.documents) as collection:
        found = evaluate(collection_task(dataset, collection))
    assert found.documents == 2
    assert found.measures["RR@10"].mean == 1.0
    assert found.warnings == (
        "1 document has neither text nor title and cannot be found: left out.",
    )
    assert not found.note


def test_an_interrupt_leaves_nothing_behind(beir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = beir.parent / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))

    def stop(_: Progress) -> None:
        assert list(place.iterdir())
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        open_collection(load_dataset(beir).documents, on_progress=stop),
    ):
        pass
    assert list(place.iterdir()) == []


def test_an_empty_library_is_told(tmp_path: Path) -> None:
    with Library.open(tmp_path / "empty") as empty, pytest.raises(UsageError, match="is empty"):
        question_task([Question("q", "What?", answers=("x",))], empty, "questions")


def test_a_document_is_meant_by_its_id_its_place_and_the_end_of_its_name(library: Library) -> None:
    document = next(one for one in library.documents.list() if "2019" in one.source)
    names = (document.id, document.source, document.location, "tariffs-2019.md")
    asked = [Question(str(n), "What?", required=(name,)) for n, name in enumerate(names)]
    task = question_task(asked, library, "questions")
    assert [dict(case.relevant) for case in task.cases] == [{document.id: 1}] * 4
    assert [dict(case.labels) for case in task.cases] == [{document.id: document.source}] * 4


def test_of_many_names_that_fit_nothing_the_first_are_told(library: Library) -> None:
    known = "tariffs-2019.md"
    asked = [
        Question(str(n), "What?", required=(f"gone-{n}.md", known), place=f"line {n}")
        for n in range(1_000)
    ]
    warnings = question_task(asked, library, "questions").warnings
    assert warnings[0] == "line 0: no document is called 'gone-0.md'."
    assert warnings[-1] == f"{1_000 - len(warnings) + 1:,} more names fit no document."
    assert len(warnings) < 50


def test_a_few_questions_are_drawn_by_their_ids_and_stay_in_order(library: Library) -> None:
    asked = [Question(str(n), "What?", required=("glossary.md",)) for n in range(20)]
    task = question_task(asked, library, "questions")

    def drawn(of: Task, limit: int | None) -> list[str]:
        return [case.question.id for case in limited(of, limit).cases]

    few = drawn(task, 5)
    assert few == sorted(few, key=int)
    assert set(few) == set(drawn(replace(task, cases=task.cases[::-1]), 5))
    assert set(drawn(task, 3)) < set(few)
    assert drawn(task, 0) == []
    assert drawn(task, None) == drawn(task, 99) == [str(n) for n in range(20)]
