import json
from dataclasses import dataclass, fields

import pytest

from chapterhouse.agents.profile import Change, Proposal
from chapterhouse.agents.registry import Refresh
from chapterhouse.chunking.content import Quality
from chapterhouse.evaluation.model_trial import Trial
from chapterhouse.interfaces.cli.envelope import CHANGES, failure, plain, success, write
from chapterhouse.telemetry import TraceEvent, TraceSpan
from chapterhouse.types import (
    AddReport,
    Answer,
    Chunk,
    Context,
    Document,
    Excerpt,
    FileOutcome,
    SearchResult,
    Status,
    SyncReport,
    Variant,
)


@dataclass(frozen=True)
class Inner:
    status: Status
    names: tuple[str, ...]


def test_values_become_plain_json() -> None:
    assert plain({"b": Inner(Status.READY, ("x",)), "a": None}) == {
        "b": {"status": "ready", "names": ["x"]},
        "a": None,
    }


def test_one_sorted_line_of_utf8(capfd: pytest.CaptureFixture[str]) -> None:
    write(failure("E", "渡轮", "hint"))
    out = capfd.readouterr().out
    assert out.count("\n") == 1
    assert "渡轮" in out
    assert list(json.loads(out)) == ["error", "meta", "ok"]


def test_a_name_that_is_no_utf8_stays_valid_json(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write(success("caf\udce9", workspace="w", seconds=0))
    out = capfdbinary.readouterr().out
    assert json.loads(out.decode("utf-8"))["data"] == "caf\udce9"


KINDS = (
    AddReport,
    Answer,
    Change,
    Chunk,
    Context,
    Document,
    Excerpt,
    FileOutcome,
    Proposal,
    Quality,
    Refresh,
    SearchResult,
    SyncReport,
    TraceEvent,
    TraceSpan,
    Trial,
    Variant,
)


def test_what_is_left_out_or_added_belongs_to_a_type_that_there_is() -> None:
    assert {kind.__name__ for kind in KINDS} == set(CHANGES)
    for kind in KINDS:
        own = {entry.name for entry in fields(kind)}
        left_out = {name for name, change in CHANGES[kind.__name__].items() if change is None}
        assert left_out <= own, kind
