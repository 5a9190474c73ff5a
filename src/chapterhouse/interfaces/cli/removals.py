"""Commands that remove documents and bring them back: docs remove, removed, undo, purge."""

import time
from typing import Annotated, Final

import typer

from chapterhouse.errors import RefusedError
from chapterhouse.interfaces.cli import render_removals
from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.options import DryRun, Yes, argument, flag
from chapterhouse.interfaces.cli.session import OK, PARTLY, Outcome, opened_library, require_yes
from chapterhouse.text.counting import counted
from chapterhouse.types import Receipt, RemovedDocument

Names = Annotated[list[str] | None, argument("[NAME]...", "Ids, beginnings of ids or files.")]
_DAY: Final = 86_400  # seconds


def remove(
    names: Names = None,
    *,
    missing: Annotated[bool, flag("--missing", "Remove documents whose files are gone.")] = False,
    at_once: Annotated[bool, flag("--now", "Without a grace period: nothing is retained.")] = False,
    retain: Annotated[
        bool, flag("--retain-original", "Retain the file's bytes until they are purged by hand.")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Remove documents from the library.

    The files they came from are not touched. Answers that rest on them are forgotten. The indexes
    are built anew, and what was removed is searched for by every path, and in every file of the
    library. For some days the bytes are retained: docs undo reads them again.

    Asks first. Off a terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    if not names and not missing:
        raise typer.BadParameter("Name what to remove, or use --missing.")
    if at_once and retain:
        raise typer.BadParameter("--now and --retain-original exclude each other.")

    with opened_library() as library:
        removal = library.documents.remove(*(names or ()), missing=missing, dry_run=True)
        if removal.documents and not dry_run:
            if not yes:
                count = counted(len(removal.documents), "document")
                require_yes(
                    f"Remove {count} from the library",
                    needed=f"Removing {count} needs to be confirmed.",
                    refused="Nothing was removed.",
                    listed=[document.source for document in removal.documents],
                )
            removal = library.documents.remove(
                *(document.id for document in removal.documents),
                grace_days=0 if at_once else None,
                retain=retain,
            )
        in_place = library.documents.in_place(removal.documents)
        data = {
            "documents": removal.documents,
            "retained": removal.retained,
            "in_place": [document.source for document in in_place],
            "receipt": removal.receipt,
            "dry_run": dry_run,
        }
        shown = render_removals.removal(removal, len(in_place), dry_run=dry_run)
        return Outcome(data, shown, _code(removal.receipt))


def removed() -> Outcome:
    """List the removed documents that can come back, with the days left."""
    with opened_library() as library:
        now = int(time.time())
        entries = [(entry, _days_left(entry, now)) for entry in library.documents.removed()]
        data = [{**plain(entry), "days_left": days} for entry, days in entries]
        return Outcome(data, render_removals.entries(entries))


def undo(names: Names = None) -> Outcome:
    """Bring removed documents back, the last removal when none is named.

    Their bytes are read again; ids, sources and shelves are those of before. What was remembered
    of answers stays forgotten. Exit code 4 says that some could not come back, 5 that none could.
    """
    with opened_library() as library:
        restored = library.documents.restore(*(names or ()))
        refused = [{"document": entry, "reason": reason} for entry, reason in restored.refused]
        data = {"documents": restored.documents, "refused": refused}
        code = PARTLY if restored.documents else RefusedError.exit_code
        return Outcome(data, render_removals.restored(restored), code if refused else OK)


def purge(
    names: Names = None,
    *,
    expired: Annotated[
        bool, flag("--expired", "Only of those whose grace period is over.")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Drop the bytes of removed documents, of all of them when none is named.

    Then nothing of them is left, as the receipt shows, and they cannot come back.

    Asks first. Off a terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    with opened_library() as library:
        found = library.documents.purge(*(names or ()), expired=expired, dry_run=True)
        if found.dropped and not dry_run:
            if not yes:
                count = counted(len(found.dropped), "removed document")
                require_yes(
                    f"Drop the bytes of {count} for good",
                    needed=f"Dropping the bytes of {count} needs to be confirmed.",
                    refused="Nothing was dropped.",
                    listed=[entry.source for entry in found.dropped],
                )
            found = library.documents.purge(*(entry.location for entry in found.dropped))
        data = {"documents": found.dropped, "receipt": found.receipt, "dry_run": dry_run}
        return Outcome(data, render_removals.purge(found, dry_run=dry_run), _code(found.receipt))


def _code(receipt: Receipt | None) -> int:
    return PARTLY if receipt is not None and receipt.found else OK


def _days_left(entry: RemovedDocument, now: int) -> int | None:
    """Return for how many days a document can still come back; None without an end."""
    return max(0, -(-(entry.until - now) // _DAY)) if entry.until else None
