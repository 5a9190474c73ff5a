from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.council.meeting.memory import (
    is_council_owner,
    owner_of,
    owners_of,
    recall,
    remember_meeting,
)
from chapterhouse.council.minutes.contents import find_agreement
from chapterhouse.errors import CorruptLibraryError
from chapterhouse.store.memory import MemoryStore
from chapterhouse.types import (
    Citation,
    MemberTurn,
    Memory,
    Minutes,
    Point,
    Reply,
    Stance,
    Statement,
)

NOW = 1_000_000
QUESTION = "How fast may a vessel go?"


def cited(number: int, document: str) -> Citation:
    return Citation(number, document, "T", "s", (), None, "", "", 0, 1, "q", "0" * 64)


def stated(name: str, member: str, text: str, number: int) -> Statement:
    return Statement(name, member, "independent_analysis", text, citations=(number,))


def minutes() -> Minutes:
    first = "independent_analysis"
    four, fog = (
        stated("s1", "maria", "It is 4 knots.", 1),
        stated("s2", "maria", "Fog is rare.", 2),
    )
    given_up = Reply("maria", "rebuttal", "s2", Stance.CONCEDE, "New.", (3,))
    turns = (
        MemberTurn("maria", first, (four, fog), option="Slow", method="scripted"),
        MemberTurn("piet", first, (stated("s3", "piet", "It is 6 knots.", 3),)),
        MemberTurn("jan", first, missing=("Everything.",)),
        MemberTurn("maria", "rebuttal", replies=(given_up,), method="scripted"),
    )
    return Minutes(
        "ferry",
        "Ferry",
        QUESTION,
        turns=turns,
        agreement=find_agreement(turns, ("maria", "piet", "jan")),
        decided="Slow",
        decision=(Point("At most 4 knots.", (1,)),),
        citations=(cited(1, "rules"), cited(2, "log"), cited(3, "plan")),
        method="scripted",
    )


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def memories(library: Library) -> MemoryStore:
    return library.memory


def told(memories: MemoryStore, owner: str) -> list[Memory]:
    return list(memories.memories([owner], 10, NOW))


def test_what_was_held_and_decided_is_remembered(memories: MemoryStore) -> None:
    assert remember_meeting(minutes(), memories, NOW, 2, 7) == ()
    assert memories.personas() == ("council_ferry", "council_ferry/maria", "council_ferry/piet")
    (maria,) = told(memories, "council_ferry/maria")
    assert maria == Memory(
        maria.id,
        "council_ferry/maria",
        NOW,
        NOW + 2 * 86_400,
        QUESTION,
        "For: Slow\nIt is 4 knots.\nGave up: Fog is rare.",
        found=True,
        method="scripted",
        sources=("rules",),
        sequence=7,
    )
    (piet,) = told(memories, "council_ferry/piet")
    assert (piet.answer, piet.method, piet.sources) == ("It is 6 knots.", "extractive", ("plan",))
    (council,) = told(memories, "council_ferry")
    assert council.answer == "Decided: Slow\nAt most 4 knots."
    assert council.sources == ("log", "plan", "rules")  # all that the minutes quote


def test_minutes_are_remembered_whole_without_what_names_other_documents(library: Library) -> None:
    inner = replace(minutes(), council="tug", warnings=("tug.pdf was not read.",))
    whole = minutes()
    turns = (replace(whole.turns[0], inner=inner, warnings=("b.pdf was not read.",)),)
    told_all = replace(whole, turns=(*turns, *whole.turns[1:]), warnings=("a.pdf was not read.",))
    read_only = replace(minutes(), question="Who?", turns=(), decided="", decision=())
    for held in (told_all, read_only):
        remember_meeting(held, library.memory, library._runtime.now(), 0, 7)
    owners = ("council_ferry",)
    who, how_fast = library.memory.memories(owners, 10, library._runtime.now())
    assert (who.question, who.answer, who.found) == ("Who?", "", False)
    _, found = library.councils.remembered(how_fast.id, owners)
    assert found
    assert "not read" not in repr(found)
    assert found.turns[0].inner
    assert not any(one.verified for one in (*found.citations, *found.turns[0].inner.citations))
    assert not recall("ferry", "", "Who?", library.memory, 9, library._runtime.now())
    assert library.memory.forget_of(["log"]) == 2  # with a document all that quotes it


def test_the_same_is_not_remembered_twice(memories: MemoryStore) -> None:
    for sequence in (7, 7, 8):
        remember_meeting(minutes(), memories, NOW, 0, sequence)
    assert [memory.sequence for memory in told(memories, "council_ferry/maria")] == [8, 7]
    another = replace(minutes(), question="Another?")
    remember_meeting(another, memories, NOW, 0, 8)
    assert len(told(memories, "council_ferry")) == 3


def test_members_recall_their_own_and_the_decisions(memories: MemoryStore) -> None:
    remember_meeting(minutes(), memories, NOW, 1, 7)

    def owners(member: str, question: str = "knots of a vessel", **choices: Any) -> set[str]:
        values = {"limit": 5, "now": NOW, **choices}
        found = recall("ferry", member, question, memories, values["limit"], values["now"])
        return {memory.persona for memory in found}

    assert owners("maria") == {"council_ferry", "council_ferry/maria"}
    assert owners("piet") == {"council_ferry", "council_ferry/piet"}
    assert owners("chair") == owners("") == {"council_ferry"}
    assert owners("maria", "zeppelin") == set()
    assert owners("maria", limit=0) == set()
    assert owners("maria", now=NOW + 86_400) == set()
    assert recall("fer", "maria", "knots", memories, 5, NOW) == ()


def test_a_persona_and_a_council_never_mix(memories: MemoryStore) -> None:
    """Not even where a persona sits in it, under the same name."""
    own = Memory("", "maria", NOW, 0, QUESTION, "My own 4 knots.", found=True, method="quoted")
    memories.remember(own)
    remember_meeting(minutes(), memories, NOW, 0, 7)
    asked = memories.search("knots", ["maria"], 10, NOW)
    assert [hit.memory.answer for hit in asked] == ["My own 4 knots."]
    recalled = recall("ferry", "maria", "knots", memories, 10, NOW)
    assert recalled
    assert all(is_council_owner(memory.persona) for memory in recalled)
    assert not is_council_owner("maria")
    assert memories.forget_all(owners_of("ferry", memories.personas())) == 3
    assert memories.personas() == ("maria",)


def test_no_search_of_documents_finds_them(library: Library, tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text("# Rules\n\nNo vessel may exceed 4 knots.\n")
    library.documents.add(tmp_path / "rules.md")
    strange = replace(minutes(), decision=(Point("Zorblaquex decides."),))
    remember_meeting(strange, library.memory, NOW, 0, 7)
    (hit,) = library.search.hits("zorblaquex knots").hits
    assert "4 knots" in hit.chunk.text
    assert "zorblaquex" not in library.answers.ask("What does Zorblaquex decide?").text.casefold()


def test_owners_of_one_council_are_not_anothers() -> None:
    known = ("", "council_a", "council_a/maria", "council_ab", "council_ab/a", "maria")
    assert owners_of("a", known) == ("council_a", "council_a/maria")
    assert owners_of("b", known) == ()
    assert owner_of("a", "maria") in known


def test_a_memory_that_cannot_be_written_is_a_warning() -> None:
    class Full(MemoryStore):
        def __init__(self) -> None:
            pass

        def memories(self, *_: object) -> tuple[Memory, ...]:
            return ()

        def remember(self, memory: Memory, given: str = "") -> Memory:  # noqa: ARG002 - as its like
            raise CorruptLibraryError(f"No context for {memory.persona}.")

    (warning,) = remember_meeting(minutes(), Full(), NOW, 0, 7)
    assert warning == "The meeting was not remembered: No context for council_ferry/maria."
