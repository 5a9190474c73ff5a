"""Read, prepare and store files one after another, with the reading ahead of the storing.

An outcome is told only after it is safe on disk, and in order of source, so that the same folder
gives the same library and the same report every time.
"""

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile, is_ignored
from chapterhouse.errors import EngineError, MissingExtraError, RejectedError, passes
from chapterhouse.ingest.groups import Write, groups, write_group
from chapterhouse.ingest.look import (
    UNPACKED,
    Container,
    Look,
    UnpackBudget,
    Work,
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
    from chapterhouse.ingest.prepare import Prepared

Found = TypeVar("Found")

# What may wait behind a file that takes long to read: others are read meanwhile, and stored after
# it. To store them before it would make the order, and so the ranking of equals, a matter of speed.
_BYTES_WAITING = 256 * 2**20
_LOOKS_WAITING = 256
_READ_WAITING = 64  # of these, files whose text is held
_PATIENCE = 0.2  # seconds after which a file takes long: before, to wait makes larger groups
_MOMENT = 0.1  # seconds after which a wait looks whether it is to stop


def submit(look: Look, work: Work) -> Look:
    """Hand the bytes of a look to the reader."""
    assert look.content is not None
    work.on_step(in_flight(look, Step.READING))
    try:
        return replace(look, extraction=work.read(look.content.data, look.file.name))
    except RejectedError as error:
        return replace(look, error=error)


def run_suspects_last(
    files: Sequence[Found],
    is_suspect: Callable[[Found], bool],
    looks: Callable[[Sequence[Found]], Iterable[Look]],
    work: Work,
    settled: int = 0,
) -> AddReport:
    """Open and settle files in their order; then, one at a time, those that ended a reader before.

    Nobody waits for a reader that hangs again, and if the process ends, it is known at which file.

    Args:
        settled: How many more files of the same work were settled before.
    """
    others = [file for file in files if not is_suspect(file)]
    suspects = [file for file in files if is_suspect(file)]
    report = run(looks(others), len(others), work, before=settled, after=len(suspects))
    if not suspects or report.interrupted:
        return report
    alone, before = replace(work, ahead=1), settled + len(others)
    last = run(looks(suspects), len(suspects), alone, before=before)
    outcomes = in_order((*report.outcomes, *last.outcomes))
    return AddReport(outcomes, interrupted=last.interrupted)


def in_order(outcomes: Iterable[FileOutcome]) -> tuple[FileOutcome, ...]:
    """Return outcomes in order of source; those of files inside another stay before its own."""
    groups: list[list[FileOutcome]] = [[]]
    for outcome in outcomes:
        groups[-1].append(outcome)
        if not outcome.inside:
            groups.append([])
    *whole, cut_off = groups  # the last was not finished, where a run was stopped
    whole.sort(key=lambda group: (group[-1].record.source, group[-1].record.location))
    return (*chain.from_iterable(whole), *cut_off)


def run(
    looks: Iterable[Look], total: int, work: Work, *, before: int = 0, after: int = 0
) -> AddReport:
    """Settle each look in turn, with at most ``work.ahead`` files being read meanwhile.

    A stop or an interrupt ends the run after the last commit; what was committed is kept, and
    the next run does the rest.

    Args:
        before: How many more files of the same work were settled before.
    """
    outcomes: list[FileOutcome] = []
    waiting: deque[Look] = deque()
    settled = 0

    def writes() -> Iterator[Write | None]:
        for look in _in_turn(looks, waiting, work):
            if look is None:
                yield None
            else:
                yield from (write and _reported(write, work) for write in _settle(look, work))

    try:
        for group in groups(writes()):
            for look, outcome in write_group(group, work.store):
                outcomes.append(outcome)
                settled += look.within is None
                if look.content is not None:
                    work.on_end(look.file.location)
                done, all_ = before + settled, before + total + after
                work.on_progress(Progress(done, all_, outcome.record.source, outcome))
        interrupted = settled < total
    except (KeyboardInterrupt, CancelledError):  # the latter: the reader was closed
        interrupted = True
    finally:
        for look in waiting:
            if look.extraction:
                look.extraction.cancel()
    return AddReport(tuple(outcomes), interrupted=interrupted)


def _in_turn(looks: Iterable[Look], waiting: deque[Look], work: Work) -> Iterator[Look | None]:
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


def _is_full(waiting: deque[Look]) -> bool:
    return (
        len(waiting) >= _LOOKS_WAITING
        or sum(look.extraction is not None for look in waiting) >= _READ_WAITING
        or sum(look.size for look in waiting) > _BYTES_WAITING
    )


def _is_settled(look: Look) -> bool:
    return look.extraction is None or look.extraction.done()


def _settle(look: Look, work: Work) -> Iterator[Write | None]:
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
            inside = _members(look, extraction, work)
        except RejectedError as error:
            if extraction.format in ARCHIVES:
                raise
            # What a message says itself is read, however much it carries.
            notice = Notice("attachments-not-read", f"Files in it were not read: {error.message}")
            extraction, inside = replace(extraction, notices=(*extraction.notices, notice)), ()
        held: dict[str, FileOutcome] = {}
        for write in _finish_archives(inside, work):
            yield write and _noted(write, held)
        if extraction.format in ARCHIVES:
            own = partial(_record_archive, look, extraction.format, held, work)
        else:
            own = partial(store_document, look, prepared_of(look, extraction, work), held, work)
    except RejectedError as error:
        own = partial(reject, look, error, work)
    yield Write(look, own)


def _noted(write: Write, held: dict[str, FileOutcome]) -> Write:
    """Return a write whose outcome is noted in ``held``, by location."""

    def apply() -> FileOutcome:
        outcome = held[write.look.file.location] = write.apply()
        return outcome

    return replace(write, apply=apply)


def _reported(write: Write, work: Work) -> Write:
    """Return a write that reports how the file ended in its transaction, where that is wanted."""
    report = work.on_write
    if report is None:
        return write

    def apply() -> FileOutcome:
        with work.store.together():
            outcome = write.apply()
            report(write.look, outcome)
        return outcome

    return replace(write, apply=apply)


def _wait(extraction: Future[Extraction], work: Work) -> None:
    """Wait until a file is read."""
    while not extraction.done():
        if work.stop.is_set():
            extraction.cancel()
            raise CancelledError
        wait([extraction], timeout=_MOMENT)


def extraction_of(look: Look, work: Work) -> Extraction:
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


# --- files in a file -----------------------------------------------------------------------------


def _members(look: Look, extraction: Extraction, work: Work) -> Sequence[Look]:
    """Return the files in a file, opened."""
    members = [one for one in extraction.members if not is_ignored(one.path.split("/"))]
    if not members:
        return ()
    limits = work.limits
    around = look.within or Container(
        "", 0, UnpackBudget(limits.archive_files, 2 * limits.archive_bytes)
    )
    if around.depth >= limits.archive_depth:
        raise RejectedError(
            "too-deep", f"Archives are opened to a depth of {limits.archive_depth}, no deeper."
        )
    if not around.budget.take(members):
        raise RejectedError(
            "archive-too-many-entries",
            "The archives in it hold more than is unpacked at once.",
            hint="Unpack it and add the folder.",
        )
    within = Container(look.file.source, around.depth + 1, around.budget)
    return [_member(look, member, within, work) for member in members]


def _member(look: Look, member: Member, within: Container, work: Work) -> Look:
    """Return a file in a file, opened as far as is needed to know what to do with it."""
    assert look.content is not None
    parts = tuple(member.path.split("/"))
    source = source_name(look.file.source, parts)
    location = storable_path(f"{look.file.location}/{member.path}")
    file = SourceFile(
        look.file.root, (*look.file.parts, *parts), location, source, len(member.data)
    )
    known = work.store.file(location)
    made = Look(file, known, started=time.monotonic(), within=within)
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


def _is_known(look: Look, work: Work) -> bool:
    """Whether a file in a file is as it was and need not be read."""
    return (
        look.known is not None
        and look.content is not None
        and look.known.sha256 == look.content.sha256
        and not worth_another_try(look.known, retry=work.retry)
    )


def _finish_archives(looks: Sequence[Look], work: Work) -> Iterator[Write | None]:
    """Yield what is to be written of files in a file, with some of them being read ahead."""
    waiting: deque[Look] = deque()
    count = 0
    try:
        opened = (one if one.error or _is_known(one, work) else submit(one, work) for one in looks)
        for look in _in_turn(opened, waiting, work):
            if look is None:
                yield None
                continue
            count += 1
            yield from _settle(look, work)
    finally:
        for look in waiting:
            if look.extraction:
                look.extraction.cancel()
    if count < len(looks):
        raise CancelledError


def _record_archive(
    look: Look, format_: str, held: Mapping[str, FileOutcome], work: Work
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


def prepared_of(look: Look, extraction: Extraction, work: Work) -> "Prepared":
    """Make a document of what was read."""
    assert look.content is not None
    work.on_step(in_flight(look, Step.CHUNKING))
    with _boundary(look):
        return work.prepare(extraction, look.file, look.content)


@contextmanager
def _boundary(look: Look) -> Iterator[None]:
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
