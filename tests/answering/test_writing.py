import asyncio
import json
from typing import Any

import pytest
from tests.rooms import FOREIGN, KNOTS, SPEED, asked, marker_in

from chapterhouse.agents.ask import ask
from chapterhouse.answering import writing
from chapterhouse.answering.bundle import examine
from chapterhouse.answering.request import AskOptions
from chapterhouse.answering.writing import NOTHING_CITED
from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.models.scripted import Call, Step
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import (
    Answer,
    AnswerOutcome,
    Draft,
    Mismatch,
    MismatchKind,
    Opinion,
    OpinionKind,
    Route,
    Usage,
)


def long_rules(harbour: Any) -> None:
    pages = "".join(
        f"## Speed in basin {number}\n\nIn basin {number} of the harbour no vessel may exceed "
        f"{number} knots. {'The duty officer of the harbour watches each vessel. ' * 6}\n\n"
        for number in range(1, 13)
    )
    folder = harbour.library.personas.load("maria").rag
    (folder / "basins.md").write_text(f"# Basins\n\n{pages}", "utf-8")


def replace_fits(error: PromptTooLongError, fits: float) -> PromptTooLongError:
    return PromptTooLongError(error.message, hint=error.hint, fits=fits)


def test_what_a_model_writes_is_shown_with_its_sources(harbour: Any) -> None:
    model = harbour.says(f"{KNOTS} [^rules-9:Speed] It is windy. {KNOTS} {{}}")
    model._script = lambda _, prompt: Step(
        f"{KNOTS} {marker_in(prompt)} Vessels may go at 40 knots. {marker_in(prompt)} "
        f"{KNOTS} [^made-up:Speed]",
        usage=Usage(1, 10, 5),
    )
    answer = asked(harbour, SPEED)
    assert answer.method == "scripted"
    assert answer.usage == Usage(1, 10, 5)
    assert answer.found
    assert answer.route is Route.ANSWERED
    first, second, third = answer.sentences
    assert [one.text for one in answer.sentences] == [KNOTS, "Vessels may go at 40 knots.", KNOTS]
    assert first.mismatches == third.mismatches == ()
    assert second.mismatches == (Mismatch(MismatchKind.NUMBER, "40", "4"),)
    assert (first.citations, third.citations) == ((1,), ())
    assert (answer.notice, answer.certainty) == ("", "")  # no headline over it
    assert answer.rejected == ("made-up:Speed",)
    ((instructions, prompt),) = model.asked
    assert instructions.startswith(
        "You are Maria Keller; today is 14 Nov 2023.\n\nShe keeps the harbour."
    )
    assert "4 knots" not in instructions
    assert "80 euros" not in prompt
    assert prompt.endswith(f"\n[question] nonce1\n{SPEED}")


def asked_again(harbour: Any) -> Answer:
    """Ask with settings under which the model checks what it wrote."""
    settings = harbour.library.settings
    check = settings.answer.model_copy(update={"check": "model"})
    runtime = harbour.runtime(settings.model_copy(update={"answer": check}))
    return asyncio.run(ask(SPEED, "maria", AskOptions(), runtime))


def test_a_model_may_be_asked_once_more_about_its_sentences(harbour: Any) -> None:
    said = "Boats have to crawl along."
    checks = {"checks": [{"statement": 1, "verdict": "confirms", "quotation": KNOTS}]}
    model = harbour.says(f"{said} [1]", json.dumps(checks))
    answer = asked_again(harbour)
    assert len(model.asked) == 2
    assert f"Statements:\n1. {said}" in model.asked[1][1]
    (sentence,) = answer.sentences
    assert sentence.opinion is not None
    number = sentence.opinion.citation
    assert sentence.opinion == Opinion(OpinionKind.CONFIRMS, "scripted", number)
    assert answer.citations[number - 1].quote == KNOTS.rstrip(".")
    assert all(check.passed for check in examine(harbour.library.answers.bundle(answer)))


def test_without_a_second_opinion_there_is_a_warning(harbour: Any) -> None:
    harbour.says("Boats have to crawl along. [1]", EngineError("It is asleep."))
    answer = asked_again(harbour)
    assert answer.sentences[0].opinion is None
    assert answer.warnings == ("The model was not asked about its sentences: It is asleep.",)


def test_an_answer_that_was_cut_off_says_so(harbour: Any) -> None:
    harbour.says(Step(f"{KNOTS} [1]", cut=True))
    answer = asked(harbour, SPEED)
    assert answer.sentences[0].text == KNOTS
    (warning,) = answer.warnings
    assert "cut off at its longest answer" in warning


@pytest.mark.parametrize(
    "text",
    [
        "The moon is made of cheese. [^x:y]",
        "The documents do not say how fast a vessel may go.",
        "Die Dokumente enthalten dazu nichts.",
        "文档中没有提到。",
        "Sure!",
    ],
)
def test_what_names_no_source_comes_with_the_closest_passages(harbour: Any, text: str) -> None:
    harbour.says(text)
    answer = asked(harbour, SPEED)
    assert (answer.found, answer.outcome) == (False, AnswerOutcome.PASSAGES)
    assert (answer.method, answer.route) == ("scripted", Route.INSUFFICIENT)
    own, *quoted = answer.sentences
    assert own.text == text.removesuffix(" [^x:y]")
    assert own.citations == ()
    assert "4 knots" in quoted[0].text
    assert quoted[0].note.startswith("quoted from the documents")
    assert answer.citations[quoted[0].citations[0] - 1].verified
    assert answer.notice == NOTHING_CITED
    assert answer.rejected == (("x:y",) if "[" in text else ())


@pytest.mark.parametrize("text", ["", "[^x:y]"])
def test_where_a_model_writes_no_sentence_the_documents_are_quoted(harbour: Any, text: str) -> None:
    harbour.says(text)
    answer = asked(harbour, SPEED)
    assert answer.method == "extractive"
    assert answer.found
    assert "4 knots" in answer.text
    assert answer.notice == "The model gave no answer; these are quotations."
    assert answer.usage == Usage(1)  # it was asked all the same


@pytest.mark.parametrize("fits", [0.5, 0.3])
def test_a_prompt_that_is_too_long_is_packed_again_once(harbour: Any, fits: float) -> None:
    long_rules(harbour)
    too_long = PromptTooLongError("It is too long.", hint="Take more.", fits=fits)
    model = harbour.says(too_long, f"{KNOTS} [1]")
    answer = asked(harbour, SPEED)
    first, second = (f"{instructions}\n{prompt}" for instructions, prompt in model.asked)
    assert second.count("] nonce") > 1  # at least one source, and the question
    assert 0 < estimate_tokens(second) <= fits * estimate_tokens(first)
    assert answer.method == "scripted"
    assert answer.warnings == ()


def test_what_is_too_long_twice_or_can_be_no_shorter_is_quoted(harbour: Any) -> None:
    long_rules(harbour)
    too_long = PromptTooLongError("It is too long.", hint="Take more.")
    for script, times in (([too_long, too_long], 2), ([replace_fits(too_long, 0.01)], 1)):
        model = harbour.says(*script)
        answer = asked(harbour, SPEED)
        assert len(model.asked) == times
        assert answer.method == "extractive"
        assert answer.citations
        (warning,) = answer.warnings
        assert warning.endswith("the documents are quoted: It is too long. Take more.")


@pytest.mark.parametrize(
    ("grounding", "given", "offered"),
    [
        ("inject", True, ()),
        ("tool", False, ("search_documents",)),
        ("both", True, ("search_documents",)),
    ],
)
def test_excerpts_are_given_or_searched_for(
    harbour: Any, grounding: str, *, given: bool, offered: tuple[str, ...]
) -> None:
    harbour.library.personas.change("maria", {"grounding": grounding})
    model = harbour.says(f"{KNOTS}")
    asked(harbour, SPEED)
    ((instructions, prompt),) = model.asked
    assert ("4 knots" in prompt) == given
    assert model.offered == [offered]
    assert ("search_documents" in instructions) == bool(offered)


@pytest.mark.parametrize(
    "query", [" ", "?!", "\ud83d", "x " * 499, '"', "a\x00b", "[^x:y]", "zorblaquex", "\u202e"]
)
def test_no_words_of_a_model_break_the_search(harbour: Any, query: str) -> None:
    harbour.library.personas.change("maria", {"grounding": "both"})
    model = harbour.says([Call("search_documents", {"query": query})], KNOTS)
    answer = asked(harbour, SPEED)
    assert answer.warnings == ()
    assert all(call.result for call in model.tool_results)


def test_what_streams_is_checked_by_sentence(harbour: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_PAUSE", 0)  # a draft of every piece
    model = harbour.says("")
    wrong = KNOTS.replace("4", "9")
    model._script = lambda _, prompt: Step(f"{KNOTS} {marker_in(prompt)} {wrong} [1] So it is.")
    seen: list[Draft] = []
    answer = asked(harbour, SPEED, on_draft=seen.append)
    assert "[" not in "".join(draft.text for draft in seen)
    assert seen[0].sentences == ()
    mismatches = [bool(sentence.mismatches) for sentence in seen[-1].sentences]
    assert mismatches == [False, True]
    assert seen[-1].sentences == answer.sentences[:2]
    assert seen[-1].text == "So it is."


def test_a_general_model_answers_from_no_document(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "general"})
    model = harbour.says("Parrots need none [1]. See https://evil.example/?q=parrots for more.")
    answer = asked(harbour, FOREIGN)
    assert answer.route is Route.GENERAL
    assert answer.notice == (
        "This question is outside Maria Keller's expertise; switching to the general assistant."
    )
    assert answer.sentences[0].text == "Parrots need none."
    assert not any(one.citations or one.mismatches for one in answer.sentences)
    assert answer.citations == ()
    assert "evil.example" not in answer.text
    ((instructions, prompt),) = model.asked
    assert prompt == FOREIGN
    assert "Maria" not in instructions


@pytest.mark.parametrize("tags", [3, 300])  # some of a chunk, or several
def test_front_matter_and_names_are_no_passages(harbour: Any, tags: int) -> None:
    speeds = ", ".join(f'"speed of a vessel in harbour {number}"' for number in range(tags))
    above = f"---\nid: speed-2\ntitle: Speed in the basin\ntags: [{speeds}]\n---\n"
    names = "\n**Key Terms**: speed, vessel, harbour\n**Also Known As**: Speed rules\n\n"
    own = "# Speed in the basin\n\nInside the basin of the harbour a vessel may go 3 knots fast.\n"
    folder = harbour.library.personas.load("maria").rag
    (folder / "basin.md").write_text(above + names + own, "utf-8")
    model = harbour.says(f"{KNOTS} [1]")
    asked(harbour, SPEED)
    ((_, prompt),) = model.asked
    assert "a vessel may go 3 knots fast" in prompt
    assert "Key Terms" not in prompt
    assert "speed of a vessel in harbour" not in prompt
    assert "speed-2" not in prompt
