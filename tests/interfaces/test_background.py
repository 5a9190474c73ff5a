"""When a process that makes vectors is started, and how often one looks whether it is needed."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces import background


class Process:
    """What would have been started."""

    started: list[tuple[list[str], dict[str, Any]]]

    def __init__(self, command: list[str], **options: Any) -> None:
        options["stderr"].write(b"log")
        self.started.append((command, options))

    def poll(self) -> int:
        return 0


class Encoders:
    def __init__(self) -> None:
        self.pending, self.embedding = True, False
        self.asked = 0

    def is_embedding(self) -> bool:
        return self.embedding

    def is_pending(self) -> bool:
        self.asked += 1
        return self.pending


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, Any]]]:
    monkeypatch.setattr(Process, "started", [], raising=False)
    monkeypatch.setattr(background, "subprocess", SimpleNamespace(Popen=Process, DEVNULL=-3))
    monkeypatch.delenv(background.VARIABLE, raising=False)
    return Process.started


@pytest.fixture
def library(tmp_path: Path) -> Any:
    (tmp_path / "workspaces" / "w").mkdir(parents=True)
    settings = SimpleNamespace(embedding=SimpleNamespace(background=True))
    return SimpleNamespace(home=tmp_path, workspace="w", settings=settings, encoders=Encoders())


def test_the_process_works_on_the_same_library_alone_and_starts_no_other(
    library: Any, started: list[Any]
) -> None:
    assert background.embed_in_background(library)
    ((command, options),) = started
    assert command[3:] == [
        "model", "embed", "--idle", "--home", str(library.home), "--workspace", "w",
    ]  # fmt: skip
    assert options["env"] == {
        **os.environ,
        background.VARIABLE: "0",
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1"),
    }
    assert options["start_new_session"]


@pytest.mark.parametrize("reason", ["variable", "setting", "at it", "nothing to do", "broken"])
def test_none_is_started_where_it_is_not_wanted_or_not_needed(
    library: Any, started: list[Any], monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    if reason == "variable":
        monkeypatch.setenv(background.VARIABLE, "0")
    elif reason == "setting":
        library.settings.embedding.background = False
    elif reason == "at it":
        library.encoders.embedding = True
    elif reason == "nothing to do":
        library.encoders.pending = False
    else:

        def broken() -> bool:
            raise ChapterhouseError("The store is locked.")

        library.encoders.is_pending = broken
    assert not background.embed_in_background(library)
    assert not started


@pytest.mark.usefixtures("started")
def test_a_long_log_begins_anew(library: Any) -> None:
    log = library.home / "workspaces" / "w" / "background" / "log"
    background.embed_in_background(library)
    background.embed_in_background(library)
    assert log.read_bytes() == b"loglog"
    log.write_bytes(bytes(64 * 2**10))
    background.embed_in_background(library)
    assert log.read_bytes() == b"log"


@pytest.mark.usefixtures("started")
def test_a_server_looks_at_most_twice_a_minute(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 100.0)
    monkeypatch.setattr(background, "time", clock)
    looking = background.ServedLibrary(library)
    for now, asked in ((100.0, 1), (129.9, 1), (130.0, 2), (159.0, 2), (200.0, 3)):
        clock.monotonic = lambda now=now: now
        looking.look()
        assert library.encoders.asked == asked
