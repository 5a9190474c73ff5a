"""What can be wrong with those who sit in a council."""

from collections.abc import Iterator

from chapterhouse.agents.checks import (
    duplicate_problems,
    line_problems,
    problem,
    profile_problems,
    seconds_problems,
    shelf_problems,
    text_problems,
    tool_problems,
    warning,
)
from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import CHAIR, GROUNDINGS, Member, Seat
from chapterhouse.agents.council_problems import Code, CouncilProblem, Path, meant
from chapterhouse.agents.surroundings import Surroundings, circle

_MISPLACED = ("instructions", "profile", "tools", "grounding", "shelves")


def member_problems(council: Council, around: Surroundings) -> Iterator[CouncilProblem]:
    """Name everything wrong with the members and the chair."""
    if not council.members:
        hint = "Seat someone: chapterhouse council new SLUG --member PERSONA, or add to 'members'."
        yield problem(("members",), Code.NO_MEMBERS, "Nobody is a member.", hint)
    for number, member in enumerate(council.members):
        path: Path = ("members", number)
        yield from _seat(path, member, council, around)
        if member.seat is Seat.ROLE and member.name and not member.instructions:
            sentence = f"Nothing says what '{member.name}' is to do."
            hint = "Say it in a sentence or two, in 'instructions'."
            yield problem((*path, "instructions"), Code.MISSING, sentence, hint)
        if member.key == CHAIR:
            sentence = f"'{CHAIR}' is how rounds name who presides."
            yield problem(path, Code.RESERVED, sentence, "Give them another 'name'.")
    keys = [member.key for member in council.members]
    yield from duplicate_problems(("members",), keys, "The member")
    if council.chaired_by is not None:
        yield from _chair(council.chaired_by, council, around)


def _chair(chair: Member, council: Council, around: Surroundings) -> Iterator[CouncilProblem]:
    if chair.council:
        hint = "Let a persona or a plain role preside, and make the council a member."
        sentence = "A council cannot preside."
        yield problem((CHAIR, "council"), Code.MISPLACED, sentence, hint)
    else:
        yield from _seat((CHAIR,), chair, council, around)


def _seat(
    path: Path, member: Member, council: Council, around: Surroundings
) -> Iterator[CouncilProblem]:
    """Name everything wrong with whoever sits at ``path``."""
    if member.persona and member.council:
        sentence = "It is a persona and a council at once."
        yield problem(path, Code.AMBIGUOUS, sentence, "Make two members of it.")
    elif member.council:
        yield from _council_problems(path, member, council, around)
    elif member.persona:
        yield from _persona_problems(path, member.persona, around)
    elif not member.name:
        hint = "Give a 'persona', a 'council', or a 'name' and 'instructions'."
        yield problem(path, Code.MISSING, "Nothing says who sits here.", hint)
    yield from _word_problems(path, member)
    yield from profile_problems((*path, "profile"), member.profile, around.profiles)
    yield from tool_problems((*path, "tools"), member.tools, around.tools)
    own = {council.shelf, member.persona}
    yield from shelf_problems((*path, "shelves"), member.shelves, around.shelves, own)
    yield from _time_problems((*path, "timeout_seconds"), member, council)


def _word_problems(path: Path, member: Member) -> Iterator[CouncilProblem]:
    yield from line_problems((*path, "name"), member.name)
    if member.name and not any(map(str.isalnum, member.name)):
        sentence = f"'{member.name}' has no letter or digit."
        yield problem((*path, "name"), Code.NAME, sentence, "Call them something that can be said.")
    yield from text_problems((*path, "instructions"), member.instructions)
    if member.grounding is not None and member.grounding not in GROUNDINGS:
        sentence = f"There is no grounding '{member.grounding}'."
        hint = meant(member.grounding, GROUNDINGS)
        yield problem((*path, "grounding"), Code.UNKNOWN, sentence, hint)


def _time_problems(path: Path, member: Member, council: Council) -> Iterator[CouncilProblem]:
    seconds, whole = member.timeout_seconds, council.round_timeout_seconds
    yield from seconds_problems(path, seconds)
    if seconds is not None and seconds > whole > 0:
        sentence = f"The round ends after {whole:g} seconds, before these {seconds:g}."
        yield warning(path, Code.UNUSED, sentence, "Raise 'round_timeout_seconds'.")


def _persona_problems(path: Path, slug: str, around: Surroundings) -> Iterator[CouncilProblem]:
    at = (*path, "persona")
    if around.personas is None:
        return
    if slug not in around.personas:
        none = f"Make them: chapterhouse persona new {slug}"
        hint = meant(slug, around.personas, none)
        yield problem(at, Code.UNKNOWN, f"There is no persona '{slug}'.", hint)
    elif not around.personas[slug]:
        sentence = f"The persona '{slug}' cannot be used as they are."
        hint = f"See what is wrong: chapterhouse persona validate {slug}"
        yield problem(at, Code.PERSONA_BROKEN, sentence, hint)


def _council_problems(
    path: Path, member: Member, council: Council, around: Surroundings
) -> Iterator[CouncilProblem]:
    at, slug = (*path, "council"), member.council
    for name in _MISPLACED:
        if getattr(member, name):
            sentence = f"A council that is a member has '{name}' of its own."
            hint = f"Say it in councils/{slug}/council.json."
            yield problem((*path, name), Code.MISPLACED, sentence, hint)
    if around.councils is None:
        if slug == council.slug:
            yield _circle_problem(at, (slug, slug))
        return
    if slug != council.slug and slug not in around.councils:
        none = f"Make it: chapterhouse council new {slug}"
        hint = meant(slug, around.councils.keys() - {council.slug}, none)
        yield problem(at, Code.UNKNOWN, f"There is no council '{slug}'.", hint)
        return
    inner = {**around.councils, council.slug: tuple(m.council for m in council.members)}
    way = circle(slug, inner)
    if way:
        yield _circle_problem(at, way)
    elif slug in around.broken:
        sentence = f"The council '{slug}' cannot meet as it is."
        hint = f"See what is wrong: chapterhouse council validate {slug}"
        yield problem(at, Code.COUNCIL_BROKEN, sentence, hint)


def _circle_problem(path: Path, way: tuple[str, ...]) -> CouncilProblem:
    sentence = f"Councils contain each other: {' → '.join(way)}."
    return problem(path, Code.CYCLE, sentence, "Take one of them out of another.")
