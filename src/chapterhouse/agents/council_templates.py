"""What a new council starts from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.agents.council import Council
from chapterhouse.agents.council_model import Member, Round
from chapterhouse.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Template:
    """A beginning.

    Attributes:
        name: As ``council new --template`` calls it.
        purpose: What it is for, in a few words.
        roles: Who sits in it until personas do.
        rounds: What happens.
        chair: Who sums up.
    """

    name: str
    purpose: str
    roles: tuple[Member, ...] = ()
    rounds: tuple[Round, ...] = ()
    chair: Member | None = None


_CHAIR: Final = Member(
    name="Chair",
    instructions="Weigh evidence, not voices. Name the decision, its grounds and every dissent.",
)
TEMPLATES: Final[Mapping[str, Template]] = {
    template.name: template
    for template in (
        Template(
            "debate",
            "weighs a question from opposite sides",
            (
                Member(
                    name="Advocate",
                    instructions="Make the strongest case for it that the documents carry.",
                ),
                Member(
                    name="Sceptic",
                    instructions="Make the strongest case against it that the documents carry.",
                ),
            ),
            (
                Round("independent_analysis"),
                Round("cross_examination", anonymous=True),
                Round("rebuttal"),
                Round("synthesis"),
            ),
            _CHAIR,
        ),
        Template(
            "review",
            "checks what is claimed against the documents",
            (
                Member(
                    name="Evidence",
                    instructions="Say which claims the documents carry, and which they do not.",
                ),
                Member(
                    name="Gaps",
                    instructions="Say what the documents leave open, and what is out of date.",
                ),
            ),
            (
                Round("independent_analysis"),
                Round(
                    "review",
                    instructions="Go through the claims one by one: carried, contradicted or open.",
                    sees_claims=True,
                ),
                Round("synthesis"),
            ),
            _CHAIR,
        ),
        Template(
            "blank",
            "everyone for themselves; members to be named",
            rounds=(Round("independent_analysis"),),
        ),
    )
}
DEFAULT_TEMPLATE: Final = "debate"


def council_from(
    template: str,
    slug: str,
    *,
    display_name: str = "",
    personas: Sequence[str] = (),
    folders: Sequence[str] = (),
) -> Council:
    """Return a council as a template begins it; personas take the place of its roles.

    Raises:
        NotFoundError: there is no template of this name.
    """
    chosen = TEMPLATES.get(template)
    if chosen is None:
        raise NotFoundError(
            f"There is no template '{template}'.", hint=f"There are: {', '.join(TEMPLATES)}."
        )
    begun = Council.new(slug, display_name=display_name).link(*folders)
    members = tuple(Member(persona=persona) for persona in personas) or chosen.roles
    return replace(begun, members=members, rounds=chosen.rounds, chaired_by=chosen.chair)
