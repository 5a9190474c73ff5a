"""Everything wrong with a council, at once, before anything runs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from chapterhouse.agents.checks import (
    count_problems,
    duplicate_problems,
    line_problems,
    problem,
    profile_problems,
    seconds_problems,
    text_problems,
    tool_problems,
    warning,
)
from chapterhouse.agents.council import Council
from chapterhouse.agents.council_file import Parsed
from chapterhouse.agents.council_model import BUILT_IN, CHAIR, Round, RoundKind
from chapterhouse.agents.council_problems import Code, CouncilProblem, Path, errors, meant
from chapterhouse.agents.members import member_problems
from chapterhouse.agents.persona_config import RESERVED
from chapterhouse.agents.persona_folder import located
from chapterhouse.agents.surroundings import Surroundings
from chapterhouse.errors import UsageError

MOST_MEMBERS: Final = 64
MOST_ROUNDS: Final = 32
MOST_OPTIONS: Final = 20
MOST_AT_ONCE: Final = 64
LONGEST_SLUG: Final = 40
LONGEST_OPTION: Final = 200
_KEBAB: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ROUND_NAME: Final = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)*")
_NOTHING: Final = Surroundings()


def validate(council: Council, around: Surroundings = _NOTHING) -> tuple[CouncilProblem, ...]:
    """Return all that is wrong with a council, errors first.

    Args:
        council: As it was built or read.
        around: What there is to compare it with; by default only the council itself is looked at.
    """
    found = chain(
        slug_problems(council.slug),
        _text_problems(council),
        profile_problems(("profile",), council.profile, around.profiles),
        tool_problems(("tools",), council.tools, around.tools),
        member_problems(council, around),
        _round_problems(council),
        _folder_problems(council, around),
        _option_problems(council),
        _limit_problems(council),
    )
    return _sorted(replace(entry, council=council.slug) for entry in dict.fromkeys(found))


def validate_file(parsed: Parsed, name: str, around: Surroundings) -> tuple[CouncilProblem, ...]:
    """Return all that is wrong with what stands in the folder ``name``, errors first.

    What follows only from something that could not be read is not told besides.
    """
    found = form_problems(parsed, name)
    if parsed.council is None:
        return found
    council = replace(parsed.council, slug=parsed.council.slug or name)
    followed = [
        replace(entry, council=name)
        for entry in validate(council, around)
        if not any(_overlap(entry.path, wrong.path) for wrong in parsed.problems)
    ]
    return _sorted((*found, *followed))


def form_problems(parsed: Parsed, name: str) -> tuple[CouncilProblem, ...]:
    """Return why what stands in the folder ``name`` cannot be read as the council of that name."""
    found = list(parsed.problems)
    if parsed.council is not None and parsed.council.slug:
        found += _mismatch(parsed.council.slug, name)
    return tuple(replace(entry, council=name) for entry in found)


def slug_problems(slug: str) -> Iterator[CouncilProblem]:
    """Name what keeps a council from being called ``slug``."""
    hint = "Use lower-case letters, digits and single hyphens, at most 40: berth-tariffs"
    if not slug:
        yield problem(("slug",), Code.EMPTY, "It is empty.", hint)
    elif not _KEBAB.fullmatch(slug) or len(slug) > LONGEST_SLUG:
        sentence = f"'{slug}' cannot be the name of a council."
        yield problem(("slug",), Code.NAME, sentence, hint)
    elif slug in RESERVED:
        sentence = f"'{slug}' cannot be the name of a council: Chapterhouse uses the word itself."
        yield problem(("slug",), Code.RESERVED, sentence, "Choose another, like: berth-tariffs")


def _sorted(found: Iterable[CouncilProblem]) -> tuple[CouncilProblem, ...]:
    every = tuple(found)
    wrong = errors(every)
    return (*wrong, *(entry for entry in every if entry not in wrong))


def _overlap(one: Path, other: Path) -> bool:
    """Whether one path lies at or below the other."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def _mismatch(slug: str, name: str) -> Iterator[CouncilProblem]:
    if slug != name:
        sentence = f"It is '{slug}', but the folder is called '{name}'."
        hint = f"Set it to '{name}', or rename the folder."
        yield problem(("slug",), Code.MISMATCH, sentence, hint)


def _text_problems(council: Council) -> Iterator[CouncilProblem]:
    yield from line_problems(("display_name",), council.display_name)
    yield from text_problems(("purpose",), council.purpose)


def _option_problems(council: Council) -> Iterator[CouncilProblem]:
    path = ("options",)
    if len(council.options) == 1:
        sentence = "With one option there is nothing to decide."
        yield problem(path, Code.RANGE, sentence, "Add another, or leave it out.")
    yield from count_problems(path, council.options, MOST_OPTIONS)
    for number, option in enumerate(council.options):
        if not option:
            yield problem((*path, number), Code.EMPTY, "It is empty.", "Say what it is.")
        yield from line_problems((*path, number), option, LONGEST_OPTION)
    folded = [option.casefold() for option in council.options]
    yield from duplicate_problems(path, folded, "The option")


def _limit_problems(council: Council) -> Iterator[CouncilProblem]:
    yield from count_problems(("members",), council.members, MOST_MEMBERS)
    yield from count_problems(("rounds",), council.rounds, MOST_ROUNDS)
    if not 1 <= council.parallel <= MOST_AT_ONCE:
        sentence = f"It must be 1 to {MOST_AT_ONCE}, not {council.parallel}."
        yield problem(("parallel",), Code.RANGE, sentence, "Most want 8.")
    yield from seconds_problems(("round_timeout_seconds",), council.round_timeout_seconds)


def _folder_problems(council: Council, around: Surroundings) -> Iterator[CouncilProblem]:
    for number, written in enumerate(council.folders):
        at = ("folders", number)
        if not written.strip():
            yield problem(at, Code.EMPTY, "It is empty.", "Name a folder.")
            continue
        if around.folder is None:
            continue
        try:
            folder = located(around.folder, written)
        except UsageError as error:
            yield problem(at, Code.FOLDER_MISSING, error.message, "Write the whole path.")
            continue
        if not folder.is_dir():
            kind = "is a file, not a folder" if folder.exists() else "is not there"
            hint = "Check the spelling, and that the disk is there."
            yield problem(at, Code.FOLDER_MISSING, f"{folder} {kind}.", hint)
    yield from duplicate_problems(("folders",), council.folders, "The folder")


# --- rounds ---


def _round_problems(council: Council) -> Iterator[CouncilProblem]:
    rounds = council.rounds
    if not rounds:
        hint = 'Most want: ["independent_analysis", "cross_examination", "synthesis"].'
        yield problem(("rounds",), Code.NO_ROUNDS, "There are no rounds.", hint)
        return
    for number, entry in enumerate(rounds):
        path: Path = ("rounds", number)
        yield from _name_problems(path, entry)
        yield from text_problems((*path, "instructions"), entry.instructions)
        yield from _speaker_problems((*path, "speakers"), entry, council)
        yield from _sight_problems(path, entry)
    yield from _order_problems(rounds)
    yield from _chair_problems(council)


def _name_problems(path: Path, entry: Round) -> Iterator[CouncilProblem]:
    at = (*path, "name")
    if not entry.name:
        yield problem(at, Code.EMPTY, "It is empty.", f"There are: {', '.join(BUILT_IN)}.")
    elif entry.kind is not RoundKind.OWN:
        return
    elif not entry.instructions:
        sentence = f"There is no round '{entry.name}'."
        hint = f"{meant(entry.name, BUILT_IN)} A round of your own needs 'instructions'."
        yield problem(at, Code.UNKNOWN, sentence, hint)
    elif entry.name == RoundKind.OWN:
        yield problem(at, Code.RESERVED, "'own' says nothing.", "Call it by what happens in it.")
    elif not _ROUND_NAME.fullmatch(entry.name) or len(entry.name) > LONGEST_SLUG:
        sentence = f"'{entry.name}' cannot be the name of a round."
        hint = "Use lower-case letters, digits and single underscores, at most 40: cost_check"
        yield problem(at, Code.NAME, sentence, hint)


def _speaker_problems(path: Path, entry: Round, council: Council) -> Iterator[CouncilProblem]:
    if entry.kind is RoundKind.SYNTHESIS and entry.speakers:
        sentence = "In a synthesis the chair speaks, and nobody else."
        yield problem(path, Code.MISPLACED, sentence, "Leave 'speakers' out.")
        return
    keys = [member.key for member in council.members if member.key]
    for number, speaker in enumerate(entry.speakers):
        at = (*path, number)
        if speaker == CHAIR:
            if council.chaired_by is None:
                sentence = "There is no chair to speak."
                yield problem(at, Code.MISSING, sentence, "Add a 'chair'.")
        elif speaker not in keys:
            sentence = f"No member is called '{speaker}'."
            yield problem(at, Code.UNKNOWN, sentence, meant(speaker, keys))
    yield from duplicate_problems(path, entry.speakers, "The speaker")


def _sight_problems(path: Path, entry: Round) -> Iterator[CouncilProblem]:
    if entry.sees_claims and entry.kind is not RoundKind.OWN:
        sentence = f"Whether claims are seen in '{entry.name}' is settled."
        hint = "Leave it out; it is for rounds of your own."
        yield problem((*path, "sees_claims"), Code.MISPLACED, sentence, hint)
    if entry.anonymous and (not entry.shows_claims or entry.kind is RoundKind.SYNTHESIS):
        sentence = f"In '{entry.name}' no member is shown the claims of others."
        hint = "Leave it out; it is for rounds in which members see the claims of others."
        yield problem((*path, "anonymous"), Code.MISPLACED, sentence, hint)


def _order_problems(rounds: tuple[Round, ...]) -> Iterator[CouncilProblem]:
    """Claims must have been made before they are shown, and a synthesis ends a council."""
    made = False
    for number, entry in enumerate(rounds):
        if entry.shows_claims and not made:
            sentence = f"'{entry.name}' needs claims, and no round before it makes any."
            hint = "Begin with 'independent_analysis'."
            yield problem(("rounds", number), Code.ORDER, sentence, hint)
        if entry.kind is RoundKind.SYNTHESIS and number < len(rounds) - 1:
            sentence = "Rounds follow the synthesis, which ends a council."
            yield problem(("rounds", number), Code.ORDER, sentence, "Put it last.")
        made = made or not entry.shows_claims


def _chair_problems(council: Council) -> Iterator[CouncilProblem]:
    sums_up = any(entry.kind is RoundKind.SYNTHESIS for entry in council.rounds)
    speaks = sums_up or any(CHAIR in entry.speakers for entry in council.rounds)
    if sums_up and council.chaired_by is None:
        hint = 'Add one, like: "chair": {"name": "Chair"}'
        yield problem((CHAIR,), Code.NO_CHAIR, "Nobody presides over the synthesis.", hint)
    if not sums_up:
        sentence = "Nobody sums up: there is no synthesis."
        yield warning(("rounds",), Code.NO_SYNTHESIS, sentence, "Add 'synthesis' at the end.")
    if council.chaired_by is not None and not speaks:
        sentence = "The chair speaks in no round."
        yield warning((CHAIR,), Code.UNUSED, sentence, "Add 'synthesis', or leave the chair out.")
