"""What people see of settings."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import SettingValue


def listed(found: Sequence[SettingValue]) -> Iterator[Block]:
    """List settings, a line each, and below it why a value in the database does not hold."""
    if not found:
        yield verbatim("Every setting has its default.")
        return
    rows = [("setting", "value", "set by")]
    rows += [(one_line(one.name), _text(one.value), one.origin.value) for one in found]
    yield Columns(rows, whole={0}, below=["", *(_ignored(one) for one in found)])


def shown(one: SettingValue) -> Iterator[Block]:
    """Show everything known of a setting."""
    yield verbatim((one.name, Style.STRONG), f" = {_text(one.value)}")
    rows = [
        ("set by", one.origin.value),
        ("default", _text(one.default)),
        ("changed", f"{_time(one.changed)} by {one_line(one.changed_by)}" if one.changed else ""),
        ("change it", "chapterhouse settings set" if one.is_changeable else "in a settings file"),
    ]
    yield Columns([row for row in rows if row[1]], header=False)
    if one.ignored:
        yield verbatim((_ignored(one), Style.WARNING))


def changed(
    found: Sequence[SettingValue], others: int, options: str, *, dry_run: bool
) -> Iterator[Block]:
    """Show settings after a change, and what is to be done for it.

    Args:
        found: The settings.
        others: How many documents were cut by other settings than those of now.
        options: Those that lead another command to the same library.
        dry_run: Whether nothing was changed.
    """
    rows = [(one.name, _text(one.value), one.origin.value) for one in found]
    yield Columns([("setting", "value", "set by"), *rows], whole={0})
    if dry_run:
        yield verbatim("Nothing was changed.")
    if others:
        were = counted(others, "document was", "documents were")
        yield verbatim(f"{were} cut by other settings than those of now.")
        yield verbatim(f"Cut them again: chapterhouse reindex{options}")


def _ignored(one: SettingValue) -> str:
    return f"The database's value is ignored: {one_line(one.ignored)}" if one.ignored else ""


def _text(value: object) -> str:
    return one_line(json.dumps(value, ensure_ascii=False))


def _time(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
