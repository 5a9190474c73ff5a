"""Settings in a table beside the documents: every change is a row, the latest of a name holds."""

import json
from collections.abc import Mapping
from typing import Any

from chapterhouse.store.connections import Connections
from chapterhouse.store.rows import run
from chapterhouse.types import StoredSetting


class SettingStore:
    """The settings in the database of one workspace."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def values(self) -> Mapping[str, StoredSetting]:
        """Return what is set, by name, what was changed last first."""
        rows = self._connections.rows("stored_settings")
        return {name: StoredSetting(_parsed(value), at, by) for name, value, at, by in rows}

    def write(self, name: str, value: object, by: str, at: int) -> None:
        """Set a value, as JSON has it."""
        self._add(name, json.dumps(value, ensure_ascii=False, allow_nan=False), by, at)

    def reset(self, name: str, by: str, at: int) -> None:
        """Say nothing of a setting any more."""
        self._add(name, None, by, at)

    def sequence(self) -> int:
        """Return the number of the latest change; 0 where there was none."""
        return int(self._connections.rows("setting_sequence")[0][0])

    def _add(self, name: str, value: str | None, by: str, at: int) -> None:
        with self._connections.write() as connection:
            run(connection, "put_setting_change", name, value, at, by)


def _parsed(text: str | None) -> Any:
    """Return a value; a text that is no JSON, as in a database from elsewhere, as it is."""
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return text
