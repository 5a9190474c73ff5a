"""Files that are not there: gone, or away with their disk; and how much one pass may remove."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from chapterhouse.connectors.folder import REMOTE, above
from chapterhouse.connectors.volumes import Volume, Volumes
from chapterhouse.errors import NotFoundError
from chapterhouse.ingest.look import Work
from chapterhouse.ingest.remove import remove_documents
from chapterhouse.store.sqlite import Store
from chapterhouse.types import FileRecord, Removal, Scope, StayingDocuments, StayReason

_MOST: Final = 20  # documents of a folder that a pass removes unasked, though over half of it


@dataclass(frozen=True, slots=True)
class Away:
    """Files that are out of sight with their disk.

    Attributes:
        folder: In which all of them are: a mount point, or what was looked into.
        records: What is known of them, and of what is in them.
        is_mounted: Whether a disk is there, though not the one that they were read from.
    """

    folder: str
    records: tuple[FileRecord, ...]
    is_mounted: bool = False

    def still_known(self, store: Store) -> tuple[FileRecord, ...]:
        """Return the records that are as they were: no file elsewhere has taken them over."""
        return tuple(one for one in self.records if store.file(one.location) == one)


def sort_missing(
    missing: Iterable[FileRecord],
    known: Mapping[str, FileRecord],
    before: Volumes,
    after: Volumes,
    folders: Sequence[str],
) -> tuple[tuple[FileRecord, ...], tuple[Away, ...]]:
    """Tell files that are gone from those that are away.

    A file is gone if it is not in its folder while that is on the volume that it was read from.

    Args:
        missing: Records of files that were not found.
        known: All records that there are of the folders, by location.
        before: The volumes as they were before the files were looked for.
        after: As they were then: a disk that came or went was not there all the time.
        folders: What was looked into.
    """
    gone: list[FileRecord] = []
    away: dict[tuple[str, bool], list[FileRecord]] = {}
    for record in missing:
        # What is in an archive is where that is.
        outer = [known[place] for place in above(record.location) if place in known]
        file = outer[-1] if outer else record
        folder = file.location.rpartition("/")[0] or "/"
        now = before.mount(folder)
        if now == after.mount(folder) and before.is_same(folder, file.volume):
            gone.append(record)
            continue
        point = Volume.parse(file.volume).point if file.volume else "/"
        around = [one for one in folders if f"{file.location}/".startswith(f"{one.rstrip('/')}/")]
        nearest = max(point, now.point, *around, key=len)
        away.setdefault((nearest, after.mount(point).point == point), []).append(record)
    groups = (
        Away(folder, tuple(records), is_mounted)
        for (folder, is_mounted), records in sorted(away.items())
    )
    return tuple(gone), tuple(groups)


def found_deleted(away: Iterable[Away], store: Store) -> tuple[FileRecord, ...]:
    """Return the records of files that are not on the disk that is there now."""
    mounted = (group for group in away if group.is_mounted)
    return tuple(record for group in mounted for record in group.still_known(store))


def staying_of(away: Iterable[Away], store: Store) -> Iterator[StayingDocuments]:
    """Yield what there is to say of documents that stay because their files are away."""
    for group in away:
        documents = sum(bool(record.document_id) for record in group.still_known(store))
        if documents or not group.records:
            reason = StayReason.OTHER_DISK if group.is_mounted else StayReason.AWAY
            yield StayingDocuments(group.folder, documents, reason)


def unconfirmed(
    leaving: Iterable[FileRecord],
    known: Iterable[FileRecord],
    folders: Sequence[str],
    emptied: Collection[str] = (),
) -> Mapping[str, StayingDocuments]:
    """Return the folders of which one pass would remove so much that somebody has to confirm it.

    That is more than half and more than twenty of the documents of a folder, or of one right below.

    Args:
        leaving: Records of documents that would be removed.
        known: Records of all that there were.
        folders: What the locations of files begin with, ending in ``/``.
        emptied: Those of them in which no file is left: there each document counts.

    Returns:
        What there is to say, by what the locations in the folder begin with.
    """
    gone = (one.location for one in leaving if one.document_id)
    lost = Counter(chain.from_iterable(_groups(place, folders) for place in gone))
    places = (one.location for one in known if one.document_id)
    total = Counter(chain.from_iterable(_groups(place, folders) for place in places))
    found: dict[str, StayingDocuments] = {}
    for group, number in sorted(lost.items()):  # outer folders come first
        is_much = number > _MOST and number * 2 > total[group]
        if (is_much or group in emptied) and not group.startswith(tuple(found)):
            folder = group.removeprefix(REMOTE).rstrip("/") or "/"
            found[group] = StayingDocuments(folder, number, StayReason.MANY, total[group])
    return found


def _groups(location: str, folders: Sequence[str]) -> frozenset[str]:
    around = [folder for folder in folders if location.startswith(folder)]
    below = ((folder, *location[len(folder) :].partition("/")[:2]) for folder in around)
    return frozenset((*around, *("".join(parts) for parts in below if parts[2])))


def remove_gone(document_ids: Iterable[str], work: Work) -> tuple[Removal, ...]:
    """Remove documents; those that another process has removed meanwhile are passed over."""
    chosen = tuple(document_ids)
    while still := work.store.documents_among(chosen, Scope.everything()):
        try:
            removal = remove_documents(still, store=work.store)
        except NotFoundError:  # one went just now, and nothing was removed
            continue
        return (removal,)
    return ()
