"""A persona's folder, which is the truth about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chapterhouse.agents.checks import mismatch_problems, require_slug, resolve_path
from chapterhouse.agents.definition_json import (
    read_object,
    read_regular,
    with_changes,
    write_object,
)
from chapterhouse.agents.persona_config import (
    CONFIG_FILE,
    PERSONA_SCHEMA,
    PersonaConfig,
    parse_config,
)
from chapterhouse.agents.persona_templates import DEFAULT_TEMPLATE, prose_of, template_named
from chapterhouse.agents.problems import Code, PersonaConfigError, Problem, in_file
from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.files import make_folder, write_whole
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Persona

PROSE_FILE: Final = "persona.md"
RAW, RAG = "RAW-DOCS", "RAG"
_LONGEST_PROSE: Final = 100_000  # characters; more would not fit a prompt
_MARKS: Final = (CONFIG_FILE, PROSE_FILE, RAW, RAG)


@dataclass(frozen=True, slots=True)
class PersonaFolder:
    """A persona as their folder has them.

    Attributes:
        path: The folder, absolute.
        config: What ``persona.config.json`` says.
        prose: What ``persona.md`` says, without invisible characters.
    """

    path: Path
    config: PersonaConfig
    prose: str

    @property
    def slug(self) -> str:
        """Their name in commands, and that of their shelf."""
        return self.config.slug

    @property
    def display_name(self) -> str:
        """How they are called; the slug in words where the configuration is silent."""
        return self.config.display_name or self.slug.replace("-", " ").title()

    @property
    def raw(self) -> Path:
        """Where documents of any format are dropped."""
        return self.path / RAW

    @property
    def rag(self) -> Path:
        """Where the curated documents are."""
        return self.path / RAG

    @property
    def config_path(self) -> Path:
        """The configuration file."""
        return self.path / CONFIG_FILE

    @property
    def folders(self) -> tuple[Path, ...]:
        """The further folders whose documents are theirs, absolute."""
        return tuple(resolve_path(self.path, folder) for folder in self.config.folders)

    @property
    def excluded(self) -> frozenset[Path]:
        """The files that stay out of the index, absolute."""
        return frozenset(resolve_path(self.path, entry) for entry in self.config.exclude)

    @property
    def persona(self) -> Persona:
        """Who they are, for asking."""
        profile = self.config.profile
        return Persona(
            slug=self.slug,
            display_name=self.display_name,
            prose="" if UNTOUCHED in self.prose else self.prose,
            tags=self.config.tags,
            key_terms=profile.key_terms,
            aliases=profile.aliases,
            expertise=profile.expertise,
            shelves=self.config.shelves,
        )


# Stands in every template but the blank one: what holds it says nothing of anybody.
UNTOUCHED: Final = "Write here, in your own words"


def names(personas: Path) -> tuple[str, ...]:
    """Return the names of all folders below ``personas`` that look like a persona's, sorted."""
    if not personas.is_dir():
        return ()
    found = [
        entry.name
        for entry in personas.iterdir()
        if not entry.name.startswith((".", "_")) and any((entry / mark).exists() for mark in _MARKS)
    ]
    return tuple(sorted(found))


def load(path: Path) -> PersonaFolder:
    """Read the persona's folder ``path``.

    Raises:
        PersonaConfigError: the configuration cannot be used, or ``persona.md`` is no text.
    """
    raw = read_raw(path)
    file = f"{path.name}/{CONFIG_FILE}"
    config = parse_config(raw, file)
    wrong = tuple(in_file(file, mismatch_problems(config.slug, path.name)))
    if wrong:
        raise PersonaConfigError(wrong)
    return PersonaFolder(path, config, read_prose(path))


def read_raw(path: Path) -> dict[str, Any]:
    """Return the configuration in the folder ``path`` as its owner wrote it.

    Raises:
        PersonaConfigError: it is not there, is not UTF-8 or not JSON (line and column say where),
            or has a key twice.
    """
    hint = "chapterhouse persona new SLUG writes what is missing in a folder."
    read = read_object(path / CONFIG_FILE, hint, PERSONA_SCHEMA)
    if read.problems or read.value is None:
        raise PersonaConfigError(tuple(in_file(f"{path.name}/{CONFIG_FILE}", read.problems)))
    return read.value


def read_prose(path: Path) -> str:
    """Return what ``persona.md`` in ``path`` says; nothing where it is not there.

    Raises:
        PersonaConfigError: it is not UTF-8, or too long.
    """
    try:
        data = read_regular(path / PROSE_FILE, 4 * _LONGEST_PROSE + 1)
        prose = sanitise(data.decode("utf-8-sig")).text.strip()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _bad_prose(path, f"It is not UTF-8 (line {line}).", "Save it as UTF-8.") from None
    except OSError as error:
        sentence = f"It cannot be read: {error.strerror}."
        raise _bad_prose(path, sentence, "Check its permissions.") from None
    if len(prose) > _LONGEST_PROSE:
        sentence = f"It has {len(prose):,} characters; at most {_LONGEST_PROSE:,} are read."
        hint = "Put what is knowledge rather than character into RAW-DOCS."
        raise _bad_prose(path, sentence, hint, Code.RANGE)
    return prose


def _bad_prose(
    path: Path, sentence: str, hint: str, code: Code = Code.UNREADABLE
) -> PersonaConfigError:
    problem = Problem((), code, sentence, hint, file=f"{path.name}/{PROSE_FILE}")
    return PersonaConfigError([problem])


def create(
    personas: Path,
    slug: str,
    *,
    display_name: str = "",
    template: str = DEFAULT_TEMPLATE,
    folders: Sequence[str] = (),
) -> PersonaFolder:
    """Make a persona's folder, or what is missing in one; write over nothing.

    Args:
        personas: Where all personas are.
        slug: Lower-case letters, digits and single hyphens.
        display_name: How they are called; the slug in words when empty.
        template: What to start from.
        folders: Further folders whose documents are theirs.

    Raises:
        UsageError: the slug or the name cannot be used.
        NotFoundError: there is no such template.
        RefusedError: the persona is there already.
    """
    require_slug(slug, "persona", "maria-keller")
    chosen = template_named(template)
    path = personas / slug
    if (path / CONFIG_FILE).exists():
        raise RefusedError(
            f"There is a persona '{slug}' already, in {path}.",
            hint=f"Change it with: chapterhouse persona edit {slug}",
        )
    name = sanitise_line(display_name) or slug.replace("-", " ").title()
    raw = _first_config(slug, name, chosen.settings, folders)
    config = parse_config(raw, f"{slug}/{CONFIG_FILE}")
    for folder in (path / RAW, path / RAG):
        make_folder(folder)
    if not (path / PROSE_FILE).exists():
        write_whole(path / PROSE_FILE, prose_of(chosen, name))
    write_object(path / CONFIG_FILE, raw)  # last: with it the persona exists
    return PersonaFolder(path, config, read_prose(path))


def _first_config(
    slug: str, name: str, settings: Mapping[str, Any], folders: Sequence[str]
) -> dict[str, Any]:
    return {
        "slug": slug,
        "display_name": name,
        "tags": [],
        "profile": {"expertise": "", "key_terms": [], "aliases": []},
        "retrieval": {"max_chunks": 12},
        "grounding": "inject",
        "model": "",
        "folders": list(folders),
        "shelves": [],
        "out_of_scope": "defer",
        **settings,
    }


def change(path: Path, changes: Mapping[str, object]) -> PersonaFolder:
    """Set some keys of a configuration, such as ``profile.expertise``, and leave all others.

    A configuration that cannot be used as it is can be fixed so.

    Raises:
        PersonaConfigError: it could not be used afterwards; nothing was written.
        UsageError: a key leads nowhere, or is ``slug``.
    """
    if changes.get("slug", path.name) != path.name:
        raise UsageError(
            "The slug is the folder's name.", hint="Rename the folder, and then set the slug in it."
        )
    raw = with_changes(read_raw(path), changes)
    config = parse_config(raw, f"{path.name}/{CONFIG_FILE}")
    write_object(path / CONFIG_FILE, raw)
    return PersonaFolder(path, config, read_prose(path))
