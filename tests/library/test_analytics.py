import asyncio
import logging
from dataclasses import replace

import pytest

from chapterhouse import Library
from chapterhouse.answering.request import AskOptions
from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.library.analytics import LibraryAnalytics
from chapterhouse.library.answers import answer_of
from chapterhouse.settings import AnalyticsSettings
from chapterhouse.store.questions import QuestionStore
from chapterhouse.types import RemovalState
from chapterhouse.types.analytics import DAY

SPEED = "How fast may a vessel go inside the harbour?"
NOWHERE = "Which vaccines does the dentist recommend for parrots?"


def changed(library: Library, **values: object) -> Library:
    settings = library.settings.model_copy(update={"analytics": AnalyticsSettings(**values)})  # type: ignore[arg-type]
    return Library(replace(library._runtime, settings=settings))


def database(library: Library) -> bytes:
    return b"".join(path.read_bytes() for path in library.folder.glob("library.db*"))


def test_documents_are_counted(library: Library) -> None:
    documents, status = library.analytics.report().documents, library.status()
    assert (documents.documents, documents.chunks) == (status.documents, status.chunks)
    assert documents.by_format == status.by_format


def test_questions_are_counted_without_their_text(library: Library) -> None:
    for _ in range(2):
        library.answers.ask(SPEED)
    asked = changed(library)
    asked._runtime.memories.forget_all([""])
    asked.answers.ask(NOWHERE, interface="cli")
    library._runtime.memories.forget_all([""])
    library._runtime.store.compact()
    report = library.analytics.report()
    assert (report.outcomes.questions, report.outcomes.answered) == (3, 2)
    assert report.by_interface == {"cli": 1, "python": 2}
    assert report.most_cited[0].source == "documents/rules.md"
    assert report.documents.documents == 3
    assert report.documents.cited + len(report.never_cited) == 3
    assert {one.text for one in report.unanswered} == {""}
    assert b"parrots" not in database(library)


def test_texts_are_recorded_where_the_settings_allow_it(library: Library) -> None:
    asked = changed(library, text=True)
    asked.answers.ask(NOWHERE)
    options = AskOptions(remember=False, counted=True)
    asyncio.run(answer_of(asked.answers.events(SPEED, options=options)))
    report = library.analytics.report()
    assert [one.text for one in report.unanswered] == [NOWHERE]
    library._runtime.memories.forget_all([""])
    assert [one.text for one in library.analytics.report().unanswered] == [""]
    library._runtime.store.compact()
    assert b"parrots" not in database(library)


def test_nothing_is_counted_where_it_may_not_be(library: Library) -> None:
    library.answers.ask(SPEED, remember=False)
    changed(library, enabled=False).answers.ask(SPEED)
    assert library.analytics.report(0).outcomes.questions == 0


def test_a_question_that_cannot_be_counted_is_answered(
    library: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    counted = library.answers.ask(SPEED)

    def full(*_: object) -> None:
        raise ChapterhouseError("There is no space left.")

    monkeypatch.setattr(QuestionStore, "record", full)
    with caplog.at_level(logging.INFO):
        assert library.answers.ask(SPEED) == counted
    assert "could not be counted: There is no space left." in caplog.text


def test_a_removal_leaves_nothing_with_questions_there(library: Library) -> None:
    asked = changed(library, text=True)
    cited = asked.answers.ask(SPEED).citations[0]
    asked.answers.ask(f"Is it right that {cited.quote.lower()}?")
    removal = library.documents.remove(cited.document_id)
    assert removal.state is RemovalState.REMOVED
    report = library.analytics.report()
    assert report.outcomes.questions == 2
    assert cited.document_id not in str(report)
    assert cited.document_id.encode() not in database(library)


def test_a_period_ends_today_and_old_questions_go(library: Library) -> None:
    now = [100 * DAY + 5]
    runtime = replace(library._runtime, now=lambda: now[0])
    Library(runtime).answers.ask(SPEED)
    now[0] += 2 * DAY
    Library(runtime).answers.ask(SPEED)
    facet = LibraryAnalytics(runtime)
    assert [facet.report(days).outcomes.questions for days in (0, 1, 2, 3)] == [2, 1, 1, 2]
    assert facet.report(3).first_day == "1970-04-11"
    now[0] += 366 * DAY
    Library(runtime).answers.ask(SPEED)
    assert facet.report(0).outcomes.questions == 1
    assert facet.clear() == 1
    assert (facet.report(0).outcomes.questions, facet.report(0).unanswered) == (0, ())
    with pytest.raises(UsageError):
        facet.report(-1)
