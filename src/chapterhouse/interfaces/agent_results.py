"""Personas, councils and answers as clients get them, and the options of a client's meeting."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from chapterhouse.agents.council import Council, CouncilFolder
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.registry import Entry
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.interfaces.schemas import (
    CouncilResult,
    CouncilsResult,
    PersonaResult,
    PersonasResult,
)
from chapterhouse.interfaces.service import public_lines, without_paths
from chapterhouse.library import Library
from chapterhouse.types import Answer, CouncilEvent, Persona


async def meeting_events(
    library: Library, council: str, question: str, options: MeetingOptions
) -> AsyncGenerator[CouncilEvent]:
    """Yield the events of a meeting; what it writes is thrown away unless it is remembered."""
    with TemporaryDirectory(prefix="chapterhouse-meeting-") as folder:
        if not options.remember:
            options = replace(options, transcript=Path(folder) / "transcript.ndjson")
        async for event in library.councils.events(council, question, options=options):
            yield event


def all_personas(library: Library) -> PersonasResult:
    """Return all personas as clients get them."""
    found = (_persona_result(one, library.personas) for one in library.personas.all())
    return PersonasResult(personas=tuple(found))


def all_councils(library: Library) -> CouncilsResult:
    """Return all councils as clients get them."""
    found = (_council_result(one, library.councils) for one in library.councils.all())
    return CouncilsResult(councils=tuple(found))


def _persona_result(entry: Entry[PersonaFolder], personas: Personas) -> PersonaResult:
    persona = entry.folder.persona if entry.folder else Persona(entry.slug, "")
    return PersonaResult(
        slug=entry.slug,
        name=persona.display_name,
        expertise=persona.expertise,
        tags=persona.tags,
        shelves=persona.reads if entry.folder else (),
        documents=personas.census(entry.slug).documents if entry.folder else 0,
        usable=entry.folder is not None,
        problem="" if entry.folder else _problem(entry) or "Their configuration cannot be read.",
    )


def _council_result(entry: Entry[CouncilFolder], councils: Councils) -> CouncilResult:
    council = entry.folder.council if entry.folder else Council("")
    problem = _problem(entry) or ("" if entry.folder else "Its file cannot be read.")
    return CouncilResult(
        slug=entry.slug,
        title=council.title,
        purpose=council.purpose,
        members=tuple(member.key for member in council.members),
        rounds=tuple(held.name for held in council.rounds),
        options=council.options,
        documents=councils.census(entry.slug).documents if entry.folder else 0,
        usable=not problem,
        problem=problem,
    )


def _problem(entry: Entry[Any]) -> str:
    return without_paths(entry.problems[0].sentence) if entry.problems else ""


def without_private(answer: Answer) -> Answer:
    """Return an answer without paths of this machine."""
    return replace(
        answer,
        notice=without_paths(answer.notice),
        refreshed=without_paths(answer.refreshed),
        warnings=public_lines(answer.warnings),
    )
