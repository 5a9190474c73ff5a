"""A persona's folder, which is the truth about them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chapterhouse.agents.definition_json import (
    edited,
    parse_config,
    read_raw,
    read_regular,
    write_config,
)
from chapterhouse.agents.persona_config import CONFIG_FILE, RESERVED, PersonaConfig
from chapterhouse.agents.persona_templates import DEFAULT_TEMPLATE, prose_of, template_named
from chapterhouse.agents.problems import PersonaConfigError, PersonaProblem
from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.files import make_folder, write_whole
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Persona

PROSE_FILE: Final = "persona.md"
RAW, RAG = "RAW-DOCS", "RAG"
_LONGEST_PROSE: Final = 100_000  # characters; more would not fit a prompt
_KEBAB: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_SLUG: Final = 40
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
        return tuple(located(self.path, folder) for folder in self.config.folders)

    @property
    def excluded(self) -> frozenset[Path]:
        """The files that stay out of the index, absolute."""
        return frozenset(located(self.path, entry) for entry in self.config.exclude)

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


def located(folder: Path, written: str) -> Path:
    """Return the path that a configuration in ``folder`` means: absolute, ``~``, or relative.

    Raises:
        UsageError: it names the home of a person who is not there.
    """
    try:
        # Not resolved: a folder that is gone must still be named as its owner wrote it.
        return folder / Path(written).expanduser()
    except RuntimeError:
        raise UsageError(f"There is no home folder for {written!r}.") from None


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
    shown = f"{path.name}/{CONFIG_FILE}"
    raw = read_raw(path / CONFIG_FILE, shown)
    config = parse_config(raw, shown)
    if config.slug != path.name:
        hint = f"Set it to '{path.name}', or rename the folder to '{config.slug}'."
        reason = f"it is '{config.slug}', but the folder is called '{path.name}'"
        raise PersonaConfigError([PersonaProblem(shown, "slug", reason, hint)])
    return PersonaFolder(path, config, read_prose(path))


def read_prose(path: Path) -> str:
    """Return what ``persona.md`` in ``path`` says; nothing where it is not there.

    Raises:
        PersonaConfigError: it is not UTF-8, or too long.
    """
    shown = f"{path.name}/{PROSE_FILE}"
    try:
        data = read_regular(path / PROSE_FILE, 4 * _LONGEST_PROSE + 1)
        prose = sanitise(data.decode("utf-8-sig")).text.strip()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problem = PersonaProblem(shown, "", f"it is not UTF-8 (line {line})", "Save it as UTF-8.")
        raise PersonaConfigError([problem]) from None
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}"
        problem = PersonaProblem(shown, "", reason, "Check its permissions.")
        raise PersonaConfigError([problem]) from None
    if len(prose) > _LONGEST_PROSE:
        reason = f"it has {len(prose):,} characters; at most {_LONGEST_PROSE:,} are read"
        hint = "Put what is knowledge rather than character into RAW-DOCS."
        raise PersonaConfigError([PersonaProblem(shown, "", reason, hint)])
    return prose


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
    require_slug(slug)
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
    write_config(path / CONFIG_FILE, raw)  # last: with it the persona exists
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


def require_slug(slug: str) -> None:
    """Check that a persona can be called ``slug``.

    Raises:
        UsageError: it cannot.
    """
    if not _KEBAB.fullmatch(slug) or len(slug) > _LONGEST_SLUG:
        raise UsageError(
            f"'{slug}' cannot be the name of a persona.",
            hint="Use lower-case letters, digits and single hyphens, at most 40: maria-keller",
        )
    if slug in RESERVED:
        raise UsageError(
            f"'{slug}' cannot be the name of a persona: Chapterhouse uses the word itself.",
            hint="Choose another, like: maria-keller",
        )


def change(path: Path, changes: Mapping[str, object]) -> PersonaFolder:
    """Set some keys of a configuration, such as ``profile.expertise``, and leave all others.

    A configuration that cannot be used as it is can be mended so.

    Raises:
        PersonaConfigError: it could not be used afterwards; nothing was written.
        UsageError: a key leads nowhere, or is ``slug``.
    """
    if changes.get("slug", path.name) != path.name:
        raise UsageError(
            "The slug is the folder's name.", hint="Rename the folder, and then set the slug in it."
        )
    shown = f"{path.name}/{CONFIG_FILE}"
    raw = edited(read_raw(path / CONFIG_FILE, shown), changes)
    config = parse_config(raw, shown)
    write_config(path / CONFIG_FILE, raw)
    return PersonaFolder(path, config, read_prose(path))
