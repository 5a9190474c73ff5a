"""Everything wrong with a council, at once, before anything runs."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from chapterhouse.agents.council_model import (
    BUILT_IN,
    CHAIR,
    GROUNDINGS,
    CouncilModel,
    Member,
    MemberKind,
    Round,
    RoundKind,
)
from chapterhouse.agents.problems import (
    LONGEST_SLUG,
    Code,
    Path,
    Problem,
    References,
    count_problems,
    duplicate_problems,
    errors_first,
    folder_problems,
    in_file,
    line_problems,
    meant,
    profile_problems,
    seconds_problems,
    shelf_problems,
    slug_problems,
    text_problems,
    warning,
)
from chapterhouse.agents.tool_checks import tool_problems

MOST_MEMBERS: Final = 64
MOST_ROUNDS: Final = 32
MOST_OPTIONS: Final = 20
MOST_AT_ONCE: Final = 64
LONGEST_OPTION: Final = 200
_ROUND_NAME: Final = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_NOTHING: Final = References()


def check_council(
    council: CouncilModel, references: References = _NOTHING, file: str = ""
) -> tuple[Problem, ...]:
    """Return all that is wrong with a council, errors first.

    Args:
        references: What to compare it with; by default only the council itself is looked at.
        file: What the problems name as its file; its slug by default.
    """
    found = chain(
        slug_problems(council.slug, "council", "berth-tariffs"),
        line_problems(("display_name",), council.display_name),
        text_problems(("purpose",), council.purpose),
        profile_problems(("model",), council.model, references.models),
        tool_problems(("tools",), council.tools, references),
        _member_problems(council, references),
        _round_problems(council),
        folder_problems(council.folders, references.folder),
        duplicate_problems(("folders",), council.folders, "The folder"),
        _option_problems(council),
        _limit_problems(council),
    )
    return errors_first(in_file(file or council.slug, found))


def _option_problems(council: CouncilModel) -> Iterator[Problem]:
    path = ("options",)
    if len(council.options) == 1:
        sentence = "With one option there is nothing to decide."
        yield Problem(path, Code.RANGE, sentence, "Add another, or leave it out.")
    yield from count_problems(path, council.options, MOST_OPTIONS)
    for number, option in enumerate(council.options):
        if not option:
            yield Problem((*path, number), Code.EMPTY, "It is empty.", "Say what it is.")
        yield from line_problems((*path, number), option, LONGEST_OPTION)
    folded = [option.casefold() for option in council.options]
    yield from duplicate_problems(path, folded, "The option")


def _limit_problems(council: CouncilModel) -> Iterator[Problem]:
    yield from count_problems(("members",), council.members, MOST_MEMBERS)
    yield from count_problems(("rounds",), council.rounds, MOST_ROUNDS)
    if not 1 <= council.parallel <= MOST_AT_ONCE:
        sentence = f"It must be 1 to {MOST_AT_ONCE}, not {council.parallel}."
        yield Problem(("parallel",), Code.RANGE, sentence, "Most want 8.")
    yield from seconds_problems(("round_timeout_seconds",), council.round_timeout_seconds)


# --- rounds ---


def _round_problems(council: CouncilModel) -> Iterator[Problem]:
    rounds = council.rounds
    if not rounds:
        hint = 'Most want: ["independent_analysis", "cross_examination", "synthesis"].'
        yield Problem(("rounds",), Code.NO_ROUNDS, "There are no rounds.", hint)
        return
    for number, entry in enumerate(rounds):
        path: Path = ("rounds", number)
        yield from _name_problems(path, entry)
        yield from text_problems((*path, "instructions"), entry.instructions)
        yield from _speaker_problems((*path, "speakers"), entry, council)
        yield from _sight_problems(path, entry)
    yield from _order_problems(rounds)
    yield from _chair_problems(council)


def _name_problems(path: Path, entry: Round) -> Iterator[Problem]:
    at = (*path, "name")
    if not entry.name:
        yield Problem(at, Code.EMPTY, "It is empty.", f"There are: {', '.join(BUILT_IN)}.")
    elif entry.kind is not RoundKind.OWN:
        return
    elif not entry.instructions:
        sentence = f"There is no round '{entry.name}'."
        hint = f"{meant(entry.name, BUILT_IN)} A round of your own needs 'instructions'."
        yield Problem(at, Code.UNKNOWN, sentence, hint)
    elif entry.name == RoundKind.OWN:
        yield Problem(at, Code.RESERVED, "'own' says nothing.", "Call it by what happens in it.")
    elif not _ROUND_NAME.fullmatch(entry.name) or len(entry.name) > LONGEST_SLUG:
        sentence = f"'{entry.name}' cannot be the name of a round."
        hint = "Use lower-case letters, digits and single underscores, at most 40: cost_check"
        yield Problem(at, Code.NAME, sentence, hint)


def _speaker_problems(path: Path, entry: Round, council: CouncilModel) -> Iterator[Problem]:
    if entry.kind is RoundKind.SYNTHESIS and entry.speakers:
        sentence = "In a synthesis the chair speaks, and nobody else."
        yield Problem(path, Code.MISPLACED, sentence, "Leave 'speakers' out.")
        return
    keys = [member.key for member in council.members if member.key]
    for number, speaker in enumerate(entry.speakers):
        at = (*path, number)
        if speaker == CHAIR:
            if council.chaired_by is None:
                sentence = "There is no chair to speak."
                yield Problem(at, Code.MISSING, sentence, "Add a 'chair'.")
        elif speaker not in keys:
            sentence = f"No member is called '{speaker}'."
            yield Problem(at, Code.UNKNOWN, sentence, meant(speaker, keys))
    yield from duplicate_problems(path, entry.speakers, "The speaker")


def _sight_problems(path: Path, entry: Round) -> Iterator[Problem]:
    if entry.sees_statements and entry.kind is not RoundKind.OWN:
        sentence = f"Whether statements are seen in '{entry.name}' is settled."
        hint = "Leave it out; it is for rounds of your own."
        yield Problem((*path, "sees_statements"), Code.MISPLACED, sentence, hint)


def _order_problems(rounds: tuple[Round, ...]) -> Iterator[Problem]:
    """Claims must have been made before they are shown, and a synthesis ends a council."""
    made = False
    for number, entry in enumerate(rounds):
        if entry.shows_statements and not made:
            sentence = f"'{entry.name}' needs statements, and no round before it makes any."
            hint = "Begin with 'independent_analysis'."
            yield Problem(("rounds", number), Code.ORDER, sentence, hint)
        if entry.kind is RoundKind.SYNTHESIS and number < len(rounds) - 1:
            sentence = "Rounds follow the synthesis, which ends a council."
            yield Problem(("rounds", number), Code.ORDER, sentence, "Put it last.")
        made = made or not entry.shows_statements


def _chair_problems(council: CouncilModel) -> Iterator[Problem]:
    sums_up = any(entry.kind is RoundKind.SYNTHESIS for entry in council.rounds)
    has_turn = sums_up or any(CHAIR in entry.speakers for entry in council.rounds)
    if sums_up and council.chaired_by is None:
        hint = 'Add one, like: "chair": {"name": "Chair"}'
        yield Problem((CHAIR,), Code.NO_CHAIR, "Nobody presides over the synthesis.", hint)
    if not sums_up:
        sentence = "Nobody sums up: there is no synthesis."
        yield warning(("rounds",), Code.NO_SYNTHESIS, sentence, "Add 'synthesis' at the end.")
    if council.chaired_by is not None and not has_turn:
        sentence = "The chair speaks in no round."
        yield warning((CHAIR,), Code.UNUSED, sentence, "Add 'synthesis', or leave the chair out.")


# --- members ---

_MISPLACED = ("instructions", "model", "tools", "grounding", "shelves", "folders")


def _member_problems(council: CouncilModel, references: References) -> Iterator[Problem]:
    """Name everything wrong with the members and the chair."""
    if not council.members:
        hint = (
            "Add them to 'members', or begin anew:"
            " chapterhouse council new SLUG --member PERSONA, or --each FOLDER."
        )
        yield Problem(("members",), Code.NO_MEMBERS, "Nobody is a member.", hint)
    has_model = references.has_model or references.models is None or references.models
    if not has_model and _are_alike(council):
        sentence = "No member has documents of their own: without a model all say the same."
        hint = "Set up a model: chapterhouse model use. Or give each member 'folders'."
        yield warning(("members",), Code.NEEDS_MODEL, sentence, hint)
    for number, member in enumerate(council.members):
        path: Path = ("members", number)
        yield from _participant_problems(path, member, council, references)
        own = member.instructions or member.folders or member.shelves
        if member.kind is MemberKind.ROLE and member.name and not own:
            sentence = f"Nothing says what '{member.name}' is to do, or which documents are theirs."
            hint = "Say it in 'instructions', or name their documents in 'folders'."
            yield Problem((*path, "instructions"), Code.MISSING, sentence, hint)
        if member.key == CHAIR:
            sentence = f"'{CHAIR}' is how rounds name who presides."
            yield Problem(path, Code.RESERVED, sentence, "Give them another 'name'.")
    keys = [member.key for member in council.members]
    yield from duplicate_problems(("members",), keys, "The member")
    if council.chaired_by is not None:
        yield from _chair(council.chaired_by, council, references)


def _are_alike(council: CouncilModel) -> bool:
    """Whether there are several members, and nothing that only one of them reads."""
    roles = [m for m in council.members if m.kind is MemberKind.ROLE]
    alike = len(roles) == len(council.members) > 1
    return alike and len({(m.folders, m.shelves) for m in roles}) == 1


def _chair(chair: Member, council: CouncilModel, references: References) -> Iterator[Problem]:
    if chair.council:
        hint = "Let a persona or a plain role preside, and make the council a member."
        sentence = "A council cannot preside."
        yield Problem((CHAIR, "council"), Code.MISPLACED, sentence, hint)
    else:
        yield from _participant_problems((CHAIR,), chair, council, references)
    if chair.folders:
        sentence = "The chair has no documents of their own."
        hint = "Give them to a member, or to all in the council's 'folders'."
        yield Problem((CHAIR, "folders"), Code.MISPLACED, sentence, hint)


def _participant_problems(
    path: Path, member: Member, council: CouncilModel, references: References
) -> Iterator[Problem]:
    """Name everything wrong with whoever sits at ``path``."""
    if member.persona and member.council:
        sentence = "It is a persona and a council at once."
        yield Problem(path, Code.AMBIGUOUS, sentence, "Make two members of it.")
    elif member.council:
        yield from _council_problems(path, member, council, references)
    elif member.persona:
        yield from _persona_problems(path, member.persona, references)
    elif not member.name:
        hint = "Give a 'persona', a 'council', or a 'name' with 'instructions' or 'folders'."
        yield Problem(path, Code.MISSING, "Nothing says who sits here.", hint)
    yield from _word_problems(path, member)
    yield from profile_problems((*path, "model"), member.model, references.models)
    yield from tool_problems((*path, "tools"), member.tools, references)
    own, at = {council.shelf, member.persona}, (*path, "shelves")
    yield from shelf_problems(at, member.shelves, references.shelves, own)
    yield from duplicate_problems(at, member.shelves, "The shelf")
    yield from folder_problems(member.folders, references.folder, (*path, "folders"), files=True)
    yield from duplicate_problems((*path, "folders"), member.folders, "The folder")
    yield from _time_problems((*path, "timeout_seconds"), member, council)


def _word_problems(path: Path, member: Member) -> Iterator[Problem]:
    yield from line_problems((*path, "name"), member.name)
    if member.name and not any(map(str.isalnum, member.name)):
        sentence = f"'{member.name}' has no letter or digit."
        yield Problem((*path, "name"), Code.NAME, sentence, "Call them something that can be said.")
    yield from text_problems((*path, "instructions"), member.instructions)
    if member.grounding is not None and member.grounding not in GROUNDINGS:
        sentence = f"There is no grounding '{member.grounding}'."
        hint = meant(member.grounding, GROUNDINGS)
        yield Problem((*path, "grounding"), Code.UNKNOWN, sentence, hint)


def _time_problems(path: Path, member: Member, council: CouncilModel) -> Iterator[Problem]:
    seconds, whole = member.timeout_seconds, council.round_timeout_seconds
    yield from seconds_problems(path, seconds)
    if seconds is not None and seconds > whole > 0:
        sentence = f"The round ends after {whole:g} seconds, before these {seconds:g}."
        yield warning(path, Code.UNUSED, sentence, "Raise 'round_timeout_seconds'.")


def _persona_problems(path: Path, slug: str, references: References) -> Iterator[Problem]:
    at = (*path, "persona")
    if references.personas is None:
        return
    if slug not in references.personas:
        none = f"Make them: chapterhouse persona new {slug}"
        hint = meant(slug, references.personas, none)
        yield Problem(at, Code.UNKNOWN, f"There is no persona '{slug}'.", hint)
    elif not references.personas[slug]:
        sentence = f"The persona '{slug}' cannot be used as they are."
        hint = f"See what is wrong: chapterhouse persona validate {slug}"
        yield Problem(at, Code.PERSONA_BROKEN, sentence, hint)


def _council_problems(
    path: Path, member: Member, council: CouncilModel, references: References
) -> Iterator[Problem]:
    at, slug = (*path, "council"), member.council
    for name in _MISPLACED:
        if getattr(member, name):
            sentence = f"A council that is a member sets '{name}' itself."
            hint = f"Say it in councils/{slug}/council.json."
            yield Problem((*path, name), Code.MISPLACED, sentence, hint)
    if references.councils is None:
        if slug == council.slug:
            yield _circle_problem(at, (slug, slug))
        return
    if slug != council.slug and slug not in references.councils:
        none = f"Make it: chapterhouse council new {slug}"
        hint = meant(slug, references.councils.keys() - {council.slug}, none)
        yield Problem(at, Code.UNKNOWN, f"There is no council '{slug}'.", hint)
        return
    inner = {**references.councils, council.slug: tuple(m.council for m in council.members)}
    way = circle(slug, inner)
    if way:
        yield _circle_problem(at, way)
    elif slug in references.broken:
        sentence = f"The council '{slug}' cannot meet as it is."
        hint = f"See what is wrong: chapterhouse council validate {slug}"
        yield Problem(at, Code.COUNCIL_BROKEN, sentence, hint)


def _circle_problem(path: Path, way: tuple[str, ...]) -> Problem:
    sentence = f"Councils contain each other: {' → '.join(way)}."
    return Problem(path, Code.CYCLE, sentence, "Take one of them out of another.")


def circle(start: str, inner: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return a way from ``start`` that comes back to where it was, as ``(a, b, a)``; or nothing.

    Args:
        inner: The councils that are members of each.
    """
    way, done = [start], set[str]()
    ahead: list[Iterator[str]] = [iter(inner.get(start, ()))]
    while ahead:
        follower = next(ahead[-1], None)
        if follower is None:
            ahead.pop()
            done.add(way.pop())
        elif follower in way:
            return (*way[way.index(follower) :], follower)
        elif follower not in done:
            way.append(follower)
            ahead.append(iter(inner.get(follower, ())))
    return ()
