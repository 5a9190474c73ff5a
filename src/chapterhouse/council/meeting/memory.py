"""What members held and what a council decided, remembered for when it meets again.

Memories lie apart from documents, and apart from what personas answered when they were asked alone:
they belong to the council, or to a member as they sit in that council. No persona's slug has an
underscore, so that nobody's memories are ever taken for another's.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from chapterhouse.agents.council_model import CHAIR, shelf_of
from chapterhouse.answering.bundle import file_text, json_fields
from chapterhouse.council.meeting.prompts import numbers_of
from chapterhouse.council.minutes.contents import all_citations, map_meetings
from chapterhouse.errors import ChapterhouseError
from chapterhouse.store.memory import MemoryStore
from chapterhouse.types import Citation, Memory, Minutes

_DAY: Final = 86_400
_LONGEST: Final = 20_000  # characters of what is remembered

# Whose, what, how composed, and the documents that it rests on.
_Remembered = tuple[str, str, str, tuple[str, ...]]


def owner_of(council: str, member: str = "") -> str:
    """Return whose a memory is: of a council by its slug, or of a member by their key in it."""
    return f"{shelf_of(council)}/{member}" if member else shelf_of(council)


def owners_of(council: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return those of the ``known`` owners who are the council or its members."""
    whole = owner_of(council)
    return tuple(name for name in known if name == whole or name.startswith(f"{whole}/"))


def is_council_owner(owner: str) -> bool:
    """Whether a memory is a council's or a member's in one, rather than a persona's."""
    return owner.startswith(shelf_of(""))


def recall(
    council: str, member: str, question: str, memories: MemoryStore, limit: int, now: int
) -> tuple[Memory, ...]:
    """Return what fits a question of what a member held and the council decided, best first.

    ``member`` is their key, ``chair`` or empty for the decisions alone; ``now`` in seconds.
    """
    if limit < 1:
        return ()
    alone = member in {"", CHAIR}
    owners = [owner_of(council)] if alone else [owner_of(council), owner_of(council, member)]
    hits = memories.search(question, owners, limit, now)
    return tuple(hit.memory for hit in hits if hit.memory.found)


def remember_meeting(
    minutes: Minutes, memories: MemoryStore, now: int, days: int, sequence: int
) -> tuple[str, ...]:
    """Put what everyone held and what was decided into the memory; return warnings.

    With what was decided, or with that nothing was, the minutes are remembered. Who held nothing
    has no memory, and the same is not remembered twice. It is forgotten after ``days``, 0 for
    never; ``now`` in seconds.
    """
    expires = now + days * _DAY if days else 0
    members = dict.fromkeys(turn.member for turn in minutes.turns)
    conclusions = [(*_member_conclusion(minutes, member), "") for member in members]
    conclusions.append((*_decision(minutes), file_text(json_fields(_without_warnings(minutes)))))
    try:
        for owner, answer, method, sources, whole in conclusions:
            memory = Memory(
                id="",
                persona=owner,
                asked=now,
                expires=expires,
                question=minutes.question.strip(),
                answer=answer[:_LONGEST],
                found=bool(answer),
                method=method,
                sources=sources,
                sequence=sequence,
            )
            if (answer or whole) and not _is_known(memory, memories, now):
                memories.remember(memory, whole)
    except ChapterhouseError as error:
        return (f"The meeting was not remembered: {error.message}",)
    return ()


def _member_conclusion(minutes: Minutes, member: str) -> _Remembered:
    """Return what a member held in the end."""
    turns = [turn for turn in minutes.turns if turn.member == member]
    given_up = {one.statement for one in minutes.agreement if member in one.concede}
    own = [one for turn in turns for one in turn.statements]
    held = [one for one in own if one.id not in given_up]
    option = _last(turn.option for turn in turns)
    parts = [f"For: {option}"] if option else []
    parts += dict.fromkeys(one.position for one in held)
    parts += [f"Gave up: {one.position}" for one in own if one.id in given_up]
    numbers = {number for one in held for number in numbers_of(one)}
    sources = _sources(one for one in minutes.citations if one.number in numbers)
    return owner_of(minutes.council, member), _lines(parts), turns[-1].method, sources


def _decision(minutes: Minutes) -> _Remembered:
    """Return what the council decided."""
    parts = [f"Decided: {minutes.decided}" if minutes.decided else ""]
    parts += [point.text for point in minutes.decision]
    sources = _sources(one for _, one in all_citations(minutes))
    return owner_of(minutes.council), _lines(parts), minutes.method, sources


def _without_warnings(minutes: Minutes) -> Minutes:
    """Return minutes without what names documents that they do not cite.

    The memory goes with the documents that it cites, so nothing of others may be in it.
    """
    return map_meetings(
        minutes,
        lambda held: replace(
            held, warnings=(), turns=tuple(replace(one, warnings=()) for one in held.turns)
        ),
    )


def _last(values: Iterable[str]) -> str:
    return next(filter(None, reversed(tuple(values))), "")


def _lines(parts: Iterable[str]) -> str:
    return "\n".join(filter(None, (part.strip() for part in parts)))


def _sources(citations: Iterable[Citation]) -> tuple[str, ...]:
    return tuple(sorted({one.document_id for one in citations if not one.tool}))


def _is_known(memory: Memory, memories: MemoryStore, now: int) -> bool:
    """Whether its owner's latest memory says the same of the same library."""
    latest = memories.memories([memory.persona], 1, now)
    return any(
        (one.question, one.answer, one.sequence)
        == (memory.question, memory.answer, memory.sequence)
        for one in latest
    )
