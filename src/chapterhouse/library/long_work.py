"""Long work, each kind as a job: what is ordered, and how it is done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from chapterhouse import lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.connectors.folder import location_of, resolve_root
from chapterhouse.errors import ChapterhouseError, RejectedError, UsageError
from chapterhouse.ingest import ingest, reprocess, uploads, versions
from chapterhouse.ingest.jobs import JobResult, Tracker, ended, run_here
from chapterhouse.ingest.look import CONTAINERS, FileTask
from chapterhouse.ingest.mirror import Options
from chapterhouse.ingest.sources import remember_folders, shelf_of
from chapterhouse.library.source_sync import sync_sources
from chapterhouse.presenting.wording import staying_sentence
from chapterhouse.store.jobs import JobStore
from chapterhouse.text.naming import system_path
from chapterhouse.types import (
    DEFAULT_SHELF,
    UPLOAD,
    AddReport,
    Document,
    FileInFlight,
    FileOutcome,
    FileRecord,
    Job,
    JobState,
    Progress,
    Scope,
    Status,
    Step,
    SyncReport,
)

if TYPE_CHECKING:
    from chapterhouse.agents import council_model, personas
else:
    council_model = lazy("chapterhouse.agents.council_model")
    personas = lazy("chapterhouse.agents.personas")

OnProgress = Callable[[Progress], None]

_INDEXED_AT_ONCE: Final = 1_000  # documents of an ``add``
_DOCUMENTS: Final = "documents"  # the lane of what reads the documents that are there already
_VECTORS: Final = "vectors"
_NAMES: Final = "names"  # what is said in the place of a file
_SOURCES: Final = "all sources"


@dataclass(frozen=True, slots=True)
class JobOrder:
    """What makes a job: its kind, arguments as JSON has them, and lane."""

    kind: str
    arguments: Mapping[str, Any]
    lane: str


# --- what is ordered ---


def adding(paths: Sequence[Path], shelf: str) -> JobOrder:
    """Return the order of an ``add``; its lane is the first path."""
    places = [location_of(*resolve_root(path)) for path in paths]
    return JobOrder("add", {"paths": sorted(set(places)), "shelf": shelf}, places[0])


def syncing(names: Sequence[str], options: Options) -> JobOrder:
    """Return the order of a sync; its lane is the source, or all of them."""
    arguments = {
        "sources": sorted(set(names)),
        "delete": options.delete,
        "confirmed": options.confirmed,
        "prove": options.prove,
    }
    return JobOrder("sync", arguments, f"sync {names[0]}" if len(names) == 1 else _SOURCES)


def reprocessing(document_ids: Sequence[str]) -> JobOrder:
    """Return the order to read documents again, all of them where none is named."""
    return JobOrder("reprocess", {"documents": sorted(set(document_ids))}, _DOCUMENTS)


def uploading(file: str, name: str, shelf: str, *, retain_both: bool = False) -> JobOrder:
    """Return the order to read a received file; each is a lane, for none waits for another.

    The file and the lane name the SHA-256 of the bytes, until the job is done: so a removal finds
    the open jobs that would bring back what it removes (``arguments.file`` begins with it).
    """
    arguments = {"file": file, "name": name, "shelf": shelf}
    both = {"keep": "both"} if retain_both else {}
    return JobOrder(UPLOAD, arguments | both, _lane_of_upload(file))


def has_upload_job(jobs: JobStore, file: str) -> bool:
    """Whether a job is known that reads a received file, or may be tried again."""
    return any(job.arguments.get("file") == file for job in jobs.jobs(lane=_lane_of_upload(file)))


def _lane_of_upload(file: str) -> str:
    return f"upload {file[:8]}"


def embedding() -> JobOrder:
    """Return the order to make the vectors that documents lack."""
    return JobOrder("embed", {}, _VECTORS)


def enqueue(order: JobOrder, runtime: Runtime) -> Job:
    """Leave an order to the next worker; return its job, or the equal one that waits already."""
    runner = runtime.runner
    return runner.jobs.enqueue(order.kind, order.arguments, order.lane, runner.clock())


# --- how it is done ---


def do_here(
    order: JobOrder, runtime: Runtime, on_progress: OnProgress, stop: Event | None = None
) -> Any:
    """Do an order at once, as a job of this process; return its report.

    Args:
        stop: Ends it early when set.
    """
    reports: list[Any] = []
    waiting = Progress(0, 0, f"waiting for another job of {order.lane}")

    def work(tracker: Tracker) -> JobResult:
        tracker.stop = stop or tracker.stop
        ended = do_job(runtime, tracker, on_progress)
        reports.append(ended.report)
        return ended

    wait = partial(on_progress, waiting)
    run_here(order.kind, order.arguments, order.lane, work, runtime.runner, wait)
    return reports[0]


def do_job(runtime: Runtime, tracker: Tracker, on_progress: OnProgress) -> JobResult:
    """Do the work of a job of any kind.

    Raises:
        UsageError: it is of none that is known here.
    """
    work = _WORK.get(tracker.job.kind)
    if work is None:
        raise UsageError(
            f"This Chapterhouse does not know jobs of the kind '{tracker.job.kind}'.",
            hint="Another version of Chapterhouse made it.",
        )
    return work(runtime, tracker, on_progress)


def kinds() -> frozenset[str]:
    """Return every kind of job that can be done."""
    return frozenset(_WORK)


def _sync(runtime: Runtime, tracker: Tracker, on_progress: OnProgress) -> JobResult:
    arguments: Mapping[str, Any] = tracker.job.arguments
    options = Options(
        delete=arguments["delete"],
        confirmed=arguments.get("confirmed", False),  # a job of an earlier version has none
        prove=arguments["prove"],
    )
    follow = _indexing(runtime, on_progress)
    reports = sync_sources(arguments["sources"], options, runtime, follow, tracker.follow)
    return _ended_sync(reports)


def _ended_sync(reports: Sequence[SyncReport]) -> JobResult:
    """Return how a sync ended: what it did to each source is the journal of the source."""
    parts = [ended(report.files) for report in reports]
    states = {part.state for part in parts}
    failed = any(report.problem or report.staying for report in reports)
    if JobState.CANCELLED in states:
        state = JobState.CANCELLED
    else:
        state = JobState.PARTIAL if failed or JobState.PARTIAL in states else JobState.DONE
    sources = [
        {
            **part.result,
            "source": report.source,
            "removed": len(report.removed),
            "moves": len(report.moves),
            "staying": [asdict(one) for one in report.staying],
            "problem": " ".join(
                filter(None, (report.problem, *map(staying_sentence, report.staying)))
            ),
        }
        for report, part in zip(reports, parts, strict=True)
    ]
    return JobResult(state, {"sources": sources}, tuple(reports))


def _add(runtime: Runtime, tracker: Tracker, on_progress: OnProgress) -> JobResult:
    arguments: Mapping[str, Any] = tracker.job.arguments
    follow = _indexing(runtime, on_progress)
    by_shelf: dict[str, list[Path]] = {}
    for place in arguments["paths"]:
        path = Path(system_path(place))
        shelf = arguments["shelf"] or shelf_of(place, runtime.store.sources().sources())
        # A file without a source stays where it is: its own shelf is empty.
        stays = not path.is_dir() and _is_on_own_shelf(place, runtime)
        by_shelf.setdefault(shelf or ("" if stays else DEFAULT_SHELF), []).append(path)
    report = AddReport(())
    for shelf, paths in by_shelf.items():
        remember_folders(paths, shelf, runtime.store, 0)
        further = ingest.add(paths, tracker.follow(runtime.work(follow, shelf)))
        report = AddReport(
            ingest.in_order((*report.outcomes, *further.outcomes)),
            (*report.missing, *further.missing),
            further.interrupted,
            (*report.ignored, *further.ignored),
        )
        if report.interrupted:
            break
        remember_folders(paths, shelf, runtime.store, runtime.now())
    runtime.catch_up(report)
    return ended(report)


def _is_on_own_shelf(place: str, runtime: Runtime) -> bool:
    """Whether a file is on a shelf that is not the image of a persona's or council's folders."""
    record = runtime.store.file(place)
    name = record.document_id if record else ""
    document = runtime.store.document(name, Scope.everything()) if name else None
    agents = personas.Personas(runtime).names() if document else ()
    return document is not None and not all(
        shelf in agents or council_model.is_council_shelf(shelf) for shelf in document.shelves
    )


def _indexing(runtime: Runtime, on_progress: OnProgress) -> OnProgress:
    """Bring the indexes up to date now and then: a stop leaves little to the first question."""
    changed = count(1)

    def follow(progress: Progress) -> None:
        on_progress(progress)
        outcome = progress.outcome
        if outcome is not None and outcome.changed and next(changed) % _INDEXED_AT_ONCE == 0:
            runtime.catch_up()

    return follow


def _reprocess(runtime: Runtime, tracker: Tracker, on_progress: OnProgress) -> JobResult:
    arguments: Mapping[str, Any] = tracker.job.arguments
    work = tracker.follow(runtime.work(on_progress))
    report = reprocess.reprocess(arguments["documents"], work)
    runtime.catch_up(report)
    return ended(report)


def _upload(runtime: Runtime, tracker: Tracker, on_progress: OnProgress) -> JobResult:
    """Read a received file once: what is stored may have been removed when its job goes on."""
    job = tracker.job
    arguments: Mapping[str, Any] = job.arguments
    if job.result:
        runtime.catch_up()
        uploads.drop(runtime.folder, runtime.store.shared_files(), arguments["file"])
        return JobResult(JobState.PARTIAL if job.result["problems"] else JobState.DONE, job.result)
    outcomes: dict[str, FileOutcome] = {}
    names: dict[str, object] = {"replaced": [], "replaced_by": ""}

    def on_write(look: FileTask, outcome: FileOutcome) -> None:
        outcomes[look.file.location] = outcome
        if look.within is None and _is_stored(outcome.record):
            found = versions.find_versions(outcome.record, job, runtime.store)
            names.update(found.result())
            tracker.stored({**ended(AddReport(tuple(outcomes.values()))).result, **names})
            versions.take_off(found, runtime.store)

    data = uploads.read(runtime.folder, runtime.store.shared_files(), arguments["file"])
    work = tracker.follow(runtime.work(on_progress, arguments["shelf"]))
    work = replace(work, on_write=on_write)
    report = ingest.add_bytes(data, arguments["name"], work, received=job.created)
    if not report.interrupted:
        _require_stored(report.outcomes[-1].record)
    runtime.catch_up(report)
    if not report.interrupted:  # before the job ends, or a worker that dies leaves the bytes
        uploads.drop(runtime.folder, runtime.store.shared_files(), arguments["file"])
    result = ended(report)
    return replace(result, result={**result.result, **names})


def _is_stored(record: FileRecord) -> bool:
    """Whether a file gave a document, or is an archive: the files in it say what they gave."""
    return bool(record.document_id) or record.format in CONTAINERS


def _require_stored(record: FileRecord) -> None:
    """Refuse a file of which nothing was stored: who sent it waits for its document."""
    if _is_stored(record):
        return
    why = record.sentence or "It is of a kind that is not read."
    if record.status is Status.FAILED:
        raise ChapterhouseError(why)
    raise RejectedError(record.code or record.status.value, why)


def _embed(runtime: Runtime, tracker: Tracker, on_progress: OnProgress) -> JobResult:
    done = 0

    def follow(progress: Progress) -> None:
        nonlocal done
        done += 1
        tracker.progress(progress)
        on_progress(progress)

    def begin(documents: Sequence[Document]) -> None:
        tracker.begin_only(
            FileInFlight(document.location, document.source, Step.EMBEDDING)
            for document in documents
        )

    for one in runtime.encoders.statuses():
        if one.done < one.total and one.role != "previous":
            tracker.expect(one.done, one.total)
    runtime.encoders.embed(follow, tracker.stop, begin)
    runtime.catch_up()
    _read_names(runtime, tracker, on_progress)
    state = JobState.CANCELLED if tracker.stop.is_set() else JobState.DONE
    return JobResult(state, {"documents": done})


def _read_names(runtime: Runtime, tracker: Tracker, on_progress: OnProgress) -> None:
    """Read for names what was added or changed: questions follow them, and nobody waits for it."""
    total = runtime.graph.pending()
    tracker.begin_only(())

    def goes_on(left: int) -> bool:
        if done := max(total - left, 0):
            tracker.progress(Progress(done, total, _NAMES))
            on_progress(Progress(done, total, _NAMES))
        return not tracker.stop.is_set()

    runtime.graph.fill(runtime.store, goes_on)


_WORK: Final[Mapping[str, Callable[[Runtime, Tracker, OnProgress], JobResult]]] = {
    "add": _add,
    "embed": _embed,
    "reprocess": _reprocess,
    "sync": _sync,
    UPLOAD: _upload,
}
