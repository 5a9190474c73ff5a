import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.served import process

from chapterhouse.interfaces.api.following import Followers
from chapterhouse.interfaces.api.workers import Workers
from chapterhouse.interfaces.api.workspaces import Workspaces
from chapterhouse.library import Library
from chapterhouse.types import OPEN


class _Woken(Workers):
    """Notes for whom a worker would be started."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, starts=False)
        self.names: list[str] = []
        self.event = threading.Event()

    def wake(self, workspace: str) -> None:
        self.names.append(workspace)
        self.event.set()


def test_what_a_source_has_when_the_server_starts_is_left_to_a_job(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "gulls.md").write_text("# Gulls\n\nGulls nest on the pier.\n")
    with Library.open(tmp_path / "home") as library:
        library.sources.add(str(papers))
    with Library.open(tmp_path / "home", "empty"):
        pass
    workspaces, workers = Workspaces(tmp_path / "home"), _Woken(tmp_path / "home")
    followers = Followers(workspaces, workers)
    thread = threading.Thread(target=followers.run)
    thread.start()
    try:
        assert workers.event.wait(20)
    finally:
        followers.stop()
        followers._stop.set()
        thread.join(20)
        workspaces.close()
    assert not thread.is_alive()
    assert set(workers.names) == {"default"}
    with Library.open(tmp_path / "home") as library:
        assert [job.kind for job in library.jobs.list()] == ["sync"]


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
            wait_until(lambda: "Tern" in {one.title for one in library.documents.list()})
            wait_until(lambda: not tuple(library.jobs.list(OPEN)))
        assert len(tuple(library.documents.list())) == 26
        (job, *_) = (one for one in library.jobs.list() if one.kind == "sync")
        assert "25 of 25 documents" in str(job.result)


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(1_200):
        if is_so():
            return
        time.sleep(0.1)
    pytest.fail("it did not happen in two minutes")


def test_a_workspace_that_cannot_be_opened_is_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Library.open(tmp_path, "broken") as library:
        path = library.folder / "library.db"
    path.write_bytes(b"no database, but long enough to be looked at " * 100)
    workspaces = Workspaces(tmp_path)
    Followers(workspaces, Workers(tmp_path, starts=False))._follow("broken")
    assert "The sources of broken are not followed" in caplog.text
