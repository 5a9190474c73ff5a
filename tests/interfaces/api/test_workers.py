from pathlib import Path

import pytest

from chapterhouse.interfaces.api.workers import Workers
from chapterhouse.library import Library


def test_where_none_may_be_started_none_is(tmp_path: Path) -> None:
    workers = Workers(tmp_path, starts=False)
    workers.wake("default")
    assert not workers._processes


def test_a_workspace_has_one_worker_which_ends_when_it_is_to(tmp_path: Path) -> None:
    with Library.open(tmp_path):
        pass
    workers = Workers(tmp_path)
    try:
        workers.wake("default")
        process = workers._processes["default"]
        workers.wake("default")
        assert workers._processes == {"default": process}
        assert process.poll() is None
    finally:
        workers.stop(10)
    assert process.poll() is not None
    workers.wake("default")  # a server that stops starts no other
    assert workers._processes == {"default": process}


def test_where_a_worker_has_ended_another_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chapterhouse.interfaces.api.workers.sys.executable", "/bin/sh")
    workers = Workers(tmp_path)
    workers.wake("default")  # a shell knows no module
    first = workers._processes["default"]
    first.wait(10)
    workers.wake("default")
    assert workers._processes["default"] is not first
    workers.stop(0)
    assert workers._processes["default"].poll() is not None
