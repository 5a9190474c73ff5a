import os
import signal
import threading
from pathlib import Path
from subprocess import Popen

import pytest
from tests.served import until

from chapterhouse.interfaces.api import workers as workers_module
from chapterhouse.interfaces.api.workers import Followers, Workers, tuned_environment
from chapterhouse.interfaces.workspaces import Workspaces
from chapterhouse.library import Library
from chapterhouse.types import JobState


def test_a_workspace_that_cannot_be_opened_is_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Library.open(tmp_path, "broken") as library:
        path = library.folder / "library.db"
    path.write_bytes(b"no database, but long enough to be looked at " * 100)
    workspaces = Workspaces(tmp_path)
    Followers(workspaces, Workers(tmp_path, starts=False))._follow("broken")
    assert "The sources of broken are not followed" in caplog.text


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux names the processes")
def test_a_queue_goes_on_when_its_worker_is_killed_and_behind_no_long_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers_module, "_LOOK_SECONDS", 0.1)

    def started() -> dict[tuple[str, bool], Popen[bytes]]:
        return {key: one for key, one in workers._processes.items() if one.poll() is None}

    with Library.open(tmp_path) as library:
        syncing = library.sources.sync_later()
        workspaces, workers = Workspaces(tmp_path), Workers(tmp_path)
        followers = Followers(workspaces, workers)
        workers.wake("default", library.jobs.due())
        long = workers._processes["default", False]
        os.kill(long.pid, signal.SIGSTOP)  # it is as long as we want
        workers.wake("default", library.jobs.due())
        assert started() == {("default", False): long}
        thread = threading.Thread(target=followers.run)
        thread.start()
        try:
            with library.documents.receive() as upload:
                upload.write(b"# Mast\n\nThe mast is of ash.\n")
                job = library.documents.upload_later(upload.finish(), "mast.md")
            followers.wake("default")
            workers._processes["default", True].kill()
            until(lambda: library.jobs.get(job.id).state is JobState.DONE)
            assert library.jobs.get(syncing.id).state is not JobState.DONE
        finally:
            os.kill(long.pid, signal.SIGCONT)
            followers.stop()
            thread.join()
            workspaces.close()
        assert started() == {}
        library.sources.sync_later()
        workers.wake("default", library.jobs.due())  # a server that stops starts no other
        assert started() == {}


def test_the_environment_of_a_worker_keeps_what_the_user_has_set() -> None:
    tuned = tuned_environment({"HOME": "/home/ada", "MALLOC_ARENA_MAX": "9"})
    assert tuned["HOME"] == "/home/ada"
    assert tuned["MALLOC_ARENA_MAX"] == "9"
    assert int(tuned["MALLOC_MMAP_THRESHOLD_"]) > 0
