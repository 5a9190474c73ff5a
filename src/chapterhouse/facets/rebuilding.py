"""A second library of a workspace, cut as the settings say now, while the first one serves."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Final

from chapterhouse.errors import ChapterhouseError, RefusedError
from chapterhouse.ingest import second
from chapterhouse.ingest.jobs import Ended
from chapterhouse.ingest.recut import count_others, cut_all
from chapterhouse.ingest.tracker import Tracker
from chapterhouse.runtime import Runtime
from chapterhouse.types import JobState, Progress, RebuildReport, Scope

OnProgress = Callable[[Progress], None]
_DATABASE: Final = "library.db"
_ALL: Final = Scope.everything()


def plan(runtime: Runtime) -> RebuildReport:
    """Return how many documents would be cut anew."""
    census = runtime.store.census(_ALL)
    return RebuildReport(
        count_others(runtime.store, runtime.cutter()),
        census.documents,
        census.chunks,
        replaced=second.read_second(runtime.folder / second.PREVIOUS) is not None,
    )


@contextmanager
def opened(runtime: Runtime, name: str) -> Iterator[Runtime]:
    """Open another library of the workspace.

    Raises:
        RefusedError: it is not there any more.
    """
    home = runtime.folder / name
    second.require_second(home)
    with _explain_deletion(home):
        other = runtime.open_second(home)
        with closing(other):
            yield other


def build(runtime: Runtime, tracker: Tracker, on_progress: OnProgress) -> Ended:
    """Build the second library, or go on with it: the work of a job.

    Raises:
        RefusedError: a removal deleted it meanwhile.
        EngineError: the encoder's vectors cannot be made.
        ChapterhouseError: there is no space for it.
    """
    home = runtime.folder / second.REBUILD
    if second.read_second(home) is None:
        _require_space(runtime.folder)
        on_progress(Progress(0, 0, "copying the library"))
    second.begin(runtime.store, home, lambda: _sequence(runtime, home))

    def follow(progress: Progress) -> None:
        second.require_second(home)
        tracker.progress(progress)
        on_progress(progress)

    with opened(runtime, second.REBUILD) as other:
        done = _refresh(runtime, other, home, tracker, follow)
    state = JobState.CANCELLED if tracker.stop.is_set() else JobState.DONE
    return Ended(state, {"documents": done})


def _refresh(
    runtime: Runtime, other: Runtime, home: Path, tracker: Tracker, follow: OnProgress
) -> int:
    """Bring over what changed, cut, make vectors and indexes; return how many were cut."""
    second.bring_over(runtime.store, other.store, home)
    done = cut_all(other.store, other.cutter(), other.embedder, follow, tracker.stop)
    if not tracker.stop.is_set():
        other.encoders.embed(follow, tracker.stop)
    if not tracker.stop.is_set():
        follow(Progress(0, 0, "building the indexes"))
        other.catch_up()
    return done


def finish(runtime: Runtime, name: str, *, cuts: bool) -> int:
    """Bring over the last changes and all that is no document; return its last change.

    Others wait with their writing meanwhile, so it is to be called when little is left.

    Args:
        runtime: Of the library that serves.
        name: The folder of the other.
        cuts: Whether documents are cut as the settings say now; else they stay as they are.
    """
    home = runtime.folder / name
    with opened(runtime, name) as other:
        with runtime.store.together():  # nobody else writes
            second.bring_over(runtime.store, other.store, home)
            other.store.take_rest(runtime.folder / _DATABASE)
        if cuts:
            cut_all(other.store, other.cutter(), other.embedder, lambda _: None, Event())
        other.catch_up()
        return other.store.sequence()


def _sequence(runtime: Runtime, home: Path) -> int:
    with closing(runtime.open_second(home)) as other:
        return other.store.sequence()


@contextmanager
def _explain_deletion(home: Path) -> Iterator[None]:
    """Let an error of a library that somebody deleted say so."""
    try:
        yield
    except (ChapterhouseError, OSError) as error:
        if not isinstance(error, RefusedError):
            try:
                second.require_second(home)
            except RefusedError as deleted:
                raise deleted from error
        raise


def _require_space(folder: Path) -> None:
    files = [folder / _DATABASE, *(path for path in (folder / "index").rglob("*"))]
    needed = 2 * sum(path.stat().st_size for path in files if path.is_file())
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ChapterhouseError(
            f"There is no space for a second library: it takes about {needed:,} bytes, and "
            f"{free:,} are free. Nothing was changed.",
            hint="Free some disk space, or delete the one from before: "
            "chapterhouse rebuild --forget",
        )
