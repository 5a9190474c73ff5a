"""Personas and councils as clients get them, and the options of a meeting that one asks for."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from chapterhouse.agents.council_folder import CouncilFolder
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.registry import Entry
from chapterhouse.council.meeting.session import MeetingOptions
from chapterhouse.interfaces.schemas import CouncilResult, PersonaResult
from chapterhouse.interfaces.service import without_paths


@contextmanager
def with_transcript(options: MeetingOptions) -> Iterator[MeetingOptions]:
    """Give the options of a meeting; what it writes is thrown away unless it is remembered."""
    if options.remember:
        yield options
        return
    with TemporaryDirectory(prefix="chapterhouse-meeting-") as folder:
        yield replace(options, transcript=Path(folder) / "transcript.ndjson")


def persona_result(entry: Entry[PersonaFolder], personas: Personas) -> PersonaResult:
    """Return a persona as clients get them."""
    problem = without_paths(entry.problems[0].sentence) if entry.problems else ""
    if entry.folder is None:
        return PersonaResult(
            slug=entry.slug,
            name="",
            expertise="",
            tags=(),
            shelves=(),
            documents=0,
            usable=False,
            problem=problem or "Their configuration cannot be read.",
        )
    persona = entry.folder.persona
    return PersonaResult(
        slug=entry.slug,
        name=persona.display_name,
        expertise=persona.expertise,
        tags=persona.tags,
        shelves=persona.reads,
        documents=personas.census(entry.slug).documents,
        usable=True,
        problem="",
    )


def council_result(entry: Entry[CouncilFolder], councils: Councils) -> CouncilResult:
    """Return a council as clients get it."""
    problem = without_paths(entry.problems[0].sentence) if entry.problems else ""
    if entry.folder is None:
        return CouncilResult(
            slug=entry.slug,
            title="",
            purpose="",
            members=(),
            rounds=(),
            options=(),
            documents=0,
            usable=False,
            problem=problem or "Its file cannot be read.",
        )
    council = entry.folder.council
    return CouncilResult(
        slug=entry.slug,
        title=council.title,
        purpose=council.purpose,
        members=tuple(member.key for member in council.members),
        rounds=tuple(held.name for held in council.rounds),
        options=council.options,
        documents=councils.census(entry.slug).documents,
        usable=not problem,
        problem=problem,
    )
