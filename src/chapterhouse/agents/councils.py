"""Councils: the councils of a library, and all that is done with them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from chapterhouse.agents.council import (
    Council,
    CouncilFolder,
    as_object,
    check_council,
    check_parsed,
    council_from,
    council_schema,
)
from chapterhouse.agents.council_model import (
    CHAIR,
    MOST_MEMBERS,
    SEARCH_TOOLS,
    Member,
    installed_names,
    shelf_of,
    shelves_of,
)
from chapterhouse.agents.definition import (
    LONGEST_NAME,
    ParsedDefinition,
    Schema,
    as_json,
    change_definition,
    is_text,
    require_new,
)
from chapterhouse.agents.listing import FileListing, council_listing
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import (
    CouncilConfigError,
    Problem,
    References,
    errors,
    in_file,
    located,
)
from chapterhouse.agents.registry import OnProgress, Refresh, Registry
from chapterhouse.agents.sync import Places
from chapterhouse.connectors.folder import location_of, walk
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store.definitions import COUNCIL_FILE, DOCS
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.naming import natural_key, printable_name, slug, storable_path
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Document, Scope, Status

_LONGEST_TITLE: Final = 60  # characters; a longer one is no name, and the file's is taken
_NO_FILE: Final = frozenset(("symbolic-link", "not-a-file"))


def folder_members(*paths: str) -> tuple[Member, ...]:
    """Return a member for each file and each subfolder, in natural order within each path.

    Paths are folders, or patterns of names in one, as ``contracts/2024*``.
    """
    found = tuple(dict.fromkeys(one for path in paths for one in _places(path)))
    if len(found) > MOST_MEMBERS:
        raise UsageError(
            f"There are {len(found)} files and folders in {', '.join(paths)}; a council has at"
            f" most {MOST_MEMBERS} members.",
            hint="Name fewer, in quotes: 'FOLDER/2024*'. Or sort them into subfolders: one each.",
        )
    names = _distinct([_file_name(place.expanduser()) for place in found])
    return tuple(
        Member(name=name, folders=(str(place),)) for name, place in zip(names, found, strict=True)
    )


def _places(path: str) -> list[Path]:
    """Return the files and subfolders that a folder or a pattern means, as its owner wrote it."""
    place = Path(path).expanduser()
    folder, pattern = (place, "*") if place.is_dir() else (place.parent, place.name)
    entries = sorted(set(_entries(folder, pattern)), key=natural_key) if folder.is_dir() else []
    if not entries:
        raise NotFoundError(
            f"There is no file and no folder with files in {path}.",
            hint="Name a folder that has one for each member; or in quotes: 'FOLDER/2024*'.",
        )
    base = Path(path) if place.is_dir() else Path(path).parent
    return [base / entry for entry in entries]


def name_by_documents(
    members: Sequence[Member], documents: Mapping[str, Sequence[Document]]
) -> tuple[Member, ...]:
    """Return members who are called as their documents are, and in the order of these names.

    A member's only document gives its title, or its title and date; a member with several keeps
    their name. Where neither tells all members apart, all keep their names. Only those with folders
    of their own get other names; ``documents`` are what each of them reads, by key.
    """
    own = [member for member in members if member.folders]
    only = [_only(documents.get(member.key, ())) for member in own]
    others = tuple(member for member in members if not member.folders)
    for name_of in (_title, _dated_title):
        names = [
            name_of(document) if document else member.name
            for member, document in zip(own, only, strict=True)
        ]
        keys = {*map(slug, names), *(member.key for member in others)} - {CHAIR}
        if len(keys) == len(members) and all(0 < len(name) <= _LONGEST_TITLE for name in names):
            named = [replace(one, name=name) for one, name in zip(own, names, strict=True)]
            return (*others, *sorted(named, key=lambda one: natural_key(one.name)))
    return tuple(members)


def _entries(folder: Path, pattern: str) -> Iterator[str]:
    """Yield the first name below ``folder`` of every file that can be read."""
    for file in walk(folder):
        if not file.parts or (file.problem and file.problem.code in _NO_FILE):
            continue
        name = file.parts[0]
        if not is_text(name):
            sentence = f"The name of {storable_path(str(folder / name))} is not UTF-8."
            raise UsageError(sentence, hint="Rename it.")
        if fnmatchcase(name, pattern):
            yield name


def _file_name(path: Path) -> str:
    """Return the name of a file or folder as people say it."""
    name = printable_name(unquote(path.name if path.is_dir() else path.stem))
    return sanitise_line(re.sub(r"[_+\s]+|(?<!\d)-+|-+(?!\d)", " ", name)).strip()


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names that give keys of their own: without their first words in common, or numbered.

    Keys are short, so long names may differ only behind what a key holds.
    """
    alike = [[one.split() for one in names if slug(one) == slug(name)] for name in names]
    ends = [
        " ".join(name.split()[_in_common(group) :]) if len(group) > 1 else name
        for name, group in zip(names, alike, strict=True)
    ]
    keys = _keys(ends)
    return [
        (end if end and keys[slug(end)] == 1 else f"{number}. {name}")[:LONGEST_NAME].strip()
        for number, (name, end) in enumerate(zip(names, ends, strict=True), 1)
    ]


def _in_common(names: Sequence[Sequence[str]]) -> int:
    """Count the first words that all names have in common."""
    columns = zip(*names, strict=False)
    return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, columns))


def _keys(names: Sequence[str]) -> Counter[str]:
    return Counter((CHAIR, *map(slug, names)))


def _only(documents: Sequence[Document]) -> Document | None:
    return documents[0] if len(documents) == 1 else None


def _title(document: Document) -> str:
    return unquote(document.title)


def _dated_title(document: Document) -> str:
    date = stated_date(document)
    return f"{_title(document)}, {date}" if date else ""


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
        """Make a council's folder, or what is missing in one; write over nothing."""
        if wrong := [one for one in council.problems if one.path == ("slug",)]:
            raise CouncilConfigError(tuple(in_file("", wrong)))
        hint = f"Change {COUNCIL_FILE} in it, or choose another name."
        require_new(self._definitions, self.kind, council.slug, COUNCIL_FILE, hint)
        self._definitions.make(council.slug, (DOCS,))
        self._write(council.slug, as_object(council))  # last: with it the council exists
        return self.built(council)

    def create_of(
        self, slug: str, documents: Sequence[Document], *, display_name: str = ""
    ) -> CouncilFolder:
        """Make a council with a member for each document; ``refresh`` then reads the files.

        A member reads the file of its document; what has none, as what was sent, goes on a shelf
        of the member besides. Errors as for ``create``.
        """
        if len(documents) > MOST_MEMBERS:
            raise UsageError(f"A council has at most {MOST_MEMBERS} members.", hint="Choose fewer.")
        names = _distinct([one.title or _file_name(Path(one.source)) for one in documents])
        members, shelved = [], []
        for name, one in zip(names, documents, strict=True):
            member = Member(name=name)
            if Path(one.location).is_file():
                members.append(replace(member, folders=(one.location,)))
                continue
            shelf = member.reserved_shelf(slug)
            members.append(replace(member, shelves=(shelf,)))
            shelved.append((one.id, sorted({*one.shelves, shelf})))
        begun = council_from("blank", slug, display_name=display_name, members=tuple(members))
        folder = self.create(begun)
        for document_id, shelves in shelved:
            self._runtime.store.set_shelves(document_id, shelves)
        self._runtime.catch_up()
        return folder

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

        It is named, or was built and has no folder; ``tools`` are there beside the registered ones.
        """
        parsed = {slug: self._parsed(slug) for slug in self.names()}
        references = self._references(parsed, frozenset(tools))
        if isinstance(council, Council):
            own = self._definitions.folder(council.slug)
            return check_council(council, replace(references, folder=own))
        chosen = self.names() if council is None else (self.resolve(council),)
        return tuple(entry for slug in chosen for entry in self._problems(slug, parsed, references))

    def require(self, council: str | Council, tools: Iterable[str] = ()) -> Council:
        """Return a council that can meet; arguments and errors as for ``validate``.

        Raises ``CouncilConfigError`` with everything that is wrong with one that cannot.
        """
        wrong = errors(self.validate(council, tools))
        if wrong:
            raise CouncilConfigError(wrong)
        return council if isinstance(council, Council) else self.load(council).council

    def titles(self, council: Council) -> dict[str, str]:
        """Return how the members of a council and its chair are called, by their keys."""
        councils = {one.slug: one.folder for one in self.all()}
        personas = {one.slug: one.folder for one in Personas(self._runtime).all()}

        def title(member: Member) -> str:
            folder = personas.get(member.persona) or councils.get(member.council)
            return member.name or (folder.display_name if folder else member.key)

        chair = {CHAIR: title(council.chaired_by)} if council.chaired_by else {}
        return {one.key: title(one) for one in council.members} | chair

    # --- documents -----------------------------------------------------------------------------

    def documents(self, name: str) -> tuple[FileListing, ...]:
        """Return what is indexed of the documents of all and of one; errors as for ``load``."""
        folder = self.load(name)
        return council_listing(self._folders(folder.slug, folder), folder.docs, self._runtime.store)

    # --- inside --------------------------------------------------------------------------------

    def _load(self, slug: str) -> CouncilFolder:
        # Whether it can meet is for ``validate`` to say.
        return CouncilFolder(self._definitions.folder(slug), self._parsed(slug).required())

    def _change(self, slug: str, changes: Mapping[str, object]) -> CouncilFolder:
        council = change_definition(self._definitions, slug, changes, council_schema())
        return CouncilFolder(self._definitions.folder(slug), council)

    def _schema(self) -> Schema[Council]:
        return council_schema()

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

    def _places(self, definition: CouncilFolder) -> tuple[Places, ...]:
        """Return its places, without the shelves of members that no folder fills."""
        read = {name for member in definition.council.members for name in member.shelves}
        return tuple(one for one in super()._places(definition) if one.shelf not in read)

    def _references(
        self, parsed: dict[str, ParsedDefinition[Council]], tools: frozenset[str]
    ) -> References:
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
        self, slug: str, parsed: dict[str, ParsedDefinition[Council]], references: References
    ) -> tuple[Problem, ...]:
        own = self._definitions.folder(slug)
        return check_parsed(parsed[slug], slug, replace(references, folder=own))


def _inner(parsed: ParsedDefinition[Council]) -> tuple[str, ...]:
    members = parsed.value.members if parsed.value else ()
    return tuple(member.council for member in members if member.council)
