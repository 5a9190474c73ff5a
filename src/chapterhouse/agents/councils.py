"""Councils: the councils of a library, and all that is done with them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from chapterhouse.agents.council import (
    Council,
    CouncilFolder,
    ParsedCouncil,
    as_object,
    check_council,
    check_parsed,
    form_problems,
    read_council,
)
from chapterhouse.agents.council_model import SEARCH_TOOLS, Member, shelf_of, shelves_of
from chapterhouse.agents.declared_tools import installed_names
from chapterhouse.agents.definition import as_json, is_text, require_new, with_changes
from chapterhouse.agents.folder_members import name_by_documents
from chapterhouse.agents.listing import Listed, council_listing
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import (
    CouncilConfigError,
    Problem,
    References,
    errors,
    in_file,
    located,
    without_folder,
)
from chapterhouse.agents.registry import OnProgress, Refresh, Registry
from chapterhouse.connectors.folder import location_of
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store.definitions import COUNCIL_FILE, DOCS
from chapterhouse.text.naming import storable_path
from chapterhouse.types import Scope, Status


class Councils(Registry[CouncilFolder]):
    """The councils of a workspace: each has a shelf of documents that all its members read."""

    kind = "council"
    documents_folder = DOCS
    own_folders = (DOCS,)

    # --- definitions ---------------------------------------------------------------------------

    def shelves(self) -> frozenset[str]:
        """Return the shelves that are the councils' own."""
        return frozenset(map(shelf_of, self.names()))

    def create(self, council: Council) -> CouncilFolder:
        """Make a council's folder, or what is missing in one; write over nothing.

        Raises:
            UsageError: it cannot be called so.
            RefusedError: it is there already.
        """
        if wrong := [one for one in council.problems if one.path == ("slug",)]:
            raise CouncilConfigError(tuple(in_file("", wrong)))
        hint = f"Change {COUNCIL_FILE} in it, or choose another name."
        require_new(self._definitions, self.kind, council.slug, COUNCIL_FILE, hint)
        self._definitions.make(council.slug, (DOCS,))
        self._write(council.slug, as_object(council))  # last: with it the council exists
        return self.built(council)

    def built(self, council: Council) -> CouncilFolder:
        """Return a council that was built as if it had its folder; there need be none."""
        return CouncilFolder(self._definitions.folder(council.slug), council)

    def create_and_read(
        self, council: Council, *, on_progress: OnProgress | None = None
    ) -> tuple[CouncilFolder, Refresh]:
        """Make a council, read its documents, and call members with folders after them.

        Who was to read only what is no document, such as a picture, is left out. A stopped
        council is there all the same, and ``refresh`` goes on reading; errors as for both.
        """
        folder = self.create(council)
        refresh = self.refresh(council.slug, on_progress=on_progress)
        other = [one for one in council.members if self._outcomes(folder, one) == {Status.SKIPPED}]
        members = [one for one in council.members if one not in other]
        if not members:
            return folder, refresh
        documents = self._runtime.store.documents
        found = {
            one.key: tuple(documents(Scope.of(one.own_shelf(council.slug)))) for one in members
        }
        named = replace(council, members=name_by_documents(members, found))
        self._write(council.slug, as_object(named))
        again = self.refresh(council.slug)  # only shelves have other names
        left_out = (
            f"No member was made of {', '.join(one.folders)}: it is no document." for one in other
        )
        read = replace(again, sync=refresh.sync, warnings=(*again.warnings, *left_out))
        return CouncilFolder(folder.path, named), read

    def validate(
        self, council: str | Council | None = None, tools: Iterable[str] = ()
    ) -> tuple[Problem, ...]:
        """Return everything wrong with a council, or with all; errors as for ``resolve``.

        Args:
            council: A name, as for ``resolve``; or one that was built and has no folder.
            tools: Names of tools that there are beside the registered ones.
        """
        parsed = {slug: self._parsed(slug) for slug in self.names()}
        references = self._references(parsed, frozenset(tools))
        if isinstance(council, Council):
            own = self._definitions.folder(council.slug)
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
        """Return what is indexed of the documents of all and of one; errors as for ``load``."""
        folder = self.load(name)
        return council_listing(self._folders(folder.slug, folder), folder.docs, self._runtime.store)

    def add_folder(self, name: str, path: str) -> CouncilFolder:
        """Let all members read a further folder; nothing is read yet.

        One that is read already, by whatever path, is left alone, and all else of the file stays as
        its owner wrote it.

        Raises:
            NotFoundError: there is no such council or folder.
            UsageError: the name of the folder is no text, which JSON could not hold.
            CouncilConfigError: the file cannot be used as it is now.
        """
        before = self.load(name)
        if not is_text(path):
            raise UsageError(
                f"The name of {storable_path(path)} is not UTF-8.", hint="Rename the folder."
            )
        folder = located(before.path, path)
        if not folder.is_dir():
            kind = "is a file, not a folder" if folder.exists() else "is not there"
            hint = f"Check the spelling. Single files go into {before.docs}."
            raise NotFoundError(f"{folder} {kind}.", hint=hint)
        if any(folder.resolve() == known.resolve() for known in before.folders):
            return before
        return self._with_folders(before, (*before.council.folders, path))

    def remove_folder(self, name: str, path: str) -> CouncilFolder:
        """Take a folder away from all members; its documents leave with the next sync."""
        before = self.load(name)
        return self._with_folders(before, without_folder(before.path, before.council.folders, path))

    def _with_folders(self, before: CouncilFolder, folders: tuple[str, ...]) -> CouncilFolder:
        parsed = self._parsed(before.slug)
        parsed.required()  # it may have become something else meanwhile
        self._write(before.slug, with_changes(parsed.raw or {}, {"folders": list(folders)}))
        return CouncilFolder(before.path, replace(before.council, folders=folders))

    # --- inside --------------------------------------------------------------------------------

    def _load(self, slug: str) -> CouncilFolder:
        # Whether it can meet is for ``validate`` to say.
        parsed = self._parsed(slug)
        wrong = errors(form_problems(parsed, slug))
        if wrong or parsed.council is None:
            raise CouncilConfigError(wrong)
        return CouncilFolder(self._definitions.folder(slug), parsed.council)

    def _parsed(self, slug: str) -> ParsedCouncil:
        return read_council(self._definitions, slug)

    def _write(self, slug: str, raw: Mapping[str, Any]) -> None:
        self._definitions.write(slug, COUNCIL_FILE, as_json(raw))

    def _shelf(self, slug: str) -> str:
        return shelf_of(slug)

    def _folders(self, slug: str, definition: CouncilFolder | None) -> dict[str, tuple[Path, ...]]:
        members = definition.member_folders if definition else {}
        return {**super()._folders(slug, definition), **members}

    def _lasting_reminders(self, definition: CouncilFolder) -> tuple[str, ...]:
        return self._reminders(definition)

    def _reminders(self, definition: CouncilFolder) -> tuple[str, ...]:
        return tuple(
            f"Nothing can be read of what {member.name or member.key} is to read."
            f" See: chapterhouse council docs list {definition.slug}"
            for member in definition.council.members
            if self._outcomes(definition, member) - {Status.READY, Status.PARTIAL}
            and not self._runtime.store.census(
                Scope.of(member.own_shelf(definition.slug))
            ).documents
        )

    def _outcomes(self, definition: CouncilFolder, member: Member) -> set[Status]:
        """Return how the files ended that only one member reads."""
        return {
            record.status
            for path in map(partial(located, definition.path), member.folders)
            for record in self._runtime.store.files(location_of(path.resolve(), ()))
        }

    def _former_shelves(self, definition: CouncilFolder) -> frozenset[str]:
        known = self._runtime.store.counts(Scope.everything())["shelf"]
        return (
            shelves_of(definition.slug, known) - self._folders(definition.slug, definition).keys()
        )

    def _references(self, parsed: dict[str, ParsedCouncil], tools: frozenset[str]) -> References:
        runtime = self._runtime
        personas = {entry.slug: entry.folder is not None for entry in Personas(runtime).all()}
        references = References(
            personas=personas,
            councils={slug: _inner(entry) for slug, entry in parsed.items()},
            models=frozenset(runtime.settings.models),
            has_model=runtime.settings.language_model.engine != "none",
            shelves=frozenset(
                (*runtime.store.counts(Scope.everything())["shelf"], *personas, *self.shelves())
            ),
            tools=SEARCH_TOOLS | installed_names() | tools,
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
        own = self._definitions.folder(slug)
        return check_parsed(parsed[slug], slug, replace(references, folder=own))


def _inner(parsed: ParsedCouncil) -> tuple[str, ...]:
    members = parsed.council.members if parsed.council else ()
    return tuple(member.council for member in members if member.council)
