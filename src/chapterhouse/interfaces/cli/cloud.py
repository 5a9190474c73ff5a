"""Commands about cloud drives: cloud providers, connect, list, folders, files, sync."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli import progress, render
from chapterhouse.interfaces.cli.options import (
    Confirmed,
    DryRun,
    OnShelf,
    argument,
    flag,
    group,
)
from chapterhouse.interfaces.cli.session import Outcome, may_ask, opened_library
from chapterhouse.presenting.blocks import Style, TerminalBlock, table, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.text.counting import counted

if TYPE_CHECKING:
    from chapterhouse.library.cloud import CloudFile

app = group("Connect cloud drives, browse them, and read folders of them.")

Folder = Annotated[str, argument("REMOTE:PATH", "A folder of a drive, like gdrive:Papers/2026.")]
Refresh = Annotated[bool, flag("--refresh", "Ask the service, even if it was listed a moment ago.")]

_CONNECT: Final = "Connect one: chapterhouse cloud connect PROVIDER NAME"
_STYLES: Final = {
    "current": Style.GOOD,
    "changed": Style.WARNING,
    "partial": Style.WARNING,
    "rejected": Style.BAD,
    "skipped": Style.QUIET,
}


@app.command()
def providers() -> Outcome:
    """List the kinds of drives that rclone can read, the well-known first."""
    with opened_library(or_empty=True) as library:
        found = library.cloud.providers()
        shown = table(
            found,
            ("PROVIDER", lambda one: one.name),
            ("WHAT IT IS", lambda one: one.description),
        )
        return Outcome({"providers": found}, (*shown, verbatim(_CONNECT)))


@app.command()
def connect(
    provider: Annotated[str, argument("PROVIDER", "Its kind, like drive, dropbox or webdav.")],
    name: Annotated[
        str, argument("[NAME]", "What you call it.  [default: the provider's name]")
    ] = "",
) -> Outcome:
    """Connect a drive: rclone asks for what it needs, or opens the browser to log in.

    Logins and keys stay in rclone's own configuration; nothing of them is stored here. Needs a
    terminal; elsewhere the command to run on one is printed, with exit code 2.
    """
    with opened_library(or_empty=True) as library:
        if not may_ask():
            command = shlex.join(library.cloud.connect_command(provider, name))
            raise UsageError(
                "A drive is connected on a terminal, where rclone can ask.", hint=f"Run: {command}"
            )
        made = library.cloud.connect(provider, name)
        connected = verbatim("Connected ", (made.name, Style.STRONG), f" ({made.provider})")
        return Outcome(
            made, (connected, verbatim(f"Next: chapterhouse cloud folders {made.name}:"))
        )


@app.command("list")
def list_remotes() -> Outcome:
    """List the drives that are connected."""
    with opened_library(or_empty=True) as library:
        found = library.cloud.remotes()
        shown = table(
            found,
            ("REMOTE", lambda one: one.name),
            ("PROVIDER", lambda one: one.provider),
            none=f"No drive is connected.\n{_CONNECT}",
        )
        return Outcome({"remotes": found}, shown)


@app.command()
def folders(place: Folder, *, refresh: Refresh = False) -> Outcome:
    """List the folders in a folder.

    What a service listed is good for five minutes; then it is asked again.
    """
    with opened_library(create=True) as library:
        found = library.cloud.folders(place, refresh=refresh)
        shown = [verbatim(f"{one_line(name)}/") for name in found]
        none = [verbatim(("There are no folders in it.", Style.QUIET))]
        return Outcome({"place": place, "folders": found}, shown or none)


@app.command()
def files(
    place: Folder,
    *,
    recursive: Annotated[bool, flag("--recursive", "Also those in the folders below it.")] = False,
    refresh: Refresh = False,
) -> Outcome:
    """List the files in a folder, and whether the library has them as they are now.

    What a service listed is good for five minutes; then it is asked again.
    """
    with opened_library(create=True) as library:
        found = library.cloud.files(place, recursive=recursive, refresh=refresh)
        return Outcome({"place": place, "files": found}, _files(found))


@app.command()
def sync(
    place: Folder,
    *,
    shelf: OnShelf = "",
    no_delete: Annotated[
        bool, flag("--no-delete", "Leave documents in the library whose files are gone.")
    ] = False,
    yes: Confirmed = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Make the library's documents of a folder what is in the folder now.

    New and changed files are fetched, those that are gone leave the library. A stopped run goes on
    where it was. Exit code 4 says that some files are rejected or read only in part.
    """
    opened = opened_library(create=not dry_run, or_empty=dry_run)
    with opened as library, progress.interruptible() as on_progress:
        report = library.cloud.sync(
            place,
            shelf=shelf,
            delete=not no_delete,
            confirmed=yes,
            dry_run=dry_run,
            on_progress=on_progress,
        )
        progress.require_end(report.files)
    return render.synced((report,), dry_run=dry_run)


# --- what people see -----------------------------------------------------------------------------


def _files(found: "Sequence[CloudFile]") -> Iterator[TerminalBlock]:
    counts = Counter(file.status for file in found)
    for file in found:
        reason = f"{file.sentence} ({file.code})" if file.sentence else ""
        style = _STYLES.get(file.status, Style.PLAIN)
        yield from render.entry(f"{file.status:<10} ", style, one_line(file.path), reason)
    tally = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()))
    yield verbatim((counted(len(found), "file"), Style.STRONG), f": {tally}" if tally else "")
