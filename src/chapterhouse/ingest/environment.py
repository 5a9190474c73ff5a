"""What a library runs on: versions, models, formats, disk, limits, settings, and what is slow."""

import os
import platform
import resource
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import simsimd

from chapterhouse.connectors.folder import is_there
from chapterhouse.errors import CorruptLibraryError
from chapterhouse.ports.index import Index
from chapterhouse.ports.store import Store
from chapterhouse.reading.formats import supported_formats
from chapterhouse.reading.pool import describe_readers
from chapterhouse.settings import SECRET, Settings
from chapterhouse.text.counting import counted
from chapterhouse.types import Check, EncoderStatus, SourceKind

_PACKAGES: Final = ("apsw", "tantivy", "numpy", "simsimd", "onnxruntime", "pypdfium2", "xberg")
_PARTS: Final = {"database": "library.db*", "bytes of files": "blobs", "indexes": "index"}
_NETWORK: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afpfs", "fuse.sshfs", "9p"})
_LEAST_BYTES: Final = 100_000_000  # free, below which the next add may fail
_LEAST_FILES: Final = 128  # open at a time
_LONG_LOG: Final = 64 * 2**20
_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the environment of a library is told from.

    Attributes:
        version: Of Chapterhouse.
        folder: Of the workspace.
        indexes: What is derived from the store, by name.
        encoders: How far the vectors are.
        is_embedding: Whether a process makes vectors at this moment.
    """

    version: str
    settings: Settings
    folder: Path
    store: Store
    indexes: Mapping[str, Index]
    encoders: Sequence[EncoderStatus]
    is_embedding: bool


def environment_checks(around: Surroundings) -> tuple[Check, ...]:
    """Return what a library runs on, one check a kind; it fails where work will."""
    return (
        Check("versions", passed=True, sentence=f"{_listed(versions(around.version))}."),
        _models(around.encoders),
        _formats(),
        _disk(around.folder),
        _limits(),
        Check("readers", passed=True, sentence=describe_readers()),
        _settings(around.settings),
        _added_folders(around.store),
        _speed(around),
    )


def versions(own: str) -> dict[str, str]:
    """Return the versions of everything that decides what a library does."""
    found = {name: _version(name) for name in _PACKAGES}
    sqlite = ".".join(found["apsw"].split(".")[:3])
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    python = platform.python_version()
    return {"Chapterhouse": own, "Python": python, "SQLite": sqlite, **found, "system": system}


def sizes(folder: Path) -> dict[str, int]:
    """Return the bytes of each part of a workspace; ``other`` is the rest."""
    found = {part: sum(map(_bytes, folder.glob(pattern))) for part, pattern in _PARTS.items()}
    return {**found, "other": max(_bytes(folder) - sum(found.values()), 0)}


def changed_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that differ from the defaults; of those that may hold keys only that."""
    found: dict[str, Any] = {}
    for section, values in settings.model_dump(mode="json", exclude_defaults=True).items():
        for name, value in values.items() if isinstance(values, dict) else ():
            secret = name in SECRET or isinstance(value, dict)
            found[f"{section}.{name}"] = "(set)" if secret else value
    return found


def slow_parts(around: Surroundings) -> Iterator[str]:
    """Yield what makes questions or adding slow here."""
    kind = file_system(around.folder)
    if kind in _NETWORK:
        yield f"the library is on a network file system ({kind})"
    if not any(found for name, found in simsimd.get_capabilities().items() if name != "serial"):
        yield "this processor has no vector instructions that the search by meaning could use"
    if around.is_embedding:
        yield "a process in the background is making vectors"
    elif any(one.done < one.total for one in around.encoders):
        yield "vectors are missing: chapterhouse model embed"
    for name, behind in sorted(_behind(around).items()):
        yield f"the {name} index is {counted(behind, 'change')} behind and catches up first"
    log = _bytes(around.folder / "library.db-wal")
    if log > _LONG_LOG:
        yield f"the database's log has {log:,} bytes; it shrinks when no command is running"


def file_system(folder: Path) -> str:
    """Return the kind of file system that a folder is on; empty where that is not known."""
    try:
        lines = Path("/proc/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:  # not Linux
        return ""
    mounts = {fields[1]: fields[2] for line in lines if len(fields := line.split()) > 2}  # noqa: PLR2004
    place = folder.resolve()
    return next((mounts[str(one)] for one in (place, *place.parents) if str(one) in mounts), "")


# --- checks ---------------------------------------------------------------------------------------


def _models(encoders: Sequence[EncoderStatus]) -> Check:
    parts = [f"{one.role}: {one.name}, {one.done:,} of {one.total:,} documents" for one in encoders]
    problem = next((one.problem for one in encoders if one.problem), "")
    return Check("encoders in use", passed=True, sentence=_sentence(parts, "None."), hint=problem)


def _formats() -> Check:
    rows = supported_formats()
    missing = [row for row in rows if not row.available]
    sentence = f"{len(rows) - len(missing)} of {len(rows)} formats can be read here."
    names = ", ".join(row.format for row in missing)
    notes = " ".join(dict.fromkeys(row.note for row in missing))
    hint = f"Not {names}. {notes}" if missing else ""
    return Check("formats", passed=True, sentence=sentence, hint=hint)


def _disk(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    parts = [f"{name} {number:,} bytes" for name, number in sizes(folder).items()]
    return Check(
        "disk",
        passed=free >= _LEAST_BYTES,
        sentence=f"At least {_rounded(free)} are free; {', '.join(parts)}.",
        hint="" if free >= _LEAST_BYTES else "Free some space before you add documents.",
    )


def _limits() -> Check:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    enough = files == resource.RLIM_INFINITY or files >= _LEAST_FILES
    shown = "any number of" if files == resource.RLIM_INFINITY else f"{files:,}"
    return Check(
        "limits",
        passed=enough,
        sentence=f"{shown} open files, {memory:,} bytes of memory, {os.cpu_count()} processors.",
        hint="" if enough else "Raise the limit of open files: ulimit -n 1024",
    )


def _settings(settings: Settings) -> Check:
    parts = [f"{name} = {value}" for name, value in changed_settings(settings).items()]
    return Check("settings", passed=True, sentence=_sentence(parts, "All are the defaults."))


def _added_folders(store: Store) -> Check:
    sources = store.sources().sources()
    roots = [(one.name, one.location) for one in sources if one.kind is SourceKind.FOLDER]
    away = [location for _, location in roots if not is_there(location)]
    sentence = f"{counted(len(roots), 'folder')} added, {len(away)} of them away."
    hint = f"Not there: {_listed_names(away)}" if away else ""
    return Check("added folders", passed=True, sentence=sentence, hint=hint)


def _speed(around: Surroundings) -> Check:
    parts = list(slow_parts(around))
    return Check("speed", passed=True, sentence=_sentence(parts, "Nothing makes it slow."))


# --- helpers --------------------------------------------------------------------------------------


def _behind(around: Surroundings) -> dict[str, int]:
    latest, found = around.store.sequence(), {}
    for name, index in around.indexes.items():
        try:
            if (behind := latest - index.sequence()) > 0:
                found[name] = behind
        except CorruptLibraryError:
            continue  # the check of the index says so
    return found


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    total = 0
    for file in files:
        try:
            total += file.lstat().st_size if file.is_file() else 0
        except OSError:  # removed since it was listed
            continue
    return total


def _rounded(number: int) -> str:
    """Return a size rounded down to 1, 2 or 5 of a power of ten, so that looks agree."""
    power = 10 ** max(len(str(number)) - 1, 0)
    first = next(step for step in (5, 2, 1, 0) if number >= step * power)
    return f"{first * power:,} bytes"


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _listed_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _sentence(parts: Sequence[str], otherwise: str) -> str:
    if not parts:
        return otherwise
    more = f"; and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    text = "; ".join(parts[:_SHOWN]) + more
    return f"{text[0].upper()}{text[1:]}."
