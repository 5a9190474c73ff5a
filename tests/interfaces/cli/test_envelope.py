import json
from dataclasses import fields

import pytest

from chapterhouse import telemetry, types
from chapterhouse.agents import profile, registry
from chapterhouse.chunking import content
from chapterhouse.evaluation import model_trial
from chapterhouse.interfaces.cli.envelope import CHANGES, failure, success, write


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


MODULES = (types, telemetry, profile, registry, content, model_trial)


def test_what_is_left_out_or_added_belongs_to_a_type_that_there_is() -> None:
    for name, changes in CHANGES.items():
        kind, *_ = (getattr(one, name) for one in MODULES if hasattr(one, name))
        left_out = {field for field, change in changes.items() if change is None}
        assert left_out <= {entry.name for entry in fields(kind)}, name
