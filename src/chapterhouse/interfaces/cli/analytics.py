"""Commands about what was asked and what the documents lack: analytics show, csv, clear."""

from pathlib import Path
from typing import Annotated

from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.files import write_whole
from chapterhouse.interfaces.cli.options import Yes, argument, group, option, require_path
from chapterhouse.interfaces.cli.session import Outcome, opened_library, require_yes
from chapterhouse.presenting.analytics import analytics_blocks, csv_text, tables
from chapterhouse.presenting.blocks import verbatim
from chapterhouse.text.counting import counted

app = group("Show what was asked, how well it was answered, and what the documents lack.")

Days = Annotated[
    int, option("--days", "N", "The last days, today included; 0: all.", least=0, most=36_500)
]
Limit = Annotated[
    int, option("--limit", "N", "Gaps and documents of each list at most; 0: all.", least=0)
]


@app.command()
def show(*, days: Days = 30, limit: Limit = 10) -> Outcome:
    """Show what was asked, and what the documents lack."""
    with opened_library(background=False) as library:
        report = library.analytics.report(days, limit=limit)
        return Outcome(report, analytics_blocks(report))


@app.command("csv")
def write_csv(
    folder: Annotated[str, argument("FOLDER", "Where the files go; it is made if need be.")],
    *,
    days: Days = 30,
    limit: Limit = 0,
) -> Outcome:
    """Write the same as one CSV file for each table; files of the same names are replaced.

    A cell that a spreadsheet would take for a formula begins with a quote.
    """
    target = Path(require_path(folder)).expanduser()
    if target.exists() and not target.is_dir():
        raise UsageError(f"'{folder}' is a file.", hint="Name a folder.")
    with opened_library(background=False) as library:
        found = tables(library.analytics.report(days, limit=limit))
    written = {name: target / f"{name}.csv" for name in found}
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, path in written.items():
            write_whole(path, csv_text(found[name]).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise ChapterhouseError(
            f"'{folder}' cannot be written: {error.strerror}.", hint="Name another folder."
        ) from error
    paths = list(map(str, written.values()))
    return Outcome({"files": paths}, map(verbatim, paths))


@app.command()
def clear(*, yes: Yes = False) -> Outcome:
    """Delete everything that was counted of questions.

    Exit code 10 says that it has to be confirmed with --yes.
    """
    with opened_library(background=False) as library:
        count = library.analytics.report(0).outcomes.questions
        if count and not yes:
            what = counted(count, "counted question")
            require_yes(
                f"Delete {what}",
                needed=f"Deleting {what} needs to be confirmed.",
                refused="Nothing was deleted.",
            )
        deleted = library.analytics.clear()
        sentence = f"Deleted {counted(deleted, 'counted question')}."
        return Outcome({"deleted": deleted}, [verbatim(sentence)])
