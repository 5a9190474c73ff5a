"""A question put to a persona: answered, insufficient, deferred, or passed on."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.agents.ask import ask
from chapterhouse.answering import drafts
from chapterhouse.answering.bundle import examine
from chapterhouse.answering.request import AskOptions
from chapterhouse.answering.writing import NOTHING_FOUND
from chapterhouse.claims.judge import judge
from chapterhouse.errors import EngineError, NotFoundError, PromptTooLongError, UsageError
from chapterhouse.models.scripted import Call, Step
from chapterhouse.text.counting import estimate_tokens
from chapterhouse.types import Answer, AskEvent, Draft, DraftEvent, Route, Support, Usage

SPEED = "How fast may a vessel go inside the harbour?"
PRICE = "What does a berth in the marina cost?"
FOREIGN = "Which vaccines does the dentist recommend for parrots?"
KNOTS = "Inside the harbour no vessel may exceed 4 knots."
RULES = f"# Rules\n\n## Speed\n\n{KNOTS}\n\nThe gate closes at 21:30.\n"


def asked(room: Any, question: str, persona: str = "maria", **choices: Any) -> Answer:
    on_draft = choices.pop("on_draft", None)

    def emit(event: AskEvent) -> None:
        if isinstance(event, DraftEvent) and on_draft:
            on_draft(event.draft)

    chosen = AskOptions(**choices, drafts=on_draft is not None)
    return asyncio.run(ask(question, persona, chosen, room.runtime(), emit))


def marker_in(prompt: str) -> str:
    """Return the marker of the block that speaks of knots, as a model would copy it."""
    place = re.search(r"^(\[\d+\]) \w[^\n]*\n(?:(?!^\[).)*knots", prompt, re.DOTALL | re.MULTILINE)
    assert place, prompt
    return place[1]


# --- without a model -------------------------------------------------------------------------


def test_a_persona_answers_from_their_folder_by_quotation(harbour: Any) -> None:
    answer = asked(harbour, SPEED)

    assert answer.found
    assert answer.route is Route.ANSWERED
    assert (answer.persona, answer.display_name, answer.method) == (
        "maria",
        "Maria Keller",
        "extractive",
    )
    assert "4 knots" in answer.text
    assert "1 read" in answer.refreshed
    assert all(citation.verified for citation in answer.citations)
    assert asked(harbour, SPEED).refreshed == ""


def test_a_changed_folder_is_read_before_the_answer(harbour: Any) -> None:
    assert "4 knots" in asked(harbour, SPEED).text
    rules = harbour.home / "personas" / "maria" / "RAG" / "rules.md"
    rules.write_text(rules.read_text().replace("4 knots", "7 knots, if the tide is high"))

    answer = asked(harbour, SPEED)
    assert "7 knots" in answer.text
    assert "4 knots" not in answer.text
    assert answer.refreshed


def test_a_persona_is_named_by_slug_beginning_or_name(harbour: Any) -> None:
    for name in ("maria", "mar", "Maria Keller", "MARIA"):
        assert asked(harbour, SPEED, name).persona == "maria"
    with pytest.raises(NotFoundError, match="no persona 'peter'"):
        asked(harbour, SPEED, "peter")


def test_what_cannot_be_asked_is_refused(harbour: Any) -> None:
    with pytest.raises(UsageError, match="reads their own shelves"):
        asked(harbour, SPEED, shelves=("jonas",))
    with pytest.raises(UsageError, match="at least 1 word"):
        asked(harbour, SPEED, words=0)
    with pytest.raises(UsageError, match="empty"):
        asked(harbour, "  ")
    with pytest.raises(UsageError, match="over 10,000"):
        asked(harbour, "x " * 6_000)
    assert harbour.library.memory.personas() == ()


def test_a_question_of_the_field_without_an_answer_says_what_would_help(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"profile.key_terms": '["helicopters", "kites"]'})
    answer = asked(harbour, "How many helicopters and kites are there?")

    assert not answer.found
    assert answer.route is Route.INSUFFICIENT
    assert any("helicopters" in line for line in answer.would_help)
    assert answer.notice == ""


def test_a_foreign_question_is_deferred(harbour: Any) -> None:
    answer = asked(harbour, FOREIGN)

    assert answer.route is Route.OUT_OF_SCOPE
    assert answer.notice == "This question is outside Maria Keller's expertise."
    assert not answer.found
    assert answer.sentences == ()
    assert answer.would_help == ()


def test_no_question_is_foreign_to_the_library_itself(harbour: Any) -> None:
    asked(harbour, SPEED)
    answer = asked(harbour, FOREIGN, "")
    assert answer.route is Route.INSUFFICIENT
    assert answer.persona == answer.display_name == ""


def test_who_knows_answers_instead(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "persona"})
    answer = asked(harbour, PRICE)

    assert answer.found
    assert answer.handed_to == answer.persona == "jonas"
    assert answer.notice == (
        "This question is outside Maria Keller's expertise; switching to Jonas Brandt."
    )
    assert "80 euros" in answer.text
    assert {
        memory.persona for memory in harbour.library.memory.memories(["maria", "jonas"], 9, 0)
    } == {"maria", "jonas"}


def test_nobody_is_troubled_with_what_nobody_knows(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "persona"})
    answer = asked(harbour, FOREIGN)
    assert answer.route is Route.OUT_OF_SCOPE
    assert answer.handed_to == ""
    assert answer.notice == "This question is outside Maria Keller's expertise."


def test_a_colleague_who_cannot_be_used_is_passed_over(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "persona"})
    harbour.persona("aaron", {"prices.md": "# Prices\n\nA berth in the marina costs 1 euro.\n"})
    (harbour.home / "personas" / "aaron" / "persona.config.json").write_text("{broken")
    assert asked(harbour, PRICE).handed_to == "jonas"


# --- with a model ----------------------------------------------------------------------------


def test_what_a_model_writes_is_checked_against_what_it_was_given(harbour: Any) -> None:
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
    assert first.support is Support.QUOTED
    assert second.support not in {Support.QUOTED, Support.SUPPORTED}
    assert third.support is Support.QUOTED  # whatever it was said to come from
    assert answer.rejected == ("made-up:Speed",)
    ((instructions, prompt),) = model.asked
    assert instructions.startswith(
        "You are Maria Keller; today is 14 Nov 2023.\n\nShe keeps the harbour."
    )
    assert "4 knots" not in instructions
    assert "80 euros" not in prompt
    assert prompt.endswith(f"\n[question] nonce1\n{SPEED}")


def test_a_model_may_be_asked_once_more_about_what_the_rules_do_not_find(harbour: Any) -> None:
    said = "Boats have to crawl along."
    checks = {"checks": [{"statement": 1, "verdict": "supported", "quotation": KNOTS}]}
    model = harbour.says(f"{said} [1]", json.dumps(checks))
    settings = harbour.library.settings
    check = settings.answer.model_copy(update={"check": "model"})
    counter = harbour.runtime(settings.model_copy(update={"answer": check}))
    answer = asyncio.run(ask(SPEED, "maria", AskOptions(), counter))

    assert len(model.asked) == 2
    assert f"Statements:\n1. {said}" in model.asked[1][1]
    (sentence,) = answer.sentences
    assert (sentence.support, sentence.checked_by) == (Support.SUPPORTED, "scripted")
    assert answer.citations[0].quote == KNOTS.rstrip(".")
    assert all(check.passed for check in examine(harbour.library.answers.bundle(answer), judge))


def test_what_a_model_invents_is_shown_as_such_with_the_documents_below(harbour: Any) -> None:
    harbour.says("The moon is made of cheese. [^x:y]")
    answer = asked(harbour, SPEED)

    assert answer.found
    assert answer.method == "scripted"
    invented, *quoted = answer.sentences
    assert "cheese" in invented.text
    assert (invented.support, invented.citations) == (Support.NOT_FOUND, ())
    assert "4 knots" in quoted[0].text
    assert quoted[0].support is Support.QUOTED
    assert answer.citations[quoted[0].citations[0] - 1].verified
    assert answer.notice == NOTHING_FOUND
    assert answer.rejected == ("x:y",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[^x:y]",
        "The answer to this question is:",
        "# Answer",
        "**Speed**",
        "Sure!",
        "Let me look.\n\nHere is the answer:",
        "Do you mean the harbour?",
        "Hier ist die Antwort:",
    ],
)
def test_where_a_model_states_nothing_the_documents_are_quoted(harbour: Any, text: str) -> None:
    harbour.says(text)
    answer = asked(harbour, SPEED)

    assert answer.method == "extractive"
    assert answer.found
    assert "4 knots" in answer.text
    assert answer.notice == "The model gave no answer; these are quotations."
    assert answer.usage == Usage(1)  # it was asked all the same


@pytest.mark.parametrize(
    "text",
    [
        "The documents do not say how fast a vessel may go.",
        "I'm sorry, but I can't help with that.",
        "Here is the answer:\n\nThe sources don't mention it.",
        "Die Dokumente enthalten dazu nichts.",
        "文档中没有提到。",
    ],
)
def test_where_a_model_says_that_nothing_is_there_it_is_believed(harbour: Any, text: str) -> None:
    harbour.says(text)
    answer = asked(harbour, SPEED)

    assert not answer.found
    assert answer.method == "scripted"
    assert answer.route is Route.INSUFFICIENT
    assert answer.citations == ()


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


def long_rules(harbour: Any) -> None:
    pages = "".join(
        f"## Speed in basin {number}\n\nIn basin {number} of the harbour no vessel may exceed "
        f"{number} knots. {'The duty officer of the harbour watches each vessel. ' * 6}\n\n"
        for number in range(1, 13)
    )
    folder = harbour.library.personas.load("maria").rag
    (folder / "basins.md").write_text(f"# Basins\n\n{pages}", "utf-8")


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


def replace_fits(error: PromptTooLongError, fits: float) -> PromptTooLongError:
    return PromptTooLongError(error.message, hint=error.hint, fits=fits)


def test_a_model_is_not_asked_what_the_documents_are_far_from(harbour: Any) -> None:
    model = harbour.says("Parrots need none.")
    assert asked(harbour, FOREIGN).route is Route.OUT_OF_SCOPE
    assert model.asked == []


def test_a_general_model_answers_from_no_document(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"out_of_scope": "general"})
    model = harbour.says("Parrots need none [1]. See https://evil.example/?q=parrots for more.")
    answer = asked(harbour, FOREIGN)

    assert answer.route is Route.GENERAL
    assert answer.notice == (
        "This question is outside Maria Keller's expertise; switching to the general assistant."
    )
    assert answer.sentences[0].text == "Parrots need none."
    assert all(one.support is Support.NOT_FOUND and not one.citations for one in answer.sentences)
    assert answer.citations == ()
    assert "evil.example" not in answer.text
    ((instructions, prompt),) = model.asked
    assert prompt == FOREIGN
    assert "Maria" not in instructions


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


def test_a_persona_has_a_model_of_their_own(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"model": "small"})
    usual, own, called = (harbour.says(KNOTS, KNOTS, name=name) for name in ("", "small", "large"))
    asked(harbour, SPEED)
    asked(harbour, SPEED, model="large")
    assert [len(model.asked) for model in (usual, own, called)] == [0, 1, 1]


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


def test_what_the_tool_finds_can_be_cited(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"grounding": "tool"})
    model = harbour.says([Call("search_documents", {"query": "speed of vessels"})], f"{KNOTS} [^x]")
    told: list[str] = []

    def script(_: str, _prompt: str) -> Step:
        if not model.tool_results:
            return Step(
                calls=(Call("search_documents", {"query": "speed of vessels in the harbour"}),)
            )
        told.append(str(model.tool_results[0].result))
        return Step(f"{KNOTS} {marker_in(told[0])}")

    model._script = script
    answer = asked(harbour, SPEED)

    assert answer.found
    assert answer.rejected == ()
    assert answer.citations[0].quote in KNOTS
    assert told[0].startswith("[1] ")


@pytest.mark.parametrize(
    "query", [" ", "?!", "\ud83d", "x " * 499, '"', "a\x00b", "[^x:y]", "zorblaquex", "\u202e"]
)
def test_no_words_of_a_model_break_the_search(harbour: Any, query: str) -> None:
    harbour.library.personas.change("maria", {"grounding": "both"})
    model = harbour.says([Call("search_documents", {"query": query})], KNOTS)
    answer = asked(harbour, SPEED)
    assert answer.warnings == ()
    assert answer.found
    assert all(call.result for call in model.tool_results)


def test_what_streams_is_checked_as_soon_as_a_sentence_is_whole(
    harbour: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafts, "_PAUSE", 0)  # a draft of every piece
    model = harbour.says("")
    wrong = KNOTS.replace("4", "9")
    model._script = lambda _, prompt: Step(f"{KNOTS} {marker_in(prompt)} {wrong} [1] So it is.")
    seen: list[Draft] = []
    answer = asked(harbour, SPEED, on_draft=seen.append)

    assert "[" not in "".join(draft.text for draft in seen)
    assert seen[0].sentences == ()
    supports = [sentence.support for sentence in seen[-1].sentences]
    assert supports == [Support.QUOTED, Support.DISAGREES]
    assert seen[-1].sentences == answer.sentences[:2]
    assert seen[-1].text == "So it is."


# --- memory ----------------------------------------------------------------------------------


def test_question_and_answer_are_remembered_under_who_answered(harbour: Any) -> None:
    answer = asked(harbour, f"  {SPEED} ")
    asked(harbour, SPEED, "")
    memories = harbour.library.memory

    (kept,) = memories.memories(["maria"], 9, harbour.time)
    assert kept.question == SPEED
    assert kept.answer == answer.text
    assert kept.asked == harbour.time
    assert kept.expires == harbour.time + 365 * 86_400
    assert kept.sources == tuple({citation.document_id for citation in answer.citations})
    assert memories.personas() == ("", "maria")


def test_memory_is_off_by_call_by_persona_and_by_setting(harbour: Any) -> None:
    asked(harbour, SPEED, remember=False)
    harbour.library.personas.change("maria", {"memory.enabled": "false"})
    asked(harbour, SPEED)
    off = harbour.library.settings.model_copy(
        update={"memory": harbour.library.settings.memory.model_copy(update={"enabled": False})}
    )
    asyncio.run(ask(PRICE, "jonas", AskOptions(), harbour.runtime(off)))
    assert harbour.library.memory.personas() == ()


def test_what_is_not_to_be_remembered_is_not_kept_either(harbour: Any) -> None:
    harbour.says(KNOTS)
    asked(harbour, f"{SPEED} zorblaquex", remember=False)
    harbour.library.close()
    stored = b"".join(path.read_bytes() for path in harbour.home.rglob("library.db*"))
    assert b"zorblaquex" not in stored


def test_a_model_is_reminded_of_the_same_personas_answers_only(harbour: Any) -> None:
    for slug in ("maria", "jonas"):
        harbour.library.personas.change(slug, {"memory.recall": "3"})
    asked(harbour, SPEED, "maria")
    asked(harbour, "May a vessel exceed 4 knots near a berth in the marina?", "jonas")
    model = harbour.says(*[KNOTS] * 3)
    asked(harbour, SPEED, "maria")

    prompt = model.asked[0][1]
    assert "[earlier answers" in prompt
    assert SPEED in prompt.partition("[question]")[0]
    assert "marina" not in prompt

    harbour.library.personas.change("maria", {"memory.recall": "0"})
    asked(harbour, f"{SPEED} Please.", "maria")
    assert "[earlier answers" not in model.asked[-1][1]


def test_an_earlier_answer_cannot_be_cited(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"memory.recall": "3"})
    room = harbour
    asked(room, SPEED)
    room.says(f"{KNOTS} [^m1] {KNOTS} [^memory:m1]")
    answer = asked(room, SPEED)
    assert set(answer.rejected) == {"m1", "memory:m1"}


def test_a_broken_question_is_remembered_as_it_was_understood(harbour: Any) -> None:
    asked(harbour, "How fast \udcff may a vessel go?")
    (kept,) = harbour.library.memory.memories(["maria"], 1, 0)
    assert kept.question == "How fast ? may a vessel go?"


# --- kept answers ----------------------------------------------------------------------------


GATE = "The gate closes at 21:30 from April to September."


def written(harbour: Any, **options: Any) -> Answer:
    return asked(
        harbour, options.pop("question", SPEED), options.pop("persona", "maria"), **options
    )


def test_a_written_answer_is_given_again_while_nothing_changes(harbour: Any) -> None:
    model = harbour.says(KNOTS, GATE)
    first, again = written(harbour), written(harbour)

    assert len(model.asked) == 1
    assert not first.cached
    assert again.cached
    assert again.sentences == first.sentences
    assert again.citations == first.citations
    assert again.usage == first.usage
    assert "gate" in written(harbour, use_cache=False).sentences[0].text


OTHERWISE: dict[str, dict[str, Any]] = {
    "question": {"question": "How fast may a vessel go within the harbour?"},
    "persona": {"persona": "jonas"},
    "asker": {"persona": ""},
    "tags": {"tags": ("speed",)},
    "words": {"words": 60},
}
PERSONAS = {
    "name": {"display_name": "Mary"},
    "tags": {"tags": "tides"},
    "max_chunks": {"retrieval.max_chunks": "3"},
    "max_tokens": {"retrieval.max_tokens": "900"},
    "grounding": {"grounding": "both"},
    "deferral": {"out_of_scope": "general"},
    "shelves": {"shelves": '["jonas"]'},
}
FILES = {
    "prose": ("maria/persona.md", "She is gruff."),
    "document": ("maria/RAG/tide.md", "# Tide\n\nHigh.\n"),
    "same document": ("maria/RAG/rules.md", RULES.replace("21:30", "22:30")),
    "elsewhere": ("jonas/RAG/x.md", "# X\n\nY is.\n"),
}


def is_kept(harbour: Any) -> None:
    """Have an answer written and kept."""
    harbour.says(KNOTS, "Other.")
    assert not written(harbour).cached
    assert written(harbour).cached


@pytest.mark.parametrize(
    "wording",
    [SPEED.upper(), f"Please, {SPEED.lower()}", f"Can you tell me: {SPEED.rstrip('?')} please"],
)
def test_the_same_question_in_other_wording_is_found_again(harbour: Any, wording: str) -> None:
    is_kept(harbour)
    again = written(harbour, question=wording)
    assert again.cached
    assert again.question == wording


@pytest.mark.parametrize("change", OTHERWISE)
def test_a_question_put_otherwise_is_answered_anew(harbour: Any, change: str) -> None:
    is_kept(harbour)
    assert not written(harbour, **OTHERWISE[change]).cached


@pytest.mark.parametrize("change", PERSONAS)
def test_a_persona_who_changed_answers_anew(harbour: Any, change: str) -> None:
    harbour.library.personas.refresh("jonas")
    is_kept(harbour)
    harbour.library.personas.change("maria", PERSONAS[change])
    assert not written(harbour).cached


@pytest.mark.parametrize("change", FILES)
def test_a_file_that_changed_has_it_written_anew(harbour: Any, change: str) -> None:
    is_kept(harbour)
    path, text = FILES[change]
    (harbour.home / "personas" / path).write_text(text)
    harbour.library.personas.refresh("jonas")
    assert not written(harbour).cached


def test_another_model_has_it_written_anew(harbour: Any) -> None:
    is_kept(harbour)
    harbour.says("Other.", fingerprint="another")
    assert not written(harbour).cached


def test_two_profiles_of_one_model_are_two_models(harbour: Any) -> None:
    is_kept(harbour)
    harbour.says("Other.", name="long")
    assert not written(harbour, model="long").cached


def test_a_changed_setting_has_it_written_anew(harbour: Any) -> None:
    harbour.says(KNOTS, "Other.", "More.")
    assert not written(harbour).cached
    settings = harbour.library.settings
    for changed in (
        settings.model_copy(update={"search": settings.search.model_copy(update={"limit": 9})}),
        settings.model_copy(
            update={"packing": settings.packing.model_copy(update={"maximum": 900})}
        ),
    ):
        given = asyncio.run(ask(SPEED, "maria", AskOptions(), harbour.runtime(changed)))
        assert not given.cached


def test_an_answer_that_depends_on_the_day_is_not_kept(harbour: Any) -> None:
    harbour.library.personas.change("maria", {"retrieval.recency": "0.5"})
    model = harbour.says(KNOTS, KNOTS)
    assert not written(harbour).cached
    assert not written(harbour).cached
    assert len(model.asked) == 2


def test_an_answer_with_a_warning_is_not_kept(harbour: Any) -> None:
    harbour.says(EngineError("Asleep."), KNOTS)
    assert written(harbour).warnings
    assert written(harbour).method == "scripted"


@pytest.mark.parametrize("damage", ["{", "", "[]", '{"question": 1}', "\x00", None])
def test_a_damaged_kept_answer_is_written_anew(harbour: Any, damage: str | None) -> None:
    harbour.says(KNOTS, GATE)
    first = written(harbour)
    store = harbour.library._runtime.store
    with store.memories()._connections.write() as connection:
        if damage is None:  # a quotation that does not stand there
            connection.execute(
                "UPDATE cached_answer SET answer = replace(answer, '4 knots', '9 knots')"
            )
        else:
            connection.execute("UPDATE cached_answer SET answer = ?", (damage,))
    again = written(harbour)
    assert not again.cached
    assert first.sentences != again.sentences


# --- the library's own methods -----------------------------------------------------------------


def test_asking_works_where_a_loop_runs_already(harbour: Any) -> None:
    library = harbour.library

    async def notebook() -> tuple[Answer, Answer]:
        return library.answers.ask(SPEED, persona="maria"), await library.answers.ask_async(
            SPEED, persona="maria"
        )

    plain, awaited = asyncio.run(notebook())
    assert plain.sentences == awaited.sentences
    assert plain.found


def test_the_same_question_gives_the_same_answer_byte_for_byte(
    harbour: Any, tmp_path: Path
) -> None:
    first = asked(harbour, SPEED)
    second, third = asked(harbour, SPEED), asked(harbour, SPEED)
    assert repr(second) == repr(third)
    assert first.sentences == second.sentences
    assert harbour.library.answers.bundle(second) == harbour.library.answers.bundle(third)
