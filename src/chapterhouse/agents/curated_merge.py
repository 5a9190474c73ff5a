"""What becomes of a curated document that a hand may have edited: base, hand edit and new text.

A new document's base is written before it, a changed one's after it, and a version that could not
be merged before both: wherever the work stops, the next run ends in the same state.
"""

from dataclasses import replace
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
from chapterhouse.agents.merge import merge
from chapterhouse.errors import UsageError

DELETED: Final = (
    "It was deleted by hand and stays away until its source changes. To make it again: "
    "chapterhouse persona update SLUG."
)
_EDITED: Final = "It was edited by hand and stays as it is."


def merge_document(rag: Path, known: Known, text: str, *, remake: bool, dry_run: bool) -> Curated:
    """Write what comes of a newly generated text and what stands in its place; say what it was.

    Args:
        rag: The folder of curated documents.
        known: What is remembered of the source.
        text: What was generated from it now.
        remake: Whether to make again what was deleted by hand.
        dry_run: Write nothing.

    Raises:
        UsageError: what stands in its place cannot be read.
        ChapterhouseError: a file cannot be written.
    """
    target, base_file = target_path(rag, known.id), base_path(rag, known.id)
    ours, base = read_own(target), read_own(base_file)
    if ours is None:
        was_deleted = known.made and not remake
        _write([(base_file, text), *([] if was_deleted else [(target, text)])], dry_run=dry_run)
        if was_deleted:
            return _curated(known, Outcome.RETAINED, "deleted-by-hand", DELETED)
        return _curated(known, Outcome.WRITTEN, "made-again" if known.made else "new")
    if base is None and ours != text:
        return _conflict(rag, known, ours, text, "base-lost", dry_run=dry_run)
    merged = merge(text if base is None else base, ours, text)
    if merged.conflicts:
        code = "edited-on-both-sides"
        return _conflict(rag, known, merged.text, text, code, dry_run=dry_run)
    changed = [(target, merged.text)] if merged.text != ours else []
    _write([*changed, *([(base_file, text)] if base != text else [])], dry_run=dry_run)
    return _merged(known, ours, text, merged.text)


def _merged(known: Known, ours: str, text: str, result: str) -> Curated:
    if result == text:
        return _curated(known, Outcome.UNCHANGED if ours == text else Outcome.WRITTEN)
    if result == ours:
        return _curated(known, Outcome.RETAINED, "edited-by-hand", _EDITED)
    sentence = "Your edits and the new version of the source are both in it."
    return _curated(known, Outcome.MERGED, "edited-by-hand", sentence)


def _conflict(
    rag: Path, known: Known, ours: str, text: str, code: str, *, dry_run: bool
) -> Curated:
    """Leave the hand edit where it is and put the new version beside the base."""
    new_file = new_path(rag, known.id)
    files = [(new_file, text), (target_path(rag, known.id), ours), (base_path(rag, known.id), text)]
    _write(files, dry_run=dry_run)
    sentence = (
        "You and the new version changed the same lines: yours stand. The new version is in "
        f".curated/{new_file.name}; take over what you want and delete it."
    )
    return _curated(known, Outcome.CONFLICT, code, sentence)


def include_waiting(rag: Path, known: Known, outcome: Curated) -> Curated:
    """Say so where the new version of an earlier conflict still waits."""
    new_file = new_path(rag, known.id)
    if outcome.status is Outcome.CONFLICT or not known.id or not new_file.exists():
        return outcome
    sentence = (
        f"A version that could not be merged still waits in .curated/{new_file.name}; take over "
        "what you want and delete it."
    )
    return replace(
        outcome,
        code=outcome.code or "conflict-waiting",
        sentence=" ".join(filter(None, (outcome.sentence, sentence))),
    )


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
