"""What is told of a meeting while it is held, and what of it leaves this process."""

import json
from dataclasses import replace

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chapterhouse import Library
from chapterhouse.models.scripted import Call, Step
from chapterhouse.telemetry import TraceSpan, collecting

from .conftest import NAMES, OWN, QUESTION, Hall, council, honest, marker, turn


def names(spans: tuple[TraceSpan, ...]) -> list[str]:
    return [one.name for one in spans]


def test_rounds_hold_members_and_members_what_they_do(hall: Hall) -> None:
    hall.says(honest)
    with collecting() as trace:
        hall.convene("harbour-board")
    (meeting,) = trace.roots
    assert meeting.name == "invoke_workflow harbour-board"
    rounds = [one for one in meeting.children if one.name.startswith("round ")]
    assert names(tuple(rounds)) == [
        "round independent_analysis",
        "round cross_examination",
        "round rebuttal",
        "round synthesis",
    ]
    assert [one.attributes["chapterhouse.round.number"] for one in rounds] == [1, 2, 3, 4]
    first = rounds[0]
    assert first.attributes["chapterhouse.round.members"] == 3
    assert sorted(names(first.children)) == [f"invoke_agent {slug}" for slug in sorted(NAMES)]
    for member in first.children:
        slug = member.name.removeprefix("invoke_agent ")
        assert names(member.children)
        searches = [one for one in member.children if one.name.startswith("retrieval ")]
        assert searches
        for found in searches:
            assert slug in str(found.attributes["gen_ai.data_source.id"])
        assert member.content["gen_ai.input.messages"] == QUESTION


def written(_: str, prompt: str) -> Step:
    try:
        cited = marker(prompt, "no vessel may exceed")
    except StopIteration:
        return Step(turn(position="It stands as it was."))
    claims = [{"text": f"Inside the harbour no vessel may exceed 4 knots. {cited}"}]
    return Step(turn(position="Frimble.", claims=claims))


def test_models_and_their_tools_stand_inside_their_member(hall: Hall) -> None:
    searched: list[str] = []

    def script(instructions: str, prompt: str) -> Step:
        if instructions not in searched:
            searched.append(instructions)
            return Step(calls=(Call("gribbled", {"quendolith": "x"}),))
        return written(instructions, prompt)

    hall.says(script, "one")
    with collecting() as trace:
        board = council("board", "maria", "jonas", rounds=("independent_analysis", "synthesis"))
        hall.convene(board, model="one")
    (meeting,) = trace.roots
    first = next(one for one in meeting.children if one.name == "round independent_analysis")
    assert sorted(names(first.children)) == ["invoke_agent jonas", "invoke_agent maria"]
    for member in first.children:
        chats = [one for one in member.children if one.name == "chat scripted"]
        assert chats
        calls = [call.name for chat in chats for call in chat.children]
        assert "execute_tool unknown" in calls


def test_no_word_of_a_meeting_leaves(hall: Hall, exporter: InMemorySpanExporter) -> None:
    hall.says(written, "one")
    hall.convene("harbour-board", model="one")
    hall.convene("harbour-board")
    finished = exporter.get_finished_spans()
    assert {one.name.split()[0] for one in finished} == {
        "invoke_workflow", "round", "invoke_agent", "retrieval", "chat",
    }  # fmt: skip
    left = "".join(
        json.dumps([one.name, dict(one.attributes or {}), one.status.description], default=str)
        + json.dumps([[event.name, dict(event.attributes or {})] for event in one.events])
        for one in finished
    ).casefold()
    planted = ["vessel", "knots", "frimble", "rules.md", "agnes", "keller", *OWN.values()]
    assert [word for word in planted if word in left] == []


def test_where_the_settings_say_so_they_do(own_hall: Hall, exporter: InMemorySpanExporter) -> None:
    own_hall.says(written, "one")
    settings = own_hall.library.settings
    changed = settings.telemetry.model_copy(update={"content": True})
    own = replace(
        own_hall.library._runtime, settings=settings.model_copy(update={"telemetry": changed})
    )
    own_hall.library = Library(own)
    own_hall.convene("harbour-board", model="one")
    left = json.dumps([dict(one.attributes or {}) for one in exporter.get_finished_spans()])
    assert QUESTION in left
    assert "Frimble." in left
    assert "no vessel may exceed" in left
