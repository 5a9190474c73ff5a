import json

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from chapterhouse.models.scripted import Step
from chapterhouse.telemetry import TraceSpan, collecting

from .conftest import NAMES, OWN, QUESTION, Hall, honest, marker, turn


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
