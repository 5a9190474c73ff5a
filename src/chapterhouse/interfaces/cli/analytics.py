"""Commands about what was asked and what the documents lack: analytics show, clear."""

from typing import Annotated

from chapterhouse.interfaces.cli.options import Yes, group, option
from chapterhouse.interfaces.cli.session import Outcome, opened_library, require_yes
from chapterhouse.presenting.analytics import analytics_blocks
from chapterhouse.presenting.blocks import verbatim
from chapterhouse.text.counting import counted

app = group("Show what was asked, how well it was answered, and what the documents lack.")

Days = Annotated[
    int, option("--days", "N", "The last days, today included; 0: all.", least=0, most=36_500)
]
Limit = Annotated[
    int, option("--limit", "N", "Questions and documents of each list at most; 0: all.", least=0)
]


@app.command()
def show(*, days: Days = 30, limit: Limit = 10) -> Outcome:
    """Show what was asked, and what the documents lack."""
    with opened_library(background=False) as library:
        report = library.analytics.report(days, limit=limit)
        return Outcome(report, analytics_blocks(report))


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
