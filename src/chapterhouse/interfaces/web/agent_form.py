"""How the form of a persona or council is arranged: which fields are open, which are folded.

The fields are those of the schema, which also says what they mean.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from chapterhouse.agents.fields import FieldGroup, FormField
from chapterhouse.agents.problems import Problem, errors
from chapterhouse.store.definitions import PROSE_FILE

_OPEN: Final = frozenset(
    ("display_name", "purpose", "folders", "prose", "members.persona", "members.instructions")
)


def fields_of(group: FieldGroup, *, is_open: bool) -> list[FormField]:
    """Return the fields of a group that are open, or those that are folded."""
    names = zip(group.fields, group.names(), strict=True)
    return [one for one, name in names if (name in _OPEN) is is_open]


def by_place(
    problems: Iterable[Problem], groups: Iterable[FieldGroup], entries: Mapping[str, Any]
) -> dict[str, list[Problem]]:
    """Return problems by the field or entry at which a form shows them; empty for above all."""
    known = {"", *entries}
    for group in groups:
        for place, _ in entries[group.name]:
            known |= {place, *group.names(place)}
    found: dict[str, list[Problem]] = {}
    for one in problems:
        path = ["prose"] if one.file.endswith(PROSE_FILE) else [*map(str, one.path)]
        while ".".join(path) not in known:
            path.pop()
        found.setdefault(".".join(path), []).append(one)
    return found


def unfolded(problems: Mapping[str, list[Problem]], focus: str) -> frozenset[str]:
    """Return which folds are open: those with an error in them, and where something was moved."""
    wrong = {place for place, found in problems.items() if place and errors(found)}
    members = {place.rpartition(".")[0] for place in wrong if place.startswith("members")}
    others = {place.partition(".")[0] for place in wrong} - _OPEN - {"members"}
    return frozenset(members | ({"more"} if others or focus.startswith("rounds.") else set()))
