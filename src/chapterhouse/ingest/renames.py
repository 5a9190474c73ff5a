"""What a plan comes to before a file is read: which files were renamed, and what ``add`` would do.

A renamed file is known again by its bytes: its document keeps its id, and so do citations of it.
"""

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Final

from chapterhouse.connectors.content import Content, open_all
from chapterhouse.connectors.folder import SourceFile, above
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import CONTAINERS, has_stamp, status_of, worth_another_try
from chapterhouse.ingest.plan import Plan, make_plan
from chapterhouse.store.sqlite import Store
from chapterhouse.types import AddReport, FileMove, FileOutcome, FileRecord, Scope, Status

Contents = Callable[[Sequence[SourceFile], int], Generator[Content | RejectedError]]
_BYTES_RETAINED: Final = 64 * 2**20  # of files that were opened and are to be read after all


@dataclass(frozen=True, slots=True)
class Renames:
    """Which files have another place now.

    Attributes:
        moves: The record of each as it was, and its file and bytes now.
        opened: What opening other files gave, by location: they need not be opened again.
    """

    moves: tuple[tuple[FileRecord, SourceFile, Content], ...] = ()
    opened: Mapping[str, Content] = field(default_factory=dict)


def find_renames(plan: Plan, contents: Contents, maximum_bytes: int) -> Renames:
    """Return the new and changed files that have the bytes of one that is gone or changed.

    Only those are opened that have the size of such a file.
    """
    candidates = [
        file
        for file in plan.files
        if file.location not in plan.again and _is_new(file, plan.known.get(file.location))
    ]
    pool = [record for record in plan.missing if _is_worth_moving(record)]
    changed = (plan.known.get(file.location) for file in candidates)
    pool += [record for record in changed if record and _is_worth_moving(record)]
    away = [tuple(filter(_is_worth_moving, group.records)) for group in plan.away]
    sizes = {record.size for record in (*pool, *chain.from_iterable(away))}
    wanted = [file for file in candidates if file.size in sizes]
    if not wanted:
        return Renames()
    opened: dict[str, Content] = {}
    digests: dict[str, str] = {}
    retained = 0
    for file, content in zip(wanted, contents(wanted, maximum_bytes), strict=True):
        if isinstance(content, RejectedError):
            continue  # it is told when the file is opened to be read
        digests[file.location] = content.sha256
        retained += content.size
        opened[file.location] = content if retained <= _BYTES_RETAINED else _stamp_of(content)
    present = frozenset(digests.values())
    for records in away:  # a folder with another name: not where only a few of its files are here
        found = [record for record in records if record.sha256 in present]
        pool += found if len(found) * 2 >= len(records) else ()
    moves = tuple(
        (record, file, _stamp_of(opened[file.location]))
        for record, file in _matches(wanted, pool, digests)
    )
    moved = {file.location for _, file, _ in moves}
    whole = {
        place: one
        for place, one in opened.items()
        if place not in moved and (one.data or not one.size)
    }
    return Renames(moves, whole)


def file_moves(renames: Renames, store: Store) -> Iterator[FileMove]:
    """Yield what is to be written of renamed files, and of the files in them."""
    ids = {record.document_id for record, _, _ in renames.moves} - {""}
    documents = store.documents_among(ids, Scope.everything())
    for record, file, content in renames.moves:
        now = replace(
            record,
            location=file.location,
            source=file.source,
            size=content.size,
            mtime_ns=content.mtime_ns,
            ctime_ns=content.ctime_ns,
            volume=file.volume,
        )
        document = documents.get(record.document_id)
        title = document.title if document else ""
        if title == _stem(record.source):  # it had no other
            title = _stem(file.source)
        yield FileMove(record.location, now, title, content.modified)
        if record.format in CONTAINERS:
            yield from _moves_inside(record, file, store)


def _moves_inside(record: FileRecord, file: SourceFile, store: Store) -> Iterator[FileMove]:
    inside = [one for one in store.files(record.location) if one.location != record.location]
    ids = {one.document_id for one in inside} - {""}
    documents = store.documents_among(ids, Scope.everything())
    for one in inside:
        location = file.location + one.location.removeprefix(record.location)
        source = file.source + one.source.removeprefix(record.source)
        document = documents.get(one.document_id)
        title, modified = (document.title, document.modified) if document else ("", 0)
        now = replace(one, location=location, source=source)
        yield FileMove(one.location, now, title, modified)


def _is_new(file: SourceFile, known: FileRecord | None) -> bool:
    if file.problem:
        return False
    return known is None or not has_stamp(known, file)


def _is_worth_moving(record: FileRecord) -> bool:
    return bool(record.sha256) and (bool(record.document_id) or record.format in CONTAINERS)


def _matches(
    wanted: Iterable[SourceFile], pool: Iterable[FileRecord], digests: Mapping[str, str]
) -> Iterator[tuple[FileRecord, SourceFile]]:
    """Yield each file with the record whose bytes it has; of several that of its own name first."""
    free: dict[str, list[FileRecord]] = defaultdict(list)
    unmoved = set()
    for record in sorted(pool, key=lambda one: (one.source, one.location)):
        if digests.get(record.location) == record.sha256:
            unmoved.add(record.location)
        else:
            free[record.sha256].append(record)
    for file in wanted:
        records = free.get(digests.get(file.location, ""))
        if not records or file.location in unmoved:
            continue
        named = (one for one in records if one.source.rpartition("/")[2] == file.name)
        record = next(named, records[0])
        records.remove(record)
        yield record, file


def _stamp_of(content: Content) -> Content:
    return replace(content, data=b"")


def _stem(source: str) -> str:
    name = source.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def preview(paths: Sequence[Path], *, store: Store, maximum_bytes: int) -> AddReport:
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
    rest = [file for file in plan.files if _has_to_be_opened(file, known.get(file.location))]
    rest = [file for file in rest if file.location not in moved]
    opened = dict(zip((f.location for f in rest), contents(rest, maximum_bytes), strict=True))
    outcomes = [
        _outcome(file, known.get(file.location), opened.get(file.location), moved)
        for file in plan.files
    ]
    gone = (one for one in plan.missing if origins.isdisjoint((one.location, *above(one.location))))
    missing = tuple(one.source for one in gone)
    return AddReport(tuple(outcomes), missing, ignored=plan.ignored)


def unopened(
    files: Sequence[SourceFile],
    maximum_bytes: int,  # noqa: ARG001 - fills a seam
) -> Generator[Content | RejectedError]:
    """Yield for each file what is known of it unopened: where opening means to fetch it first."""
    for file in files:
        yield Content(b"", "", file.size, file.mtime_ns, 0)


def _has_to_be_opened(file: SourceFile, known: FileRecord | None) -> bool:
    if file.problem:
        return False
    if known is None or worth_another_try(known):
        return True
    return not has_stamp(known, file)


def _outcome(
    file: SourceFile,
    known: FileRecord | None,
    opened: Content | RejectedError | None,
    moved: Mapping[str, FileRecord],
) -> FileOutcome:
    if file.location in moved:
        sentence = f"It would take the place of {moved[file.location].source}."
        record = _record(file, known, Status.SKIPPED, "would-be-renamed", sentence)
    else:
        record = _foreseen(file, known, opened)
    earlier = (known,) if known and record.code == "unchanged" else ()
    return FileOutcome(record, changed=False, earlier=earlier)


def _foreseen(
    file: SourceFile, known: FileRecord | None, opened: Content | RejectedError | None
) -> FileRecord:
    if file.problem:
        status = status_of(file.problem.code)
        return _record(file, known, status, file.problem.code, file.problem.sentence)
    if isinstance(opened, RejectedError):
        return _record(file, known, Status.REJECTED, opened.code, opened.message)
    if opened is None or (known and not worth_another_try(known) and known.sha256 == opened.sha256):
        return _record(file, known, Status.SKIPPED, "unchanged", "Unchanged.")
    return _record(file, known, Status.SKIPPED, "would-be-read", "It would be read.")


def _record(
    file: SourceFile, known: FileRecord | None, status: Status, code: str, sentence: str
) -> FileRecord:
    return FileRecord(
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
