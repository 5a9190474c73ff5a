import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.rooms import FOREIGN, KNOTS, PRICE, SPEED, asked, unrephrased

from chapterhouse.agents.ask import ask
from chapterhouse.answering.request import AskOptions
from chapterhouse.errors import EngineError
from chapterhouse.models.scripted import Step
from chapterhouse.retrieval import question as retrieval_question
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Body, Route, Scope


def test_a_question_of_the_field_without_an_answer_names_what_is_missing(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"profile.key_terms": '["helicopters", "kites"]'})
    answer = asked(harbour, "How many helicopters and zeppelins are there?")
    assert not answer.found
    assert answer.route is Route.INSUFFICIENT
    assert answer.searched.missing_terms == ("helicopters", "zeppelins")
    assert answer.notice == ""


def test_no_question_is_foreign_to_the_library_itself(harbour: Any) -> None:
    asked(harbour, SPEED)
    answer = asked(harbour, FOREIGN, "")
    assert answer.route is Route.INSUFFICIENT
    assert answer.persona == answer.display_name == ""


@pytest.mark.parametrize(
    "script",
    [
        EngineError("It is asleep.", hint="Wake it."),
        Step("Ins", error=EngineError("It is asleep.", hint="Wake it.")),
    ],
)
def test_where_the_model_fails_the_documents_are_quoted(harbour: Any, script: Any) -> None:
    harbour.says(script)
    answer = asked(harbour, SPEED)
    assert answer.found
    assert answer.method == "extractive"
    assert "4 knots" in answer.text
    assert answer.warnings == (
        "The model did not answer, so the documents are quoted: It is asleep. Wake it.",
    )
    assert answer.usage is None


@pytest.mark.parametrize("written", [None, f"{KNOTS} [1] The duty officer grants exceptions [1]."])
def test_all_is_read_once(
    harbour: Any, monkeypatch: pytest.MonkeyPatch, written: str | None
) -> None:
    asked(harbour, PRICE)  # reads her documents
    parsed, read = Counter[str](), Counter[str]()
    parse, body = retrieval_question._stemmers, Store.body

    def count_parse(text: str, languages: Mapping[str, int]) -> tuple[str, ...]:
        parsed[text] += 1
        return parse(text, languages)

    def count_read(store: Store, document_id: str, scope: Scope) -> Body | None:
        read[document_id] += 1
        return body(store, document_id, scope)

    monkeypatch.setattr(retrieval_question, "_stemmers", count_parse)
    monkeypatch.setattr(Store, "body", count_read)
    if written:
        harbour.says(written)
    answer = asked(harbour, SPEED, on_draft=lambda _: None)
    assert answer.method == ("scripted" if written else "extractive")
    assert parsed == {SPEED: 1}
    assert set(read.values()) == {1}


def test_a_general_model_that_fails_leaves_the_deferral(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "general"})
    harbour.says(EngineError("It is asleep."))
    answer = asked(harbour, FOREIGN)
    assert answer.route is Route.OUT_OF_SCOPE
    assert answer.notice == "This question is outside Maria Keller's expertise."
    assert "It is asleep." in answer.warnings[0]


def test_no_model_is_a_choice_of_the_call_and_of_the_persona(harbour: Any) -> None:
    model = harbour.says(*["x"] * 5)
    assert asked(harbour, SPEED, model="none").method == "extractive"
    harbour.library.personas.change("maria", {"model": "none"})
    assert asked(harbour, SPEED).method == "extractive"
    assert model.asked == []


def test_what_is_quoted_beside_a_model_is_what_is_quoted_without_one(harbour: Any) -> None:
    quays = "".join(f"## Quay {n}\n\nAt quay {n} the speed is {n} knots.\n\n" for n in range(30))
    folder = harbour.library.personas.load("maria").rag
    (folder / "quays.md").write_text(f"# Quays\n\n{quays}")
    search = harbour.library.settings.search.model_copy(update={"per_document": 1})
    settings = unrephrased(harbour.library.settings).model_copy(update={"search": search})
    for question in (SPEED, "What is the speed at quay 7?", "When does the gate close?"):
        harbour.says(*[EngineError("It is asleep.")] * 2)
        offline, beside = (
            asyncio.run(ask(question, "maria", AskOptions(model=name), harbour.runtime(settings)))
            for name in ("none", None)
        )
        assert "It is asleep." in beside.warnings[0]
        assert replace(beside, warnings=(), refreshed="") == replace(offline, refreshed="")


def test_only_a_weak_search_waits_for_other_words_of_the_question(harbour: Any) -> None:
    twins = {f"quay-{n}.md": f"# Quay {n}\n\nSpeed at this quay: slow.\n" for n in "abcdef"}
    harbour.persona("zoe", twins)
    settings = harbour.library.settings
    assert settings.expansion.rewrite == "when-weak"
    for question, persona, calls in ((SPEED, "maria", 1), ("speed at this quay", "zoe", 2)):
        model = harbour.says(*["Nothing is said."] * calls)
        asyncio.run(ask(question, persona, AskOptions(), harbour.runtime(settings)))
        assert len(model.asked) == calls


def test_who_has_no_documents_says_so_before_anything_else(harbour: Any) -> None:
    harbour.persona("nina", {}, display_name="Nina Roth")
    answer = asked(harbour, FOREIGN, "nina")
    assert answer.route is Route.INSUFFICIENT
    assert answer.notice == "Nina Roth has no documents yet."


def test_a_general_model_that_is_not_there_is_told_of_unless_none_is_wanted(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "general"})
    (warning,) = asked(harbour, FOREIGN).warnings
    assert "no language model is configured" in warning
    assert asked(harbour, FOREIGN, model="none").warnings == ()
    assert asked(harbour, SPEED).warnings == ()


OUTSIDE = "This question is outside Maria Keller's expertise."
PARROTS = (
    "Do the harbour rules say that vessels with parrots inside the harbour may exceed 4 knots?"
)


def test_a_foreign_question_is_deferred_with_a_model_or_without(harbour: Any) -> None:
    # Passages come up for its common words: a search that finds something decides nothing.
    for question in (FOREIGN, f"{FOREIGN} The gate closes."):
        for script in ((), ("Parrots need none.",)):
            model = harbour.says(*script) if script else None
            answer = asked(harbour, question)
            assert (answer.route, answer.notice, answer.text) == (Route.OUT_OF_SCOPE, OUTSIDE, "")
            assert not answer.found
            assert model is None or model.asked == []
            harbour.models.clear()


def test_a_model_that_finds_no_answer_leaves_it_to_out_of_scope(harbour: Any) -> None:
    harbour.says("The sources do not say anything about that.")
    deferred = asked(harbour, PARROTS)
    assert (deferred.route, deferred.notice) == (Route.OUT_OF_SCOPE, OUTSIDE)
    assert deferred.sentences == ()
    harbour.library.personas.change("maria", {"out_of_scope": "general"})
    model = harbour.says("The sources do not say anything about that.", "Parrots need none.")
    general = asked(harbour, PARROTS)
    assert (general.route, general.text, len(model.asked)) == (
        Route.GENERAL, "Parrots need none.", 2,
    )  # fmt: skip
    harbour.library.personas.change("maria", {"profile.key_terms": '["parrots", "vaccines"]'})
    harbour.says("The sources do not say anything about that.")
    insufficient = asked(harbour, PARROTS)  # of their field: the documents lack it
    assert insufficient.route is Route.INSUFFICIENT
    assert "do not say" in insufficient.text
