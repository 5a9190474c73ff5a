"""``docs remove``: what it will remove, what it removed, and whether some of it is left."""

from collections.abc import Iterator
from typing import Annotated, Final

import typer

from chapterhouse.interfaces.cli.options import DryRun, Yes, argument, flag
from chapterhouse.interfaces.cli.session import OK, PARTLY, Outcome, opened_library, require_yes
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import FileSearch, Removal, RemovalState

_COPY: Final = "A copy of the library first: chapterhouse export FILE"
Names = Annotated[list[str] | None, argument("[NAME]...", "Ids, beginnings of ids or files.")]


def remove(
    names: Names = None,
    *,
    missing: Annotated[bool, flag("--missing", "Remove documents whose files are gone.")] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Remove documents from the library, for good.

    The files they came from are not touched. Text, bytes, vectors and what was remembered of
    answers that rest on them go. The indexes and the database are written anew, and every file of
    the library is searched for what was removed. Exit code 4 says that a file still has some.

    There is no undo: chapterhouse export writes a copy of the library first.

    Asks first. Off a terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    if not names and not missing:
        raise typer.BadParameter("Name what to remove, or use --missing.")

    with opened_library() as library:
        removal = library.documents.remove(*(names or ()), missing=missing, dry_run=True)
        if removal.documents and not dry_run:
            if not yes:
                count = counted(len(removal.documents), "document")
                require_yes(
                    f"Remove {count} from the library for good",
                    needed=f"Removing {count} for good needs to be confirmed. {_COPY}",
                    refused=f"Nothing was removed. {_COPY}",
                    listed=[document.source for document in removal.documents],
                )
            removal = library.documents.remove(*(document.id for document in removal.documents))
        in_place = library.documents.in_place(removal.documents)
        data = {
            "state": None if dry_run else removal.state,
            "documents": removal.documents,
            "in_place": [document.source for document in in_place],
            "search": removal.search,
            "dry_run": dry_run,
        }
        shown = _shown(removal, len(in_place), dry_run=dry_run)
        return Outcome(data, shown, PARTLY if removal.state is RemovalState.INCOMPLETE else OK)


def _shown(removal: Removal, in_place: int, *, dry_run: bool) -> Iterator[Block]:
    verb = "Would remove" if dry_run else "Removed"
    yield verbatim(f"{verb} {counted(len(removal.documents), 'document')}.")
    for document in removal.documents:
        yield verbatim(f"  {document.id}  {one_line(document.source)}")
    if removal.search is not None:
        yield from shown_search(removal.search)
    if in_place:
        text = counted(in_place, "file is", "files are")
        warning = (
            f"{text} in place, and read by the next 'add' or 'sync': move away or exclude what"
            " shall not come back."
        )
        yield verbatim((warning, Style.WARNING))


def shown_search(search: FileSearch) -> Iterator[Block]:
    """Say whether a file of the library still has something of what was removed."""
    if search.redacted:
        names = ", ".join(map(one_line, search.redacted))
        yield verbatim(f"Lines that quoted or named it were taken out of: {names}")
    place = f"{counted(search.files, 'file')} ({search.bytes / 2**20:,.1f} MB) of the library"
    sought = counted(search.searched, "passage or name", "passages and names")
    if not search.found:
        yield verbatim(("Nothing of it is left", Style.GOOD), f": searched {place} for {sought}.")
        return
    yield verbatim(("Some of it is left", Style.BAD), f": {search.found:,} of {sought} in {place}.")
    yield verbatim(f"Look into: {', '.join(map(one_line, search.places))}")
