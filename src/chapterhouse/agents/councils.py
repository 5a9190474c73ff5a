"""Councils: the councils of a library, and all that is done with them."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace

from chapterhouse.agents import council_folder
from chapterhouse.agents.checks import References
from chapterhouse.agents.council import Council, ParsedCouncil
from chapterhouse.agents.council_checks import check_council
from chapterhouse.agents.council_documents import listing
from chapterhouse.agents.council_folder import (
    COUNCIL_FILE,
    DOCS,
    CouncilFolder,
    check_parsed,
    read_council,
)
from chapterhouse.agents.council_model import SEARCH_TOOLS, shelf_of
from chapterhouse.agents.listing import Listed
from chapterhouse.agents.persona_update import READ_AHEAD
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import CouncilConfigError, Problem, errors
from chapterhouse.agents.refresh import OnProgress, Refresh
from chapterhouse.agents.sync import Places, bring_up_to_date, is_current
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.files import lock_folder
from chapterhouse.runtime import Runtime
from chapterhouse.types import CorpusCounts, Progress, Scope


@dataclass(frozen=True, slots=True)
class Entry:
    """A council in a list: its folder, or why that cannot be read."""

    slug: str
    folder: CouncilFolder | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """What linking or unlinking did.

    Attributes:
        folder: The council afterwards.
        written: The folder as the configuration has it, or had it.
        changed: Whether the configuration is another one now, or would be.
        refresh: What became of the documents.
    """

    folder: CouncilFolder
    written: str
    changed: bool
    refresh: Refresh


class Councils:
    """The councils in one folder; the folder is the truth, the library follows it."""

    def __init__(self, runtime: Runtime) -> None:
        """Take the folder of all councils, which need not be there yet."""
        self.path = runtime.definitions / "councils"
        self._runtime = runtime

    # --- which there are -----------------------------------------------------------------------

    def names(self) -> tuple[str, ...]:
        """Return the slugs of all councils, sorted, also of those that cannot be used."""
        return council_folder.names(self.path)

    def shelves(self) -> frozenset[str]:
        """Return the shelves that are the councils' own."""
        return frozenset(map(shelf_of, self.names()))

    def resolve(self, name: str) -> str:
        """Return the slug that ``name`` means: a slug, its unique beginning, or a display name.

        Raises:
            NotFoundError: it fits none.
            UsageError: it fits several, or is empty.
        """
        names, wanted = self.names(), name.strip().casefold()
        if not wanted:
            raise UsageError("The name of a council is empty.", hint="Is a variable not set?")
        if wanted in names:
            return wanted
        fitting = [slug for slug in names if slug.startswith(wanted)] or [
            entry.slug
            for entry in self.all()
            if entry.folder and entry.folder.council.title.casefold() == wanted
        ]
        if len(fitting) > 1:
            raise UsageError(
                f"'{name}' fits {len(fitting)} councils.", hint=f"Name one: {', '.join(fitting)}"
            )
        if not fitting:
            known = ", ".join(names) or "none yet: chapterhouse council new SLUG"
            raise NotFoundError(f"There is no council '{name}'.", hint=f"There are: {known}")
        return fitting[0]

    def load(self, name: str) -> CouncilFolder:
        """Return the folder of the council that ``name`` means.

        Raises:
            NotFoundError: it fits none.
            UsageError: it fits several.
            CouncilConfigError: its file cannot be read as a council.
        """
        return council_folder.load(self.path / self.resolve(name))

    def all(self) -> tuple[Entry, ...]:
        """Return all councils in order of slug, those that cannot be read with the reason."""
        return tuple(map(self._entry, self.names()))

    def census(self, name: str) -> CorpusCounts:
        """Count the shared documents of a council; errors as for ``resolve``."""
        return self._runtime.store.census(Scope.of((shelf_of(self.resolve(name)),)))

    def create(self, council: Council) -> CouncilFolder:
        """Make a council's folder; errors as for ``folder.create``."""
        return council_folder.create(self.path, council)

    # --- checking ------------------------------------------------------------------------------

    def validate(
        self, council: str | Council | None = None, tools: Iterable[str] = ()
    ) -> tuple[Problem, ...]:
        """Return everything wrong with a council, or with all.

        Args:
            council: A name, as for ``resolve``; or one that was built and has no folder.
            tools: Names of tools that there are beside the registered ones.

        Raises:
            NotFoundError, UsageError: as for ``resolve``.
        """
        parsed = {slug: self._parsed(slug) for slug in self.names()}
        references = self._references(parsed, frozenset(tools))
        if isinstance(council, Council):
            own = self.path / council.slug
            return check_council(council, replace(references, folder=own))
        chosen = self.names() if council is None else (self.resolve(council),)
        return tuple(entry for slug in chosen for entry in self._problems(slug, parsed, references))

    def require(self, council: str | Council, tools: Iterable[str] = ()) -> Council:
        """Return a council that can meet; arguments as for ``validate``.

        Raises:
            CouncilConfigError: it cannot, with everything that is wrong.
            NotFoundError, UsageError: as for ``resolve``.
        """
        wrong = errors(self.validate(council, tools))
        if wrong:
            raise CouncilConfigError(wrong)
        return council if isinstance(council, Council) else self.load(council).council

    # --- documents -----------------------------------------------------------------------------

    def documents(self, name: str) -> tuple[Listed, ...]:
        """Return what is indexed of the shared documents; errors as for ``load``."""
        return listing(self.load(name), self._runtime.store)

    def is_current(self, name: str) -> bool:
        """Whether the library holds the shared documents as the folders have them."""
        return is_current(self._places(self.load(name)), self._runtime.store)

    def refresh(
        self,
        council: str | Council,
        *,
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
    ) -> Refresh:
        """Bring the shared documents up to date with their folders.

        It costs a look at the files' times where nothing has changed.

        Args:
            council: A slug, its beginning, or a display name; or one that was built.
            on_progress: Called after each file.
            dry_run: Only say what would be done.

        Raises:
            NotFoundError, UsageError, CouncilConfigError: as for ``load``.
            ChapterhouseError: something cannot be written; what was told before is safe.
        """
        return self._sync_folder(self._folder(council), on_progress or _ignore, dry_run=dry_run)

    def link(
        self,
        name: str,
        path: str,
        *,
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
    ) -> Link:
        """Link a folder, and read its documents onto the shelf that all members share.

        Raises:
            NotFoundError: there is no such council or folder.
            UsageError, CouncilConfigError: as for ``load``.
        """
        before = self.load(name)
        after = council_folder.with_link(before, path)
        return self._relinked(before, after, path, on_progress or _ignore, dry_run=dry_run)

    def unlink(
        self,
        name: str,
        path: str,
        *,
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
    ) -> Link:
        """Take a linked folder away; documents that nobody else has leave the library.

        Args:
            name: A slug, its beginning, or a display name.
            path: The folder as the configuration has it, its path, or its last name.
            on_progress: Called after each file.
            dry_run: Only say what would be done.

        Raises:
            NotFoundError: there is no such council, or it is not linked.
            UsageError, CouncilConfigError: as for ``load``, or the name fits several.
        """
        before = self.load(name)
        after = council_folder.without_link(before, path)
        gone = next(entry for entry in before.council.folders if entry not in after.council.folders)
        return self._relinked(before, after, gone, on_progress or _ignore, dry_run=dry_run)

    # --- inside --------------------------------------------------------------------------------

    def _folder(self, council: str | Council) -> CouncilFolder:
        """Return a council's folder; one that was built need have none on disk."""
        if isinstance(council, Council):
            return CouncilFolder(self.path / council.slug, council)
        return self.load(council)

    def _entry(self, slug: str) -> Entry:
        try:
            return Entry(slug, council_folder.load(self.path / slug))
        except CouncilConfigError as error:
            return Entry(slug, None, error.problems)

    def _parsed(self, slug: str) -> ParsedCouncil:
        return read_council(self.path / slug / COUNCIL_FILE)

    def _references(self, parsed: dict[str, ParsedCouncil], tools: frozenset[str]) -> References:
        runtime = self._runtime
        personas = {entry.slug: entry.folder is not None for entry in Personas(runtime).all()}
        references = References(
            personas=personas,
            councils={slug: _inner(entry) for slug, entry in parsed.items()},
            models=frozenset(runtime.settings.models),
            shelves=frozenset(
                (*runtime.store.counts(Scope.everything())["shelf"], *personas, *self.shelves())
            ),
            tools=SEARCH_TOOLS | tools,
        )
        broken = frozenset[str]()
        while True:  # a council that contains a broken one is broken itself
            references = replace(references, broken=broken)
            found = {slug for slug in parsed if errors(self._problems(slug, parsed, references))}
            if found <= broken:
                return references
            broken |= found

    def _problems(
        self, slug: str, parsed: dict[str, ParsedCouncil], references: References
    ) -> tuple[Problem, ...]:
        return check_parsed(parsed[slug], slug, replace(references, folder=self.path / slug))

    def _places(self, folder: CouncilFolder) -> Places:
        """Return where a council's documents are, and those of the other councils.

        Shelves of personas count here as a hand's work, and the councils' do for the personas:
        so none takes another's documents away.
        """
        councils = {
            shelf_of(entry.slug): (
                self.path / entry.slug / DOCS,
                *(entry.folder.folders if entry.folder else ()),
            )
            for entry in self.all()
        }
        own = folder.council.shelf
        councils[own] = (folder.docs, *folder.folders)
        return Places(own, folder.docs, folder.folders, councils)

    def _sync_folder(
        self, folder: CouncilFolder, on_progress: OnProgress, *, dry_run: bool
    ) -> Refresh:
        # A council that was built in Python need not have a folder.
        with lock_folder(folder.path) if folder.path.is_dir() else nullcontext():
            return self._sync(folder, on_progress, dry_run=dry_run)

    def _sync(self, folder: CouncilFolder, on_progress: OnProgress, *, dry_run: bool) -> Refresh:
        places, store = self._places(folder), self._runtime.store
        warnings = tuple(
            f"{path} is not there; what was read of it before stays."
            for path in folder.folders
            if not path.is_dir()
        )
        sync = None
        if dry_run or not is_current(places, store):
            sync = bring_up_to_date(
                places,
                store=store,
                read=self._runtime.read,
                prepare=self._runtime.preparer(),
                workers=READ_AHEAD,
                maximum_bytes=self._runtime.maximum_bytes,
                on_progress=on_progress,
                dry_run=dry_run,
            )
            if not dry_run:
                self._runtime.catch_up()
            if sync.files.interrupted:
                raise KeyboardInterrupt  # a report is its end there, but here more would follow
        return Refresh(folder.slug, folder.council.title, None, sync, warnings)

    def _relinked(
        self,
        before: CouncilFolder,
        after: CouncilFolder,
        written: str,
        on_progress: OnProgress,
        *,
        dry_run: bool,
    ) -> Link:
        changed = after != before
        if changed and not dry_run:
            council_folder.write_links(after)
        return Link(after, written, changed, self._sync_folder(after, on_progress, dry_run=dry_run))


def _inner(parsed: ParsedCouncil) -> tuple[str, ...]:
    members = parsed.council.members if parsed.council else ()
    return tuple(member.council for member in members if member.council)


def _ignore(_: Progress) -> None:
    """Take no notice of progress."""
