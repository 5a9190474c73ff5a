"""What is counted of an answer and of a meeting."""

from dataclasses import replace

from chapterhouse import Library
from chapterhouse.answering.bundle import ANSWER, file_text, json_fields, read_held
from chapterhouse.answering.question_record import answer_record, minutes_record
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.types import Minutes, QuestionOutcome, Route, Usage

SPEED = "How fast may a vessel go inside the harbour?"


def test_an_answer_is_counted_with_what_it_cites(library: Library) -> None:
    answer = library.answers.ask(SPEED)
    record = answer_record(answer)
    cited = answer.citations[0].document_id
    assert record.outcome is QuestionOutcome.ANSWER
    assert record.cited[0] == cited
    assert cited in record.nearest


def test_what_is_no_answer_cites_nothing_and_has_what_is_nearest(library: Library) -> None:
    answer = library.answers.ask("Which fee does a vessel pay for a parrot?")
    record = answer_record(answer)
    assert record.outcome is not QuestionOutcome.ANSWER
    assert record.cited == ()
    assert record.nearest
    outside = answer_record(replace(answer, route=Route.OUT_OF_SCOPE))
    assert (outside.outcome, outside.nearest) == (QuestionOutcome.OUT_OF_SCOPE, ())


def test_nearest_documents_are_in_no_output(library: Library) -> None:
    answer = library.answers.ask(SPEED)
    assert answer.searched.nearest_documents
    assert "nearest_documents" not in json_fields(answer)["searched"]
    assert "nearest_documents" not in plain(answer)["searched"]
    assert read_held(file_text(json_fields(answer)), ANSWER) == answer


def test_a_meeting_that_decides_nothing_has_no_answer() -> None:
    open_ = Minutes("board", "Board", "Shall we?", usage=Usage(1, 2, 3, None))
    record = minutes_record(open_)
    assert (record.outcome, record.council) == (QuestionOutcome.NOT_FOUND, "board")
    decided = minutes_record(replace(open_, decided="yes", method="large"))
    assert decided.outcome is QuestionOutcome.ANSWER
