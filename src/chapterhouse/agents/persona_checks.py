"""Everything wrong with a persona's folder, at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

from chapterhouse.agents.curate import LISTS
from chapterhouse.agents.curated import is_document_id, kebab
from chapterhouse.agents.definition_json import parse_config, read_raw
from chapterhouse.agents.persona_config import CONFIG_FILE, PersonaConfig
from chapterhouse.agents.persona_folder import (
    PROSE_FILE,
    RAG,
    RAW,
    UNTOUCHED,
    located,
    read_prose,
)
from chapterhouse.agents.problems import PersonaConfigError, PersonaProblem, Severity
from chapterhouse.connectors.folder import SourceFile, walk
from chapterhouse.connectors.links import parse_links
from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.retrieval.boost import fold_tag
from chapterhouse.text.front_matter import FRONT_MATTER, LONGEST, front_matter

_MOST_LINKS: Final = 2_000_000  # bytes of a list


@dataclass(frozen=True, slots=True)
class Unread:
    """A file of RAW-DOCS that gave no document: its name below the persona's folder, and why."""

    source: str
    sentence: str
    code: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a persona's folder is compared with.

    Attributes:
        personas: The slugs of all personas.
        shelves: The names of all shelves; those of personas count without being named.
        profiles: The names of the models that the settings have.
        unread: The files of RAW-DOCS that could not be read the last time.
    """

    personas: frozenset[str] = frozenset()
    shelves: frozenset[str] = frozenset()
    profiles: frozenset[str] = frozenset()
    unread: Callable[[Path], Iterable[Unread]] = field(default=lambda _: ())


def validate(path: Path, around: Surroundings) -> tuple[PersonaProblem, ...]:
    """Return all that is wrong in the persona's folder ``path``, errors first.

    Nothing is changed, nothing fetched, and one problem never hides another, except that a
    configuration that is not JSON has no keys to look at.
    """
    name = path.name
    found = chain(
        _config_problems(path, around),
        _prose_problems(path),
        _rag_problems(path, around),
        _raw_problems(path, around),
    )
    distinct = dict.fromkeys(found)
    assert all(problem.file.startswith(name) for problem in distinct)
    return tuple(sorted(distinct, key=lambda problem: problem.severity is not Severity.ERROR))


def _config_problems(path: Path, around: Surroundings) -> Iterator[PersonaProblem]:
    file = f"{path.name}/{CONFIG_FILE}"
    try:
        raw = read_raw(path / CONFIG_FILE, file)
    except PersonaConfigError as error:
        yield from error.problems
        return
    if isinstance(raw.get("slug"), str) and raw["slug"] != path.name:
        yield PersonaProblem(
            file,
            "slug",
            f"it is '{raw['slug']}', but the folder is called '{path.name}'",
            f"Set it to '{path.name}', or rename the folder.",
        )
    try:
        config = parse_config(raw, file)
    except PersonaConfigError as error:
        yield from error.problems
        return
    yield from _references(path, file, config, around)
    yield from _tag_problems(file, config)


def _references(
    path: Path, file: str, config: PersonaConfig, around: Surroundings
) -> Iterator[PersonaProblem]:
    """Name what the configuration points at and is not there."""
    for number, written in enumerate(config.folders):
        key = f"folders[{number}]"
        try:
            folder = located(path, written)
        except UsageError as error:
            yield PersonaProblem(file, key, error.message, "Write the whole path.")
            continue
        if not folder.is_dir():
            kind = "is a file, not a folder" if folder.exists() else "is not there"
            hint = "Check the spelling, and that the disk is there."
            yield PersonaProblem(file, key, f"{folder} {kind}", hint)
    for number, shelf in enumerate(config.shelves):
        if shelf not in around.shelves | around.personas:
            known = ", ".join(sorted(around.shelves | around.personas)) or "none yet"
            yield PersonaProblem(
                file, f"shelves[{number}]", f"there is no shelf '{shelf}'", f"There are: {known}."
            )
        elif shelf == config.slug:
            yield _warning(
                file, f"shelves[{number}]", "it is their own shelf anyway", "Leave it out."
            )
    if config.model not in around.profiles | {"", "none"}:
        known = ", ".join(sorted(around.profiles)) or "none"
        yield PersonaProblem(
            file,
            "model",
            f"the settings have no profile '{config.model}'",
            f"Add [profiles.{config.model}] to chapterhouse.toml; there are: {known}.",
        )
    for number, written in enumerate(config.exclude):
        if not located(path, written).exists():
            yield _warning(
                file, f"exclude[{number}]", f"{written} is not there any more", "Leave it out."
            )


def _tag_problems(file: str, config: PersonaConfig) -> Iterator[PersonaProblem]:
    if not config.tags:
        yield _warning(
            file,
            "tags",
            "there are none, so nothing tells which questions are theirs",
            f"Add some, or let the documents speak: chapterhouse persona train {config.slug}",
        )
    seen: dict[str, str] = {}
    for number, tag in enumerate(config.tags):
        earlier = seen.setdefault(fold_tag(tag), tag)
        if earlier is not tag or tag in config.tags[:number]:
            reason = f"'{tag}' means the same as '{earlier}'"
            yield _warning(file, f"tags[{number}]", reason, "Leave one of them out.")


def _prose_problems(path: Path) -> Iterator[PersonaProblem]:
    file = f"{path.name}/{PROSE_FILE}"
    try:
        prose = read_prose(path)
    except PersonaConfigError as error:
        yield from error.problems
        return
    body = [line for line in prose.splitlines() if line.strip() and not line.startswith("#")]
    edit = f"chapterhouse persona edit {path.name}"
    if not body:
        yield _warning(file, "", "it says nothing about them", f"Describe them: {edit}")
    elif UNTOUCHED in prose:
        yield _warning(file, "", "it still has the template's words", f"Describe them: {edit}")


def _rag_problems(path: Path, around: Surroundings) -> Iterator[PersonaProblem]:
    """Look at the front matter of every curated document."""
    ids: dict[str, str] = {}
    for source in _files(path / RAG):
        if not source.name.casefold().endswith((".md", ".markdown")):
            continue
        file = f"{path.name}/{source.source}"
        text = _beginning(source, LONGEST)
        if text is None:
            yield PersonaProblem(file, "", "it cannot be read as UTF-8", "Save it as UTF-8.")
            continue
        if not FRONT_MATTER.match(text):
            yield _front_matter_missing(file, text)
            continue
        yield from _field_problems(file, front_matter(text), ids, around)


def _front_matter_missing(file: str, text: str) -> PersonaProblem:
    if text.lstrip().startswith("---\n"):
        reason = "the front matter does not end: no line '---' closes it"
        return PersonaProblem(file, "front matter", reason, "Add a line with three hyphens.")
    hint = "It is read as it stands. With an id, a title and tags it is found and cited better."
    return _warning(file, "front matter", "there is none", hint)


def _field_problems(
    file: str, fields: dict[str, str], ids: dict[str, str], around: Surroundings
) -> Iterator[PersonaProblem]:
    identifier = fields.get("id", "")
    if not identifier:
        yield _warning(file, "id", "it has none", "Add one, like: annual-report-2025")
    elif not is_document_id(identifier):
        hint = f"Use lower-case words with hyphens, like: {kebab(identifier)}"
        yield _warning(file, "id", f"'{identifier}' is not in kebab case", hint)
    if identifier and ids.setdefault(identifier, file) != file:
        reason = f"'{identifier}' is the id of {ids[identifier]} too"
        yield PersonaProblem(file, "id", reason, "Give one of them another id.")
    named = [name.strip() for name in fields.get("personas", "").split(",")]
    for name in named:
        if name and name not in around.personas:
            known = ", ".join(sorted(around.personas))
            reason = f"there is no persona '{name}'"
            yield _warning(file, "personas", reason, f"There are: {known}.")


def _raw_problems(path: Path, around: Surroundings) -> Iterator[PersonaProblem]:
    for source in _files(path / RAW):
        if not source.name.casefold().endswith(LISTS):
            continue
        file = f"{path.name}/{source.source}"
        text = _beginning(source, _MOST_LINKS)
        if text is None:
            yield PersonaProblem(file, "", "it cannot be read as UTF-8", "Save it as UTF-8.")
            continue
        for problem in parse_links(text).problems:
            reason = f"{problem.reason.rstrip('.')}: {problem.text}"
            hint = "A line holds one address, and a title behind ' | ' if you like."
            yield PersonaProblem(file, f"line {problem.line}", reason, hint)
    try:
        for unread in around.unread(path):
            hint = f"chapterhouse persona docs {path.name} lists them all."
            yield _warning(f"{path.name}/{unread.source}", unread.code, unread.sentence, hint)
    except ChapterhouseError as error:
        yield PersonaProblem(f"{path.name}/{RAG}", "", error.message, error.hint)


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


def _warning(file: str, key: str, reason: str, hint: str) -> PersonaProblem:
    return PersonaProblem(file, key, reason, hint, Severity.WARNING)
