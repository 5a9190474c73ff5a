"""A council whose members are models behind HTTP: what the service is sent, what becomes of it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.models.chat_server import ChatServer, Reply, Request, chat_server

from chapterhouse import Library
from chapterhouse.agents.council import Council
from chapterhouse.types import CouncilEvent, MeetingEvent, MeetingEventKind, Minutes

QUESTION = "How fast may a vessel go inside the harbour?"
OLD = "Inside the harbour no vessel may exceed 6 knots."
NEW = "Inside the harbour no vessel may exceed 4 knots."
KEY = "sk-canary-key-0123456789"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)


@contextmanager
def opened(home: Path, server: ChatServer, more: str = "") -> Iterator[Library]:
    """Open a library with two personas who read two versions of one rule."""
    home.mkdir()
    (home / "chapterhouse.toml").write_text(
        f"[language_model]\nengine = 'openai'\nmodel = 'tiny'\nbase_url = '{server.url}'\n"
        f"key_variable = 'TEST_KEY'\nattempts = 1\ntimeout_seconds = 20\n{more}"
    )
    with Library.open(home) as library:
        for slug, year, rule in (("maria", "2023", OLD), ("tom", "2025", NEW)):
            folder = library.personas.create(slug, display_name=slug.title())
            text = f"---\ndate: {year}-03-01\n---\n\n# Harbour rules {year}\n\n{rule}\n"
            (folder.rag / f"harbour-rules-{year}.md").write_text(text)
        yield library


def council() -> Council:
    return (
        Council.new("speed")
        .add_member("maria")
        .add_member("tom", grounding="both")
        .add_round("independent_analysis")
        .add_round("cross_examination")
        .add_round("rebuttal")
        .add_round("synthesis")
        .chair(name="Agnes Merrow")
    )


def first_marker(request: Request) -> str:
    place = re.search(r"\[\d+\]", request.everything_else)
    assert place is not None
    return place.group()


def own_rule(request: Request) -> str:
    return OLD if "You are Maria" in request.system else NEW


def speaking(request: Request) -> Reply:
    """Speak as a small model would: in JSON, from the first block, giving way to what is new."""
    if "You preside" in request.system:
        told: dict[str, object] = {
            "decision": [f"{NEW} {first_marker(request)}"],
            "grounds": [NEW],
            "missing": [{"member": "tom", "text": "A measured speed."}],
        }
    elif "are opposed" in request.system:
        given_up = {"statement": "s1", "stance": "concede", "reason": NEW}
        told = {"replies": [given_up] if "You are Maria" in request.system else []}
    elif "Examine each" in request.system:
        found = request.everything_else.partition("STATEMENTS OF OTHERS")[2]
        ids = re.findall(r"(s\d+), by", found.partition("YOUR STATEMENTS")[0])
        replies = [{"statement": i, "stance": "oppose", "reason": own_rule(request)} for i in ids]
        told = {"replies": replies}
    else:
        grounds = [f"{own_rule(request)} {first_marker(request)}"]
        told = {"positions": [{"position": "Slowly.", "grounds": grounds}]}
    return Reply(json.dumps(told))


def asked(server: ChatServer) -> list[Request]:
    """Return what members were asked, without what the pace of the model was measured by."""
    return [request for request in server.requests if request.system]


def hold_meeting(
    library: Library, made: Council | None = None
) -> tuple[Minutes, list[MeetingEvent]]:
    events: list[CouncilEvent] = []
    minutes = library.councils.convene(made or council(), QUESTION, on_event=events.append)
    return minutes, [event for event in events if isinstance(event, MeetingEvent)]


def test_a_council_of_models_meets_over_http(tmp_path: Path) -> None:
    with chat_server(speaking) as server, opened(tmp_path / "home", server) as library:
        minutes, events = hold_meeting(library)
        for citation in minutes.citations:
            body = library.documents.body(citation.document_id)
            assert body.text[citation.start : citation.end] == citation.quote
    assert [one.grounds[0].text for one in minutes.statements] == [OLD, NEW]
    first, second = minutes.agreement
    assert (first.stand, first.concede, first.oppose) == ((), ("maria",), ("tom",))
    assert (second.stand, second.oppose) == (("tom",), ("maria",))
    assert minutes.decision[0].citations
    assert minutes.method == "openai/tiny"
    assert minutes.usage is not None
    assert minutes.usage.calls == len(asked(server)) == 7
    assert not minutes.absences
    assert not minutes.warnings
    assert any(event.kind is MeetingEventKind.TEXT for event in events)
    for request in asked(server):  # the service sees the key nowhere else, and is asked for a form
        assert KEY not in json.dumps(request.body)
        assert "one json object" in request.system.casefold()
        if not request.body.get("tools"):
            assert request.body["response_format"]["type"] == "json_schema"
