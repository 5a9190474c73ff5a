"""What has changed, as people read it: first of all, in one line where it is nothing."""

from dataclasses import replace

from chapterhouse.council.minutes.changes import changes_between
from chapterhouse.council.minutes.changes_outline import lapse_warning
from chapterhouse.council.minutes.outline import minutes_html, minutes_markdown
from chapterhouse.types import (
    ChangeKind,
    DecisionChange,
    Lapse,
    LapsedConclusion,
    LapseReason,
    Minutes,
    MinutesChanges,
    PositionKind,
    Unmatched,
)

from .conftest import FEE_2025, MINUTES

LAPSED = LapsedConclusion(
    "grounds",
    FEE_2025,
    ("maria",),
    (Lapse(LapseReason.NEWER_VERSION, "tariffs-2025", "papers/b.md", "papers/c.md"),),
    1,
)


def section(minutes: Minutes) -> str:
    """Return the part on changes, which stands before all others."""
    text = minutes_markdown(minutes)
    title = "## What has changed since the earlier meeting\n"
    return text.partition(title)[2].partition("\n## ")[0].replace("\\", "")


def test_nothing_is_said_unless_it_was_asked_for() -> None:
    assert section(MINUTES) == ""
    assert section(replace(MINUTES, changes=MinutesChanges())).strip() == (
        "Nothing has changed since the earlier meeting: all that it concluded still holds."
    )


def test_each_change_is_told_with_its_document() -> None:
    maria, tom, *others = MINUTES.reading.positions
    silent = replace(tom, kind=PositionKind.SILENT, values=(), keys=(), text="", citations=())
    cheaper = replace(maria, values=("60 euros",), keys=("60 eur",), citations=(1,))
    table = replace(MINUTES.reading, positions=(cheaper, silent, *others))
    changes = changes_between(replace(MINUTES, reading=table), MINUTES)
    found = replace(
        changes,
        lapsed=(LAPSED,),
        decision=DecisionChange("", "leave it"),
        unmatched=(
            Unmatched("aspect", "who pays", ChangeKind.GONE),
            Unmatched("member", "Nina", ChangeKind.NEW),
        ),
    )
    told = section(replace(MINUTES, changes=found))
    assert "Decided before: nothing → now: **leave it**" in told
    assert f"- Maria Lind: “{FEE_2025}” *— papers/c.md is a newer version of papers/b.md" in told
    assert "1 other citation still holds" in told
    assert "**What does a guest berth cost?**" in told
    assert "- Maria Lind: 60 euros → **80 euros**" in told
    assert "- Tom: silent → **60 euros**" in told
    assert "the documents quoted are as they were" in told
    assert "- Who pays? only asked before\n- Nina is a member only now" in told
    page = minutes_html(replace(MINUTES, changes=found))
    assert page.index("What has changed") < page.index("Who sat")


def test_a_warning_names_a_few() -> None:
    warning = lapse_warning((LAPSED,) * 5)
    assert warning.count("papers/c.md") == 3
    assert "and 2 more. See what has changed: --since LAST." in warning
