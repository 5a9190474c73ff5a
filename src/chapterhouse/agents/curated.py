"""What curation remembers of its last run, what it writes, and what it says of this one.

A hand has edited what differs from the text that was generated last, its base. A new document's
base is written before it, a changed one's after it, and a version that waits before both: wherever
the work stops, the next run ends in the same state.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from chapterhouse import files
from chapterhouse.errors import ChapterhouseError, RefusedError, UsageError
from chapterhouse.text.naming import slug
from chapterhouse.types import Notice

# Change it when the same source gives another document: every file is then made anew.
GENERATOR_VERSION: Final = "2"
BASE_FOLDER: Final = ".curated"
STATE_FILE: Final = "curated.json"
ID_MAXIMUM: Final = 80  # characters
_NAME_BYTES: Final = 200  # a file's name may have 255
_BETWEEN_WORDS: Final = re.compile(r"[\s!-/:-@\[-`{-~]+")
_ALPHANUMERIC: Final = re.compile(r"[^\W_]")
_STATE_MAXIMUM: Final = 64 * 2**20
DELETED: Final = (
    "It was deleted by hand and stays away until its source changes. To make it again: "
    "chapterhouse persona update SLUG."
)
_EDITED: Final = "It was edited by hand and stays as it is."


class Outcome(StrEnum):
    """What became of one curated document."""

    WRITTEN = "written"  # made or replaced; no hand had changed it
    UNCHANGED = "unchanged"
    RETAINED = "kept"  # as a hand left it
    CONFLICT = "conflict"  # the hand edit stands, the new version waits beside the base
    FAILED = "failed"  # the source gave no document
    ORPHANED = "orphaned"  # the source is gone, but a hand has edited the document
    REMOVED = "removed"  # the source is gone, and so is the document


@dataclass(frozen=True, slots=True)
class CuratedDocument:
    """How one document ended.

    Attributes:
        source: Name below RAW-DOCS.
        target: Name in RAG, or empty where there is none.
        code: Stable and machine-readable; why, where ``status`` does not say it all.
    """

    source: str
    target: str
    status: Outcome
    code: str = ""
    sentence: str = ""
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class CurationReport:
    """What one curation did, in order of source."""

    outcomes: tuple[CuratedDocument, ...] = ()

    def count(self, status: Outcome) -> int:
        """Count the documents that ended so."""
        return sum(outcome.status == status for outcome in self.outcomes)

    @property
    def changed(self) -> int:
        """Count the documents whose file in RAG this run altered."""
        altering = (Outcome.WRITTEN, Outcome.REMOVED)
        return sum(self.count(status) for status in altering)


@dataclass(frozen=True, slots=True)
class CurationRecord:
    """What is remembered of one source.

    Attributes:
        id: Name of its document without ``.md``; empty where it never gave one.
        sha256: Hash of the bytes that were read last, ``size`` of them; empty where none were yet.
        mtime_ns: The file's time, or 0 where it was too young to be trusted.
        code: Why there is no document, where there is none.
        orphaned: Whether the source was gone the last time.
    """

    id: str
    sha256: str = ""
    size: int = 0
    mtime_ns: int = 0
    generator: str = ""
    code: str = ""
    sentence: str = ""
    made: bool = False
    orphaned: bool = False

    @property
    def target(self) -> str:
        """The document's file in RAG, or empty where there is none."""
        return f"{self.id}.md" if self.id else ""


State = Mapping[str, CurationRecord]  # by source


def load_state(rag: Path) -> dict[str, CurationRecord]:
    """Return what is remembered of a RAG folder; nothing where it was never curated.

    What a hand made unreadable is forgotten entry by entry: the document is then made anew
    beside what stands in its place. Raises ``ChapterhouseError`` where nothing can be read.
    """
    path = base_folder(rag) / STATE_FILE
    try:
        with path.open("rb") as stream:
            data = stream.read(_STATE_MAXIMUM)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ChapterhouseError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        stated = json.loads(data)["sources"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ChapterhouseError(
            f"{path} is damaged: {error}.",
            hint="Restore it, or move the folder .curated away: every document is then made "
            "anew beside what is there.",
        ) from error
    if not isinstance(stated, dict):
        return {}
    known = ((source, _known(entry)) for source, entry in stated.items())
    return {source: entry for source, entry in known if entry is not None}


def target_path(rag: Path, identifier: str) -> Path:
    """Return where a curated document stands."""
    return rag / f"{identifier}.md"


def base_path(rag: Path, identifier: str) -> Path:
    """Return where the text stands that was generated last."""
    return base_folder(rag) / f"{identifier}.md"


def new_path(rag: Path, identifier: str) -> Path:
    """Return where a new version waits whose document was edited by hand."""
    return base_folder(rag) / f"{identifier}.new.md"


def save_state(rag: Path, state: State) -> None:
    """Write what is remembered; the same state gives the same bytes."""
    sources = {source: asdict(state[source]) for source in sorted(state)}
    text = json.dumps({"version": 1, "sources": sources}, ensure_ascii=False, indent=1)
    write_whole(base_folder(rag) / STATE_FILE, f"{text}\n")


def base_folder(rag: Path) -> Path:
    """Return the folder of what was generated last."""
    folder = rag / BASE_FOLDER
    if folder.is_symlink():
        raise RefusedError(
            f"{folder} is a link, which could lead anywhere.", hint="Put a folder in its place."
        )
    return folder


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that it is either as it was or whole, whatever happens."""
    try:
        files.make_folder(path.parent)
        files.write_whole(path, text)
    except OSError as error:
        raise ChapterhouseError(
            f"{path} cannot be written: {error.strerror}.",
            hint="Check the space on the disk and the folder's permissions, then run it again.",
        ) from error


def remove_whole(path: Path) -> None:
    """Remove a file, if it is there."""
    try:
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            files.sync_folder(path.parent)
    except OSError as error:
        raise ChapterhouseError(
            f"{path} cannot be removed: {error.strerror}.", hint="Check the folder's permissions."
        ) from error


def read_own(path: Path) -> str | None:
    """Return the text of a curated document, or None where there is no file.

    Raises ``UsageError`` where it is a link, no text, or cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, encoding="utf-8", newline="") as stream:
            return stream.read().removeprefix("\ufeff").replace("\r\n", "\n")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not a text in UTF-8, so it cannot be compared.",
            hint="Save it as UTF-8, or delete it and update the persona.",
        ) from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.",
            hint="It has to be a plain file that you may read.",
        ) from error


def kebab(name: str) -> str:
    """Return a file's name in kebab case, whole words of it up to ``ID_MAXIMUM`` characters."""
    shortened = ""
    for word in _BETWEEN_WORDS.split(name.replace("_", " ")):
        parts = slug(word).split("-") if _ALPHANUMERIC.search(word) else []
        longer = "-".join(filter(_ALPHANUMERIC.search, (shortened, *parts)))
        if len(longer) > ID_MAXIMUM or len(longer.encode()) > _NAME_BYTES:
            break
        shortened = longer
    return shortened or slug("")


def is_document_id(name: str) -> bool:
    """Whether a name is in kebab case, and so can name a file and nothing but a file."""
    parts = name.split("-")
    return all(part and slug(part) == part for part in parts) and len(name.encode()) <= _NAME_BYTES


def _known(entry: object) -> CurationRecord | None:
    """Return an entry of the state, or None where it is not one."""
    if not isinstance(entry, dict):
        return None
    default = CurationRecord("")
    stated = {
        field.name: entry.get(field.name, getattr(default, field.name))
        for field in fields(CurationRecord)
    }
    if any(type(value) is not type(getattr(default, name)) for name, value in stated.items()):
        return None
    named = not stated["id"] or is_document_id(stated["id"])
    return replace(default, **stated) if named else None


# --- writing documents ---


def write_document(
    rag: Path, known: CurationRecord, text: str, *, remake: bool, dry_run: bool
) -> CuratedDocument:
    """Write a newly generated text where no hand has edited the last one; say what came of it.

    ``remake``: make again what was deleted by hand.
    """
    target, base_file = target_path(rag, known.id), base_path(rag, known.id)
    ours, base = read_own(target), read_own(base_file)
    if ours is None:
        was_deleted = known.made and not remake
        _write([(base_file, text), *([] if was_deleted else [(target, text)])], dry_run=dry_run)
        if was_deleted:
            return _curated(known, Outcome.RETAINED, "deleted-by-hand", DELETED)
        return _curated(known, Outcome.WRITTEN, "made-again" if known.made else "new")
    if ours in (base, text):
        changed = [(target, text)] if ours != text else []
        _write([*changed, *([(base_file, text)] if base != text else [])], dry_run=dry_run)
        return _curated(known, Outcome.WRITTEN if changed else Outcome.UNCHANGED)
    if base == text:
        return _curated(known, Outcome.RETAINED, "edited-by-hand", _EDITED)
    new_file = new_path(rag, known.id)
    _write([(new_file, text), (base_file, text)], dry_run=dry_run)
    sentence = (
        f"{_EDITED} The version of the changed source is in .curated/{new_file.name}; take over"
        " what you want and delete it."
    )
    return _curated(known, Outcome.CONFLICT, "edited-by-hand", sentence)


def take_away(rag: Path, known: CurationRecord, *, dry_run: bool) -> bool:
    """Remove the document of a source that is gone; return whether it went.

    One that a hand has edited stays.
    """
    if not known.id:
        return True
    target, base_file = target_path(rag, known.id), base_path(rag, known.id)
    try:
        ours, base = read_own(target), read_own(base_file)
    except UsageError:  # what cannot be read cannot be known to be unedited
        return False
    if ours is not None and ours != base:
        return False
    for path in (target, new_path(rag, known.id), base_file):
        if not dry_run:
            remove_whole(path)
    return True


def _write(files: list[tuple[Path, str]], *, dry_run: bool) -> None:
    for path, text in files:
        if not dry_run:
            write_whole(path, text)


def _curated(
    known: CurationRecord, status: Outcome, code: str = "", sentence: str = ""
) -> CuratedDocument:
    return CuratedDocument("", known.target, status, code, sentence)
