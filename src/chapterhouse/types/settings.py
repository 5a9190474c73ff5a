"""Settings as people see and change them: values, where they are from, and what changed them."""

from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    """What says the value of a setting, from weakest to strongest."""

    DEFAULT = "default"
    HOME_FILE = "home file"  # chapterhouse.toml
    ENVIRONMENT = "environment"
    WORKSPACE_FILE = "workspace file"  # workspace.toml
    DATABASE = "database"


@dataclass(frozen=True, slots=True)
class SettingValue:
    """The value of a setting that holds, as JSON has it.

    Attributes:
        name: ``SECTION.SETTING``.
        value: The value; ``(set)`` for one that may hold a key.
        changed: When it was changed in the database, in seconds since 1970; 0 where the database
            says nothing of it.
        is_changeable: Whether it may be changed in the database.
        ignored: Why the database's value does not hold; empty where it does, or there is none.
        needs_reindex: Whether a change holds for documents that are there only after a reindex.
    """

    name: str
    value: object
    origin: Origin
    default: object
    changed: int = 0
    changed_by: str = ""
    is_changeable: bool = False
    ignored: str = ""
    needs_reindex: bool = False


@dataclass(frozen=True, slots=True)
class StoredSetting:
    """What the database says of a setting: a value as JSON has it, when and who changed it."""

    value: object
    at: int
    by: str
