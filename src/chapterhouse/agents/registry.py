"""What the registries of personas and of councils share: names, and documents kept up to date.

The definitions are the truth; the library follows them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from chapterhouse.agents.council import council_schema
from chapterhouse.agents.curated import CurationReport
from chapterhouse.agents.definition import (
    MAXIMUM_BYTES,
    DefinitionFolder,
    ParsedDefinition,
    Schema,
    is_text,
    parse_definition,
    parsed_in_folder,
    read_definition,
)
from chapterhouse.agents.problems import DefinitionError, Problem, located, without_folder
from chapterhouse.agents.sync import Places, is_current, mirror_shelf
from chapterhouse.answering.runtime import Runtime
from chapterhouse.connectors.folder import is_visible, location_of
from chapterhouse.errors import NotFoundError, ReadOnlyError, UsageError
from chapterhouse.ingest.mirror import Options
from chapterhouse.ingest.remove import remove_documents
from chapterhouse.ingest.sources import look_from_outside, mark_synced
from chapterhouse.presenting.wording import join_words, staying_sentence
from chapterhouse.text.naming import storable_path
from chapterhouse.types import CorpusCounts, Progress, Scope, Source, SourceKind, SyncReport
from chapterhouse.types.analytics import day_of

OnProgress = Callable[[Progress], None]


Folder = TypeVar("Folder", bound=DefinitionFolder[Any])


@dataclass(frozen=True, slots=True)
class Entry(Generic[Folder]):
    """A persona or council in a list: its folder, or why it cannot be used."""

    slug: str
    folder: Folder | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Refresh:
    """What bringing documents up to date did; false where there was nothing to do.

    Attributes:
        curation: What became of RAW-DOCS, or None where nothing in it had changed.
        sync: What was indexed and taken out, or None where nothing had changed.
    """

    slug: str
    display_name: str
    curation: CurationReport | None = None
    sync: SyncReport | None = None
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was read, indexed or taken out."""
        curated = self.curation is not None and self.curation.changed > 0
        return curated or (self.sync is not None and self.sync.changed > 0)

    @property
    def sentence(self) -> str:
        """What was done, for people; empty where nothing was."""
        if not self.changed:
            return ""
        written = self.sync.files.changed if self.sync else 0
        removed = len(self.sync.removed) if self.sync else 0
        moved = len(self.sync.moves) if self.sync else 0
        counts = ((written, "read"), (removed, "removed"), (moved, "moved between shelves"))
        done = ", ".join(f"{count} {verb}" for count, verb in counts if count)
        return f"The documents of {self.display_name} had changed: {done or 'curated anew'}."

    def __bool__(self) -> bool:
        """Whether anything was read, indexed or taken out."""
        return self.changed


@dataclass(frozen=True, slots=True)
class AgentRemoval:
    """What goes with a persona or council that is removed, and what stays.

    Attributes:
        councils: Those that it sits in or presides over: they cannot meet until they are changed.
        documents: How many are on its shelves alone, and leave the library.
        memories: How many remembered questions and answers are its own, and are forgotten.
        folder: Its own folder; once it is removed, where that was moved to.
        folders: Other folders that it read; nothing happens to them.
    """

    kind: str
    slug: str
    display_name: str
    councils: tuple[str, ...]
    documents: int
    memories: int
    folder: str
    folders: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What that means, for people; paths of the machine only in the last."""
        sits = f"It sits in {join_words(self.councils)}: change that council before it meets again."
        return (
            *((sits,) if self.councils else ()),
            f"Documents that leave the library, since nobody else reads them: {self.documents:,}",
            f"Remembered answers that are forgotten: {self.memories:,}",
            *(("The other folders that it reads stay as they are.",) if self.folders else ()),
            f"Its own folder stays on disk, beside the others, as _{self.slug}.",
        )


class Registry(ABC, Generic[Folder]):
    """All personas or all councils of a workspace.

    Attributes:
        kind: What each of them is, ``persona`` or ``council``.
        documents_folder: The folder of a definition whose documents are indexed.
        own_folders: All folders of a definition in which a change is one of its documents.
    """

    kind: ClassVar[str]
    documents_folder: ClassVar[str]
    own_folders: ClassVar[tuple[str, ...]]

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._definitions = runtime.definitions[self.kind]

    # --- which there are -----------------------------------------------------------------------

    def names(self) -> tuple[str, ...]:
        """Return all slugs, sorted, also of those that cannot be used."""
        return self._definitions.names()

    def resolve(self, name: str) -> str:
        """Return the slug that ``name`` means: a slug, its unique beginning, or a display name.

        Raises ``NotFoundError`` where it fits none, ``UsageError`` where it fits several.
        """
        names, wanted = self.names(), name.strip().casefold()
        if not wanted:
            raise UsageError(f"The name of a {self.kind} is empty.", hint="Is a variable not set?")
        if wanted in names:
            return wanted
        fitting = [slug for slug in names if slug.startswith(wanted)] or [
            entry.slug
            for entry in self.all()
            if entry.folder and entry.folder.display_name.casefold() == wanted
        ]
        if len(fitting) > 1:
            hint = f"Name one: {', '.join(fitting)}"
            raise UsageError(f"'{name}' fits {len(fitting)} {self.kind}s.", hint=hint)
        if not fitting:
            known = ", ".join(names) or f"none yet: chapterhouse {self.kind} new SLUG"
            raise NotFoundError(f"There is no {self.kind} '{name}'.", hint=f"There are: {known}")
        return fitting[0]

    def load(self, name: str | Folder) -> Folder:
        """Return the persona or council that ``name`` means, or which it is.

        Errors as for ``resolve``; raises ``DefinitionError`` where it cannot be used as it is.
        """
        return self._load(self.resolve(name)) if isinstance(name, str) else name

    def text(self, name: str) -> str:
        """Return what the file of one says, be it of use or not; errors as for ``resolve``."""
        try:
            data = self._definitions.read(self.resolve(name), self._schema().file, MAXIMUM_BYTES)
        except OSError:
            return ""
        return data.decode("utf-8", "replace")

    def rewrite(self, name: str, text: str) -> None:
        """Write over what the file of one said; nothing is written that could not be used.

        Errors as for ``load``.
        """
        slug, schema = self.resolve(name), self._schema()
        parsed_in_folder(parse_definition(text, schema), slug).required()
        self._definitions.write(slug, schema.file, text.replace("\r\n", "\n").strip() + "\n")

    def all(self) -> tuple[Entry[Folder], ...]:
        """Return all in order of slug, those that cannot be used with the reason."""
        return tuple(map(self._entry, self.names()))

    def folder(self, name: str) -> Path:
        """Return the folder of one; errors as for ``resolve``."""
        return self._definitions.folder(self.resolve(name))

    def census(self, name: str) -> CorpusCounts:
        """Count the documents and chunks on the shelves of one; errors as for ``resolve``."""
        entry = self._entry(self.resolve(name))
        return self._runtime.store.census(Scope.of(self._folders(entry.slug, entry.folder)))

    def add_folder(self, name: str, path: str) -> Folder:
        """Let one read a further folder; nothing is read yet.

        One that is read already, by whatever path, is left alone.
        """
        before = self.load(name)
        if not is_text(path):
            raise UsageError(
                f"The name of {storable_path(path)} is not UTF-8.", hint="Rename the folder."
            )
        folder = located(before.path, path)
        if not folder.is_dir():
            kind = "is a file, not a folder" if folder.exists() else "is not there"
            single = before.path / self.own_folders[0]
            hint = f"Check the spelling. Single files go into {single}."
            raise NotFoundError(f"{folder} {kind}.", hint=hint)
        if any(folder.resolve() == known.resolve() for known in before.folders):
            return before
        return self._change(before.slug, {"folders": [*before.config.folders, path]})

    def remove_folder(self, name: str, path: str) -> Folder:
        """Take a folder away from one; its documents leave with the next sync."""
        before = self.load(name)
        left = without_folder(before.path, before.config.folders, path)
        return self._change(before.slug, {"folders": list(left)})

    def remove_agent(self, name: str, *, dry_run: bool = False) -> AgentRemoval:
        """Remove one: its documents leave the library, its memories are forgotten.

        Its folder is moved aside and can be moved back. A ``dry_run`` says what would go; errors as
        for ``resolve``.
        """
        slug, store = self.resolve(name), self._runtime.store
        entry, folder = self._entry(slug), self._definitions.folder(slug)
        shelves = {*self._folders(slug, entry.folder)}
        shelves |= self._former_shelves(entry.folder) if entry.folder else set()
        found = tuple(store.documents(Scope.of(shelves)))
        alone = [one.id for one in found if shelves.issuperset(one.shelves)]
        memories = store.memories()
        owners = [one for one in memories.personas() if self._owns(one, slug)]
        removal = AgentRemoval(
            self.kind,
            slug,
            entry.folder.display_name if entry.folder else slug,
            self._councils_with(slug),
            len(alone),
            memories.count(owners),
            str(folder),
            tuple(map(str, entry.folder.folders)) if entry.folder else (),
        )
        if dry_run:
            return removal
        files = tuple(store.files(location_of(folder.resolve(), ())))
        with self._definitions.lock(slug):
            moved = self._definitions.set_aside(slug)
        for one in found:
            if not shelves.issuperset(one.shelves):
                store.set_shelves(one.id, sorted(set(one.shelves) - shelves))
        removed = remove_documents(alone, store=store)
        for file in files:  # also those that could not be read
            store.forget_file(file.location)
        store.sources().drop(f"{self.kind}/{slug}")
        memories.forget_all(owners)
        if alone:
            self._runtime.erase([removed])
        else:
            self._runtime.catch_up()
        return replace(removal, folder=str(moved))

    def _councils_with(self, slug: str) -> tuple[str, ...]:
        """Return the councils in which one sits, or over which it presides."""
        definitions = self._runtime.definitions["council"]
        parsed = {
            name: read_definition(definitions, name, council_schema())
            for name in definitions.names()
        }
        return tuple(
            name
            for name, one in parsed.items()
            if one.value and any(getattr(who, self.kind) == slug for who in one.value.everyone)
        )

    def _owns(self, owner: str, slug: str) -> bool:
        """Whether memories are those of one, by whose they are."""
        shelf = self._shelf(slug)
        return owner == shelf or owner.startswith(f"{shelf}/")

    # --- documents -----------------------------------------------------------------------------

    def is_current(self, name: str) -> bool:
        """Whether the library holds the documents of one as its folders have them."""
        definition = self.load(name)
        return self._is_curated(definition) and all(
            is_current(places, self._runtime.store) for places in self._places(definition)
        )

    def source(self, slug: str) -> Source:
        """Return one as a source: when it was last brought up to date, and what it looked like."""
        name = f"{self.kind}/{slug}"
        saved = {one.name: one for one in self._runtime.store.sources().sources()}
        location = str(self._definitions.folder(slug))
        return saved.get(name) or Source(name, SourceKind(self.kind), location, self._shelf(slug))

    def folders_of(self, slug: str) -> tuple[Path, ...]:
        """Return the folders that one reads; of one that cannot be used only its own."""
        folders = self._folders(slug, self._entry(slug).folder)
        own = (self._definitions.folder(slug) / name for name in self.own_folders)
        return (*own, *dict.fromkeys(chain.from_iterable(folders.values())))

    def prepare(self, name: str | Folder, *, on_progress: OnProgress | None = None) -> Refresh:
        """Read the documents of one the first time it is asked; later only say what is stale.

        A question waits for no folder: what changed is read by ``sync``. Errors as for ``refresh``.
        """
        definition = self.load(name)
        source = self.source(definition.slug)
        if not source.synced:
            return self.refresh(definition, on_progress=on_progress)
        lasting = self._lasting_reminders(definition)
        if source.state == look_from_outside(self.folders_of(definition.slug)):
            return Refresh(definition.slug, definition.display_name, warnings=lasting)
        warning = (
            f"The folders of {definition.display_name} have changed since they were read"
            f" ({day_of(source.synced)}). Read them: chapterhouse sync {source.name}"
        )
        return Refresh(definition.slug, definition.display_name, warnings=(warning, *lasting))

    def refresh(
        self,
        name: str | Folder,
        *,
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
        confirmed: bool = False,
    ) -> Refresh:
        """Bring the documents of one up to date with its folders. Never opens the network.

        It costs a look at the files' times where nothing has changed. What was told is safe,
        whatever ends it. ``confirmed`` as of ``Sources.sync``; errors as for ``load``.
        """
        definition = self.load(name)
        try:
            return self._update(definition, on_progress, dry_run=dry_run, confirmed=confirmed)
        except ReadOnlyError as error:  # what was read before can be asked all the same
            warning = f"What has changed in their folders was not read: {error.message}"
            return Refresh(definition.slug, definition.display_name, warnings=(warning,))

    def _update(
        self,
        definition: Folder,
        on_progress: OnProgress | None,
        *,
        everything: bool = False,
        dry_run: bool = False,
        confirmed: bool = False,
    ) -> Refresh:
        """Curate and index what has changed, or ``everything``, one at a time."""
        progress = on_progress or ignore_progress
        with self._definitions.lock(definition.slug):
            curation = self._curate(definition, progress, everything=everything, dry_run=dry_run)
            sync = self._sync(definition, progress, dry_run=dry_run, confirmed=confirmed)
            if sync is not None and sync.files.interrupted:
                raise KeyboardInterrupt  # a report is its end there, but here more would follow
            folders = chain(*self._folders(definition.slug, definition).values())
            staying = sync.staying if sync is not None else ()
            absent = _absent(folders, {one.folder for one in staying})
            warnings = (*map(staying_sentence, staying), *absent, *self._reminders(definition))
            if not dry_run:
                source, folders_now = self.source(definition.slug), self.folders_of(definition.slug)
                mark_synced(source, folders_now, self._runtime.store, self._runtime.now())
        return Refresh(definition.slug, definition.display_name, curation, sync, warnings)

    def _sync(
        self, definition: Folder, on_progress: OnProgress, *, dry_run: bool, confirmed: bool
    ) -> SyncReport | None:
        runtime, places = self._runtime, self._places(definition)
        if not dry_run:
            places = tuple(one for one in places if not is_current(one, runtime.store))
        if not places:
            return None
        options, reports = Options(confirmed=confirmed, dry_run=dry_run), list[SyncReport]()
        for number, one in enumerate(places):
            follow = on_progress if len(places) == 1 else _as_one_of(places, number, on_progress)
            work = runtime.work(follow)
            reports.append(mirror_shelf(one, work, options))
            if reports[-1].files.interrupted:
                break
        if not dry_run:
            runtime.catch_up(*(report.files for report in reports))
        return reduce(add, reports)

    def _places(self, definition: Folder) -> tuple[Places, ...]:
        """Return where the documents of one are, shelf by shelf, and those of all of its kind.

        Shelves of the other kind count as filled by hand: so none takes another's documents away.
        """
        shelf, documents = self._shelf(definition.slug), self._documents(definition.slug)
        own = self._folders(definition.slug, definition) | dict.fromkeys(
            self._former_shelves(definition), ()
        )
        all_folders: dict[str, tuple[Path, ...]] = {}
        for entry in self.all():
            folders = self._folders(entry.slug, entry.folder)
            all_folders |= _with_documents(
                folders, self._shelf(entry.slug), self._documents(entry.slug)
            )
        all_folders |= _with_documents(own, shelf, documents)  # also of a council without a file
        excluded = self._excluded(definition)
        return tuple(
            Places(name, documents if name == shelf else None, paths, all_folders, excluded)
            for name, paths in own.items()
        )

    def _documents(self, slug: str) -> Path:
        return self._definitions.folder(slug) / self.documents_folder

    def _parsed(self, slug: str) -> ParsedDefinition[Any]:
        return read_definition(self._definitions, slug, self._schema())

    def _entry(self, slug: str) -> Entry[Folder]:
        try:
            return Entry(slug, self._load(slug))
        except DefinitionError as error:
            return Entry(slug, None, error.problems)

    # --- what each kind says for itself --------------------------------------------------------

    @abstractmethod
    def validate(self, name: str | None = None, /) -> tuple[Problem, ...]:
        """Return everything wrong with one, or with all; errors as for ``resolve``."""

    @abstractmethod
    def _schema(self) -> Schema[Any]:
        """Return what the file of one may say."""

    @abstractmethod
    def _load(self, slug: str) -> Folder:
        """Return the definition of this name."""

    @abstractmethod
    def _change(self, slug: str, changes: Mapping[str, object]) -> Folder:
        """Set keys of its file, and leave all others."""

    def _shelf(self, slug: str) -> str:
        """Return the shelf on which its documents stand."""
        return slug

    def _folders(self, slug: str, definition: Folder | None) -> dict[str, tuple[Path, ...]]:
        """Return its shelves, each with the folders that it points at.

        Of one that cannot be used only the shelf of its own documents is known.
        """
        return {self._shelf(slug): definition.folders if definition else ()}

    def _former_shelves(self, definition: Folder) -> frozenset[str]:  # noqa: ARG002 - for councils
        """Return the shelves that were its own, and are to be emptied."""
        return frozenset()

    def _excluded(self, definition: Folder) -> frozenset[Path]:  # noqa: ARG002 - for personas
        """Return the files that stay off its shelf."""
        return frozenset()

    def _is_curated(self, definition: Folder) -> bool:  # noqa: ARG002 - for personas
        """Whether curation would find nothing new."""
        return True

    def _curate(
        self, definition: Folder, on_progress: OnProgress, *, everything: bool, dry_run: bool
    ) -> CurationReport | None:
        """Make documents of what lies in the folder raw; None where nothing had changed."""

    def _lasting_reminders(self, definition: Folder) -> tuple[str, ...]:  # noqa: ARG002 - for councils
        """Return what waits for a person and is known without a look into folders."""
        return ()

    def _reminders(self, definition: Folder) -> tuple[str, ...]:  # noqa: ARG002 - for personas
        """Return what waits for a person."""
        return ()


def _as_one_of(places: Sequence[Places], number: int, on_progress: OnProgress) -> OnProgress:
    """Return what shows the progress of one shelf as that of all."""
    return lambda one: on_progress(replace(one, done=number, total=len(places)))


def _with_documents(
    folders: dict[str, tuple[Path, ...]], shelf: str, documents: Path
) -> dict[str, tuple[Path, ...]]:
    return folders | {shelf: (documents, *folders[shelf])}


def _absent(folders: Iterable[Path], known: Collection[str]) -> tuple[str, ...]:
    return tuple(
        f"{path} is not there; what was read of it before stays."
        for path in folders
        if not is_visible(path) and str(path) not in known
    )


def ignore_progress(_: Progress) -> None:
    """Take no notice of progress."""
