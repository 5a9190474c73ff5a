import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import UsageError
from chapterhouse.evaluation.measuring import evaluate
from chapterhouse.evaluation.questions import (
    FeedbackChange,
    JudgedAnswer,
    Verdict,
    Wrong,
    as_question,
    parse_answer,
    question_file,
    question_id,
    question_line,
    read_questions,
    save_feedback,
    to_judged_answer,
)
from chapterhouse.interfaces.cli.envelope import plain, success

ASKED = "What does a guest berth cost?"
ANSWER = JudgedAnswer(
    ASKED, found=True, citations=(("papers/tariffs.md", "A berth costs 80 euros."),)
)
SEVERAL = JudgedAnswer(
    ASKED,
    found=True,
    citations=(
        ("papers/tariffs.md", "It costs 80 euros."),
        ("papers/tariffs.md", "Guests pay 20 euros."),
    ),
    sentences=("It costs 80 euros.", "Guests pay double."),
)
REFUSAL = JudgedAnswer("Who won?", found=False, citations=())


def test_a_good_answer_becomes_what_must_be_found_and_quoted() -> None:
    question = as_question(Verdict.GOOD, ANSWER)
    assert question.required == ("papers/tariffs.md",)
    assert question.answer == ("A berth costs 80 euros.",)
    assert question.forbidden == ()
    assert question.id == question_id(ASKED)


def test_a_bad_answer_becomes_what_must_not_be_shown_again() -> None:
    question = as_question(Verdict.BAD, ANSWER)
    assert (question.required, question.answer, question.forbidden) == ((), (), ())
    assert question.wrong == ("A berth costs 80 euros.",)
    corrected = as_question(Verdict.BAD, ANSWER, ["prices.md"])
    assert (corrected.required, corrected.forbidden, corrected.wrong) == (("prices.md",), (), ())


def test_what_was_wrong_is_named_by_number_or_words() -> None:
    def wrong(*sentences: str, **named: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        question = as_question(Verdict.BAD, SEVERAL, wrong=Wrong(sentences, **named))
        assert not question.required
        return question.wrong, question.forbidden

    assert wrong("2") == (("Guests pay double.",), ())
    assert wrong("PAY  double") == (("Guests pay double.",), ())
    assert wrong("1", passages=("2",)) == (("It costs 80 euros.", "Guests pay 20 euros."), ())
    assert wrong(documents=("papers/tariffs.md",)) == ((), ("papers/tariffs.md",))
    with pytest.raises(UsageError, match="Only of a bad answer"):
        as_question(Verdict.GOOD, SEVERAL, wrong=Wrong(("1",)))
    both = as_question(Verdict.BAD, SEVERAL, ["prices.md"], wrong=Wrong(("2",)))
    assert (both.required, both.wrong) == (("prices.md",), ("Guests pay double.",))


@pytest.mark.parametrize("name", ["0", "3", "9" * 30, "nowhere", " ", "s"])
def test_what_was_not_shown_or_not_one_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is meant by") as caught:
        as_question(Verdict.BAD, SEVERAL, wrong=Wrong((name,)))
    assert "1 to 2" in caught.value.hint


def test_a_wrong_sentence_shown_again_is_counted_and_its_document_may_be_cited(
    library: Library,
) -> None:
    answer = to_judged_answer(library.answers.ask(ASKED))
    for named, figure in ((answer.sentences[0], 0.0), ("No such sentence was shown.", 1.0)):
        question = as_question(Verdict.BAD, answer, wrong=Wrong(("1",)))
        path = question_file(library)
        path.write_text(question_line(replace(question, wrong=(named,))), "utf-8")
        found = evaluate(read_questions(path), library, str(path))
        assert found.measures["corrected"].mean == figure
        assert "absent" not in found.measures


def test_a_good_refusal_is_wanted_again_and_a_bad_one_needs_to_be_told_more() -> None:
    assert not as_question(Verdict.GOOD, REFUSAL).answerable
    assert as_question(Verdict.BAD, REFUSAL, ["prices.md"]).answerable
    with pytest.raises(UsageError, match="cites nothing") as caught:
        as_question(Verdict.BAD, REFUSAL)
    assert "--required" in caught.value.hint


def test_an_answer_as_it_is_printed_is_read(library: Library) -> None:
    answer = library.answers.ask(ASKED)
    data = plain(answer)
    whole = json.dumps(success(data, workspace="default", seconds=0.1))
    assert (
        parse_answer(whole, "a.json")
        == parse_answer(json.dumps(data), "a.json")
        == to_judged_answer(answer)
    )
    assert to_judged_answer(answer).citations


def test_what_is_no_answer_is_told() -> None:
    begun = '{"question": "a", "outcome": "answer", "citations": '
    for text, what in (
        ("", "is not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "it has no 'question'"),
        ('{"ok": false, "error": {}}', "holds an error"),
        ('{"ok": true}', "not a JSON object"),
        ('{"question": "", "outcome": "answer", "citations": []}', "wrong kind"),
        (f'{begun}[{{"source": "b"}}]}}', "no 'quote'"),
        (f"{begun}[3]}}", "no answer"),
        (f'{begun}[], "sentences": [{{"text": 1}}]}}', "no text"),
        (f'{begun}[{{"source": 1, "quote": 2}}]}}', "no text"),
    ):
        with pytest.raises(UsageError, match=what) as caught:
            parse_answer(text, "a.json")
        assert "a.json" in caught.value.message
        assert "ask QUESTION --json" in caught.value.hint


def test_a_verdict_is_kept_once_and_the_last_one_counts(library: Library) -> None:
    good = as_question(Verdict.GOOD, to_judged_answer(library.answers.ask(ASKED)))
    assert [save_feedback(library, good).change for _ in range(2)] == [
        FeedbackChange.ADDED,
        FeedbackChange.UNCHANGED,
    ]
    refusal = as_question(
        Verdict.GOOD, to_judged_answer(library.answers.ask("Who won the world cup?"))
    )
    assert save_feedback(library, refusal).change is FeedbackChange.ADDED
    bad = as_question(Verdict.BAD, to_judged_answer(library.answers.ask(ASKED)))
    assert save_feedback(library, bad).change is FeedbackChange.REPLACED
    assert [question.id for question in read_questions(question_file(library))] == [
        refusal.id,
        bad.id,
    ]


def test_a_file_that_a_person_wrote_stays_as_it_is(library: Library) -> None:
    path = question_file(library)
    line = '{"note":"mine",   "question":"Who won?","answerable":false}'
    path.write_text(f"{line}\n\n", "utf-8")
    save_feedback(library, as_question(Verdict.GOOD, to_judged_answer(library.answers.ask(ASKED))))
    assert path.read_text("utf-8").splitlines()[0] == line
    path.write_text(f"[{line}]", "utf-8")
    save_feedback(library, as_question(Verdict.GOOD, to_judged_answer(library.answers.ask(ASKED))))
    assert len(read_questions(path)) == 2


def test_a_broken_file_is_not_written_over(library: Library) -> None:
    path = question_file(library)
    path.write_text("{", "utf-8")
    with pytest.raises(UsageError, match="line 1"):
        save_feedback(
            library, as_question(Verdict.GOOD, to_judged_answer(library.answers.ask(ASKED)))
        )
    assert path.read_text("utf-8") == "{"


def test_several_processes_lose_nothing(library: Library) -> None:
    script = Path(__file__).parent / "keeping_process.py"
    processes = [
        subprocess.Popen([sys.executable, str(script), str(library.home), name])
        for name in ("one", "two", "three")
    ]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    notes = [question.question for question in read_questions(question_file(library))]
    assert len(notes) == 3 * 8 + 1
    assert [entry.name for entry in question_file(library).parent.glob(".questions*")] == []


def test_what_an_earlier_version_kept_of_a_bad_answer_still_counts(library: Library) -> None:
    path = question_file(library)
    source = to_judged_answer(library.answers.ask(ASKED)).citations[0][0]
    old = {"question": ASKED, "forbidden": [source], "note": "feedback: bad"}
    path.write_text(json.dumps(old), "utf-8")
    found = evaluate(read_questions(path), library, str(path))
    assert found.measures["absent"].mean == 0.0
    assert "corrected" not in found.measures
