"""Personas: those of a library, and all that is done with them but asking."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from chapterhouse.agents import persona
from chapterhouse.agents.curate import curate, curation_is_current, lists_pages
from chapterhouse.agents.curated import CurationReport, is_document_id, kebab, load_state
from chapterhouse.agents.definition import DEFAULT_PERSONA_TEMPLATE, Schema, read_definition
from chapterhouse.agents.incoming import (
    copy_in,
    fetch,
    links_of,
    parse_urls,
    read_again,
    reminders,
)
from chapterhouse.agents.listing import FileListing, choose, excluded_files, listing
from chapterhouse.agents.persona import (
    PERSONA_SCHEMA,
    UNTOUCHED,
    PersonaConfig,
    PersonaFolder,
    check_prose,
    read_prose,
    value_of,
)
from chapterhouse.agents.problems import (
    Code,
    PersonaConfigError,
    Problem,
    References,
    errors_first,
    folder_problems,
    in_file,
    located,
    profile_problems,
    shelf_problems,
    warning,
)
from chapterhouse.agents.profile import (
    Proposal,
    changes_by_key,
    profile_of,
    propose,
    read_last,
    write_last,
)
from chapterhouse.agents.registry import OnProgress, Refresh, Registry, ignore_progress
from chapterhouse.connectors.fetched import FetchReport
from chapterhouse.connectors.folder import SourceFile, walk
from chapterhouse.connectors.links import parse_links
from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.retrieval.rerank import fold_tag
from chapterhouse.store.definitions import CONFIG_FILE, PROSE_FILE, RAG, RAW, Definitions
from chapterhouse.text.canonical import FRONT_MATTER, LONGEST, front_matter
from chapterhouse.types import AddReport, Scope

_MOST_LINKS: Final = 2_000_000  # bytes of a list


def validate(definitions: Definitions, slug: str, references: References) -> tuple[Problem, ...]:
    """Return all that is wrong with a persona and in their folder, errors first.

    Nothing is changed, nothing fetched, and one problem never hides another, except that a
    configuration that is not JSON has no keys to look at.
    """
    path = definitions.folder(slug)
    found = chain(
        _config_problems(definitions, slug, references),
        _prose_problems(definitions, slug),
        _rag_problems(path, references, read_definition(definitions, slug, PERSONA_SCHEMA).value),
        _link_problems(path),
        _unread_problems(path),
    )
    return errors_first(found)


def _config_problems(
    definitions: Definitions, slug: str, references: References
) -> Iterator[Problem]:
    parsed = read_definition(definitions, slug, PERSONA_SCHEMA)
    yield from parsed.problems
    config, path = parsed.value, definitions.folder(slug)
    if config is None:
        return
    shelves = (references.shelves or frozenset()) | (references.personas or {}).keys()
    found = chain(
        folder_problems(config.folders, path),
        shelf_problems(("shelves",), config.shelves, shelves, (config.slug,)),
        profile_problems(("model",), config.model, references.models),
        _exclude_problems(path, config),
        _tag_problems(config),
    )
    yield from in_file(f"{slug}/{CONFIG_FILE}", found)


def _exclude_problems(path: Path, config: PersonaConfig) -> Iterator[Problem]:
    for number, written in enumerate(config.exclude):
        if not located(path, written).exists():
            sentence = f"{written} is not there any more."
            yield warning(("exclude", number), Code.UNUSED, sentence, "Leave it out.")


def _tag_problems(config: PersonaConfig) -> Iterator[Problem]:
    if not config.tags:
        sentence = "There are none, so nothing tells which questions are theirs."
        hint = f"Add some, or let the documents speak: chapterhouse persona update {config.slug}"
        yield warning(("tags",), Code.EMPTY, sentence, hint)
    seen: dict[str, str] = {}
    for number, tag in enumerate(config.tags):
        earlier = seen.setdefault(fold_tag(tag), tag)
        if earlier is not tag or tag in config.tags[:number]:
            sentence = f"'{tag}' means the same as '{earlier}'."
            yield warning(("tags", number), Code.DUPLICATE, sentence, "Leave one of them out.")


def _prose_problems(definitions: Definitions, slug: str) -> Iterator[Problem]:
    file = f"{slug}/{PROSE_FILE}"
    try:
        prose = read_prose(definitions, slug)
    except PersonaConfigError as error:
        yield from error.problems
        return
    body = [line for line in prose.splitlines() if line.strip() and not line.startswith("#")]
    if not body or UNTOUCHED in prose:
        sentence = "It still has the template's words." if body else "It says nothing about them."
        hint = f"Describe them in {slug}/{PROSE_FILE}."
        yield warning((), Code.EMPTY, sentence, hint, file)


def _rag_problems(
    path: Path, references: References, config: PersonaConfig | None
) -> Iterator[Problem]:
    """Look at the front matter of every curated document."""
    ids: dict[str, str] = {}
    known = (*config.tags, *config.profile.key_terms, *config.profile.aliases) if config else ()
    tags = frozenset(map(fold_tag, known)) if config and config.tags else None
    for source in _files(path / RAG):
        if not source.name.casefold().endswith((".md", ".markdown")):
            continue
        file = f"{path.name}/{source.source}"
        text = _beginning(source, LONGEST)
        if text is None:
            yield _not_utf8(file)
        elif not FRONT_MATTER.match(text):
            yield _front_matter_missing(file, text)
        else:
            fields = front_matter(text)
            yield from in_file(file, _field_problems(file, fields, ids, references))
            yield from in_file(file, _foreign_tags(fields, tags))


def _not_utf8(file: str) -> Problem:
    sentence = "It cannot be read as UTF-8."
    return Problem((), Code.UNREADABLE, sentence, "Save it as UTF-8.", file=file)


def _front_matter_missing(file: str, text: str) -> Problem:
    path = ("front matter",)
    if text.lstrip().startswith("---\n"):
        sentence = "The front matter does not end: no line '---' closes it."
        return Problem(path, Code.MISSING, sentence, "Add a line with three hyphens.", file=file)
    hint = "It is read as it stands. With an id, a title and tags it is found and cited better."
    return warning(path, Code.MISSING, "There is none.", hint, file)


def _field_problems(
    file: str, fields: dict[str, str], ids: dict[str, str], references: References
) -> Iterator[Problem]:
    identifier = fields.get("id", "")
    if not identifier:
        yield warning(("id",), Code.MISSING, "It has none.", "Add one, like: annual-report-2025")
    elif not is_document_id(identifier):
        hint = f"Use lower-case words with hyphens, like: {kebab(identifier)}"
        yield warning(("id",), Code.NAME, f"'{identifier}' is not in kebab case.", hint)
    if identifier and ids.setdefault(identifier, file) != file:
        sentence = f"'{identifier}' is the id of {ids[identifier]} too."
        yield Problem(("id",), Code.DUPLICATE, sentence, "Give one of them another id.")
    personas = references.personas or {}
    for name in map(str.strip, fields.get("personas", "").split(",")):
        if name and name not in personas:
            hint = f"There are: {', '.join(sorted(personas))}."
            yield warning(("personas",), Code.UNKNOWN, f"There is no persona '{name}'.", hint)


def _foreign_tags(fields: dict[str, str], known: frozenset[str] | None) -> Iterator[Problem]:
    """Name tags of a document that its persona does not have; any are right where it has none."""
    for tag in map(str.strip, fields.get("tags", "").split(",")):
        if known is not None and tag and fold_tag(tag) not in known:
            sentence = f"The tag '{tag}' is not one of {CONFIG_FILE}."
            hint = "Add it to 'tags' there, or use one of those: others rank nothing higher."
            yield warning(("tags",), Code.UNKNOWN, sentence, hint)


def _link_problems(path: Path) -> Iterator[Problem]:
    """Look at the lists of pages in RAW-DOCS."""
    for source in _files(path / RAW):
        if not lists_pages(source):
            continue
        file = f"{path.name}/{source.source}"
        text = _beginning(source, _MOST_LINKS)
        if text is None:
            yield _not_utf8(file)
            continue
        for problem in parse_links(text).problems:
            sentence = f"{problem.reason.rstrip('.')}: {problem.text}"
            hint = "A line holds one address, and a title behind ' | ' if you like."
            yield Problem((f"line {problem.line}",), Code.TYPE, sentence, hint, file=file)


def _unread_problems(path: Path) -> Iterator[Problem]:
    """Name the files of RAW-DOCS that gave no document, as curation remembers them."""
    try:
        state = load_state(path / RAG)
    except ChapterhouseError as error:
        file = f"{path.name}/{RAG}"
        yield Problem((), Code.UNREADABLE, error.message, error.hint, file=file)
        return
    for source, known in sorted(state.items()):
        if known.code and not known.made:
            hint = f"chapterhouse persona docs {path.name} lists them all."
            file = f"{path.name}/{RAW}/{source}"
            yield warning((known.code,), Code.UNREADABLE, known.sentence, hint, file)


def _files(folder: Path) -> Iterator[SourceFile]:
    """Yield the regular files below a folder; what is a link or closed is told of elsewhere."""
    if folder.is_dir():
        yield from (source for source in walk(folder, folder.name) if source.problem is None)


def _beginning(source: SourceFile, limit: int) -> str | None:
    try:
        with source.root.joinpath(*source.parts).open("rb") as stream:
            return stream.read(limit).decode("utf-8-sig", "strict").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        # Cut within a character at the limit: all before it is text.
        whole = error.start >= limit - 4
        return error.object[: error.start].decode("utf-8-sig") if whole else None
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class PersonaUpdate:
    """What ``update`` did, and what it proposes.

    Attributes:
        copied: Files that were taken in, below the persona's folder.
        fetched: What became of each page, or None where none was listed.
        again: What reading unchanged documents anew did, or None where that was not asked for.
    """

    slug: str
    copied: tuple[str, ...]
    fetched: FetchReport | None
    refresh: Refresh
    again: AddReport | None
    proposal: Proposal
    accepted: bool = False

    def as_accepted(self) -> "PersonaUpdate":
        """Return the same with its proposal accepted."""
        return replace(self, accepted=True)


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

        Errors as for ``load``; of a configuration that could not be used nothing is written.
        """
        values = {key: value_of(key, text) for key, text in written.items()}
        return self._change(self.resolve(name), values)

    def prose(self, name: str) -> str:
        """Return what ``persona.md`` says of them; errors as for ``resolve`` and ``read_prose``."""
        return read_prose(self._definitions, self.resolve(name))

    def describe(self, name: str, prose: str) -> None:
        """Say in ``persona.md`` who they are; errors as for ``prose``, and then it stays."""
        slug = self.resolve(name)
        self._definitions.write(slug, PROSE_FILE, f"{check_prose(slug, prose)}\n")

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

    def documents(self, name: str) -> tuple[FileListing, ...]:
        """Return what is indexed of a persona and why something is not; errors as for ``load``."""
        return listing(self.load(name), self._runtime.store)

    def chosen(self, name: str, file: str) -> FileListing:
        """Return the file of a persona that ``file`` means; errors as for ``listing.choose``."""
        folder = self.load(name)
        return choose(listing(folder, self._runtime.store), file, folder.slug)

    def remove(self, name: str, file: str) -> FileListing:
        """Take one file of a persona out of the index and keep it out; the file stays.

        It is named under ``exclude`` in their configuration, where a person sees it. A document
        that others share with them cannot be removed so. Other errors as for ``chosen``.
        """
        folder, listed = self.load(name), self.chosen(name, file)
        _require_own(folder, listed)
        written = _as_written(folder, listed)
        if written not in folder.config.exclude:
            self._change(folder.slug, {"exclude": [*folder.config.exclude, written]})
        self.refresh(folder.slug)
        return listed

    def restore(self, name: str, file: str) -> FileListing:
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
        self._change(folder.slug, {"exclude": retained})
        self.refresh(folder.slug)
        return listed

    # --- update --------------------------------------------------------------------------------

    def update(
        self,
        name: str,
        *,
        files: Sequence[Path] = (),
        urls: Sequence[str] = (),
        on_progress: OnProgress | None = None,
        dry_run: bool = False,
    ) -> PersonaUpdate:
        """Take in what is new, read the documents again, and propose a profile.

        Every listed page is fetched again and every document read anew, unless ``files`` or
        ``urls`` are given, which ask for no more than themselves.

        Args:
            files: Copied into RAW-DOCS first; nothing is done where one cannot be taken in.
            urls: Listed in ``RAW-DOCS/links.links`` and fetched first.
            dry_run: Change nothing and fetch nothing.
        """
        folder = self.load(name)
        report = on_progress or ignore_progress
        copied: tuple[str, ...] = ()
        fetched = again = None
        whole = not files and not urls
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
        """Write a proposed profile into the configuration, unless that has changed since."""
        folder = self.load(name)
        if folder.config != proposal.before:
            raise UsageError(
                f"The configuration of '{folder.slug}' has changed since this was proposed.",
                hint=f"Propose again: chapterhouse persona update {folder.slug}",
            )
        changed = self._change(folder.slug, changes_by_key(proposal))
        write_last(self._definitions, folder.slug, proposal.remembered)
        return changed

    # --- inside --------------------------------------------------------------------------------

    def _schema(self) -> Schema[PersonaConfig]:
        return PERSONA_SCHEMA

    def _load(self, slug: str) -> PersonaFolder:
        return persona.load(self._definitions, slug)

    def _change(self, slug: str, changes: Mapping[str, object]) -> PersonaFolder:
        return persona.change(self._definitions, slug, changes)

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


def _require_own(folder: PersonaFolder, listed: FileListing) -> None:
    places = {place for path in (folder.path, *folder.folders) for place in (path, path.resolve())}
    if not any(Path(listed.path).is_relative_to(place) for place in places):
        where = f"It is in {listed.path}"
        raise UsageError(
            f"{listed.source} is not in a folder of '{folder.slug}'; it is shared with them.",
            hint=f"{where}: take '{folder.slug}' out of its 'personas:', or off the shelf by hand.",
        )


def _as_written(folder: PersonaFolder, listed: FileListing) -> str:
    """Return how ``exclude`` names a file: below the persona's folder, or absolute."""
    path = Path(listed.path)
    return str(path.relative_to(folder.path) if path.is_relative_to(folder.path) else path)
