import threading
from pathlib import Path

import pytest

from chapterhouse.interfaces.api.following import Followers
from chapterhouse.interfaces.api.workers import Workers
from chapterhouse.interfaces.api.workspaces import Workspaces
from chapterhouse.library import Library


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


def test_a_workspace_that_cannot_be_opened_is_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Library.open(tmp_path, "broken") as library:
        path = library.folder / "library.db"
    path.write_bytes(b"no database, but long enough to be looked at " * 100)
    workspaces = Workspaces(tmp_path)
    Followers(workspaces, Workers(tmp_path, starts=False))._follow("broken")
    assert "The sources of broken are not followed" in caplog.text
