"""Add folders: bring the library to the state of the files."""

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from chapterhouse.connectors.content import Content, open_all
from chapterhouse.connectors.folder import GIVEN, SourceFile, above
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import (
    CONTAINERS,
    Look,
    Work,
    has_stamp,
    is_suspect,
    worth_another_try,
)
from chapterhouse.ingest.outcomes import drop_members, rename_outcome, unchanged_outcome
from chapterhouse.ingest.pipeline import in_order, run, run_suspects_last, submit
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
)

_NAME = 48  # characters of a text by which it is called


def add(paths: Iterable[Path], work: Work) -> AddReport:
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


def apply_plan(plan: Plan, contents: Contents, work: Work) -> AddReport:
    """Bring the library to the state of the files of a plan; what is gone stays."""
    renames = find_renames(plan, contents, work.maximum_bytes)
    moves = tuple(file_moves(renames, work.store))
    if moves:
        work.store.move_files(moves)
        _drop_replaced(plan, moves, work)
    moved = {file.location: record for record, file, _ in renames.moves}
    for volume, locations in plan.volumes.items():
        work.store.set_volume(locations, volume)
    unchanged, pending = _partition(plan, moved, work)
    settled = [unchanged_outcome(plan.known[file.location]) for file in unchanged]
    settled += [
        rename_outcome(move.record, moved[move.record.location], work)
        for move in moves
        if move.record.location in moved
    ]
    if not _report_settled(settled, len(plan.files), work):
        return AddReport(tuple(settled), interrupted=True, ignored=plan.ignored)
    suspects = _suspects(plan.known.values())
    report = run_suspects_last(
        pending,
        lambda file: file.location in suspects,
        lambda files: _looks(files, plan, contents, renames.opened, work),
        work,
        len(settled),
    )
    origins = {move.location for move in moves}  # those of files in archives among them
    read = {outcome.record.location for outcome in report.outcomes}  # in an archive by now
    gone = [one for one in plan.missing if one.location not in origins | read]
    for record in gone:
        if not record.document_id:
            work.store.forget_file(record.location)
    return replace(
        report,
        outcomes=in_order((*settled, *report.outcomes)),
        missing=tuple(record.source for record in gone if record.document_id),
        ignored=plan.ignored,
    )


def _drop_replaced(plan: Plan, moves: Iterable[FileMove], work: Work) -> None:
    """Forget the files that were in archives and messages in whose place others are now."""
    arrived = {move.record.location for move in moves}
    for file in plan.files:
        if file.location in arrived and file.location in plan.known:
            drop_members(Look(file, plan.known[file.location]), arrived, work)


def add_text(text: str, title: str, work: Work) -> AddReport:
    """Store text that came from no file, as Markdown; the same text on one shelf changes nothing.

    Args:
        title: Stands above it as its heading; empty where it has one, or needs none.
    """
    data = (f"# {title}\n\n{text}" if title else text).encode("utf-8", "replace")
    return add_bytes(data, f"{slug((title or text)[:_NAME])}.md", work, "text")


def add_bytes(data: bytes, name: str, work: Work, label: str = "upload") -> AddReport:
    """Store bytes that came from no file; the same bytes on one shelf are the same document.

    Those that others sent to another shelf are another one: who sends does not learn of it.

    Args:
        name: What the file would be called; its end says the format where the bytes do not.
    """
    digest = hashlib.sha256(data).hexdigest()
    location = _place_for(digest, work.shelf, work.store)
    usual = location == f"{GIVEN}{digest}"
    mark = (digest if usual else hashlib.sha256(location.encode()).hexdigest())[:8]
    source = f"{label}/{mark}/{name}"  # the name stays as it is: people ask by it
    file = SourceFile(Path(), (location,), location, source, len(data))
    known = work.store.file(location)
    look = Look(file, known, started=time.monotonic())
    if known is None or worth_another_try(known):
        content = Content(data, digest, len(data), 0, int(time.time()))
        look = submit(replace(look, content=content), work)
    return run([look], 1, work)


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


def _report_settled(settled: Sequence[FileOutcome], total: int, work: Work) -> bool:
    """Report the files of which nothing had to be read; return False after an interrupt."""
    try:
        for number, outcome in enumerate(settled, start=1):
            work.on_progress(Progress(number, total, outcome.record.source, outcome))
    except KeyboardInterrupt:
        return False
    return True


def _partition(
    plan: Plan, moved: Collection[str], work: Work
) -> tuple[list[SourceFile], list[SourceFile]]:
    """Return the files of which nothing is to be looked at, and those to be opened."""
    again = _again(plan, work)
    on_shelf = work.store.document_ids(Scope.of([work.shelf])) if work.shelf else None
    unchanged: list[SourceFile] = []
    pending: list[SourceFile] = []
    for file in plan.files:
        if file.location in moved:
            continue
        known = plan.known.get(file.location)
        is_settled = (
            known is not None
            and not file.problem
            and file.location not in again
            and has_stamp(known, file)
            and not (known.format in CONTAINERS or known.size > work.limits.text_characters)
            and (on_shelf is None or not known.document_id or known.document_id in on_shelf)
        )
        (unchanged if is_settled else pending).append(file)
    return unchanged, pending


def _looks(
    files: Sequence[SourceFile],
    plan: Plan,
    contents: Contents,
    opened: Mapping[str, Content],
    work: Work,
) -> Iterator[Look]:
    """Open files one after another, as far as is needed to know what to do with them."""
    again = _again(plan, work)
    looks = [Look(file, plan.known.get(file.location)) for file in files]
    to_open = [
        look.file
        for look in looks
        if not _needs_no_bytes(look, again) and look.file.location not in opened
    ]
    with closing(contents(to_open, work.maximum_bytes)) as found:
        for look in looks:
            started = replace(look, started=time.monotonic())
            if look.file.problem:
                problem = look.file.problem
                yield replace(started, error=RejectedError(problem.code, problem.sentence))
            elif _needs_no_bytes(look, again):
                yield started
            else:
                content = opened.get(look.file.location) or next(found)
                yield _opened(started, content, work, again=look.file.location in again)


def _opened(look: Look, content: Content | RejectedError, work: Work, *, again: bool) -> Look:
    """Return the look with what opening the file gave; new bytes are handed to the reader."""
    if isinstance(content, RejectedError):
        return replace(look, error=content)
    if look.known and not again and look.known.sha256 == content.sha256:
        return replace(look, content=replace(content, data=b""))  # only its stamp is of use
    return submit(replace(look, content=content), work)


def _needs_no_bytes(look: Look, again: Collection[str]) -> bool:
    """Whether a file has a problem, or the size and time of the last look."""
    file, known = look.file, look.known
    if file.problem or known is None or file.location in again:
        return file.problem is not None
    return has_stamp(known, file)


def _again(plan: Plan, work: Work) -> frozenset[str]:
    """Return the files worth another try, and the archives and messages that they are in."""
    return frozenset(
        place
        for record in plan.known.values()
        if worth_another_try(record, retry=work.retry)
        for place in (record.location, *above(record.location))
    )


def _suspects(known: Iterable[FileRecord]) -> frozenset[str]:
    """Return the files, or what they lie in, that may have ended their reader or a process."""
    return frozenset(
        place
        for record in known
        if is_suspect(record)
        for place in (record.location, *above(record.location))
    )
