"""What is indexed of the documents of a persona or council, and why something is not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from chapterhouse.agents.curate import FETCHED, lists_pages
from chapterhouse.agents.curated import CurationRecord, load_state, new_path, target_path
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.connectors.fetched import remembered
from chapterhouse.connectors.folder import SourceFile, location_of, walk
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store.definitions import RAG, RAW
from chapterhouse.store.sqlite import Store
from chapterhouse.types import BENIGN_NOTICES, Document, Scope, Status

_NOT_READ: Final = (
    "It was not read yet: that happens with the next question, or with persona update."
)
_NOT_READ_FOR_COUNCIL: Final = (
    "It was not read yet: that happens when the council next meets, or with sync."
)
_EXCLUDED: Final = "It was removed by hand: 'exclude' in persona.config.json names it."


class IndexState(StrEnum):
    """Whether a file can be asked about."""

    INDEXED = "indexed"
    PARTIAL = "partial"  # some of its text is
    NEW = "new"  # not read yet, or not since it changed
    REJECTED = "rejected"  # it gave no document; the reason says why
    REMOVED = "removed"  # out of the index by hand
    IGNORED = "ignored"  # no file that is read, as a link or a program


@dataclass(frozen=True, slots=True)
class FileListing:
    """One file of a persona or council, or one document that is shared with a persona.

    Attributes:
        source: As it is named in commands: below the persona's folder, or as it is cited.
        path: Where the file is that is indexed; for one of RAW-DOCS the curated one.
        reason: Why it is not indexed, or not wholly.
        shared_with: The other shelves on which the document is.
    """

    source: str
    path: str
    document_id: str = ""
    title: str = ""
    status: IndexState = IndexState.NEW
    reason: str = ""
    code: str = ""
    chunks: int = 0
    shared_with: tuple[str, ...] = ()


class _Look:
    """What is looked at, and what is known of it: by curation, and by hand as locations."""

    def __init__(self, folder: PersonaFolder, store: Store) -> None:
        self.folder, self.store = folder, store
        self.state = load_state(folder.rag)
        self._excluded = frozenset(map(_location, excluded_files(folder)))

    def standing(self, entry: FileListing, location: str) -> FileListing:
        """Say whether the document of a file is on the persona's shelf, and why not."""
        if location in self._excluded:
            return _as_excluded(entry)
        return _on_shelf(entry, location, self.folder.slug, self.store, _NOT_READ)

    def of_file(self, file: SourceFile) -> FileListing:
        """Say how a file stands that is read where it is."""
        listed = _of_file(file, self.folder.slug, self.store, _NOT_READ)
        return _as_excluded(listed) if file.location in self._excluded else listed


def listing(folder: PersonaFolder, store: Store) -> tuple[FileListing, ...]:
    """Return every file of a persona: raw, curated by hand, from elsewhere, and shared."""
    look = _Look(folder, store)
    elsewhere = (file for root in folder.folders if root.is_dir() for file in walk(root))
    own = [*_raw(look), *_rag(look), *map(look.of_file, elsewhere)]
    listed = list({entry.source: entry for entry in reversed(own)}.values())
    known = {entry.document_id for entry in listed}
    # What stood in their own places and is gone leaves the shelf with the next question.
    places = tuple(f"{location_of(path.resolve(), ())}/" for path in (folder.rag, *folder.folders))
    shared = [
        _indexed(FileListing(document.source, document.location), document, folder.slug)
        for document in store.documents(Scope.of((folder.slug,)))
        if document.id not in known and not document.location.startswith(places)
    ]
    return tuple(sorted([*listed, *shared], key=lambda entry: entry.source))


def council_listing(
    folders: Mapping[str, tuple[Path, ...]], docs: Path, store: Store
) -> tuple[FileListing, ...]:
    """Return every file of ``docs`` and of the folders of each shelf, in order of source."""
    shared = next(iter(folders))
    entries = {
        file.location: _of_file(file, shelf, store, _NOT_READ_FOR_COUNCIL)
        for shelf, roots in {**folders, shared: (docs, *folders[shared])}.items()
        for root in roots
        if root.exists()
        for file in walk(root, shelf if root == docs else "")
    }
    return tuple(sorted(entries.values(), key=lambda entry: (entry.source, entry.path)))


def choose(listed: tuple[FileListing, ...], name: str, slug: str) -> FileListing:
    """Return the file of ``slug`` that ``name`` means: source, id, its beginning, or file name."""
    if not name.strip():
        raise UsageError("The name of a file is empty.", hint="Is a variable not set?")
    tests = (
        lambda entry: name in (entry.source, entry.document_id, entry.path),
        lambda entry: entry.source.rpartition("/")[2].casefold() == name.casefold(),
        lambda entry: entry.document_id.startswith(name),
    )
    for fits in tests:
        fitting = [entry for entry in listed if fits(entry)]
        if len(fitting) > 1:
            sources = ", ".join(entry.source for entry in fitting[:5])
            raise UsageError(f"'{name}' fits {len(fitting)} files.", hint=f"Name one: {sources}")
        if fitting:
            return fitting[0]
    raise NotFoundError(
        f"No file of '{slug}' is called '{name}'.", hint=f"See: chapterhouse persona docs {slug}"
    )


def excluded_files(folder: PersonaFolder) -> frozenset[Path]:
    """Return the files that stay out of the index, those of RAW-DOCS by what is made of them."""
    state = load_state(folder.rag)
    found = set(folder.excluded)
    for path in folder.excluded:
        if path.is_relative_to(folder.raw):
            known = state.get(path.relative_to(folder.raw).as_posix())
            if known and known.made:
                found.add(target_path(folder.rag, known.id))
    return frozenset(found)


def _raw(look: _Look) -> Iterator[FileListing]:
    """Yield the files of RAW-DOCS with what became of the documents curated from them."""
    state = look.state
    pages = {
        f"{FETCHED}/{page.name}": page.url
        for page in remembered(look.folder.raw / FETCHED)
        if look.folder.raw.is_dir()
    }
    present = _files(look.folder.raw, with_lists=False).keys() | pages.keys()
    removed = look.folder.excluded
    for name in sorted(present | state.keys()):
        # Of a page people know the address, not the file that holds it.
        source = pages.get(name, f"{RAW}/{name}")
        entry = FileListing(source, str(look.folder.raw / name))
        known = state.get(name)
        if look.folder.raw / name in removed:
            yield _as_excluded(entry)
        elif known is None:
            yield replace(entry, reason=_NOT_READ, code="not-read-yet")
        elif known.made:
            target = target_path(look.folder.rag, known.id)
            yield _curated(replace(entry, path=str(target)), known, look)
        else:
            reason = known.sentence or "It gave no document."
            yield replace(entry, status=IndexState.REJECTED, reason=reason, code=known.code)


def _curated(entry: FileListing, known: CurationRecord, look: _Look) -> FileListing:
    """Say how a document stands that was made from a raw one."""
    target = Path(entry.path)
    if not target.exists():
        reason = f"{RAG}/{target.name} was deleted by hand. To make it again: persona update."
        return replace(entry, status=IndexState.REMOVED, reason=reason, code="deleted-by-hand")
    standing = look.standing(entry, _location(target))
    if standing.reason:
        return standing
    new_file = new_path(look.folder.rag, known.id)
    if new_file.exists():
        reason = (
            f"Its source changed after you had edited {RAG}/{target.name}, which stays as it is. "
            f"Take over what you want from {new_file.relative_to(look.folder.path)} and delete it."
        )
        return replace(standing, reason=reason, code="conflict-waiting")
    if known.sentence:
        return replace(standing, reason=known.sentence, code=known.code)
    if known.orphaned:
        reason = "Its source is gone, but the document was edited by hand and stays."
        return replace(standing, reason=reason, code="source-gone")
    return standing


def _rag(look: _Look) -> Iterator[FileListing]:
    """Yield the documents in RAG that a hand put there."""
    curated = {
        target_path(look.folder.rag, known.id).name for known in look.state.values() if known.made
    }
    for name, location in sorted(_files(look.folder.rag).items()):
        if name not in curated:
            # The name as it is stored, which ``exclude`` is compared with, not as it is shown.
            below = location.removeprefix(_location(look.folder.rag)).lstrip("/")
            entry = FileListing(f"{RAG}/{name}", f"{look.folder.rag}/{below}")
            yield look.standing(entry, location)


def _as_excluded(entry: FileListing) -> FileListing:
    return replace(entry, status=IndexState.REMOVED, reason=_EXCLUDED, code="removed-by-hand")


def _of_file(file: SourceFile, shelf: str, store: Store, not_read: str) -> FileListing:
    """Say how a file stands that is read where it is."""
    record = store.file(file.location)
    entry = FileListing(record.source if record else file.source, file.location)
    if file.problem is not None and record is None:
        code, reason = file.problem.code, file.problem.sentence
        return replace(entry, status=IndexState.REJECTED, reason=reason, code=code)
    return _on_shelf(entry, file.location, shelf, store, not_read)


def _on_shelf(
    entry: FileListing, location: str, shelf: str, store: Store, not_read: str
) -> FileListing:
    """Say whether the document of a file is on a shelf, and why not."""
    record = store.file(location)
    document = (
        store.document(record.document_id, Scope.everything())
        if record and record.document_id
        else None
    )
    if document is not None and shelf in document.shelves:
        return _indexed(entry, document, shelf)
    if record is not None and document is None and record.code:
        kind = IndexState.IGNORED if record.status is Status.SKIPPED else IndexState.REJECTED
        return replace(entry, status=kind, reason=record.sentence, code=record.code)
    return replace(entry, reason=not_read, code="not-read-yet")


def _indexed(entry: FileListing, document: Document, slug: str) -> FileListing:
    warnings = [notice for notice in document.notices if notice.code not in BENIGN_NOTICES]
    partial = document.status is Status.PARTIAL
    return replace(
        entry,
        document_id=document.id,
        title=document.title,
        status=IndexState.PARTIAL if partial else IndexState.INDEXED,
        reason=warnings[0].sentence if partial and warnings else "",
        code=warnings[0].code if partial and warnings else "",
        chunks=document.chunks,
        shared_with=tuple(shelf for shelf in document.shelves if shelf != slug),
    )


def _location(path: Path) -> str:
    return location_of(path.parent.resolve(), (path.name,))


def _files(folder: Path, *, with_lists: bool = True) -> dict[str, str]:
    """Return the locations of the files below a folder, by their names as sources spell them."""
    if not folder.is_dir():
        return {}
    return {
        file.source.partition("/")[2]: file.location
        for file in walk(folder, folder.name)
        if with_lists or not lists_pages(file)
    }
