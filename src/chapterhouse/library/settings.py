"""Settings: their values and origins as they are now, and changes of them in the database."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Final

from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.settings_file import StatedSettings, have_files_changed, read_stated
from chapterhouse.settings_stored import (
    ResolvedSettings,
    convert_value,
    find_setting,
    overlay,
    require_possible,
    resolve,
    setting_values,
    value_of,
)
from chapterhouse.types import SettingValue, StoredSetting

_LONGEST_NAME: Final = 200  # characters, of who changes a setting


class LibrarySettings:
    """The settings of a workspace.

    What it returns is as of now; the library goes on with the settings it was opened with. A
    setting may be named by an alias, and is returned under its own name. A name or value that
    does not fit is a UsageError.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._stored = runtime.store.settings()

    def has_changed(self) -> bool:
        """Say whether other settings hold than those with which the library was opened."""
        resolved = self._runtime.resolved
        if resolved.stated is None:
            return False
        return self._stored.sequence() != resolved.sequence or have_files_changed(resolved.stated)

    def all(self) -> tuple[SettingValue, ...]:
        """Return every setting, section by section; of further models what is stated."""
        return setting_values(self._now())

    def get(self, name: str) -> SettingValue:
        """Return one setting.

        Raises:
            NotFoundError: it is one of a further model that nothing states.
        """
        return _named(self._now(), find_setting(name))

    def change(self, name: str, value: object, by: str) -> SettingValue:
        """Change one setting in the database; see ``change_many``."""
        return self.change_many({name: value}, by)[0]

    def change_many(
        self, values: Mapping[str, object], by: str, *, dry_run: bool = False
    ) -> tuple[SettingValue, ...]:
        """Change settings in the database, all of them or none, in one transaction.

        All settings are validated as they would be afterwards. It takes effect for whoever opens
        the library from then on.

        Args:
            by: Who changes them, 1 to 200 characters.

        Returns:
            The changed settings, in the order of ``values``.

        Raises:
            RefusedError: one belongs to the machine, and is set in a file.
        """
        return self._write(values, (), by, dry_run=dry_run)

    def reset(self, name: str, by: str) -> SettingValue:
        """Let the database say nothing of a setting any more; see ``reset_many``."""
        return self.reset_many([name], by)[0]

    def reset_many(
        self, names: Sequence[str], by: str, *, dry_run: bool = False
    ) -> tuple[SettingValue, ...]:
        """Let the database say nothing of some settings any more, of all of them or none.

        Args:
            names: Of the settings; nothing happens to those of which it says nothing.
        """
        return self._write({}, names, by, dry_run=dry_run)

    # --- inside --------------------------------------------------------------------------------

    def _stated(self) -> StatedSettings | None:
        runtime = self._runtime
        if runtime.resolved.stated is None:
            return None
        return read_stated(runtime.home, runtime.folder)

    def _now(self) -> ResolvedSettings:
        stated = self._stated()
        if stated is None:
            return self._runtime.resolved
        sequence = self._stored.sequence()
        return resolve(stated, self._stored.values(), sequence)

    def _write(
        self, values: Mapping[str, object], dropped: Sequence[str], by: str, *, dry_run: bool
    ) -> tuple[SettingValue, ...]:
        stated = self._stated()
        if stated is None:
            raise RefusedError("The settings of a temporary library are those of its home.")
        who, now = _checked_name(by), self._runtime.now()
        with nullcontext() if dry_run else self._runtime.store.together():
            before = resolve(stated, self._stored.values(), 0)
            wanted = _wanted(values, before)
            written = {
                name: StoredSetting(value, now, who)
                for name, value in wanted.items()
                if _is_new(name, value, before)
            }
            names = tuple(dict.fromkeys(_stored_name(name, before) for name in dropped))
            after = _changed(before, written, names)
            if not dry_run:
                for name, one in written.items():
                    self._stored.write(name, one.value, who, now)
                for name in names:
                    if name in before.stored:
                        self._stored.reset(name, who, now)
        known = {one.name: one for one in setting_values(after)}
        return tuple(known[name] for name in (*wanted, *names) if name in known)


def _wanted(values: Mapping[str, object], before: ResolvedSettings) -> dict[str, object]:
    """Return the values by the names of their settings, each as validated."""
    assert before.stated is not None
    below = before.stated.settings
    wanted: dict[str, object] = {}
    for named, value in values.items():
        name = find_setting(named)
        if name in wanted:
            raise UsageError(f"{name} has two values: '{named}' is another name of it.")
        wanted[name] = convert_value(named, value, below)
        require_possible(name, wanted[name], below)
    valid = {name: one.value for name, one in before.stored.items() if name not in before.ignored}
    fit = overlay(below, {**valid, **wanted})
    return {name: value_of(fit, name) for name in wanted}


def _is_new(name: str, value: object, before: ResolvedSettings) -> bool:
    """Say whether a value is to be written; one that was ignored is, so that it is the latest."""
    stored = before.stored.get(name)
    return stored is None or json.dumps(stored.value) != json.dumps(value) or name in before.ignored


def _changed(
    before: ResolvedSettings, written: Mapping[str, StoredSetting], dropped: Sequence[str]
) -> ResolvedSettings:
    """Return the settings as they would be."""
    assert before.stated is not None
    gone = {*written, *dropped}
    rest = {name: one for name, one in before.stored.items() if name not in gone}
    after = resolve(before.stated, {**written, **rest}, 0)
    lost = {
        name: why
        for name, why in after.ignored.items()
        if name in written or name not in before.ignored
    }
    if lost:
        raise UsageError(
            f"{', '.join(lost)} would not hold any more: {next(iter(lost.values()))}",
            hint="Change or reset them together.",
        )
    return after


def _named(resolved: ResolvedSettings, name: str) -> SettingValue:
    found = next((one for one in setting_values(resolved) if one.name == name), None)
    if found is None:
        raise NotFoundError(
            f"Nothing states the setting {name}.", hint="See: chapterhouse settings list"
        )
    return found


def _stored_name(name: str, before: ResolvedSettings) -> str:
    """Return the name of a setting; also of one that only another version knows."""
    return name if name in before.stored else find_setting(name)


def _checked_name(by: str) -> str:
    if not by.strip() or len(by) > _LONGEST_NAME or not by.isprintable():
        raise UsageError(
            f"Who changes a setting is named in 1 to {_LONGEST_NAME} printable characters."
        )
    return by
