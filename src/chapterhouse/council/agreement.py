"""Who stands by which statement: counted from what members say themselves, and nothing else."""

from collections.abc import Iterable, Sequence

from chapterhouse.types import Agreement, MemberTurn, Stance, Statement


def find_agreement(turns: Sequence[MemberTurn], members: Iterable[str]) -> tuple[Agreement, ...]:
    """Return how every member stands to each statement, by the last that they said to it.

    Args:
        turns: In the order of the rounds, their statements named.
        members: Keys, in the order of the seats.
    """
    statements = [one for turn in turns for one in turn.statements]
    stances = {(one.id, one.member): Stance.STAND for one in statements}
    for turn in turns:
        stances |= {(one.statement, one.member): one.stance for one in turn.replies}
    everyone = tuple(dict.fromkeys((*members, *(one.member for one in statements))))

    def who(statement: Statement, stance: Stance | None) -> tuple[str, ...]:
        return tuple(key for key in everyone if stances.get((statement.id, key)) is stance)

    return tuple(
        Agreement(
            one.id,
            stand=who(one, Stance.STAND),
            concede=who(one, Stance.CONCEDE),
            oppose=who(one, Stance.OPPOSE),
            silent=who(one, None),
        )
        for one in statements
    )
