"""Commands about the settings in the database: settings list, show, set, reset."""

import getpass
import json
import tomllib
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from chapterhouse.interfaces.cli.options import (
    DryRun,
    argument,
    flag,
    group,
    readable,
    reopening,
)
from chapterhouse.interfaces.cli.session import Outcome, opened_library
from chapterhouse.interfaces.cli.terminal import moment, one_line
from chapterhouse.presenting.blocks import Style, TerminalBlock, record, table, verbatim
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
        found = library.configuration.change_many(values, _user(), dry_run=dry_run)
    return Outcome(found, _changed(found, dry_run=dry_run))


@app.command()
def reset(
    names: Annotated[list[str], argument("NAME...", "The settings.")], *, dry_run: DryRun = False
) -> Outcome:
    """Let the database say nothing of settings any more: files and defaults hold again."""
    with opened_library(background=False) as library:
        found = library.configuration.reset_many(names, _user(), dry_run=dry_run)
    return Outcome(found, _changed(found, dry_run=dry_run))


def _user() -> str:
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
    rows = ((one_line(one.name), _text(one.value), one.origin.value) for one in found)
    none, below = "Every setting has its default.", map(_ignored, found)
    return table(("setting", "value", "set by"), rows, none=none, whole={0}, below=below)


def _record(one: SettingValue) -> Iterator[TerminalBlock]:
    yield verbatim((one.name, Style.STRONG), f" = {_text(one.value)}")
    rows = [
        ("set by", one.origin.value),
        ("default", _text(one.default)),
        ("changed", f"{moment(one.changed)} by {one_line(one.changed_by)}" if one.changed else ""),
        ("change it", "chapterhouse settings set" if one.is_changeable else "in a settings file"),
    ]
    yield record(rows)
    if one.ignored:
        yield verbatim((_ignored(one), Style.WARNING))


def _changed(found: Sequence[SettingValue], *, dry_run: bool) -> Iterator[TerminalBlock]:
    """Show settings as they are now, and say where documents are to be cut again for them."""
    others = 0
    if not dry_run and any(one.needs_reindex for one in found):
        with opened_library(background=False) as library:  # with the settings of now
            others = library.status().cut_otherwise
    rows = ((one.name, _text(one.value), one.origin.value) for one in found)
    yield from table(("setting", "value", "set by"), rows, whole={0})
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
