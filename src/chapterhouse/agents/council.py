"""Council: who meets, in which rounds, with what at hand. Built call by call, never changed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from chapterhouse.agents.council_model import Grounding, Member, Round, ToolRef, shelf_of
from chapterhouse.errors import UsageError

if TYPE_CHECKING:
    from chapterhouse.agents.council_problems import CouncilProblem

PARALLEL: Final = 8
ROUND_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Council:
    """A council as its file has it, or as it is built in Python.

    Every method that adds something returns a new council. Nothing is checked on the way:
    ``problems`` and ``validate`` tell everything that is wrong at once.

    Attributes:
        slug: Name in kebab case, and that of its folder.
        display_name: How it is called; empty for the slug in words.
        purpose: What it is for, shown to every member.
        profile: Model of whoever has none of their own; empty for the library's.
        tools: What every member and the chair may call, but no council that is a member.
        members: Who speaks, in this order.
        rounds: What happens, in this order.
        chaired_by: Who presides and sums up: a persona or a plain role.
        folders: Further folders whose documents all members read: absolute, with ``~``, or
            relative to the council's own.
        options: What is to be decided between; with some, the minutes hold a decision matrix.
        parallel: Members that speak at a time, 1 to 64.
        round_timeout_seconds: When a round ends, whoever has not spoken.
        concession_rule: Whether a member may concede only for evidence that is new to them.
    """

    slug: str
    display_name: str = ""
    purpose: str = ""
    profile: str = ""
    tools: tuple[ToolRef, ...] = ()
    members: tuple[Member, ...] = ()
    rounds: tuple[Round, ...] = ()
    chaired_by: Member | None = None
    folders: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    parallel: int = PARALLEL
    round_timeout_seconds: float = ROUND_SECONDS
    concession_rule: bool = True

    @property
    def title(self) -> str:
        """How it is called; the slug in words where nothing else is said."""
        return self.display_name or self.slug.replace("-", " ").title()

    @property
    def shelf(self) -> str:
        """The shelf of the documents that all members share."""
        return shelf_of(self.slug)

    # --- building ------------------------------------------------------------------------------

    @classmethod
    def new(cls, slug: str, *, display_name: str = "", purpose: str = "") -> Self:
        """Begin a council."""
        return cls(slug, display_name, purpose)

    def default_profile(self, name: str) -> Self:
        """Let the model of this profile speak for whoever has none of their own."""
        return replace(self, profile=name)

    def add_tool(self, *tools: ToolRef) -> Self:
        """Give all members and the chair tools, by registered name or as they are."""
        return replace(self, tools=(*self.tools, *tools))

    def add_member(
        self,
        member: Member | str | None = None,
        *,
        persona: str = "",
        council: str = "",
        name: str = "",
        instructions: str = "",
        profile: str = "",
        tools: Iterable[ToolRef] = (),
        grounding: Grounding | None = None,
        timeout_seconds: float | None = None,
        shelves: Iterable[str] = (),
    ) -> Self:
        """Seat a member: one that is made already, or a persona by slug, or as the words say.

        Raises:
            UsageError: a member was given and words for another besides.
        """
        told = Member(
            persona,
            council,
            name,
            instructions,
            profile,
            tuple(tools),
            grounding,
            timeout_seconds,
            tuple(shelves),
        )
        return replace(self, members=(*self.members, _seated(member, told)))

    def add_round(
        self,
        name: Round | str,
        *,
        instructions: str = "",
        speakers: Iterable[str] = (),
        anonymous: bool = False,
        sees_claims: bool = False,
    ) -> Self:
        """Add a round: a built-in kind by its name, or one of your own with instructions.

        Raises:
            UsageError: a round was given and words for another besides.
        """
        if isinstance(name, Round):
            own = Round(name.name, instructions, tuple(speakers), anonymous, sees_claims)
            if own != Round(name.name):
                raise UsageError("Give a round, or the words for one, not both.")
            return replace(self, rounds=(*self.rounds, name))
        made = Round(name, instructions, tuple(speakers), anonymous, sees_claims)
        return replace(self, rounds=(*self.rounds, made))

    def chair(
        self,
        member: Member | str | None = None,
        *,
        persona: str = "",
        name: str = "",
        instructions: str = "",
        profile: str = "",
        tools: Iterable[ToolRef] = (),
        grounding: Grounding | None = None,
        timeout_seconds: float | None = None,
        shelves: Iterable[str] = (),
    ) -> Self:
        """Say who presides; as ``add_member``, but never a council."""
        told = Member(
            persona,
            "",
            name,
            instructions,
            profile,
            tuple(tools),
            grounding,
            timeout_seconds,
            tuple(shelves),
        )
        return replace(self, chaired_by=_seated(member, told))

    def link(self, *folders: str | Path) -> Self:
        """Let all members read the documents of further folders."""
        return replace(self, folders=(*self.folders, *map(str, folders)))

    def decide_between(self, *options: str) -> Self:
        """Say what is to be decided between."""
        return replace(self, options=(*self.options, *options))

    def limits(
        self, *, parallel: int | None = None, round_timeout_seconds: float | None = None
    ) -> Self:
        """Say how many members speak at a time, and how long a round may take."""
        return replace(
            self,
            parallel=self.parallel if parallel is None else parallel,
            round_timeout_seconds=(
                self.round_timeout_seconds
                if round_timeout_seconds is None
                else round_timeout_seconds
            ),
        )

    def free_concessions(self) -> Self:
        """Let members concede without new evidence."""
        return replace(self, concession_rule=False)

    # --- as JSON, and checked ------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the council as its file has it; tools by name, what is as usual left out."""
        from chapterhouse.agents.council_file import council_json  # noqa: PLC0415 - it reads this

        return council_json(self)

    @classmethod
    def from_json(cls, text: str) -> "Council":
        """Return the council that ``to_json`` or a hand has written.

        Raises:
            CouncilConfigError: with every problem of its form: no JSON, an unknown key, a key
                that stands twice, a value of the wrong kind.
        """
        from chapterhouse.agents.council_file import (  # noqa: PLC0415 - likewise
            parse_council,
            required,
        )

        return required(parse_council(text))

    @property
    def problems(self) -> "tuple[CouncilProblem, ...]":
        """All that is wrong with it by itself; ``Councils.validate`` looks around it too."""
        from chapterhouse.agents.council_checks import validate  # noqa: PLC0415 - likewise

        return validate(self)


def _seated(member: Member | str | None, told: Member) -> Member:
    if member is None:
        return told
    if isinstance(member, Member):
        if told != Member():
            raise UsageError("Give a member, or the words for one, not both.")
        return member
    if told.persona or told.council:
        raise UsageError(f"'{member}' is the persona; leave out persona= and council=.")
    return replace(told, persona=member)
