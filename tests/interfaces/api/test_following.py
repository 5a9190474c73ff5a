import os
import re
import signal
from pathlib import Path
from typing import TypeVar

import httpx2
import pytest
from tests.served import children_of, process, until

from chapterhouse.interfaces.admission import read_owner_key
from chapterhouse.interfaces.api.workers import Followers, Workers, tuned_environment
from chapterhouse.interfaces.workspaces import Workspaces
from chapterhouse.library import Library
from chapterhouse.types import OPEN, Job

Value = TypeVar("Value")


def test_a_server_removes_no_more_than_was_confirmed(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in range(25):
        (papers / f"{number}.md").write_text(f"# Gull {number}\n\nGull {number} is on the pier.\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(papers)
        with process(tmp_path / "home"):
            for number in range(25):
                (papers / f"{number}.md").unlink()
            (papers / "last.md").write_text("# Tern\n\nTerns are on the buoy.\n")
            until(lambda: "Tern" in {one.title for one in library.documents.list()})
            until(lambda: not tuple(library.jobs.list(OPEN)))
        assert len(tuple(library.documents.list())) == 26
        (job, *_) = (one for one in library.jobs.list() if one.kind == "sync")
        assert re.search("25 of 2[56] documents", str(job.result))


def test_a_workspace_that_cannot_be_opened_is_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Library.open(tmp_path, "broken") as library:
        path = library.folder / "library.db"
    path.write_bytes(b"no database, but long enough to be looked at " * 100)
    workspaces = Workspaces(tmp_path)
    Followers(workspaces, Workers(tmp_path, starts=False))._follow("broken")
    assert "The sources of broken are not followed" in caplog.text


# --- a server and its workers, as processes -------------------------------------------------------


def workers_of(server: int, *, uploads: bool) -> list[int]:
    """Return the worker processes of a server that do uploads alone, or all others."""
    alone = children_of(server, b"--uploads")
    return alone if uploads else sorted({*children_of(server, b"\0worker\0")}.difference(alone))


def connected(home: Path, url: str) -> httpx2.Client:
    """Return a client that shows the owner's key."""
    return httpx2.Client(base_url=url, headers={"X-API-Key": read_owner_key(home)}, timeout=60.0)


def send(client: httpx2.Client, name: str) -> str:
    file = {"file": (f"{name}.md", f"# {name}\n\nThe {name} is of ash.\n".encode())}
    return str(client.post("/api/documents/upload", files=file).json()["id"])


def state(client: httpx2.Client, job: str) -> str:
    return str(client.get(f"/api/jobs/{job}").json()["state"])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux names the processes")
def test_a_queue_goes_on_when_its_worker_is_killed_and_behind_no_long_sync(tmp_path: Path) -> None:
    home, papers = tmp_path / "home", tmp_path / "papers"
    papers.mkdir()
    for number in range(300):
        (papers / f"{number}.md").write_text(f"# Oar {number}\n\nThe oar is of ash.\n")
    with Library.open(home) as library:
        library.sources.add(str(papers))
    with process(home) as (server, url), connected(home, url) as client:
        (syncing,) = until(lambda: workers_of(server.pid, uploads=False))
        until(lambda: client.get("/api/jobs?state=running").json()["jobs"])
        os.kill(syncing, signal.SIGSTOP)  # it is as long as we want
        sent = [send(client, name) for name in ("mast", "boom", "yard")]
        (worker,) = until(lambda: workers_of(server.pid, uploads=True))
        os.kill(worker, signal.SIGKILL)
        assert until(lambda: all(state(client, one) == "done" for one in sent))
        with Library.open(home) as library:
            assert {job.kind for job in library.jobs.list(OPEN)} == {"sync"}
        os.kill(syncing, signal.SIGCONT)


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


def test_the_environment_of_a_worker_keeps_what_the_user_has_set() -> None:
    tuned = tuned_environment({"HOME": "/home/ada", "MALLOC_ARENA_MAX": "9"})
    assert tuned["HOME"] == "/home/ada"
    assert tuned["MALLOC_ARENA_MAX"] == "9"
    assert int(tuned["MALLOC_MMAP_THRESHOLD_"]) > 0
