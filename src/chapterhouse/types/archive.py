"""An archive of a workspace: what it holds, and what exporting and importing one did."""

from collections.abc import Mapping
from dataclasses import dataclass


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
class ArchiveMember:
    """One file of an archive.

    Attributes:
        name: Its path in there, with ``/``.
        modified_ns: When the file was last changed, nanoseconds since 1970; 0 where that says
            nothing.
    """

    name: str
    size: int
    sha256: str
    modified_ns: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself.

    Attributes:
        format: Of the archive, not of the database.
        chapterhouse: The version that wrote it.
        created: When, in seconds since 1970.
        workspace: The name that the workspace had.
        folders: Where the folders of personas and councils were, by their names in the archive.
        members: Every other file in it, in order.
    """

    format: int
    chapterhouse: str
    created: int
    workspace: str
    snapshot: Snapshot
    folders: Mapping[str, str]
    members: tuple[ArchiveMember, ...]


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
