"""What ``--json`` shows of minutes, and of a meeting before it is held."""

from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.session import OK, PARTLY
from chapterhouse.types import Minutes

if TYPE_CHECKING:
    from chapterhouse.council.meeting.session import Plan


def minutes(value: Minutes) -> dict[str, object]:
    """Shape minutes; ``cite check`` reads them again."""
    from chapterhouse.council.minutes.bundle import minutes_fields  # noqa: PLC0415 - see options

    return minutes_fields(value)


def minutes_code(value: Minutes) -> int:
    """Return 4 where somebody was absent, also from a council that sat as a member; else 0."""
    from chapterhouse.council.minutes.contents import meetings  # noqa: PLC0415 - see options

    return PARTLY if any(held.absences for _, held in meetings(value)) else OK


def plan(value: "Plan") -> dict[str, object]:
    """Shape what a meeting would be."""
    return {
        "council": value.council,
        "title": value.title,
        "question": value.question,
        "seats": plain(value.seats),
        "turns": plain(value.turns),
        "warnings": plain(value.warnings),
        "dry_run": True,
    }
