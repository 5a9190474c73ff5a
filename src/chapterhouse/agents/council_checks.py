"""Everything wrong with a council, at once, before anything runs."""

from collections.abc import Iterator, Mapping, Sequence

from chapterhouse.agents.council_model import (
    BUILT_IN,
    CHAIR,
    SEARCH_TOOLS,
    Corpus,
    CouncilModel,
    DeclaredTool,
    Member,
    MemberKind,
    Round,
    RoundKind,
    ToolRef,
    tool_name,
)
from chapterhouse.agents.problems import (
    Code,
    KeyPath,
    Problem,
    References,
    duplicate_problems,
    folder_problem,
    folder_problems,
    meant,
    profile_problems,
    shelf_problems,
    warning,
)
from chapterhouse.text.naming import is_tool_name


def meaning_problems(council: CouncilModel, references: References) -> Iterator[Problem]:
    """Yield what is wrong with a council whose values are right, each by itself."""
    yield from profile_problems(("model",), council.model, references.models)
    yield from tool_problems(("tools",), council.tools, references)
    yield from _member_problems(council, references)
    yield from _round_problems(council)
    yield from folder_problems(council.folders, references.folder)
    yield from duplicate_problems(("folders",), council.folders, "The folder")
    if len(council.options) == 1:
        sentence = "With one option there is nothing to decide."
        yield Problem(("options",), Code.RANGE, sentence, "Add another, or leave it out.")
    folded = [option.casefold() for option in council.options]
    yield from duplicate_problems(("options",), folded, "The option")


# --- rounds ---


def _round_problems(council: CouncilModel) -> Iterator[Problem]:
    rounds = council.rounds
    if not rounds:
        hint = 'Most want: ["independent_analysis", "cross_examination", "synthesis"].'
        yield Problem(("rounds",), Code.NO_ROUNDS, "There are no rounds.", hint)
        return
    for number, entry in enumerate(rounds):
        path: KeyPath = ("rounds", number)
        yield from _name_problems((*path, "name"), entry)
        yield from _speaker_problems((*path, "speakers"), entry, council)
        yield from _sight_problems(path, entry)
    yield from _order_problems(rounds)
    yield from _chair_problems(council)


def _name_problems(path: KeyPath, entry: Round) -> Iterator[Problem]:
    if entry.kind is RoundKind.OWN and not entry.instructions:
        sentence = f"There is no round '{entry.name}'."
        hint = f"{meant(entry.name, BUILT_IN)} A round of your own needs 'instructions'."
        yield Problem(path, Code.UNKNOWN, sentence, hint)
    elif entry.name == RoundKind.OWN:
        yield Problem(path, Code.RESERVED, "'own' says nothing.", "Call it by what happens in it.")


def _speaker_problems(path: KeyPath, entry: Round, council: CouncilModel) -> Iterator[Problem]:
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


def _sight_problems(path: KeyPath, entry: Round) -> Iterator[Problem]:
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
        path: KeyPath = ("members", number)
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
    path: KeyPath, member: Member, council: CouncilModel, references: References
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
    if member.name and not any(map(str.isalnum, member.name)):
        sentence = f"'{member.name}' has no letter or digit."
        yield Problem((*path, "name"), Code.NAME, sentence, "Call them something that can be said.")
    yield from profile_problems((*path, "model"), member.model, references.models)
    yield from tool_problems((*path, "tools"), member.tools, references)
    own, at = {council.shelf, member.persona}, (*path, "shelves")
    yield from shelf_problems(at, member.shelves, references.shelves, own)
    yield from duplicate_problems(at, member.shelves, "The shelf")
    yield from folder_problems(member.folders, references.folder, (*path, "folders"), files=True)
    yield from duplicate_problems((*path, "folders"), member.folders, "The folder")
    seconds, whole = member.timeout_seconds, council.round_timeout_seconds
    if seconds is not None and seconds > whole > 0:
        sentence = f"The round ends after {whole:g} seconds, before these {seconds:g}."
        hint = "Raise 'round_timeout_seconds'."
        yield warning((*path, "timeout_seconds"), Code.UNUSED, sentence, hint)


def _persona_problems(path: KeyPath, slug: str, references: References) -> Iterator[Problem]:
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
    path: KeyPath, member: Member, council: CouncilModel, references: References
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


def _circle_problem(path: KeyPath, way: tuple[str, ...]) -> Problem:
    sentence = f"Councils contain each other: {' → '.join(way)}."
    return Problem(path, Code.CYCLE, sentence, "Take one of them out of another.")


def circle(start: str, inner: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return a way from ``start`` that comes back to where it was, as ``(a, b, a)``; or nothing.

    ``inner`` are the councils that are members of each.
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


# --- tools ---


def tool_problems(
    path: KeyPath, tools: Sequence[ToolRef], references: References
) -> Iterator[Problem]:
    """Name tools that nobody registered, wrong declarations, and what is there twice.

    Whether two names stand for one tool, or one name for two, is seen when they are resolved.
    """
    seen: list[ToolRef] = []
    for number, tool in enumerate(tools):
        at = (*path, number)
        known = references.tools
        if isinstance(tool, DeclaredTool):
            yield from _declaration_problems(at, tool, references)
        elif not tool_name(tool):
            yield Problem(at, Code.EMPTY, "It is empty.", "Name a tool.")
        elif isinstance(tool, str) and known is not None and tool not in known:
            sentence = f"There is no tool '{tool}'."
            yield Problem(at, Code.UNKNOWN, sentence, meant(tool, known))
        if tool_name(tool) and any(tool is earlier or tool == earlier for earlier in seen):
            sentence = f"The tool '{tool_name(tool)}' is there already."
            yield warning(at, Code.DUPLICATE, sentence, "Leave one of them out.")
        seen.append(tool)


def _declaration_problems(
    path: KeyPath, tool: DeclaredTool, references: References
) -> Iterator[Problem]:
    if tool.corpus:
        yield from _corpus_problems((*path, "corpus"), tool.corpus, references)
    else:
        hint = 'Declare one like {"corpus": {"folder": "papers"}}.'
        yield Problem(path, Code.MISSING, "Nothing says what tool it is.", hint)


def _corpus_problems(path: KeyPath, corpus: Corpus, references: References) -> Iterator[Problem]:
    yield from folder_problem((*path, "folder"), corpus.folder, references.folder)
    name = corpus.tool_name
    if not is_tool_name(name):
        hint = "Use letters, digits and underscores, at most 64: search_policies"
        yield Problem((*path, "name"), Code.NAME, f"'{name}' cannot be a tool's name.", hint)
    elif name in SEARCH_TOOLS:
        sentence = f"'{name}' is how the library itself is searched."
        yield Problem((*path, "name"), Code.RESERVED, sentence, "Give it another 'name'.")
