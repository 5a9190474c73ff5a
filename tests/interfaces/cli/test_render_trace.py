import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.collectors import collector

from chapterhouse.interfaces.cli import envelope
from chapterhouse.presenting.terminal import draw
from chapterhouse.telemetry import collecting, span

RULES = "# Rules\n\nInside the harbour no vessel may exceed 4 knots.\n"
QUESTION = "How fast may a vessel go in the harbour?"


@pytest.fixture
def home(tmp_path: Path, chapterhouse: Any) -> Path:
    (tmp_path / "rules.md").write_text(RULES, "utf-8")
    made = tmp_path / "home"
    assert chapterhouse("add", tmp_path / "rules.md", "--home", made).code == 0
    return made


def test_with_json_it_is_data_beside_the_answer(
    chapterhouse: Any, home: Path, tmp_path: Path
) -> None:
    plain = chapterhouse("ask", QUESTION, "--home", home, "--json").envelope
    result = chapterhouse("ask", QUESTION, "--home", home, "--json", "--trace")
    assert result.err == ""
    traced = result.envelope
    assert traced["data"] == plain["data"]
    assert "trace" not in plain["meta"]
    (asked,) = traced["meta"]["trace"]
    assert asked["name"] == "invoke_agent library"
    assert asked["content"]["gen_ai.input.messages"] == QUESTION
    (found,) = asked["children"]
    assert found["attributes"]["gen_ai.request.top_k"] == 8
    assert found["content"]["gen_ai.retrieval.documents"][0]["title"] == "Rules"
    assert 0 <= found["start_seconds"] <= found["start_seconds"] + found["seconds"]

    saved = tmp_path / "answer.json"
    saved.write_text(result.out, "utf-8")
    assert chapterhouse("verify", saved, "--home", home).code == 0


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for one in pair for text in strings(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in strings(one))


def rendered(trace: Any) -> str:
    target = Console(file=StringIO(), markup=False, highlight=False, width=10_000)
    draw(target, envelope.trace_blocks(trace))
    assert isinstance(target.file, StringIO)
    return target.file.getvalue()


def test_nothing_that_is_told_steers_a_terminal() -> None:
    hostile = "\x1b[2J[bold red]PAID[/bold red]\x1b]8;;http://x\x07\n\r\u202e"
    with (
        collecting() as trace,
        span(hostile, {hostile: hostile}, {hostile: {hostile: [hostile]}}) as recorder,
    ):
        recorder.event(hostile, {hostile: hostile}, {hostile: hostile})
        recorder.fail(hostile)
    shown = rendered(trace)
    data = "".join(strings(envelope.trace_data(trace)))
    for character in "\x1b\x07\r\u202e":
        assert character not in shown
        assert character not in data
    assert "[bold red]PAID[/bold red]" in shown  # it is text


def test_with_an_endpoint_it_is_sent(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector() as (address, sent):
        chapterhouse("ask", QUESTION, "--home", home)
        assert sent == []  # nothing is sent until somebody says where
        monkeypatch.setenv("CHAPTERHOUSE_TELEMETRY__ENDPOINT", address)
        result = chapterhouse("ask", QUESTION, "--home", home)
        assert (result.code, result.err) == (0, "")
        monkeypatch.setenv("CHAPTERHOUSE_TELEMETRY__CONTENT", "true")
        chapterhouse("ask", QUESTION, "--home", home)
    (_, first), (_, second) = sent
    assert b"invoke_agent library" in first
    assert b"retrieval" in first
    for words in (b"vessel", b"knots", b"harbour", b"rules"):
        assert words not in first
    assert QUESTION.encode() in second


def test_an_address_that_is_none_is_refused(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong in ("collector:4318", "ftp://host/", "http://me:secret@host"):
        monkeypatch.setenv("CHAPTERHOUSE_TELEMETRY__ENDPOINT", wrong)
        result = chapterhouse("ask", QUESTION, "--home", home)
        assert result.code == 2
        assert "telemetry.endpoint" in result.err


def test_the_tree_stands_on_standard_error(chapterhouse: Any, home: Path) -> None:
    plain = chapterhouse("ask", QUESTION, "--home", home)
    traced = chapterhouse("ask", QUESTION, "--home", home, "--trace")
    assert (plain.code, traced.code) == (0, 0)
    assert traced.out == plain.out
    assert plain.err == ""
    lines = traced.err.splitlines()
    assert re.fullmatch(r"invoke_agent library  [\d.]+ m?s", lines[0])
    assert f"  asked: {QUESTION}" in lines
    assert any(re.fullmatch(r"  retrieval  [\d.]+ m?s", line) for line in lines)
    assert "    top k: 8 · hits: 1 · searched documents: 1 · searched chunks: 1" in lines
    assert f"    query: {QUESTION}" in lines
