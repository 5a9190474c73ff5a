from dataclasses import replace
from typing import Any

import pytest
from tests.council.conftest import NAMES, OWN, QUESTION, Hall, council

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import MemberKind
from chapterhouse.council.in_memory import texts_tool
from chapterhouse.council.meeting.session import (
    MeetingOptions,
    open_session,
    participant_record,
    refresh_sources,
)
from chapterhouse.council.tools import Opened
from chapterhouse.types import Tool

SHELF = "council_harbour-board"


def changed(made: Council, *members: dict[str, Any]) -> Council:
    """Return a council whose first members are changed."""
    kept = made.members[len(members) :]
    first = (replace(one, **more) for one, more in zip(made.members, members, strict=False))
    return replace(made, members=(*first, *kept))


def writers(hall: Hall, made: Council, **options: Any) -> list[str]:
    """Return whose model speaks for everyone in their order; empty where none does."""
    session = hall.open_session(made, **options)
    return [one.model.fingerprint if one.model else "" for one in session.everyone]


@pytest.fixture
def named(hall: Hall) -> Hall:
    """A hall in which each model is called as its profile is."""
    for name in ("", "one", "two", "three"):
        hall.says([], name, fingerprint=name or "usual")
    return hall


def test_everyone_sits_in_their_seat_with_their_own_name(hall: Hall) -> None:
    made = changed(council(), {}, {"name": "The Treasurer"})
    session = hall.open_session(made)
    assert [(one.key, one.title) for one in session.everyone] == [
        ("maria", NAMES["maria"]),
        ("the-treasurer", "The Treasurer"),
        ("nina", NAMES["nina"]),
        ("chair", "Agnes Merrow"),
    ]
    assert session.participant("chair") is session.chair
    assert session.participant("the-treasurer") is session.participants[1]
    assert session.chair is not None
    assert (session.chair.kind, session.chair.persona) == (MemberKind.ROLE, None)
    assert not session.debates


def test_a_member_reads_their_own_shelf_the_councils_and_those_added(hall: Hall) -> None:
    for added in ((), ("council_till",), ("jonas", "council_till")):
        made = changed(council("harbour-board", "maria"), {"shelves": added})
        (maria,) = hall.open_session(made).participants
        assert maria.shelves == ("maria", SHELF, *added)
        assert set(maria.request.scope.shelves or ()) == set(maria.shelves)
        record = participant_record(maria, hall.runtime)
        assert (record.key, record.persona, record.shelves) == ("maria", "maria", maria.shelves)
        assert record.documents == len(list(hall.library.documents.list(maria.shelves)))


def test_without_a_model_who_reads_the_same_is_read_once(hall: Hall) -> None:
    roles = [{"persona": "", "name": name, "instructions": "Speak."} for name in "abc"]
    made = changed(council(), *roles)
    session = hall.open_session(made)
    assert [one.key for one in session.participants] == ["a"]
    assert [text.partition(":")[0] for text in session.warnings] == [
        f"{name} reads the same documents as a" for name in "bc"
    ]
    hall.says([])
    assert [one.key for one in hall.open_session(made).participants] == ["a", "b", "c"]


def test_without_a_model_tools_are_said_not_to_be_called(hall: Hall) -> None:
    tool = texts_tool("search_policy", "Call this for the warranty.", ["It lasts twelve months."])
    made = changed(council(), {"tools": ["search_policy"]}, {})
    session = hall.open_session(made, tools={"search_policy": tool})
    assert "Without a model tools are not called: search_policy." in session.warnings
    hall.says([])
    spoken = hall.open_session(made, tools={"search_policy": tool})
    assert not any("not called" in one for one in spoken.warnings)


def test_the_callers_model_comes_first_then_the_members_then_the_councils(named: Hall) -> None:
    made = replace(changed(council(), {"model": "one"}, {"model": "none"}), model="two")
    assert writers(named, made) == ["one", "", "two", "two"]
    assert writers(named, made, model="three") == ["three"] * 4
    assert writers(named, made, model="none") == [""] * 4
    assert writers(named, council()) == ["usual"] * 4


def test_a_personas_own_model_comes_before_the_councils(own_hall: Hall) -> None:
    own_hall.library.personas.change("maria", {"model": "one"})
    for name in ("one", "two", "three"):
        own_hall.says([], name, fingerprint=name)
    made = replace(council(), model="two")
    assert writers(own_hall, made) == ["one", "two", "two", "two"]
    assert writers(own_hall, changed(made, {"model": "three"})) == ["three", "two", "two", "two"]


def test_tools_search_the_shelves_of_who_calls_them(named: Hall) -> None:
    bell = Tool("bell", "Rings.", {"type": "object", "properties": {}}, lambda _: "Dong.")
    made = council().add_tool("search_documents").add_tool("bell")
    opened: list[Council] = []

    def declared(council: Council) -> Opened:
        opened.append(council)
        return {}

    options = MeetingOptions(tools={"bell": bell})
    session = open_session(made, QUESTION, options, named.runtime, declared)
    assert opened == [made]
    for one in session.participants:
        assert {tool.name for tool in one.tools} == {"search_documents", "bell"}
        assert list(one.own_tools) == ["search_documents"]
        search = one.own_tools["search_documents"].call
        for slug, word in OWN.items():
            query = f"Who is the {word} of the harbour?"
            assert (word in search({"query": query}).replace(query, "")) == (slug == one.key)
    open_session(made, QUESTION, replace(options, model="none"), named.runtime, declared)
    assert opened == [made]  # where documents are quoted, no tool is opened


def test_what_shelves_hold_is_looked_up_once(hall: Hall) -> None:
    session = hall.open_session("harbour-board")
    maria = session.participant("maria")
    excerpts = maria.looked_up(QUESTION)
    assert maria.looked_up(QUESTION) is excerpts
    assert any("4 knots" in one.text for one in excerpts)


def test_everyones_folders_are_read_before_and_each_warning_is_told_once(own_hall: Hall) -> None:
    library = own_hall.library
    papers = own_hall.folder / "papers"
    for slug in NAMES:
        library.personas.change(slug, {"folders": str(papers)})
    (library.councils.load("town").docs / "new.md").write_text("# New\n\nThe town has a clock.\n")
    for slug in (*(f"persona/{name}" for name in NAMES), "council/town"):
        library._runtime.store.sources().drop(slug)  # as if they had never been asked
    made = council("region", "maria", "jonas").add_member(council="town")
    (warning,) = refresh_sources(made, own_hall.runtime, None)
    assert "papers is not there" in warning
    assert library.councils.census("town").documents == 1
