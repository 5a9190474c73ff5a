"""Read, prepare and store files one after another, with the reading ahead of the storing.

An outcome is told only after it is safe on disk, and in order of source, so that the same folder
gives the same library and the same report every time. A synchronisation of the disk costs more than
storing a small document, so those that are ready at about the same time share a transaction.
"""

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile, is_ignored
from chapterhouse.errors import (
    ChapterhouseError,
    EngineError,
    MissingExtraError,
    RejectedError,
    passes,
)
from chapterhouse.ingest.look import (
    UNPACKED,
    Container,
    FileTask,
    ReadingContext,
    UnpackBudget,
    in_flight,
    worth_another_try,
)
from chapterhouse.ingest.outcomes import (
    drop_members,
    record_of,
    reject,
    skip_unchanged,
    store_document,
)
from chapterhouse.reading.formats import ARCHIVES
from chapterhouse.text.counting import counted
from chapterhouse.text.naming import source_name, storable_path
from chapterhouse.types import (
    AddReport,
    Extraction,
    FileOutcome,
    Member,
    Notice,
    Progress,
    Status,
    Step,
)

if TYPE_CHECKING:
    from chapterhouse.ingest.prepare import PreparedDocument

# What may wait behind a file that takes long to read: others are read meanwhile, and stored after
# it. To store them before it would make the order, and so the ranking of equals, a matter of speed.
_BYTES_WAITING = 256 * 2**20
_LOOKS_WAITING = 256
_READ_WAITING = 64  # of these, files whose text is held
_PATIENCE = 0.2  # seconds after which a file takes long: before, to wait makes larger groups
_MOMENT = 0.1  # seconds after which a wait looks whether it is to stop
# What one transaction may hold. Nobody else can write while it lasts.
_FILES = 50
_SECONDS = 0.2  # from the first to the last
_ALONE = 64 * 2**10  # bytes of a file that is written alone: larger ones are blobs


@dataclass(frozen=True, slots=True)
class Write:
    """What is to be written of a file: ``apply`` writes it and says how the file ended."""

    look: FileTask
    apply: Callable[[], FileOutcome]


def submit(look: FileTask, work: ReadingContext) -> FileTask:
    """Hand the bytes of a look to the reader."""
    assert look.content is not None
    work.on_step(in_flight(look, Step.READING))
    try:
        return replace(look, extraction=work.read(look.content.data, look.file.name))
    except RejectedError as error:
        return replace(look, error=error)


def run(
    looks: Iterable[FileTask], total: int, work: ReadingContext, *, before: int = 0, after: int = 0
) -> AddReport:
    """Settle each look in turn, with at most ``work.ahead`` files being read meanwhile.

    A stop or an interrupt ends the run after the last commit; what was committed is kept, and
    the next run does the rest.

    Args:
        before: How many more files of the same work were settled before.
    """
    outcomes: list[FileOutcome] = []
    settled = 0
    try:
        with closing(_writes(looks, work)) as writes:
            for group in groups(writes):
                for look, outcome in write_group(group, work):
                    outcomes.append(outcome)
                    settled += look.within is None
                    if look.content is not None:
                        work.on_end(look.file.location)
                    done, all_ = before + settled, before + total + after
                    work.on_progress(Progress(done, all_, outcome.record.source, outcome))
        interrupted = settled < total
    except (KeyboardInterrupt, CancelledError):  # the latter: the reader was closed
        interrupted = True
    return AddReport(tuple(outcomes), interrupted=interrupted)


def _in_turn(
    looks: Iterable[FileTask], waiting: deque[FileTask], work: ReadingContext
) -> Iterator[FileTask | None]:
    """Yield looks in their order, each as late as the reading ahead allows, until the stop.

    While the first takes long others are opened and read. None means that waiting follows.
    """
    since = 0.0  # when the first one was first waited for
    for look in looks:
        waiting.append(look)
        while waiting and not work.stop.is_set():
            if _is_settled(waiting[0]) or _is_full(waiting):
                yield waiting.popleft()
                since = 0.0
                continue
            reading = [one.extraction for one in waiting if one.extraction and not _is_settled(one)]
            if len(reading) < work.ahead:
                break
            yield None
            since = since or time.monotonic()
            soon = time.monotonic() - since < _PATIENCE
            wait(reading[:1] if soon else reading, _MOMENT, FIRST_COMPLETED)
        if work.stop.is_set():
            return
    while waiting and not work.stop.is_set():
        yield waiting.popleft()


def _is_full(waiting: deque[FileTask]) -> bool:
    return (
        len(waiting) >= _LOOKS_WAITING
        or sum(look.extraction is not None for look in waiting) >= _READ_WAITING
        or sum(look.size for look in waiting) > _BYTES_WAITING
    )


def _is_settled(look: FileTask) -> bool:
    return look.extraction is None or look.extraction.done()


def _writes(looks: Iterable[FileTask], work: ReadingContext) -> Generator[Write | None]:
    """Yield what is to be written of files, in their order, with some being read ahead."""
    waiting: deque[FileTask] = deque()
    try:
        for look in _in_turn(looks, waiting, work):
            if look is None:
                yield None
            else:
                yield from _settle(look, work)
    finally:
        for look in waiting:
            if look.extraction:
                look.extraction.cancel()


def _settle(look: FileTask, work: ReadingContext) -> Iterator[Write | None]:
    """Yield what is to be written of a file: first of the files in it, last of itself.

    So a file whose record is there was unpacked to its end. None means that waiting follows.
    """
    if look.error is None and look.extraction is None:
        yield Write(look, partial(skip_unchanged, look, work))
        return
    if not _is_settled(look):
        yield None
    try:
        if look.error is not None:
            raise look.error
        extraction = extraction_of(look, work)
        try:
            within, members = _members(look, extraction, work)
        except RejectedError as error:
            if extraction.format in ARCHIVES:
                raise
            # What a message says itself is read, however much it carries.
            notice = Notice("attachments-not-read", f"Files in it were not read: {error.message}")
            extraction = replace(extraction, notices=(*extraction.notices, notice))
            within, members = _around(look, work), ()
        yield from _writes(_submitted(members, work), work)
        if members and work.stop.is_set():
            raise CancelledError
        if extraction.format in ARCHIVES:
            own = partial(_record_archive, look, extraction.format, within.held, work)
        else:
            prepared = prepare_task(look, extraction, work)
            own = partial(store_document, look, prepared, within.held, work)
    except RejectedError as error:
        own = partial(reject, look, error, work)
    yield Write(look, own)


def _wait(extraction: Future[Extraction], work: ReadingContext) -> None:
    """Wait until a file is read."""
    while not extraction.done():
        if work.stop.is_set():
            extraction.cancel()
            raise CancelledError
        wait([extraction], timeout=_MOMENT)


def extraction_of(look: FileTask, work: ReadingContext) -> Extraction:
    """Wait for what was read of a file.

    Raises:
        RejectedError: it cannot be read.
        CancelledError: the work is to stop before it is.
    """
    assert look.extraction is not None
    with _boundary(look):
        _wait(look.extraction, work)
        extraction = look.extraction.result()
    if look.within is None:
        return extraction
    metadata = {**extraction.metadata, "container": look.within.source}
    return replace(extraction, metadata=metadata)


# --- several files in one transaction ---------------------------------------------------------


def groups(writes: Iterable[Write | None]) -> Iterator[Sequence[Write]]:
    """Gather writes in their order, each group for one transaction."""
    group: list[Write] = []
    began = 0.0
    try:
        for write in writes:
            alone = write is None or write.look.size > _ALONE
            if group and alone:
                yield group
                group = []
            if write is None:
                continue
            began = began if group else time.monotonic()
            group.append(write)
            if alone or len(group) == _FILES or time.monotonic() - began > _SECONDS:
                yield group
                group = []
    except (KeyboardInterrupt, CancelledError):  # what is ready is kept
        if group:
            yield group
        raise
    if group:
        yield group


def write_group(
    group: Sequence[Write], work: ReadingContext
) -> Iterator[tuple[FileTask, FileOutcome]]:
    """Write a group, then yield how each file ended.

    Where not all of it can be written, as when the disk is full, as many as can be are.

    Raises:
        ChapterhouseError: one cannot be written; those that were yielded are safe.
    """
    if len(group) > 1:
        try:
            with work.store.together():
                outcomes = [_write(one, work) for one in group]
        except ChapterhouseError:
            pass  # it comes again below, at the file that it is about
        else:
            yield from zip((one.look for one in group), outcomes, strict=True)
            return
    for one in group:
        yield one.look, _write(one, work)


def _write(write: Write, work: ReadingContext) -> FileOutcome:
    """Write what became of a file, and report it in the same transaction where that is wanted."""
    look = write.look
    if work.on_write is None:
        outcome = write.apply()
    else:
        with work.store.together():
            outcome = write.apply()
            work.on_write(look, outcome)
    if look.within is not None:
        look.within.held[look.file.location] = outcome
    seconds = time.monotonic() - look.started
    return replace(outcome, seconds=seconds, inside=look.within is not None)


# --- files in a file -----------------------------------------------------------------------------


def _around(look: FileTask, work: ReadingContext) -> Container:
    """Return what is around the files in a file."""
    budget = UnpackBudget(work.limits.archive_files, 2 * work.limits.archive_bytes)
    outer = look.within or Container("", 0, budget)
    return Container(look.file.source, outer.depth + 1, outer.budget)


def _members(
    look: FileTask, extraction: Extraction, work: ReadingContext
) -> tuple[Container, Sequence[FileTask]]:
    """Return the files in a file, opened, and what they lie in."""
    members = [one for one in extraction.members if not is_ignored(one.path.split("/"))]
    within, limit = _around(look, work), work.limits.archive_depth
    if members and within.depth > limit:
        raise RejectedError("too-deep", f"Archives are opened to a depth of {limit}, no deeper.")
    if members and not within.budget.take(members):
        raise RejectedError(
            "archive-too-many-entries",
            "The archives in it hold more than is unpacked at once.",
            hint="Unpack it and add the folder.",
        )
    return within, [_member(look, member, within, work) for member in members]


def _member(look: FileTask, member: Member, within: Container, work: ReadingContext) -> FileTask:
    """Return a file in a file, opened as far as is needed to know what to do with it."""
    assert look.content is not None
    parts = tuple(member.path.split("/"))
    source = source_name(look.file.source, parts)
    location = storable_path(f"{look.file.location}/{member.path}")
    file = SourceFile(
        look.file.root, (*look.file.parts, *parts), location, source, len(member.data)
    )
    known = work.store.file(location)
    made = FileTask(file, known, started=time.monotonic(), within=within)
    if member.problem is not None:
        problem = member.problem
        return replace(made, error=RejectedError(problem.code, problem.sentence))
    content = Content(
        member.data,
        hashlib.sha256(member.data).hexdigest(),
        len(member.data),
        look.content.mtime_ns,
        member.modified or look.content.modified,
        look.content.ctime_ns,
    )
    made = replace(made, content=content)
    return replace(made, content=replace(content, data=b"")) if _is_known(made, work) else made


def _is_known(look: FileTask, work: ReadingContext) -> bool:
    """Whether a file in a file is as it was and need not be read."""
    return (
        look.known is not None
        and look.content is not None
        and look.known.sha256 == look.content.sha256
        and not worth_another_try(look.known, retry=work.retry)
    )


def _submitted(members: Iterable[FileTask], work: ReadingContext) -> Iterator[FileTask]:
    """Hand the files in a file to the reader, but those that are as they were."""
    return (one if one.error or _is_known(one, work) else submit(one, work) for one in members)


def _record_archive(
    look: FileTask, format_: str, held: Mapping[str, FileOutcome], work: ReadingContext
) -> FileOutcome:
    """Record that a file is an archive: it is no document, and what is in it has its own record."""
    counts = Counter(outcome.record.status.value for outcome in held.values())
    text = ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])
    sentence = f"It holds {counted(len(held), 'file')}: {text}." if held else "It holds no files."
    record = record_of(look, Status.SKIPPED, (UNPACKED, sentence), format_=format_)
    work.store.record_file(record)
    drop_members(look, held, work)
    return FileOutcome(record, changed=any(outcome.changed for outcome in held.values()))


# --- one file ------------------------------------------------------------------------------------


def prepare_task(
    look: FileTask, extraction: Extraction, work: ReadingContext
) -> "PreparedDocument":
    """Make a document of what was read."""
    assert look.content is not None
    work.on_step(in_flight(look, Step.CHUNKING))
    with _boundary(look):
        return work.prepare(extraction, look.file, look.content)


@contextmanager
def _boundary(look: FileTask) -> Iterator[None]:
    """Keep the failure of one hostile file from ending the run for all the others."""
    try:
        yield
    except (RejectedError, CancelledError, EngineError):
        raise  # the last: a model that fails says nothing about the file, and would fail the next
    except MissingExtraError as error:
        raise RejectedError("missing-extra", error.message, hint=error.hint) from error
    except MemoryError as error:
        raise RejectedError(
            "out-of-memory",
            f"{look.file.source} needed more memory than there was.",
            hint="It is tried again.",
        ) from error
    except Exception as error:
        if passes(error):
            raise
        raise RejectedError(
            "internal-error",
            f"{look.file.source} could not be read: {type(error).__name__}: {error}",
            hint="Please report this file's kind and this message.",
        ) from error
