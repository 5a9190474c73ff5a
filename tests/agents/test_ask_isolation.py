import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chapterhouse.agents.ask import ask
from chapterhouse.answering.bundle import bundle_json, file_text, json_fields
from chapterhouse.answering.request import AskOptions
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.library import Library
from chapterhouse.models.scripted import Call, Step
from chapterhouse.presenting.answers import answer_markdown
from chapterhouse.types import Answer, Persona, Route

WHO = ("maria", "jonas", "nina")
# Words that stand in one persona's documents and nowhere else, one for each place in a document.
PLACES = (
    "title", "heading", "body", "second", "key", "alias", "long", "tag", "summary", "author",
    "file", "table",
)  # fmt: skip
CANARIES = {slug: {place: f"{slug[:2]}zq{place}x" for place in PLACES} for slug in WHO}


def text_of(slug: str) -> str:
    """Return a curated document in which every place holds a word of its own."""
    own = CANARIES[slug]
    return f"""---
id: {own["file"]}-notes
title: Notes of the {own["title"]}
date: 2024-03-07
tags: [{own["tag"]}, harbour]
summary: About the {own["summary"]}.
author: {own["author"]}
---

# Notes of the {own["title"]}

**Key Terms**: {own["key"]}, gate

**Also Known As**: {own["alias"]}

## The {own["heading"]} of the harbour

The {own["body"]} of the harbour gate opens at nine. The price of a berth is {own["second"]} euros.
The Harbour Master Log ({own["long"].upper()[:6]}) is kept by the {own["long"]}.

| Berth | Price |
|---|---|
| B1 | {own["table"]} |
"""


def foreign(slug: str) -> re.Pattern[str]:
    """Return what no answer of a persona may show."""
    words = [word for other, own in CANARIES.items() if other != slug for word in own.values()]
    return re.compile("|".join(words), re.IGNORECASE)


def everything(answer: Answer) -> str:
    """Return all that anybody can see of an answer."""
    return "\n".join(
        (
            repr(answer),
            answer.text,
            file_text(json_fields(answer)),
            answer_markdown(answer),
            json.dumps(plain(answer), ensure_ascii=False),
        )
    )


def assert_private(slug: str, shown: str, asked: str) -> None:
    """Fail where something of another is shown that the asker did not say."""
    words = set(foreign(slug).findall(shown.casefold()))
    assert words <= set(foreign(slug).findall(asked.casefold())), (slug, asked, words)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("isolation")


def furnish(room: Any) -> Any:
    """Give each persona their document; everything is indexed."""
    if not room.library.personas.names():
        for slug in WHO:
            room.persona(slug, {f"{CANARIES[slug]['file']}.md": text_of(slug)}, tags=["harbour"])
    for slug in WHO:
        room.library.personas.refresh(slug)
    return room


Open = Callable[[Path], AbstractContextManager[Any]]
ALL_WORDS = [word for own in CANARIES.values() for word in own.values()]
questions = st.lists(
    st.sampled_from(
        [
            *ALL_WORDS, "harbour", "gate", "berth", "price", "opens", "what is", "HML",
            '"of the harbour"', "?", "2024", "MAZQLO", "JOZQLO", "jozqfilex.md", "notes",
        ]
    ),
    min_size=1,
    max_size=5,
).map(" ".join)  # fmt: skip
quickly = settings(
    max_examples=max(settings().max_examples // 3, 8),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.generate],
)


@quickly
@given(question=questions, slug=st.sampled_from(WHO))
def test_no_way_of_asking_shows(make_room: Open, shared: Path, question: str, slug: str) -> None:
    with make_room(shared) as room:
        furnish(room)
        library = room.library
        assert_private(slug, repr(library.search.hits(question, shelves=[slug])), question)
        assert_private(
            slug, repr(library.search.hits(question, shelves=[slug], tags=["harbour"])), question
        )
        assert_private(slug, repr(library.search.context(question, shelves=[slug])), question)
        answer = library.answers.ask(question, persona=slug)
        assert_private(slug, everything(answer), question)
        assert_private(slug, bundle_json(library.answers.bundle(answer)), question)
        assert {c.document_id for c in answer.citations} <= {
            document.id for document in library.documents.list([slug])
        }


GREEDY = (
    "The harbour gate opens at nine. [^{0}:x] {1} is 5. [^{1}-notes] [^jozqfilex-notes:The gate]"
)


@quickly
@given(
    question=questions,
    slug=st.sampled_from(WHO),
    grounding=st.sampled_from(["inject", "tool", "both"]),
    searched=questions,
)
def test_no_model_is_given_what_another_has(
    make_room: Open, shared: Path, question: str, slug: str, grounding: str, searched: str
) -> None:
    with make_room(shared) as room:
        furnish(room)
        room.library.personas.change(slug, {"grounding": grounding, "memory.recall": "5"})
        room.library.memory.forget_all([slug])  # words that askers said in other examples
        other = WHO[(WHO.index(slug) + 1) % 3]
        said = GREEDY.format(CANARIES[other]["file"], CANARIES[slug]["body"])
        calls = (
            [Step(calls=(Call("search_documents", {"query": searched}),))]
            if grounding != "inject"
            else []
        )
        model = room.says(*calls, said, *calls, said)
        asked = f"{question} {searched} {said}"
        for _ in range(2):  # the second time with a memory, or a kept answer
            answer = asyncio.run(ask(question, slug, AskOptions(), room.runtime()))
            assert_private(slug, everything(answer), asked)
        for instructions, prompt in model.asked:
            assert_private(slug, instructions, "")
            assert_private(slug, prompt, asked)
        for told in model.tool_results:
            assert_private(slug, str(told.result), asked)


@quickly
@given(question=questions, asker=st.sampled_from(WHO), owner=st.sampled_from(WHO))
def test_what_one_was_told_is_not_remembered_by_another(
    make_room: Open, shared: Path, question: str, asker: str, owner: str
) -> None:
    with make_room(shared) as room:
        furnish(room)
        room.library.answers.ask(f"{question} {CANARIES[owner]['body']}", persona=owner)
        for hit in room.library.memory.search(question, [asker], 50, room.time):
            assert hit.memory.persona == asker
        found = room.library.memory.memories([asker], 1_000, 0)
        assert all(memory.persona == asker for memory in found)


def test_an_answer_does_not_tell_which_words_stand_on_the_shelf_of_another(
    make_room: Open, tmp_path: Path
) -> None:
    asked = [f"What is the {word} of the harbour?" for word in ALL_WORDS] + [
        "What does a berth cost?",
        "Who is jozqauthorx?",
        "When does the harbour gate open?",
    ]
    given: list[list[Answer]] = []
    for name, slugs in (("alone", WHO[:1]), ("together", WHO)):
        with make_room(tmp_path / name) as room:
            for slug in slugs:
                room.persona(
                    slug, {f"{CANARIES[slug]['file']}.md": text_of(slug)}, tags=["harbour"]
                )
                room.library.personas.refresh(slug)
            given.append(
                [room.library.answers.ask(one, persona="maria", remember=False) for one in asked]
            )
    for alone, together in zip(*given, strict=True):
        assert alone.searched == together.searched
        # Its number only: how rare words are, and so how hits score, is counted over all shelves.
        assert alone.confidence == pytest.approx(together.confidence, abs=0.05)
        assert replace(alone, confidence=0.0) == replace(together, confidence=0.0)


def test_nobody_reads_all_shelves_by_having_none() -> None:
    # An empty list of shelves means all of them.
    assert Persona("maria", "Maria").reads == ("maria",)


def test_a_question_handed_over_is_the_colleagues_alone(make_room: Open, tmp_path: Path) -> None:
    with make_room(tmp_path) as room:
        furnish(room)
        question = f"Who keeps the {CANARIES['jonas']['long']}?"
        deferred = room.library.answers.ask(question, persona="maria")
        assert deferred.handed_to == ""
        assert_private("maria", everything(deferred), question)
        room.library.personas.change("maria", {"out_of_scope": "persona"})
        told = room.library.answers.ask(question, persona="maria")
        if told.handed_to:
            assert told.persona == told.handed_to == "jonas"
            assert_private("jonas", everything(told), question)
        for memory in room.library.memory.memories(["maria"], 100, 0):
            assert_private("maria", f"{memory.answer} {memory.sources}", question)


def test_a_shelf_that_is_read_beside_ones_own_is_no_secret(make_room: Open, tmp_path: Path) -> None:
    with make_room(tmp_path) as room:
        furnish(room)
        question = f"Who keeps the {CANARIES['jonas']['long']}?"
        room.library.personas.change("nina", {"shelves": '["jonas"]'})
        shown = everything(room.library.answers.ask(question, persona="nina"))
        assert CANARIES["jonas"]["body"] in shown or CANARIES["jonas"]["title"] in shown
        assert not re.search("|".join(CANARIES["maria"].values()), shown)


def test_a_persona_without_documents_sees_nothing(make_room: Open, tmp_path: Path) -> None:
    with make_room(tmp_path) as room:
        furnish(room)
        room.persona("olga", {})
        for question in (
            "When does the harbour gate open?",
            CANARIES["jonas"]["body"],
            "berth price",
        ):
            answer = room.library.answers.ask(question, persona="olga")
            assert not answer.found
            assert answer.route in {Route.OUT_OF_SCOPE, Route.INSUFFICIENT}
            assert answer.searched.documents == 0
            assert_private("olga", everything(answer), question)


CREW = {
    "Gate": "# Gate\n\nThe harbour gate closes at 21:30 in winter.\n\nThe tide office (TO) does.",
    "Speed": "# Speed\n\nInside the harbour no vessel may exceed 4 knots. Amber weather halves it.",
    "Berth": "# Berths\n\nA berth for a night costs 30 crowns. See Gate for the hours.",
}
GUESTS = {
    "Winter": "# Winter\n\n" + "The harbour gate of Varnholm closes late, said the master. " * 9,
    "Speeds": "# Speed\n\nVessels and vesels: knots, knots, knots. The tide office (TOF) measures.",
    "Gate": "# Gate\n\nThe gate that guests use is always open, in amber weather too.",
    "Deutsch": "# Hafen\n\nDas Tor des Hafens schließt um acht Uhr, und die Gäste gehen heim.",
}
QUESTIONS = (
    "When does the harbour gate close in winter?",
    "How fast may a vesel go?",  # misspelled, and a guest's document spells it so
    '"amber weather"',
    "What does a berth cost, and who opens the gate?",
    "What does the TO do?",
    "Who measures the weathr?",
    "What do penguins eat?",
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "home") as opened:
        for title, text in CREW.items():
            opened.documents.add_text(text, title=title, shelf="crew")
        yield opened


def seen(library: Library) -> list[object]:
    """Return everything that asking the shelf of the crew gives, by every way of asking."""

    shelves = ["crew"]
    given: list[object] = []
    for question in QUESTIONS:
        given += [
            library.search.hits(question, shelves=shelves, limit=20),
            library.search.hits(question, shelves=shelves, limit=1),
            library.search.context(question, shelves=shelves, maximum=300),
            library.answers.ask(question, shelves=shelves, remember=False),
        ]
    return given


def test_other_shelves_change_no_hit_no_score_and_no_answer(library: Library) -> None:
    alone = seen(library)
    for title, text in GUESTS.items():
        library.documents.add_text(text, title=title, shelf="guests")
    assert seen(library) == alone


def test_no_shelf_is_nothing_and_saying_nothing_is_everything(library: Library) -> None:
    assert library.search.hits("harbour gate", shelves=[]).hits == ()
    assert library.search.hits("harbour gate", shelves=[]).documents == 0
    assert list(library.documents.list([])) == []
    assert not library.answers.ask("When does the harbour gate close?", shelves=[]).found
    listed = len(list(library.documents.list()))
    assert library.search.hits("harbour gate").documents == len(CREW) == listed
