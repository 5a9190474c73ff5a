import json
from dataclasses import dataclass

import pytest

from chapterhouse.interfaces.cli.envelope import failure, plain, success, write
from chapterhouse.types import Status


@dataclass(frozen=True)
class Inner:
    status: Status
    names: tuple[str, ...]


def test_values_become_plain_json() -> None:
    assert plain({"b": Inner(Status.READY, ("x",)), "a": None}) == {
        "b": {"status": "ready", "names": ["x"]},
        "a": None,
    }


def test_times_stand_only_in_meta() -> None:
    assert success({"n": 1}, workspace="w", seconds=1.23456)["meta"] == {
        "version": "0.1.0",
        "workspace": "w",
        "seconds": 1.235,
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
