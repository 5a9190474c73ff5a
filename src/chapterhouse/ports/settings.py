"""Settings that are changed while a library serves: what a store of them has to offer."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from chapterhouse.types import SettingChange, StoredSetting


class StoredSettings(Protocol):
    """The settings in the database of one workspace, with all that ever changed them."""

    def values(self) -> Mapping[str, StoredSetting]:
        """Return what is set, by name, what was changed last first."""
        ...

    def write(self, name: str, value: object, by: str, at: int) -> None:
        """Set a value, as JSON has it."""
        ...

    def reset(self, name: str, by: str, at: int) -> None:
        """Say nothing of a setting any more."""
        ...

    def history(self, name: str = "", limit: int = 100) -> Sequence[SettingChange]:
        """Return the latest changes, newest first; of one setting, if it is named."""
        ...

    def sequence(self) -> int:
        """Return the number of the latest change; 0 where there was none."""
        ...
