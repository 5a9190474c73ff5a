"""Write a newly generated document, or leave what a hand has edited in its place.

A hand has edited what differs from the text that was generated last, its base. A new document's
base is written before it, a changed one's after it, and a version that waits before both: wherever
the work stops, the next run ends in the same state.
"""

from pathlib import Path
from typing import Final

from chapterhouse.agents.curated import (
    Curated,
    Known,
    Outcome,
    base_path,
    new_path,
    read_own,
    remove_whole,
    target_path,
    write_whole,
)
from chapterhouse.errors import UsageError

DELETED: Final = (
    "It was deleted by hand and stays away until its source changes. To make it again: "
    "chapterhouse persona update SLUG."
)
_EDITED: Final = "It was edited by hand and stays as it is."


def write_document(rag: Path, known: Known, text: str, *, remake: bool, dry_run: bool) -> Curated:
    """Write a newly generated text where no hand has edited the last one; say what came of it.

    Args:
        remake: Whether to make again what was deleted by hand.
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


def take_away(rag: Path, known: Known, *, dry_run: bool) -> bool:
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


def _curated(known: Known, status: Outcome, code: str = "", sentence: str = "") -> Curated:
    return Curated("", known.target, status, code, sentence)
