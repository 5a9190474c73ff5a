"""House: the personas of a library, and all that is done with them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chapterhouse.agents import persona_folder
from chapterhouse.agents.checks import References, resolve_path
from chapterhouse.agents.curate import curate, curation_is_current
from chapterhouse.agents.curated import load_state
from chapterhouse.agents.incoming import copy_in, links_of, parse_urls
from chapterhouse.agents.listing import Listed, choose, excluded_files, listing
from chapterhouse.agents.persona_checks import Unread, validate
from chapterhouse.agents.persona_config import CONFIG_FILE, value_of
from chapterhouse.agents.persona_folder import PROSE_FILE, RAG, RAW, PersonaFolder
from chapterhouse.agents.persona_templates import DEFAULT_TEMPLATE
from chapterhouse.agents.persona_update import (
    READ_AHEAD,
    PersonaUpdate,
    fetch,
    profile_of,
    read_again,
)
from chapterhouse.agents.problems import PersonaConfigError, Problem
from chapterhouse.agents.proposal import (
    Proposal,
    changes_by_key,
    propose,
    read_last,
    write_last,
)
from chapterhouse.agents.refresh import OnProgress, Refresh
from chapterhouse.agents.reminders import reminders
from chapterhouse.agents.sync import Places, bring_up_to_date, is_current
from chapterhouse.errors import NotFoundError, ReadOnlyError, UsageError
from chapterhouse.files import lock_folder
from chapterhouse.runtime import Runtime
from chapterhouse.types import CorpusCounts, Progress, Scope


@dataclass(frozen=True, slots=True)
class Entry:
    """A persona in a list: their folder, or why it cannot be used."""

    slug: str
    folder: PersonaFolder | None
    problems: tuple[Problem, ...] = ()


class Personas:
    """The personas in one folder; the folder is the truth, the library follows it."""

    def __init__(self, runtime: Runtime) -> None:
        """Take the folder of all personas, which need not be there yet."""
        self.path = runtime.definitions / "personas"
        self._runtime = runtime

    # --- who there is --------------------------------------------------------------------------

    def names(self) -> tuple[str, ...]:
        """Return the slugs of all personas, sorted, also of those that cannot be used."""
        return persona_folder.names(self.path)

    def resolve(self, name: str) -> str:
        """Return the slug that ``name`` means: a slug, its unique beginning, or a display name.

        Raises:
            NotFoundError: it fits nobody.
            UsageError: it fits several, or is empty.
        """
        names, wanted = self.names(), name.strip().casefold()
        if not wanted:
            raise UsageError("The name of a persona is empty.", hint="Is a variable not set?")
        if wanted in names:
            return wanted
        fitting = [slug for slug in names if slug.startswith(wanted)] or [
            entry.slug
            for entry in self.all()
            if entry.folder and entry.folder.display_name.casefold() == wanted
        ]
        if len(fitting) > 1:
            raise UsageError(
                f"'{name}' fits {len(fitting)} personas.", hint=f"Name one: {', '.join(fitting)}"
            )
        if not fitting:
            known = ", ".join(names) or "none yet: chapterhouse persona new SLUG"
            raise NotFoundError(f"There is no persona '{name}'.", hint=f"There are: {known}")
        return fitting[0]

    def load(self, name: str) -> PersonaFolder:
        """Return the folder of the persona that ``name`` means.

        Raises:
            NotFoundError: it fits nobody.
            UsageError: it fits several.
            PersonaConfigError: their configuration cannot be used.
        """
        return persona_folder.load(self.path / self.resolve(name))

    def all(self) -> tuple[Entry, ...]:
        """Return all personas in order of slug, those that cannot be used with the reason."""
        return tuple(map(self._entry, self.names()))

    def census(self, name: str) -> CorpusCounts:
        """Count the documents and chunks on the shelf of a persona; errors as for ``resolve``."""
        return self._runtime.store.census(Scope.of((self.resolve(name),)))

    def create(
        self,
        slug: str,
        *,
        display_name: str = "",
        template: str = DEFAULT_TEMPLATE,
        folders: Sequence[str] = (),
    ) -> PersonaFolder:
        """Make a persona; errors as for ``folder.create``."""
        return persona_folder.create(
            self.path, slug, display_name=display_name, template=template, folders=folders
        )

    def file(self, name: str, *, config: bool = False) -> Path:
        """Return the path of their description or configuration; errors as for ``resolve``."""
        return self.path / self.resolve(name) / (CONFIG_FILE if config else PROSE_FILE)

    def change(self, name: str, written: Mapping[str, str]) -> PersonaFolder:
        """Set keys of their configuration from text, as ``retrieval.max_chunks=8``.

        Raises:
            PersonaConfigError: it could not be used afterwards; nothing was written.
            UsageError, NotFoundError: as for ``resolve``, or a key leads nowhere.
        """
        values = {key: value_of(key, text) for key, text in written.items()}
        return persona_folder.change(self.path / self.resolve(name), values)

    def validate(self, name: str | None = None) -> tuple[Problem, ...]:
        """Return everything wrong with a persona, or with all; errors as for ``resolve``."""
        chosen = self.names() if name is None else (self.resolve(name),)
        references = References(
            personas=dict.fromkeys(self.names(), True),
            shelves=frozenset(self._runtime.store.counts(Scope.everything())["shelf"]),
            models=frozenset(self._runtime.settings.models),
        )
        return tuple(
            problem
            for slug in chosen
            for problem in validate(self.path / slug, references, _unread)
        )

    # --- documents -----------------------------------------------------------------------------

    def is_current(self, name: str) -> bool:
        """Whether the library holds a persona's documents as their folder has them."""
        folder = self.load(name)
        places, _ = self._places(folder)
        return curation_is_current(folder.raw, folder.rag) and is_current(
            places, self._runtime.store
        )

    def refresh(
        self, name: str, *, on_progress: OnProgress | None = None, dry_run: bool = False
    ) -> Refresh:
        """Bring a persona's documents up to date with their folder. Never opens the network.

        It costs a look at the files' times where nothing has changed.

        Args:
            name: A slug, its beginning, or a display name.
            on_progress: Called after each file.
            dry_run: Only say what would be done.

        Raises:
            NotFoundError, UsageError, PersonaConfigError: as for ``load``.
            ChapterhouseError: something cannot be written; what was told before is safe.
        """
        folder = self.load(name)
        try:
            return self._refresh(folder, on_progress or _ignore, dry_run=dry_run)
        except ReadOnlyError as error:  # what was read before can be asked all the same
            warning = f"What has changed in their folders was not read: {error.message}"
            return Refresh(folder.slug, folder.persona.display_name, warnings=(warning,))

    def _refresh(
        self,
        folder: PersonaFolder,
        on_progress: OnProgress,
        *,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Refresh:
        with lock_folder(folder.path):
            return self._sync_folder(folder, on_progress, everything=everything, dry_run=dry_run)

    def _sync_folder(
        self, folder: PersonaFolder, on_progress: OnProgress, *, everything: bool, dry_run: bool
    ) -> Refresh:
        curation = None
        if everything or not curation_is_current(folder.raw, folder.rag):
            curation = curate(
                folder.raw,
                folder.rag,
                slug=folder.slug,
                read=self._runtime.read,
                today=self._runtime.today(),
                everything=everything,
                maximum_bytes=self._runtime.maximum_bytes,
                dry_run=dry_run,
                on_progress=on_progress,
            )
        places, warnings = self._places(folder)
        sync = None
        if dry_run or not is_current(places, self._runtime.store):
            sync = bring_up_to_date(
                places,
                store=self._runtime.store,
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
        all_warnings = (*warnings, *reminders(folder.raw, folder.rag))
        return Refresh(folder.slug, folder.display_name, curation, sync, all_warnings)

    def documents(self, name: str) -> tuple[Listed, ...]:
        """Return what is indexed of a persona and why something is not; errors as for ``load``."""
        return listing(self.load(name), self._runtime.store)

    def chosen(self, name: str, file: str) -> Listed:
        """Return the file of a persona that ``file`` means; errors as for ``listing.choose``."""
        return self._choose(self.load(name), file)

    def remove(self, name: str, file: str) -> Listed:
        """Take one file of a persona out of the index and keep it out; the file stays.

        It is named under ``exclude`` in their configuration, where a person sees it.

        Raises:
            NotFoundError: no file of theirs is called so.
            UsageError: the name fits several, or a document that others share with them.
        """
        folder = self.load(name)
        listed = self._choose(folder, file)
        _require_own(folder, listed)
        written = _as_written(folder, listed)
        if written not in folder.config.exclude:
            persona_folder.change(folder.path, {"exclude": [*folder.config.exclude, written]})
        self.refresh(folder.slug)
        return listed

    def restore(self, name: str, file: str) -> Listed:
        """Take a removed file into the index again; errors as for ``remove``."""
        folder = self.load(name)
        listed = self._choose(folder, file)
        path = resolve_path(folder.path, _as_written(folder, listed))
        retained = [
            entry
            for entry in folder.config.exclude
            if resolve_path(folder.path, entry) not in {path, Path(listed.path)}
        ]
        if len(retained) == len(folder.config.exclude):
            raise UsageError(f"{listed.source} was not removed by hand.", hint=listed.reason)
        persona_folder.change(folder.path, {"exclude": retained})
        self.refresh(folder.slug)
        return listed

    # --- update --------------------------------------------------------------------------------

    def update(
        self,
        name: str,
        *,
        files: Sequence[Path] = (),
        urls: Sequence[str] = (),
        everything: bool = True,
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
    ) -> PersonaUpdate:
        """Take in what is new, read the documents again, and propose a profile.

        Args:
            name: A slug, its beginning, or a display name.
            files: Copied into RAW-DOCS first.
            urls: Listed in ``RAW-DOCS/links.links`` and fetched first.
            everything: Fetch every listed page again and read every document anew; only without
                ``files`` and ``urls``, which ask for no more than themselves.
            on_progress: Called after each page and file.
            dry_run: Change nothing and fetch nothing.

        Raises:
            NotFoundError, UsageError, PersonaConfigError: as for ``load``; or a file or address
                cannot be taken in, and nothing was done.
            RefusedError: RAW-DOCS has another file of this name.
        """
        folder = self.load(name)
        report = on_progress or _ignore
        copied: tuple[str, ...] = ()
        fetched = again = None
        whole = everything and not files and not urls
        if not dry_run:
            links = links_of(folder.raw) if whole else parse_urls(urls)
            copied = tuple(f"{RAW}/{path.name}" for path in copy_in(files, folder.raw))
            fetched = fetch(folder, links, self._runtime, report, whole=whole)
        before = {entry.id for entry in self._runtime.store.documents(Scope.of((folder.slug,)))}
        refresh = self._refresh(folder, report, everything=whole and not dry_run, dry_run=dry_run)
        if whole and not dry_run:
            again = read_again(before - _just_read(refresh), self._runtime, report)
            if again.interrupted:
                raise KeyboardInterrupt
        generated = profile_of(folder, self._runtime)
        proposal = propose(folder.config, read_last(folder.path), generated)
        return PersonaUpdate(folder.slug, copied, fetched, refresh, again, proposal)

    def accept(self, name: str, proposal: Proposal) -> PersonaFolder:
        """Write a proposed profile into the configuration.

        Raises:
            UsageError: the configuration has changed since the proposal was made.
            NotFoundError, PersonaConfigError: as for ``load``.
        """
        folder = self.load(name)
        if folder.config != proposal.before:
            raise UsageError(
                f"The configuration of '{folder.slug}' has changed since this was proposed.",
                hint=f"Propose again: chapterhouse persona update {folder.slug}",
            )
        changed = persona_folder.change(folder.path, changes_by_key(proposal))
        write_last(folder.path, proposal.remembered)
        return changed

    # --- inside --------------------------------------------------------------------------------

    def _entry(self, slug: str) -> Entry:
        try:
            return Entry(slug, persona_folder.load(self.path / slug))
        except PersonaConfigError as error:
            return Entry(slug, None, error.problems)

    def _choose(self, folder: PersonaFolder, file: str) -> Listed:
        return choose(listing(folder, self._runtime.store), file, folder.slug)

    def _places(self, folder: PersonaFolder) -> tuple[Places, tuple[str, ...]]:
        """Return where a persona's documents are, and what cannot be looked at."""
        warnings = tuple(
            f"{path} is not there; what was read of it before stays."
            for path in folder.folders
            if not path.is_dir()
        )
        personas = {
            # Of one that cannot be used only the RAG is known.
            entry.slug: (
                self.path / entry.slug / RAG,
                *(entry.folder.folders if entry.folder else ()),
            )
            for entry in self.all()
        }
        places = Places(folder.slug, folder.rag, folder.folders, personas, excluded_files(folder))
        return places, warnings


def _just_read(refresh: Refresh) -> set[str]:
    outcomes = refresh.sync.files.outcomes if refresh.sync else ()
    return {outcome.record.document_id for outcome in outcomes if outcome.changed}


def _unread(path: Path) -> Iterator[Unread]:
    """Yield the files of RAW-DOCS that gave no document, as curation remembers them."""
    for source, known in sorted(load_state(path / RAG).items()):
        if known.code and not known.made:
            yield Unread(f"{RAW}/{source}", known.sentence, known.code)


def _require_own(folder: PersonaFolder, listed: Listed) -> None:
    places = {place for path in (folder.path, *folder.folders) for place in (path, path.resolve())}
    if not any(Path(listed.path).is_relative_to(place) for place in places):
        where = f"It is in {listed.path}"
        raise UsageError(
            f"{listed.source} is not in a folder of '{folder.slug}'; it is shared with them.",
            hint=f"{where}: take '{folder.slug}' out of its 'personas:', or off the shelf by hand.",
        )


def _as_written(folder: PersonaFolder, listed: Listed) -> str:
    """Return how ``exclude`` names a file: below the persona's folder, or absolute."""
    path = Path(listed.path)
    return str(path.relative_to(folder.path) if path.is_relative_to(folder.path) else path)


def _ignore(_: Progress) -> None:
    """Take no notice of progress."""
