"""Add folders: bring the library to the state of the files."""

import hashlib
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from chapterhouse.connectors.content import Content, open_all
from chapterhouse.connectors.folder import GIVEN, SourceFile, parents_of
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import (
    FileTask,
    ReadingContext,
    has_stamp,
    is_suspect,
    may_hold_files,
    status_of,
    worth_another_try,
)
from chapterhouse.ingest.outcomes import drop_members, rename_outcome, unchanged_outcome
from chapterhouse.ingest.pipeline import run, submit
from chapterhouse.ingest.plan import Plan, make_plan
from chapterhouse.ingest.renames import Contents, file_moves, find_renames
from chapterhouse.store.sqlite import Store
from chapterhouse.text.naming import slug
from chapterhouse.types import (
    DEFAULT_SHELF,
    AddReport,
    FileMove,
    FileOutcome,
    FileRecord,
    Progress,
    Scope,
    Status,
)

_NAME = 48  # characters of a text by which it is called


def add(paths: Iterable[Path], work: ReadingContext) -> AddReport:
    """Read what is new or changed below ``paths`` and store it, file by file.

    A file whose size and time are those of the last look is not opened; one whose bytes are the
    same, there or at another place, is not read. A file that can no longer be read as a document
    takes its old document with it. Files that are gone are named in the report and stay in the
    library.

    Raises:
        NotFoundError: one of ``paths`` is not there; nothing was done.
        ChapterhouseError: the store cannot be written, as when the disk is full; what was told
            before is safe.
    """
    return apply_plan(label_roots(tuple(paths), work.store), open_all, work)


def label_roots(
    paths: Sequence[Path],
    store: Store,
    *,
    lost: Sequence[str] = (),
    excluded: Collection[str] | None = None,
) -> Plan:
    """Return the plan of ``paths`` after the folders that are new have their labels."""
    plan = make_plan(paths, store, lost=lost, excluded=excluded)
    labels = {place: store.label_root(place, label) for place, label in plan.new_roots.items()}
    # Another process may have taken a label meanwhile.
    is_same = labels == plan.new_roots
    return plan if is_same else make_plan(paths, store, lost=lost, excluded=excluded)


def apply_plan(plan: Plan, contents: Contents, work: ReadingContext) -> AddReport:
    """Bring the library to the state of the files of a plan; what is gone stays."""
    renames = find_renames(plan, contents, work.maximum_bytes)
    moves = tuple(file_moves(renames, work.store))
    if moves:
        work.store.move_files(moves)
        _drop_replaced(plan, moves, work)
    moved = {file.location: record for record, file, _ in renames.moves}
    for volume, locations in plan.volumes.items():
        work.store.set_volume(locations, volume)
    retried = (one for one in plan.known.values() if worth_another_try(one, retry=work.retry))
    plan = replace(plan, again={*plan.again, *_around(retried)})
    unchanged, pending = _partition(plan, moved, work)
    settled = [unchanged_outcome(plan.known[file.location]) for file in unchanged]
    settled += [
        rename_outcome(move.record, moved[move.record.location], work)
        for move in moves
        if move.record.location in moved
    ]
    if not _report_settled(settled, len(plan.files), work):
        return AddReport(tuple(settled), interrupted=True, ignored=plan.ignored)
    report = _run(pending, plan, contents, renames.opened, work, len(settled))
    origins = {move.location for move in moves}  # those of files in archives among them
    read = {outcome.record.location for outcome in report.outcomes}  # in an archive by now
    gone = [one for one in plan.missing if one.location not in origins | read]
    for record in gone:
        if not record.document_id:
            work.store.forget_file(record.location)
    return AddReport(
        in_order((*settled, *report.outcomes)),
        tuple(record.source for record in gone if record.document_id),
        report.interrupted,
        plan.ignored,
    )


def _run(
    files: Sequence[SourceFile],
    plan: Plan,
    contents: Contents,
    opened: Mapping[str, Content],
    work: ReadingContext,
    before: int,
) -> AddReport:
    """Open and settle files in their order; then, one at a time, those that ended a reader before.

    Nobody waits for a reader that hangs again, and if the process ends, it is known at which file.
    """
    suspects = _around(filter(is_suspect, plan.known.values()))
    last = [file for file in files if file.location in suspects]
    first = [file for file in files if file.location not in suspects]
    looks = _looks(first, plan, contents, opened, work)
    report = run(looks, len(first), work, before=before, after=len(last))
    if not last or report.interrupted:
        return report
    alone = replace(work, ahead=1)
    looks = _looks(last, plan, contents, opened, alone)
    further = run(looks, len(last), alone, before=before + len(first))
    return AddReport((*report.outcomes, *further.outcomes), interrupted=further.interrupted)


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


def _drop_replaced(plan: Plan, moves: Iterable[FileMove], work: ReadingContext) -> None:
    """Forget the files that were in archives and messages in whose place others are now."""
    arrived = {move.record.location for move in moves}
    for file in plan.files:
        if file.location in arrived and file.location in plan.known:
            drop_members(FileTask(file, plan.known[file.location]), arrived, work)


def preview(paths: Iterable[Path], *, store: Store, maximum_bytes: int) -> AddReport:
    """Return how each file below ``paths`` would be met; read no document, store none.

    A file ends as ``skipped`` with the code ``unchanged`` or ``would-be-read``, or as
    ``rejected`` where already its bytes cannot be had.
    """
    return preview_plan(make_plan(paths, store), open_all, maximum_bytes)


def preview_plan(plan: Plan, contents: Contents, maximum_bytes: int) -> AddReport:
    """Return how each file of a plan would be met; read no document, store none."""
    renames = find_renames(plan, contents, maximum_bytes)
    moved = {file.location: record for record, file, _ in renames.moves}
    origins = {record.location for record in moved.values()}
    known = {place: one for place, one in plan.known.items() if place not in origins}
    plan = replace(plan, known=known, again=_around(filter(worth_another_try, known.values())))
    rest = [file for file in plan.files if file.location not in moved]
    looks = _open(rest, plan, contents, renames.opened, maximum_bytes)
    found = {look.file.location: _foreseen(look, plan) for look in looks}
    for file in plan.files:
        if record := moved.get(file.location):
            reason = "would-be-renamed", f"It would take the place of {record.source}."
            found[file.location] = _outcome(file, known.get(file.location), *reason)
    gone = (
        one for one in plan.missing if origins.isdisjoint((one.location, *parents_of(one.location)))
    )
    outcomes = tuple(found[file.location] for file in plan.files)
    return AddReport(outcomes, tuple(one.source for one in gone), ignored=plan.ignored)


def unopened(
    files: Sequence[SourceFile],
    maximum_bytes: int,  # noqa: ARG001 - fills a seam
) -> Generator[Content | RejectedError]:
    """Yield for each file what is known of it unopened: where opening means to fetch it first."""
    for file in files:
        yield Content(b"", "", file.size, file.mtime_ns, 0)


def _foreseen(look: FileTask, plan: Plan) -> FileOutcome:
    if look.error is not None:
        status = status_of(look.error.code) if look.file.problem else Status.REJECTED
        return _outcome(look.file, look.known, look.error.code, look.error.message, status)
    if _is_new(look, plan):
        return _outcome(look.file, look.known, "would-be-read", "It would be read.")
    return _outcome(look.file, look.known, "unchanged", "Unchanged.")


def _outcome(
    file: SourceFile,
    known: FileRecord | None,
    code: str,
    sentence: str,
    status: Status = Status.SKIPPED,
) -> FileOutcome:
    record = FileRecord(
        location=file.location,
        source=file.source,
        size=file.size,
        mtime_ns=file.mtime_ns,
        sha256=known.sha256 if known else "",
        status=status,
        code=code,
        sentence=sentence,
        document_id=known.document_id if known else "",
    )
    earlier = (known,) if known and code == "unchanged" else ()
    return FileOutcome(record, changed=False, earlier=earlier)


def add_text(text: str, title: str, work: ReadingContext) -> AddReport:
    """Store text that came from no file, as Markdown; the same text on one shelf changes nothing.

    Args:
        title: Stands above it as its heading; empty where it has one, or needs none.
    """
    data = (f"# {title}\n\n{text}" if title else text).encode("utf-8", "replace")
    return add_bytes(data, f"{slug((title or text)[:_NAME])}.md", work, "text")


def add_bytes(
    data: bytes, name: str, work: ReadingContext, label: str = "upload", *, received: int = 0
) -> AddReport:
    """Store bytes that came from no file; the same bytes on one shelf are the same document.

    Those that others sent to another shelf are another one: who sends does not learn of it.

    Args:
        name: What the file would be called; its end says the format where the bytes do not.
        received: When it came, which dates it, in seconds; 0 for now.
    """
    digest = hashlib.sha256(data).hexdigest()
    location = _place_for(digest, work.shelf, work.store)
    usual = location == f"{GIVEN}{digest}"
    mark = (digest if usual else hashlib.sha256(location.encode()).hexdigest())[:8]
    source = f"{label}/{mark}/{name}"  # the name stays as it is: people ask by it
    file = SourceFile(Path(), (location,), location, source, len(data))
    known = work.store.file(location)
    content = Content(data, digest, len(data), 0, received or int(time.time()))

    def contents(files: Sequence[SourceFile], _: int) -> Generator[Content | RejectedError]:
        yield from (content for _ in files)

    return apply_plan(Plan((file,), {location: known} if known else {}), contents, work)


def _place_for(digest: str, shelf: str, store: Store) -> str:
    """Return the location of bytes that are sent to a shelf: where it has them, or a new one.

    Without a shelf they stay where any shelf has them. A document that was moved to another shelf,
    or was sent there by an earlier version, may have the usual location: then the next one is free.
    """
    everywhere = Scope.everything()
    for name in () if shelf else (DEFAULT_SHELF, *sorted(store.counts(everywhere)["shelf"])):
        place = _place_for(digest, name, store)
        if _held(place, everywhere, store):
            return place
    shelf = shelf or DEFAULT_SHELF
    usual = f"{GIVEN}{digest}"
    own = usual if shelf == DEFAULT_SHELF else f"{GIVEN}{shelf}:{digest}"
    for place in (usual, own):
        if _held(place, Scope.of([shelf]), store):
            return place
    return next(
        place
        for place in chain((own,), (f"{own}:{number}" for number in count(2)))
        if _held(place, Scope.of([shelf]), store) or not _held(place, everywhere, store)
    )


def _held(place: str, scope: Scope, store: Store) -> bool:
    """Whether a document of a scope came from a location, or from the archive there."""
    ids = [record.document_id for record in store.files(place) if record.document_id]
    return bool(store.documents_among(ids, scope))


def _report_settled(settled: Sequence[FileOutcome], total: int, work: ReadingContext) -> bool:
    """Report the files of which nothing had to be read; return False after an interrupt."""
    try:
        for number, outcome in enumerate(settled, start=1):
            work.on_progress(Progress(number, total, outcome.record.source, outcome))
    except KeyboardInterrupt:
        return False
    return True


def _partition(
    plan: Plan, moved: Collection[str], work: ReadingContext
) -> tuple[list[SourceFile], list[SourceFile]]:
    """Return the files of which nothing is to be looked at, and those to be opened."""
    files = [file for file in plan.files if file.location not in moved]
    same = {
        file.location
        for file in files
        if not file.problem
        and _is_unchanged(file, plan)
        and not may_hold_files(plan.known[file.location], work)
    }
    if same and work.shelf:
        on_shelf = {"", *work.store.document_ids(Scope.of([work.shelf]))}
        same = {place for place in same if plan.known[place].document_id in on_shelf}
    unchanged = [file for file in files if file.location in same]
    return unchanged, [file for file in files if file.location not in same]


def _looks(
    files: Sequence[SourceFile],
    plan: Plan,
    contents: Contents,
    opened: Mapping[str, Content],
    work: ReadingContext,
) -> Iterator[FileTask]:
    """Open files one after another, and hand to the reader what is new."""
    for look in _open(files, plan, contents, opened, work.maximum_bytes):
        if look.content is None:
            yield look
        elif _is_new(look, plan):
            yield submit(look, work)
        else:
            yield replace(look, content=replace(look.content, data=b""))  # its stamp is of use


def _open(
    files: Sequence[SourceFile],
    plan: Plan,
    contents: Contents,
    opened: Mapping[str, Content],
    maximum_bytes: int,
) -> Iterator[FileTask]:
    """Open files one after another, as far as is needed to know what to do with them.

    Args:
        opened: Those that were opened before, by location.
    """
    to_open = [
        file
        for file in files
        if not (file.problem or _is_unchanged(file, plan) or file.location in opened)
    ]
    with closing(contents(to_open, maximum_bytes)) as found:
        for file in files:
            look = FileTask(file, plan.known.get(file.location), started=time.monotonic())
            content: Content | RejectedError | None = None
            if file.problem:
                content = RejectedError(file.problem.code, file.problem.sentence)
            elif not _is_unchanged(file, plan):
                content = opened.get(file.location) or next(found)
            if isinstance(content, RejectedError):
                yield replace(look, error=content)
            else:
                yield replace(look, content=content)


def _is_new(look: FileTask, plan: Plan) -> bool:
    """Whether an opened file has other bytes than the last time, or is to be read again."""
    if look.known is None or look.file.location in plan.again:
        return look.content is not None
    return look.content is not None and look.content.sha256 != look.known.sha256


def _is_unchanged(file: SourceFile, plan: Plan) -> bool:
    """Whether a file has the size and time of the last look, and is not to be read again."""
    known = plan.known.get(file.location)
    return known is not None and file.location not in plan.again and has_stamp(known, file)


def _around(records: Iterable[FileRecord]) -> frozenset[str]:
    """Return the locations of files and of what they lie in."""
    return frozenset(
        place for record in records for place in (record.location, *parents_of(record.location))
    )
