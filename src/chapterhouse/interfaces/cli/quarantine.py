"""Commands about files that are not tried again: docs quarantine list, retry, drop."""

from typing import Annotated

from chapterhouse.interfaces.cli import render
from chapterhouse.interfaces.cli.options import DryRun, Yes, argument, group
from chapterhouse.interfaces.cli.session import Outcome, opened_library, require_yes
from chapterhouse.presenting.blocks import verbatim
from chapterhouse.text.counting import counted

app = group("Files that ended their reader or a process three times.")

_WHICH = "Sources, paths or file names."
Parked = Annotated[list[str], argument("NAME...", _WHICH)]
AnyParked = Annotated[list[str] | None, argument("[NAME]...", _WHICH)]


@app.command("list")
def list_parked() -> Outcome:
    """List the files in quarantine, with the reasons."""
    with opened_library() as library:
        found = library.documents.quarantined()
        blocks = render.files(found) if found else [verbatim("No files are in quarantine.")]
        return Outcome(found, blocks)


@app.command()
def retry(names: AnyParked = None) -> Outcome:
    """Let the next add or update read files in quarantine again.

    Without a name, all of them.
    """
    with opened_library() as library:
        found = library.documents.release_quarantined(*(names or ()))
        sentence = f"The next add or update reads {counted(len(found), 'file')} again."
        listed = [verbatim(f"  {record.source}") for record in found]
        return Outcome({"files": found}, [verbatim(sentence), *listed])


@app.command()
def drop(names: Parked, *, yes: Yes = False, dry_run: DryRun = False) -> Outcome:
    """Forget files in quarantine, and what earlier reads of them gave.

    The files themselves are not touched. One that is still in an added folder is a new file for
    the next add: move it away first.

    Asks first. Off a terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    with opened_library() as library:
        found = library.documents.drop_quarantined(*names, dry_run=True)
        if not dry_run:
            if not yes:
                require_yes(
                    f"Forget {counted(len(found), 'file')} in quarantine",
                    refused="Nothing was forgotten.",
                    listed=[record.source for record in found],
                )
            library.documents.drop_quarantined(*names)
        verb = "Would forget" if dry_run else "Forgot"
        listed = [verbatim(f"  {record.source}") for record in found]
        blocks = [verbatim(f"{verb} {counted(len(found), 'file')} in quarantine."), *listed]
        return Outcome({"files": found, "dry_run": dry_run}, blocks)
