"""The minutes without a chair: what was said, who stands where, and what documents say.

Nothing is concluded here but what most would choose. Where models debated, it is who stands by
which statement, as they said themselves; where one has no model, what documents say on each thing
asked.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from chapterhouse.council.meeting.record import Ledger, Record
from chapterhouse.council.meeting.session import Participant, Session, participant_record
from chapterhouse.council.meeting.table import table_of
from chapterhouse.council.minutes.contents import find_agreement
from chapterhouse.runtime import Runtime
from chapterhouse.types import Gap, Minutes, Point


def draft_minutes(session: Session, record: Record, runtime: Runtime) -> Minutes:
    """Return the minutes of a session without what a chair writes."""
    ledger, council = Ledger(record.citations), session.council
    table = table_of(session, runtime, ledger)
    choices = {turn.member: turn.option for turn in record.turns if turn.option}
    keys = [one.key for one in session.participants]
    return Minutes(
        council=council.slug,
        title=council.title,
        question=session.question,
        purpose=council.purpose,
        options=council.options if session.debates else (),
        members=tuple(participant_record(one, runtime) for one in session.participants),
        rounds=tuple(dict.fromkeys(turn.round for turn in record.turns)),
        turns=record.turns,
        absences=record.absences,
        agreement=find_agreement(record.turns, keys),
        decided=_majority(choices),
        decision=tuple(_choices(choices, session)),
        open_questions=tuple(
            Point(text, members=(turn.member,))
            for turn in record.turns
            for text in turn.open_questions
        ),
        missing=tuple(dict.fromkeys(_missing(session, record))),
        table=table,
        citations=ledger.citations,
        chair=session.chair.title if session.chair and session.debates else "",
        warnings=tuple(_warnings(session, record)),
    )


def shelf_of_gap(participant: Participant) -> str:
    """Return the shelf that lacks something: a member's own, of a council all that it reads."""
    return ", ".join(participant.shelves) if participant.inner else participant.shelves[0]


def _majority(choices: Mapping[str, str]) -> str:
    """Return the option that most of those who chose one would choose; or empty."""
    counts = Counter(choices.values())
    return next((option for option, count in counts.items() if 2 * count > len(choices)), "")


def _choices(choices: Mapping[str, str], session: Session) -> Iterator[Point]:
    """Yield for each option who would choose it."""
    titles = {one.key: one.title for one in session.everyone}
    for option in session.council.options:
        members = tuple(key for key, chosen in choices.items() if chosen == option)
        if members:
            names = ", ".join(titles[key] for key in members)
            yield Point(f"Would choose “{option}”: {names}.", members=members)


def _missing(session: Session, record: Record) -> Iterator[Gap]:
    shelves = {one.key: shelf_of_gap(one) for one in session.everyone}
    for turn in record.turns:
        for text in turn.missing:
            yield Gap(turn.member, shelves[turn.member], text)


def _warnings(session: Session, record: Record) -> Iterator[str]:
    """Yield each warning once, with all members who have it."""
    yield from session.warnings
    titles = {one.key: one.title for one in session.everyone}
    whose: dict[str, dict[str, None]] = {}
    for turn in record.turns:
        for warning in turn.warnings:
            whose.setdefault(warning, {})[titles[turn.member]] = None
    for warning, names in whose.items():
        yield f"{', '.join(names)}: {warning}"
