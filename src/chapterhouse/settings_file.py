"""The settings of a home and a workspace, read from their files and the environment."""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from chapterhouse.errors import UsageError
from chapterhouse.settings import (
    HOME_FILE,
    PREFIX,
    SECRET,
    WORKSPACE_FILE,
    LanguageModelSettings,
    Settings,
    StoreSettings,
)
from chapterhouse.types import Origin

OBJECTS: Final = f"{PREFIX}OBJECTS"
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


Layer = Mapping[str, Any]  # of sections what one origin says


@dataclass(frozen=True, slots=True)
class StatedSettings:
    """What the files and the environment say of a workspace.

    Attributes:
        layers: What each of them says, from weakest to strongest.
        files: The two files as they were read; None for one that is not there.
    """

    settings: Settings
    layers: Mapping[Origin, Layer]
    files: Mapping[Path, bytes | None]


def load_settings(home: Path, workspace_folder: Path) -> Settings:
    """Return the settings of a workspace, but for what its database says; see ``read_stated``."""
    return read_stated(home, workspace_folder).settings


def read_stated(home: Path, workspace_folder: Path) -> StatedSettings:
    """Return what the files and the environment say of a workspace.

    Raises:
        UsageError: a file is not TOML, or names a setting that does not exist or a value that it
            cannot have; the message names the setting and the reason, the hint the file.
    """
    home_file, own_file = home / HOME_FILE, workspace_folder / WORKSPACE_FILE
    _refuse_unknown_variables(os.environ)
    files = {path: _bytes(path) for path in (home_file, own_file)}  # before they are read
    layers = {
        Origin.HOME_FILE: _read(home_file),
        Origin.ENVIRONMENT: _from_environment(os.environ),
        Origin.WORKSPACE_FILE: _read(own_file),
    }
    if "store" in layers[Origin.WORKSPACE_FILE]:
        raise UsageError(
            f"{own_file} names a store, which all workspaces of a home share.",
            hint=f"Write [store] into {home_file}, or set CHAPTERHOUSE_STORE.",
        )
    shared = _merged(layers[Origin.HOME_FILE], layers[Origin.ENVIRONMENT])
    try:
        known = Settings.model_validate(shared).model_dump()
    except ValidationError as error:
        raise _explained(error, home_file) from None
    try:
        settings = Settings.model_validate(_merged(known, layers[Origin.WORKSPACE_FILE]))
    except ValidationError as error:
        raise _explained(error, own_file) from None
    return StatedSettings(settings, layers, files)


def store_settings(home: Path) -> StoreSettings:
    """Return where a home's stores are, which is known before any of them is open.

    Raises:
        UsageError: file or variable say something that does not fit.
    """
    stated = _merged(_read(home / HOME_FILE), _from_environment(os.environ)).get("store", {})
    try:
        return StoreSettings.model_validate(stated)
    except ValidationError as error:
        raise _explained(error, home / HOME_FILE) from None


def have_files_changed(stated: StatedSettings) -> bool:
    """Say whether a file says something else by now; cheap where none was written."""
    if all(_bytes(path) == read for path, read in stated.files.items()):
        return False
    try:
        now = [_read(path) for path in stated.files]
    except UsageError:  # whoever opens the library again is told what is wrong
        return True
    return now != [stated.layers[Origin.HOME_FILE], stated.layers[Origin.WORKSPACE_FILE]]


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def portable_settings(path: Path) -> str:
    """Return the settings of a file as TOML that may leave this machine, or come from another.

    Comments stay where they are, for they may say anything, and so does ``extra_body``, which may
    hold a key.

    Raises:
        UsageError: it is not TOML, or has a value that settings never have.
    """
    tables = _without_secrets(_read(path))
    written = "".join(f"{line}\n" for line in _toml(tables, ()))
    try:
        faithful = tomllib.loads(written) == tables
    except tomllib.TOMLDecodeError:
        faithful = False
    if not faithful:
        raise UsageError(
            f"{path} has a value that no setting has.", hint="Look for dates and for nan."
        )
    return written


def _without_secrets(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _without_secrets(value) if isinstance(value, dict) else value
        for name, value in table.items()
        if name not in SECRET
    }


def _toml(table: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a table. JSON's strings, numbers, booleans and lists are TOML's."""
    inner = {name: value for name, value in table.items() if isinstance(value, dict)}
    if above:
        yield f"[{'.'.join(above)}]"
    for name, value in table.items():
        if name not in inner:
            yield f"{_toml_name(name)} = {json.dumps(value, ensure_ascii=False, default=str)}"
    for name, value in inner.items():
        yield from _toml(value, (*above, _toml_name(name)))


def _toml_name(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _from_environment(environment: Mapping[str, str]) -> Mapping[str, Mapping[str, Any]]:
    """Return what variables say: a whole section, or a setting of one."""
    found: dict[str, dict[str, Any]] = {}
    for section in Settings.model_fields:
        whole = f"{PREFIX}{section}".upper()
        if section == "store" and whole in environment:
            found[section] = {"address": environment[whole]}
        elif whole in environment:
            found[section] = _parsed(section, environment[whole])
        if section == "store" and OBJECTS in environment:
            found[section] = {**found.get(section, {}), "objects": environment[OBJECTS]}
        for name, field in fields_of(section).items():
            variable = f"{whole}__{name}".upper()
            if variable in environment:
                text = environment[variable]
                is_table = get_origin(field.annotation) in {dict, tuple}
                value = _parsed(f"{section}.{name}", text) if is_table else text
                found[section] = {**found.get(section, {}), name: value}
    return found


def _parsed(place: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"The settings do not fit: {place} is not JSON: {error}.",
            hint="In variables, write tables and lists as JSON, like: "
            """CHAPTERHOUSE_CHUNKING__BY_FORMAT='{"pdf": "semantic"}'""",
        ) from None


def fields_of(section: str) -> Mapping[str, FieldInfo]:
    """Return the settings of a section; none of one whose names are the user's own."""
    kind = Settings.model_fields[section].annotation
    is_section = isinstance(kind, type) and issubclass(kind, BaseModel)
    return kind.model_fields if is_section and kind else {}


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    """A misspelled variable would otherwise be silently without effect."""
    known = {
        f"{PREFIX}{section}__{name}".upper()
        for section in Settings.model_fields
        for name in fields_of(section)
    }
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and "__" in variable and variable not in known:
            near = get_close_matches(variable, known, n=1)
            raise UsageError(
                f"The variable {variable} names no setting.",
                hint=f"Did you mean {near[0]}? See docs/settings.md."
                if near
                else f"Settings look like {min(known)}; see docs/settings.md.",
            )


def _explained(error: ValidationError, path: Path) -> UsageError:
    return UsageError(
        f"The settings do not fit: {explain_problems(error)}.",
        hint=f"Look into {path} and the variables that start with CHAPTERHOUSE_.",
    )


def explain_problems(error: ValidationError) -> str:
    """Return what is wrong with settings."""
    problems = []
    for problem in error.errors():
        names = [str(part) for part in problem["loc"]]
        message = problem["msg"].removeprefix("Value error, ")  # the library's word
        if problem["type"] == "extra_forbidden":
            message = _unknown(names)
        problems.append(": ".join(filter(None, (".".join(names), message))))
    return "; ".join(problems)


def _unknown(names: Sequence[str]) -> str:
    """Say that there is no such setting, and which one may be meant."""
    *above, name = names
    known = _names_below(above)
    near = get_close_matches(name, known, n=1)
    meant = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(sorted(known))}"
    return f"there is no such {'setting' if above else 'section'}; {meant}"


def _names_below(above: Sequence[str]) -> Sequence[str]:
    """Return the names of the settings in a section, or those of all sections."""
    if not above:
        return tuple(Settings.model_fields)
    if above[0] == "models":
        return tuple(LanguageModelSettings.model_fields)
    return tuple(fields_of(above[0]))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from None


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> Mapping[str, Any]:
    merged = dict(under)
    for name, value in over.items():
        below = under.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[name] = {**below, **value}
        else:
            merged[name] = value
    return merged
