"""The state of a library, as status, doctor and the formats table show it, and its archives."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """How far the vectors of one embedder are."""

    done: int
    total: int
    chunks: int

    @property
    def pending(self) -> int:
        """Documents that lack vectors."""
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class EncoderRecord:
    """An encoder as a workspace records it.

    Attributes:
        settings: The section ``[embedding]`` that opens it, as JSON.
        problem: Why its vectors could not be made the last time; empty where they could.
    """

    fingerprint: str
    settings: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class EncoderStatus:
    """One embedder of a workspace, for people.

    Attributes:
        role: ``active``, ``building`` or ``previous``.
        fingerprint: What its vectors are stored under.
        done: How many documents have its vectors, of ``total`` that need them.
        unserved: Languages of documents that need none, for it does not serve them.
    """

    role: str
    name: str
    fingerprint: str
    done: int
    total: int
    problem: str = ""
    unserved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One thing ``doctor`` looked at."""

    name: str
    passed: bool
    sentence: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """Counts and places, for ``status``."""

    home: str
    workspace: str
    documents: int
    chunks: int
    sequence: int
    by_format: Mapping[str, int]
    by_status: Mapping[str, int]
    by_shelf: Mapping[str, int]
    index_sequences: Mapping[str, int]
    embedder: str
    disk_bytes: int
    encoders: tuple[EncoderStatus, ...] = ()
    language_model: Check | None = None
    cut_otherwise: int = 0  # documents whose chunks other settings made


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """How much there is to search, and in which languages (documents by ISO 639-1 code)."""

    documents: int
    chunks: int
    languages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FormatSupport:
    """One row of ``docs formats``."""

    format: str
    extensions: tuple[str, ...]
    method: str
    available: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of the database as it was at one moment.

    Attributes:
        schema: The number of migrations that it has had.
        documents: How many it holds; likewise ``chunks`` and ``memories``.
    """

    schema: int
    documents: int
    chunks: int
    memories: int


@dataclass(frozen=True, slots=True)
class ExportReport:
    """An archive that was written.

    Attributes:
        sha256: Of the whole file, as ``sha256sum`` prints it.
        left_out: What of the folders of personas and councils is not in it, each with the reason.
    """

    file: str
    size: int
    sha256: str
    snapshot: Snapshot
    members: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """An archive that was restored, or would be.

    Attributes:
        created: When the archive was written, in seconds since 1970.
        settings_ignored: Whether the home has settings, so that those of the archive's were not
            taken.
    """

    home: str
    workspace: str
    created: int
    snapshot: Snapshot
    settings_ignored: bool = False


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
