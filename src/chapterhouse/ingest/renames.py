"""Files that were renamed or moved: known again by their bytes, so that nothing is read again.

The document keeps its id, and so do citations of it.
"""

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError
from chapterhouse.ingest.look import CONTAINERS, has_stamp
from chapterhouse.ingest.plan import Plan
from chapterhouse.store.sqlite import Store
from chapterhouse.types import FileMove, FileRecord, Scope

Contents = Callable[[Sequence[SourceFile], int], Generator[Content | RejectedError]]
_BYTES_RETAINED: Final = 64 * 2**20  # of files that were opened and are to be read after all


@dataclass(frozen=True, slots=True)
class Renames:
    """Which files have another place now.

    Attributes:
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
