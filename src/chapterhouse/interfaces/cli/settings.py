"""Settings: the commands about those in the database, and sections of a settings file."""

import copy
import getpass
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer
from pydantic import BaseModel

from chapterhouse.errors import UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.options import DryRun, argument, flag, group, readable, reopening
from chapterhouse.interfaces.cli.session import Outcome, opened_library
from chapterhouse.presenting.blocks import Style, TerminalBlock, record, table, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.wording import moment
from chapterhouse.settings import HOME_FILE, WORKSPACE_FILE, EmbeddingSettings
from chapterhouse.text.counting import counted
from chapterhouse.types import SettingValue

app = group("List, show, change and reset the settings of the library.")

Name = Annotated[str, argument("NAME", "A setting, as packing.maximum, or another name of it.")]


@app.command("list")
def list_settings(
    *,
    changed: Annotated[
        bool, flag("--changed", "Only settings that something sets, or tries to.")
    ] = False,
) -> Outcome:
    """List the settings, each with its value and what sets it.

    Values in the database that do not hold are listed with the reason.
    """
    with opened_library(background=False) as library:
        found = library.configuration.all()
    if changed:
        found = tuple(one for one in found if one.origin != "default" or one.ignored)
    return Outcome(found, _table(found))


@app.command()
def show(name: Name) -> Outcome:
    """Show a setting: its value, what sets it, and who changed it."""
    with opened_library(background=False) as library:
        found = library.configuration.get(name)
    return Outcome(found, _record(found))


@app.command("set", context_settings={"ignore_unknown_options": True})
def set_values(
    pairs: Annotated[
        list[str],
        argument("NAME VALUE...", "A setting and its value, as JSON or TOML; repeatable."),
    ],
    *,
    dry_run: DryRun = False,
) -> Outcome:
    """Change settings in the database of the library, all of them or none.

    They win over the files, and hold for every command and request from then on. What belongs to
    the machine, such as programs, folders, addresses and keys, is set in the files alone.
    """
    if len(pairs) % 2:
        raise typer.BadParameter("A value is missing: write NAME VALUE, as packing.maximum 3000.")
    names = pairs[::2]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise typer.BadParameter(f"{twice} has two values.")
    values = {name: _value(readable(text)) for name, text in zip(names, pairs[1::2], strict=True)}
    with opened_library(background=False) as library:
        found = library.configuration.change_many(values, user_name(), dry_run=dry_run)
    return Outcome(found, _changed(found, dry_run=dry_run))


@app.command()
def reset(
    names: Annotated[list[str], argument("NAME...", "The settings.")], *, dry_run: DryRun = False
) -> Outcome:
    """Let the database say nothing of settings any more: files and defaults hold again."""
    with opened_library(background=False) as library:
        found = library.configuration.reset_many(names, user_name(), dry_run=dry_run)
    return Outcome(found, _changed(found, dry_run=dry_run))


def user_name() -> str:
    """Return the name of the user of this process, or a number where it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # as in a container; later Pythons raise the second
        return "unknown"


def _value(text: str) -> Any:
    """Return a value that is written as JSON or TOML; what is neither is a text."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        found = tomllib.loads(f"value = {text}")
    except ValueError:
        return text
    return found["value"] if len(found) == 1 else text


# --- what is shown ------------------------------------------------------------------------------


def _table(found: Sequence[SettingValue]) -> Iterator[TerminalBlock]:
    """List settings, a line each, and below it why a value in the database does not hold."""
    return table(
        found,
        ("setting", lambda one: one.name),
        ("value", lambda one: _text(one.value)),
        ("set by", lambda one: one.origin),
        none="Every setting has its default.",
        whole={0},
        below=_ignored,
    )


def _record(one: SettingValue) -> Iterator[TerminalBlock]:
    yield verbatim((one.name, Style.STRONG), f" = {_text(one.value)}")
    yield record(
        one,
        ("set by", one.origin),
        ("default", _text(one.default)),
        ("changed", f"{moment(one.changed)} by {one_line(one.changed_by)}" if one.changed else ""),
        ("change it", "chapterhouse settings set" if one.is_changeable else "in a settings file"),
    )
    if one.ignored:
        yield verbatim((_ignored(one), Style.WARNING))


def _changed(found: Sequence[SettingValue], *, dry_run: bool) -> Iterator[TerminalBlock]:
    """Show settings as they are now, and say where documents are to be cut again for them."""
    others = 0
    if not dry_run and any(one.needs_reindex for one in found):
        with opened_library(background=False) as library:  # with the settings of now
            others = library.status().cut_otherwise
    yield from _table(found)
    if dry_run:
        yield verbatim("Nothing was changed.")
    if others:
        were = counted(others, "document was", "documents were")
        yield verbatim(f"{were} cut by other settings than those of now.")
        yield verbatim(f"Cut them again: chapterhouse reindex{reopening()}")


def _ignored(one: SettingValue) -> str:
    return f"The database's value is ignored: {one_line(one.ignored)}" if one.ignored else ""


def _text(value: object) -> str:
    return one_line(json.dumps(value, ensure_ascii=False))


# What makes an encoder another one. How patiently a service is asked, for one, stays as it is.
_OF_THE_ENCODER: Final = frozenset(EmbeddingSettings.model_fields) - {
    "background",
    "batch",
    "timeout_seconds",
    "attempts",
    "trust_environment",
}
_OF_THE_RERANKER: Final = frozenset(
    {"engine", "model", "folder", "file", "checksum", "base_url", "key_variable"}
)
_OF_THE_LANGUAGE_MODEL: Final = frozenset(
    {
        "engine",
        "model",
        "base_url",
        "key_variable",
        "key_entry",
        "key_file",
        "context_size",
        "reasoning",
        "calls_at_once",
    }
)
_ANY_HEADER: Final = re.compile(r"\s*\[")
_KEY: Final = re.compile(r"\s*([A-Za-z_]+)\s*=")

Value = str | int | float | bool | Sequence[str]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the settings, as far as a command writes it.

    Attributes:
        name: As it stands in the file, such as ``models.rewriting``.
        owned: The settings that a command writes; those that it leaves out are removed.
        what: What the section decides about, for messages.
    """

    name: str
    owned: frozenset[str]
    what: str

    @property
    def variable(self) -> str:
        """How variables begin that win over it; for further models there is one for all."""
        table, _, inner = self.name.partition(".")
        return f"CHAPTERHOUSE_{table.upper()}{'' if inner else '__'}"


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """Where something was written: the file, and the line of the section's header."""

    path: str
    line: int


EMBEDDING: Final = Section("embedding", _OF_THE_ENCODER, "the encoder")
RERANK: Final = Section("rerank", _OF_THE_RERANKER, "the reranker")
LANGUAGE_MODEL: Final = Section("language_model", _OF_THE_LANGUAGE_MODEL, "the language model")
REWRITING: Final = Section(
    "models.rewriting", _OF_THE_LANGUAGE_MODEL, "the model that rewrites questions"
)
EXPANSION: Final = Section("expansion", frozenset({"model"}), "the rewriting of questions")


def write_encoder(home: Path, workspace_folder: Path, settings: EmbeddingSettings) -> SettingsEdit:
    """Write which encoder is wanted into the settings file; errors as ``write_section``."""
    return write_section(home, workspace_folder, EMBEDDING, values_of(settings, EMBEDDING))


def values_of(settings: BaseModel, section: Section) -> dict[str, Value]:
    """Return what is written of some settings: the engine, and what is not as by default."""
    given = settings.model_dump(mode="json", exclude_defaults=True)
    engine = settings.model_dump(mode="json", include={"engine"})  # also where it is the default
    return {name: value for name, value in {**engine, **given}.items() if name in section.owned}


def write_section(
    home: Path,
    workspace_folder: Path,
    section: Section,
    values: Mapping[str, Value],
    unless_stated: Mapping[str, Value] = MappingProxyType({}),
) -> SettingsEdit:
    """Write a section into the settings file of the home folder.

    Args:
        workspace_folder: Of the workspace, whose own settings would win over the file.
        values: Its settings, of those that it owns.
        unless_stated: Others, each of which is written where the file has none.

    Raises:
        UsageError: something else decides it, or the file cannot be changed safely.
    """
    require_effect(workspace_folder, section)
    path = home / HOME_FILE
    try:
        text = path.read_text("utf-8") if path.exists() else ""
        old = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from None
    stated = _table_of(copy.deepcopy(old), section)
    values = {**values, **{n: v for n, v in unless_stated.items() if n not in stated}}
    changed = changed_text(text, values, section)
    if changed != text and not _is_as_meant(changed, old, values, section):
        lines = "\n".join(_lines(values))
        raise UsageError(
            f"The section [{section.name}] of {path} is written in a way that is not changed here.",
            hint=f"Write it yourself:\n[{section.name}]\n{lines}",
        )
    if changed != text:
        write_output(path, changed)
    return SettingsEdit(str(path), _header_at(changed.splitlines(), section) + 1)


def changed_text(text: str, values: Mapping[str, Value], section: Section = EMBEDDING) -> str:
    """Return a settings file with these values in a section.

    What the section owns and is not among them goes; comments and other settings stay.
    """
    lines = text.splitlines(keepends=True)
    start = _header_at(lines, section)
    new = [f"{line}\n" for line in _lines(values)]
    if start < 0:
        if not values:
            return text
        before = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{before}{'' if not before else chr(10)}[{section.name}]\n{''.join(new)}"
    end = next(
        (at for at in range(start + 1, len(lines)) if _ANY_HEADER.match(lines[at])), len(lines)
    )
    stays = [line for line in lines[start + 1 : end] if not _is_owned(line, section)]
    header = lines[start] if lines[start].endswith("\n") else f"{lines[start]}\n"
    return "".join([*lines[:start], header, *new, *stays, *lines[end:]])


def require_effect(workspace_folder: Path, section: Section = EMBEDDING) -> None:
    """Refuse where a variable or the workspace's own file would win over what is written."""
    prefix = section.variable
    variable = next((name for name in sorted(os.environ) if name.startswith(prefix)), "")
    if variable:
        raise UsageError(
            f"The variable {variable} decides about {section.what}.", hint="Unset it, or change it."
        )
    own = workspace_folder / WORKSPACE_FILE
    if own.exists() and section.name.partition(".")[0] in tomllib.loads(own.read_text("utf-8")):
        raise UsageError(
            f"The section [{section.name}] of {own} decides about {section.what} of this "
            "workspace.",
            hint="Change it there, or remove it.",
        )


def _header_at(lines: Sequence[str], section: Section) -> int:
    """Return the index of the section's header; -1 where there is none."""
    header = re.compile(rf"\s*\[{re.escape(section.name)}\]\s*(#.*)?")
    found = (at for at, line in enumerate(lines) if header.fullmatch(line.rstrip()))
    return next(found, -1)


def _is_owned(line: str, section: Section) -> bool:
    found = _KEY.match(line)
    return found is not None and found[1] in section.owned


def _is_as_meant(
    text: str, old: Mapping[str, object], values: Mapping[str, Value], section: Section
) -> bool:
    try:
        new = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    wanted = copy.deepcopy(dict(old))
    table = _table_of(wanted, section)
    for name in section.owned:
        table.pop(name, None)
    table.update(values)
    return new == wanted


def _table_of(tables: dict[str, Any], section: Section) -> dict[str, Any]:
    """Return the table of a section; where there is none, it is made."""
    for name in section.name.split("."):
        below = tables.setdefault(name, {})
        tables = below if isinstance(below, dict) else {}
    return tables


def _lines(values: Mapping[str, Value]) -> list[str]:
    # JSON's strings, numbers, booleans and lists of strings are also TOML's.
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
