from pathlib import Path

import pytest

from chapterhouse.interfaces.api.workers import Workers
from chapterhouse.library import Library
from chapterhouse.types import Job

DUE = (Job("j1", "upload", {}, "upload 01"),)


def test_a_workspace_has_one_worker_which_ends_when_it_is_to(tmp_path: Path) -> None:
    with Library.open(tmp_path):
        pass
    workers = Workers(tmp_path)
    try:
        workers.wake("default", DUE)
        process = workers._processes["default", True]
        workers.wake("default", DUE)
        assert workers._processes == {("default", True): process}
        assert process.poll() is None
    finally:
        workers.stop(10)
    assert process.poll() is not None
    workers.wake("default", DUE)  # a server that stops starts no other
    assert workers._processes == {("default", True): process}


def test_where_a_worker_has_ended_another_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chapterhouse.interfaces.api.workers.sys.executable", "/bin/sh")
    workers = Workers(tmp_path)
    workers.wake("default", DUE)  # a shell knows no module
    first = workers._processes["default", True]
    first.wait(10)
    workers.wake("default", DUE)
    assert workers._processes["default", True] is not first
    workers.stop(0)
    assert workers._processes["default", True].poll() is not None
