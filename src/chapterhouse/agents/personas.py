"""Personas: those of a library, and all that is done with them but asking."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from chapterhouse.agents import persona
from chapterhouse.agents.curate import curate, curation_is_current
from chapterhouse.agents.curated import CurationReport
from chapterhouse.agents.incoming import copy_in, links_of, parse_urls, reminders
from chapterhouse.agents.listing import Listed, choose, excluded_files, listing
from chapterhouse.agents.persona import PersonaFolder, value_of
from chapterhouse.agents.persona_checks import validate
from chapterhouse.agents.persona_update import (
    PersonaUpdate,
    Proposal,
    changes_by_key,
    fetch,
    profile_of,
    propose,
    read_again,
    read_last,
    write_last,
)
from chapterhouse.agents.problems import Problem, References, located, without_folder
from chapterhouse.agents.registry import OnProgress, Refresh, Registry, ignore_progress
from chapterhouse.agents.templates import DEFAULT_PERSONA_TEMPLATE
from chapterhouse.errors import UsageError
from chapterhouse.store.definitions import RAG, RAW
from chapterhouse.types import Scope


class Personas(Registry[PersonaFolder]):
    """The personas of a workspace: each has a shelf, which is the image of their folders."""

    kind = "persona"
    documents_folder = RAG
    own_folders = (RAW, RAG)

    # --- definitions ---------------------------------------------------------------------------

    def create(
        self,
        slug: str,
        *,
        display_name: str = "",
        template: str = DEFAULT_PERSONA_TEMPLATE,
        folders: Sequence[str] = (),
    ) -> PersonaFolder:
        """Make a persona; errors as for ``persona.create``."""
        return persona.create(
            self._definitions, slug, display_name=display_name, template=template, folders=folders
        )

    def change(self, name: str, written: Mapping[str, str]) -> PersonaFolder:
        """Set keys of their configuration from text, as ``retrieval.max_chunks=8``.

        Raises:
            PersonaConfigError: it could not be used afterwards; nothing was written.
            UsageError, NotFoundError: as for ``resolve``, or a key leads nowhere.
        """
        values = {key: value_of(key, text) for key, text in written.items()}
        return persona.change(self._definitions, self.resolve(name), values)

    def add_folder(self, name: str, path: str) -> PersonaFolder:
        """Let a persona read a further folder; errors as for ``change``."""
        folder = self.load(name)
        folders = list(dict.fromkeys([*folder.config.folders, path]))
        return persona.change(self._definitions, folder.slug, {"folders": folders})

    def remove_folder(self, name: str, path: str) -> PersonaFolder:
        """Take a folder away from a persona; its documents leave with the next sync."""
        folder = self.load(name)
        left = without_folder(folder.path, folder.config.folders, path)
        return persona.change(self._definitions, folder.slug, {"folders": list(left)})

    def validate(self, name: str | None = None) -> tuple[Problem, ...]:
        """Return everything wrong with a persona, or with all; errors as for ``resolve``."""
        chosen = self.names() if name is None else (self.resolve(name),)
        references = References(
            personas=dict.fromkeys(self.names(), True),
            shelves=frozenset(self._runtime.store.counts(Scope.everything())["shelf"]),
            models=frozenset(self._runtime.settings.models),
        )
        return tuple(
            problem for slug in chosen for problem in validate(self._definitions, slug, references)
        )

    # --- documents -----------------------------------------------------------------------------

    def documents(self, name: str) -> tuple[Listed, ...]:
        """Return what is indexed of a persona and why something is not; errors as for ``load``."""
        return listing(self.load(name), self._runtime.store)

    def chosen(self, name: str, file: str) -> Listed:
        """Return the file of a persona that ``file`` means; errors as for ``listing.choose``."""
        folder = self.load(name)
        return choose(listing(folder, self._runtime.store), file, folder.slug)

    def remove(self, name: str, file: str) -> Listed:
        """Take one file of a persona out of the index and keep it out; the file stays.

        It is named under ``exclude`` in their configuration, where a person sees it.

        Raises:
            NotFoundError: no file of theirs is called so.
            UsageError: the name fits several, or a document that others share with them.
        """
        folder, listed = self.load(name), self.chosen(name, file)
        _require_own(folder, listed)
        written = _as_written(folder, listed)
        if written not in folder.config.exclude:
            self._exclude(folder, [*folder.config.exclude, written])
        self.refresh(folder.slug)
        return listed

    def restore(self, name: str, file: str) -> Listed:
        """Take a removed file into the index again; errors as for ``remove``."""
        folder, listed = self.load(name), self.chosen(name, file)
        path = located(folder.path, _as_written(folder, listed))
        retained = [
            entry
            for entry in folder.config.exclude
            if located(folder.path, entry) not in {path, Path(listed.path)}
        ]
        if len(retained) == len(folder.config.exclude):
            raise UsageError(f"{listed.source} was not removed by hand.", hint=listed.reason)
        self._exclude(folder, retained)
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
            files: Copied into RAW-DOCS first.
            urls: Listed in ``RAW-DOCS/links.links`` and fetched first.
            everything: Fetch every listed page again and read every document anew; only without
                ``files`` and ``urls``, which ask for no more than themselves.
            dry_run: Change nothing and fetch nothing.

        Raises:
            NotFoundError, UsageError, PersonaConfigError: as for ``load``; or a file or address
                cannot be taken in, and nothing was done.
            RefusedError: RAW-DOCS has another file of this name.
        """
        folder = self.load(name)
        report = on_progress or ignore_progress
        copied: tuple[str, ...] = ()
        fetched = again = None
        whole = everything and not files and not urls
        if not dry_run:
            links = links_of(folder.raw) if whole else parse_urls(urls)
            copied = tuple(f"{RAW}/{path.name}" for path in copy_in(files, folder.raw))
            fetched = fetch(folder, links, self._runtime, report, whole=whole)
        before = {entry.id for entry in self._runtime.store.documents(Scope.of((folder.slug,)))}
        anew = whole and not dry_run
        refresh = self._update(folder, report, everything=anew, dry_run=dry_run)
        if anew:
            again = read_again(before - _just_read(refresh), self._runtime, report)
            if again.interrupted:
                raise KeyboardInterrupt
        generated = profile_of(folder, self._runtime)
        proposal = propose(folder.config, read_last(self._definitions, folder.slug), generated)
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
        changed = persona.change(self._definitions, folder.slug, changes_by_key(proposal))
        write_last(self._definitions, folder.slug, proposal.remembered)
        return changed

    # --- inside --------------------------------------------------------------------------------

    def _load(self, slug: str) -> PersonaFolder:
        return persona.load(self._definitions, slug)

    def _exclude(self, folder: PersonaFolder, files: list[str]) -> None:
        persona.change(self._definitions, folder.slug, {"exclude": files})

    def _excluded(self, definition: PersonaFolder) -> frozenset[Path]:
        return excluded_files(definition)

    def _is_curated(self, definition: PersonaFolder) -> bool:
        return curation_is_current(definition.raw, definition.rag)

    def _curate(
        self, definition: PersonaFolder, on_progress: OnProgress, *, everything: bool, dry_run: bool
    ) -> CurationReport | None:
        if not everything and self._is_curated(definition):
            return None
        return curate(
            definition,
            read=self._runtime.read,
            today=self._runtime.today(),
            everything=everything,
            maximum_bytes=self._runtime.maximum_bytes,
            dry_run=dry_run,
            on_progress=on_progress,
        )

    def _reminders(self, definition: PersonaFolder) -> tuple[str, ...]:
        return reminders(definition.raw, definition.rag)


def _just_read(refresh: Refresh) -> set[str]:
    outcomes = refresh.sync.files.outcomes if refresh.sync else ()
    return {outcome.record.document_id for outcome in outcomes if outcome.changed}


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
