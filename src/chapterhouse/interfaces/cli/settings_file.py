"""Change one section of a settings file, and leave every other line as it is."""

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.output_files import write_whole
from chapterhouse.settings import HOME_FILE, WORKSPACE_FILE, EmbeddingSettings

SECTION: Final = "embedding"
# What makes an encoder another one. How patiently a service is asked, for one, stays as it is.
_OF_THE_MODEL: Final = frozenset(EmbeddingSettings.model_fields) - {
    "background",
    "batch",
    "cache_megabytes",
    "timeout_seconds",
    "attempts",
    "trust_environment",
}
_VARIABLE: Final = "CHAPTERHOUSE_EMBEDDING__"
_HEADER: Final = re.compile(r"\s*\[embedding\]\s*(#.*)?")
_ANY_HEADER: Final = re.compile(r"\s*\[")
_KEY: Final = re.compile(r"\s*([A-Za-z_]+)\s*=")

Value = str | int | float | bool | Sequence[str]


def write_encoder(home: Path, workspace_folder: Path, settings: EmbeddingSettings) -> None:
    """Write which encoder is wanted into the settings file of the home folder.

    Args:
        home: The home folder.
        workspace_folder: Of the workspace, whose own settings would win over the file.
        settings: The encoder; but for its engine, what is as by default is left out.

    Raises:
        UsageError: something else decides it, or the file cannot be changed safely.
    """
    require_effect(workspace_folder)
    path = home / HOME_FILE
    given = settings.model_dump(mode="json", exclude_defaults=True)
    given = {"engine": settings.engine, **given}  # also where it is the default one
    values = {name: value for name, value in given.items() if name in _OF_THE_MODEL}
    try:
        text = path.read_text("utf-8") if path.exists() else ""
        old = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from None
    changed = changed_text(text, values)
    if not _is_as_meant(changed, old, values):
        lines = "\n".join(_lines(values))
        raise UsageError(
            f"The section [{SECTION}] of {path} is written in a way that is not changed here.",
            hint=f"Write it yourself:\n[{SECTION}]\n{lines}",
        )
    if changed != text:
        write_whole(path.resolve(), changed)


def changed_text(text: str, values: Mapping[str, Value]) -> str:
    """Return a settings file with these values in its section ``[embedding]``.

    What described another encoder there goes; comments and other settings stay.
    """
    lines = text.splitlines(keepends=True)
    start = next((at for at, line in enumerate(lines) if _HEADER.fullmatch(line.rstrip())), None)
    new = [f"{line}\n" for line in _lines(values)]
    if start is None:
        if not values:
            return text
        before = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{before}{'' if not before else chr(10)}[{SECTION}]\n{''.join(new)}"
    end = next(
        (at for at in range(start + 1, len(lines)) if _ANY_HEADER.match(lines[at])), len(lines)
    )
    stays = [line for line in lines[start + 1 : end] if not _is_of_the_model(line)]
    header = lines[start] if lines[start].endswith("\n") else f"{lines[start]}\n"
    return "".join([*lines[:start], header, *new, *stays, *lines[end:]])


def require_effect(workspace_folder: Path) -> None:
    """Refuse where a variable or the workspace's own file would win over what is written.

    Raises:
        UsageError: one does.
    """
    variable = next((name for name in sorted(os.environ) if name.startswith(_VARIABLE)), "")
    if variable:
        raise UsageError(
            f"The variable {variable} decides about the encoder.", hint="Unset it, or change it."
        )
    own = workspace_folder / WORKSPACE_FILE
    if own.exists() and SECTION in tomllib.loads(own.read_text("utf-8")):
        raise UsageError(
            f"The section [{SECTION}] of {own} decides about the encoder of this workspace.",
            hint="Change it there, or remove it.",
        )


def _is_of_the_model(line: str) -> bool:
    found = _KEY.match(line)
    return found is not None and found[1] in _OF_THE_MODEL


def _is_as_meant(text: str, old: Mapping[str, object], values: Mapping[str, Value]) -> bool:
    try:
        new = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    before = old.get(SECTION, {})
    kept = (
        {name: value for name, value in before.items() if name not in _OF_THE_MODEL}
        if isinstance(before, dict)
        else {}
    )
    wanted = {**kept, **values}
    return new == {**old, **({SECTION: wanted} if wanted or SECTION in old else {})}


def _lines(values: Mapping[str, Value]) -> list[str]:
    # JSON's strings, numbers, booleans and lists of strings are also TOML's.
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
