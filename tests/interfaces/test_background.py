import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.served import until

from chapterhouse import Library
from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces import background, workspaces


class Process:
    started: list[tuple[list[str], dict[str, Any]]]

    def __init__(self, command: list[str], **options: Any) -> None:
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


def test_the_process_is_of_one_thread_and_starts_no_other(library: Any, started: list[Any]) -> None:
    assert background.start_background(library)
    ((command, options),) = started
    assert command[1:] == ["-m", "chapterhouse.interfaces.background", str(library.home)]
    assert options["env"] == {
        **os.environ,
        background.VARIABLE: "0",
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1"),
    }
    assert options["start_new_session"]


def test_none_is_started_where_it_is_not_wanted_or_not_needed(
    library: Any, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_started() -> bool:
        return background.start_background(library) or bool(started)

    def broken() -> bool:
        raise ChapterhouseError("The store is locked.")

    with monkeypatch.context() as patched:
        patched.setenv(background.VARIABLE, "0")
        assert not is_started()
    library.settings.embedding.background = False
    assert not is_started()
    library.settings.embedding.background, library.encoders.embedding = True, True
    assert not is_started()
    library.encoders.embedding, library.encoders.pending = False, False
    assert not is_started()
    library.encoders.pending = True
    with monkeypatch.context() as patched:
        patched.setattr(library.encoders, "is_pending", broken)
        assert not is_started()
    lock = background._take_lock(library.home)  # it runs
    assert lock is not None
    assert not is_started()
    os.close(lock)
    assert background.start_background(library)


@pytest.mark.usefixtures("started")
def test_a_server_looks_at_most_twice_a_minute(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 100.0)
    monkeypatch.setattr(workspaces, "time", clock)
    opened = workspaces.OpenedLibrary(library)
    for now, asked in ((100.0, 1), (129.9, 1), (130.0, 2), (159.0, 2), (200.0, 3)):
        clock.monotonic = lambda now=now: now
        opened.look_after()
        assert library.encoders.asked == asked


WAIT = 250  # seconds: what makes vectors has the lowest priority
needs_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
NOTES = 10 if "CHAPTERHOUSE_LARGE" in os.environ else 2


def processes(home: Path) -> list[int]:
    wanted = ["-m", "chapterhouse.interfaces.background", str(home)]
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().decode().split("\0")
        except OSError:  # it has just ended
            continue
        if command[1:4] == wanted:
            found.append(int(path.parent.name))
    return found


def commands(home: Path, *arguments: list[str]) -> list["subprocess.Popen[bytes]"]:
    """Run commands at once; return those that run."""
    environment = {name: one for name, one in os.environ.items() if name != background.VARIABLE}
    return [
        subprocess.Popen(
            [sys.executable, "-m", "chapterhouse", *some, "--home", str(home)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for some in arguments
    ]


@needs_proc
@pytest.mark.timeout(900)
@pytest.mark.large
def test_many_commands_start_one_process_and_it_ends(tmp_path: Path) -> None:
    home, notes = tmp_path / "home", tmp_path / "notes"
    notes.mkdir()
    text = "The ferry leaves the harbour at seven, and is back before the tide turns.\n\n"
    for number in range(NOTES):
        (notes / f"{number}.md").write_text(f"# Ferry {number}\n\n" + text * 4)
    paths = [["add", str(notes / f"{number}.md")] for number in range(NOTES)]
    paths += [[*paths[0], "--workspace", "other"]]
    running, most = commands(home, *paths), set[int]()

    def has_ended() -> bool:
        now = processes(home)
        assert len(now) <= 1
        most.update(now)
        return all(one.poll() is not None for one in running) and not now

    until(has_ended, WAIT)
    assert [one.returncode for one in running] == [0] * len(running)
    assert len(most) <= NOTES  # none where every command made its own vectors in time
    for workspace, count in (("default", NOTES), ("other", 1)):
        with Library.open(home, workspace) as library:
            assert not library.encoders.is_pending()
            (status,) = library.encoders.statuses()[:1]
            assert (status.done, status.total) == (count, count)


@needs_proc
@pytest.mark.timeout(900)
def test_a_process_that_is_killed_loses_nothing_and_the_next_command_starts_it_again(
    tmp_path: Path,
) -> None:
    home, note = tmp_path / "home", tmp_path / "note.md"
    lines = (f"Ferry {number} leaves the harbour at seven each day.\n\n" for number in range(2_000))
    note.write_text("# Ferries\n\n" + "".join(lines))  # too large to be waited for
    (adding,) = commands(home, ["add", str(note)])
    until(lambda: bool(processes(home)), WAIT)
    (first,) = processes(home)
    adding.wait()
    os.kill(first, signal.SIGKILL)
    until(lambda: not processes(home), WAIT)
    with Library.open(home) as library:
        assert all(check.passed for check in library.doctor())
        waits = library.encoders.is_pending()
    (looking,) = commands(home, ["status"])
    looking.wait()
    until(lambda: not processes(home), WAIT)
    with Library.open(home) as library:
        assert not library.encoders.is_pending()
        assert waits or not library.encoders.is_embedding()
