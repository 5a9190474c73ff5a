"""The settings of a home and a workspace, read from their files and the environment."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from chapterhouse.errors import UsageError
from chapterhouse.settings import HOME_FILE, PREFIX, WORKSPACE_FILE, LanguageModelSettings, Settings


class _WithEnvironment(Settings, BaseSettings):
    """The tree as the environment changes it."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix=PREFIX, env_nested_delimiter="__"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the base class's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file, which arrives as arguments."""
        return (env_settings, init_settings)


def load_settings(home: Path, workspace_folder: Path) -> Settings:
    """Return the settings of a workspace.

    Raises:
        UsageError: a file is not TOML, or names a setting that does not exist or a value that it
            cannot have; the message names the setting and the reason, the hint the file.
    """
    home_file, own_file = home / HOME_FILE, workspace_folder / WORKSPACE_FILE
    _refuse_unknown_variables(os.environ)
    try:
        shared = _WithEnvironment(**_read(home_file)).model_dump()
    except ValidationError as error:
        raise _explained(error, home_file) from None
    except SettingsError as error:  # a table or list in a variable that is not JSON
        raise UsageError(
            f"The settings do not fit: {error}: {error.__cause__}.",
            hint="In variables, tables and lists are written as JSON, like: "
            """CHAPTERHOUSE_CHUNKING__BY_FORMAT='{"pdf": "semantic"}'""",
        ) from None
    try:
        return Settings.model_validate(_merged(shared, _read(own_file)))
    except ValidationError as error:
        raise _explained(error, own_file) from None


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    """A misspelled variable would otherwise be silently without effect."""
    known = {
        f"{PREFIX}{section}__{name}".upper()
        for section, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
        for name in field.annotation.model_fields
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
    problems = []
    for problem in error.errors():
        names = [str(part) for part in problem["loc"]]
        message = problem["msg"].removeprefix(
            "Value error, "
        )  # the library's word, none for people
        if problem["type"] == "extra_forbidden":
            message = _unknown(names)
        where = f"{'.'.join(names)}: " if names else ""
        problems.append(f"{where}{message}{_place(path, names)}")
    return UsageError(
        f"The settings do not fit: {'; '.join(problems)}.",
        hint=f"Look into {path} and the variables that start with CHAPTERHOUSE_.",
    )


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
    kind = Settings.model_fields[above[0]].annotation
    if above[0] == "models":
        kind = LanguageModelSettings
    is_section = isinstance(kind, type) and issubclass(kind, BaseModel)
    return tuple(kind.model_fields) if is_section and kind else ()


def _place(path: Path, names: Sequence[str]) -> str:
    """Return the line of a setting or section in a file, in brackets; nothing if not there."""
    if not names:  # it is of several sections
        return ""
    *above, name = names
    section = re.compile(rf"\s*\[{re.escape('.'.join(above))}\]") if above else None
    whole = re.compile(rf"\s*(\[\s*)?{re.escape(name)}\s*[\].=]")
    inside = section is None
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    for number, line in enumerate(lines, start=1):
        if section is not None and line.lstrip().startswith("["):
            inside = section.match(line) is not None
        elif inside and whole.match(line):
            return f" ({path}, line {number})"
    return ""


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
