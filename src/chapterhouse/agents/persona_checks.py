"""Everything wrong with a persona's folder, at once."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from chapterhouse.agents.curate import LISTS
from chapterhouse.agents.curated import is_document_id, kebab, load_state
from chapterhouse.agents.persona import UNTOUCHED, PersonaConfig, parse_config, read_prose, read_raw
from chapterhouse.agents.problems import (
    Code,
    PersonaConfigError,
    Problem,
    References,
    errors_first,
    folder_problems,
    in_file,
    located,
    mismatch_problems,
    profile_problems,
    shelf_problems,
    warning,
)
from chapterhouse.connectors.folder import SourceFile, walk
from chapterhouse.connectors.links import parse_links
from chapterhouse.errors import ChapterhouseError
from chapterhouse.retrieval.rerank import fold_tag
from chapterhouse.store.definitions import CONFIG_FILE, PROSE_FILE, RAG, RAW, Definitions
from chapterhouse.text.canonical import FRONT_MATTER, LONGEST, front_matter

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
        _rag_problems(path, references),
        _link_problems(path),
        _unread_problems(path),
    )
    return errors_first(found)


def _config_problems(
    definitions: Definitions, slug: str, references: References
) -> Iterator[Problem]:
    path, file = definitions.folder(slug), f"{slug}/{CONFIG_FILE}"
    try:
        raw = read_raw(definitions, slug)
        yield from in_file(file, mismatch_problems(raw.get("slug"), slug))
        config = parse_config(raw, file)
    except PersonaConfigError as error:
        yield from error.problems
        return
    shelves = (references.shelves or frozenset()) | (references.personas or {}).keys()
    found = chain(
        folder_problems(config.folders, path),
        shelf_problems(("shelves",), config.shelves, shelves, (config.slug,)),
        profile_problems(("model",), config.model, references.models),
        _exclude_problems(path, config),
        _tag_problems(config),
    )
    yield from in_file(file, found)


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


def _rag_problems(path: Path, references: References) -> Iterator[Problem]:
    """Look at the front matter of every curated document."""
    ids: dict[str, str] = {}
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


def _link_problems(path: Path) -> Iterator[Problem]:
    """Look at the lists of pages in RAW-DOCS."""
    for source in _files(path / RAW):
        if not source.name.casefold().endswith(LISTS):
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
