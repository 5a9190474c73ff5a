"""Earlier meetings of a council on the same question, and what has changed since.

Their minutes come from transcripts and files that anyone may have written: what they cite is looked
up again, in what those who meet now read.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from chapterhouse.agents.councils import Councils
from chapterhouse.answering.cite import recheck_citations
from chapterhouse.answering.search import holdings_of
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.council.disagreement.sources import newer_version
from chapterhouse.council.meeting.agenda import facts_in
from chapterhouse.council.meeting.replay import MEETINGS
from chapterhouse.council.meeting.session import MeetingOptions, Session
from chapterhouse.council.meeting.transcript import FORMAT
from chapterhouse.council.meeting.transcript_file import LARGEST
from chapterhouse.council.minutes.changes import changes_between
from chapterhouse.council.minutes.changes_outline import lapse_warning
from chapterhouse.council.minutes.contents import tool_texts
from chapterhouse.errors import UsageError
from chapterhouse.runtime import Runtime
from chapterhouse.types import Minutes, MinutesChanges, Scope

_LOOKED_AT: Final = 2  # the newest may be of the very meeting that is held again


@dataclass(frozen=True, slots=True)
class EarlierMeeting:
    """Minutes, and the transcript in which they are; None where the caller gave them."""

    minutes: Minutes
    path: Path | None = None


def earlier_meetings(
    session: Session, choices: MeetingOptions, runtime: Runtime
) -> Sequence[EarlierMeeting]:
    """Return the minutes with which a meeting may be compared, the newest first.

    Raises:
        UsageError: the caller wants to know what has changed, and there are none of this council
            on this question.
    """
    slug, since = session.council.slug, choices.since
    if isinstance(since, Minutes):
        _require_same(since, session)
        return (EarlierMeeting(since),)
    found: Sequence[EarlierMeeting] = ()
    if slug in Councils(runtime).names():
        folder = Councils(runtime).folder(slug) / MEETINGS
        found = tuple(islice(_held(folder, session), _LOOKED_AT))
    if since is not None and not found:
        raise UsageError(
            f"There are no earlier minutes of the council {slug} on this question.",
            hint="Ask in the same words as before, or give minutes: --since FILE.",
        )
    return found


def compared(
    minutes: Minutes,
    earlier: Sequence[EarlierMeeting],
    held: Path | None,
    session: Session,
    choices: MeetingOptions,
    runtime: Runtime,
) -> Minutes:
    """Return minutes with what has changed since an earlier meeting.

    Where the caller did not ask for that, a warning says what was concluded the last time and no
    longer holds, if there is any.

    Args:
        minutes: Of the meeting.
        earlier: As ``earlier_meetings`` returned them before it was held.
        held: Its transcript; a meeting that was gone on with is not compared with itself, unless
            there is no other.
        session: Who met, and what was asked.
        choices: What the caller said.
        runtime: The library's parts.
    """
    others = [one for one in earlier if one.path != held or held is None or choices.fresh]
    if choices.since is not None:
        before = (others or earlier)[0].minutes
        return replace(minutes, changes=_changes(before, minutes, session, runtime))
    lapsed = _changes(others[0].minutes, minutes, session, runtime).lapsed if others else ()
    warnings = (lapse_warning(lapsed),) if lapsed else ()
    return replace(minutes, warnings=(*minutes.warnings, *warnings))


def _changes(before: Minutes, now: Minutes, session: Session, runtime: Runtime) -> MinutesChanges:
    """Return what has changed, by what the library says of the sources of the earlier minutes."""
    store = with_tool_texts(runtime, tool_texts(before)).store
    scope = Scope.of(name for one in session.everyone for name in one.shelves)
    facts = facts_in(session, {}, runtime)
    newer = {
        name: facts.documents[found].source
        for name in {one.document_id for one in before.citations}
        if (found := newer_version(name, facts.documents, facts.text_of))
    }
    checks = recheck_citations(before.citations, holdings_of(store, scope))
    return changes_between(before, now, checks, newer)


def _require_same(minutes: Minutes, session: Session) -> None:
    slug = session.council.slug
    if minutes.council != slug:
        raise UsageError(
            f"These are minutes of the council '{minutes.council}', not of '{slug}'.",
            hint="Compare with minutes of the same council.",
        )
    if minutes.question != session.question:
        raise UsageError(
            f"These are minutes of another question: “{minutes.question}”.",
            hint="Ask in the same words.",
        )


def _held(folder: Path, session: Session) -> Iterator[EarlierMeeting]:
    """Yield the finished meetings of a folder on the same question, the newest first."""
    try:
        times = {path: path.stat().st_mtime_ns for path in folder.glob("*.ndjson")}
    except OSError:  # another process moves them about at this moment
        times = {}
    for path in sorted(times, key=lambda path: (-times[path], path.name)):
        minutes = _minutes_in(path, session)
        if minutes is not None:
            yield EarlierMeeting(minutes, path)


def _minutes_in(path: Path, session: Session) -> Minutes | None:
    """Return the minutes at the end of a transcript; of one that is damaged or of others none."""
    wanted = {"format": FORMAT, "council": session.council.slug, "question": session.question}
    try:
        with path.open("rb") as stream:
            heading = json.loads(stream.readline(LARGEST))
            if not isinstance(heading, dict) or not wanted.items() <= heading.items():
                return None
            *_, last, _ = (b"{}", *stream.read(LARGEST).split(b"\n"))
        fields = json.loads(last)
        return TypeAdapter(Minutes).validate_python(fields["minutes"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
