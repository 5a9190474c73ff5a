"""Tools that say who can be asked and what can be convened."""

from chapterhouse.agents.councils import Councils
from chapterhouse.agents.councils import Entry as CouncilEntry
from chapterhouse.agents.personas import Entry, House
from chapterhouse.interfaces.mcp.arguments import NoArguments
from chapterhouse.interfaces.mcp.failures import without_paths
from chapterhouse.interfaces.mcp.results import (
    CouncilResult,
    CouncilsResult,
    Outcome,
    PersonaResult,
    PersonasResult,
)
from chapterhouse.interfaces.mcp.service import Service, Tell


async def list_personas(service: Service, _arguments: NoArguments, _tell: Tell) -> Outcome:
    """Say who can be asked."""
    found = await service.look(lambda: _personas(service.library.personas))
    lines = [_line(one.slug, one.name, one.expertise, one.problem) for one in found.personas]
    return Outcome(found, "\n".join(lines) or "There are no personas; ask the library itself.")


async def list_councils(service: Service, _arguments: NoArguments, _tell: Tell) -> Outcome:
    """Say what can be convened."""
    found = await service.look(lambda: _councils(service.library.councils))
    lines = [_line(one.slug, one.title, one.purpose, one.problem) for one in found.councils]
    return Outcome(found, "\n".join(lines) or "There are no councils.")


def _line(slug: str, name: str, about: str, problem: str) -> str:
    told = f"cannot be used now: {problem}" if problem else " ".join(about.split())
    return f"- {slug} ({name}){': ' if told else ''}{told}"


def _personas(house: House) -> PersonasResult:
    return PersonasResult(personas=tuple(_persona(entry, house) for entry in house.all()))


def _persona(entry: Entry, house: House) -> PersonaResult:
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
        documents=house.census(entry.slug).documents,
        usable=True,
        problem="",
    )


def _councils(councils: Councils) -> CouncilsResult:
    return CouncilsResult(councils=tuple(_council(entry, councils) for entry in councils.all()))


def _council(entry: CouncilEntry, councils: Councils) -> CouncilResult:
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
