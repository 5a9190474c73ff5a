"""What is written into a grant, checked, and a grant in words."""

from collections.abc import Sequence
from typing import Final

from chapterhouse.errors import UsageError
from chapterhouse.text.naming import printable_name, valid_name
from chapterhouse.types import Grant

LABEL_CHARACTERS: Final = 100


def check_label(label: str) -> str:
    """Return a label as it can be stored and shown.

    Raises:
        UsageError: it is empty or too long.
    """
    shown = printable_name(label).strip()
    if not 0 < len(shown) <= LABEL_CHARACTERS:
        raise UsageError(f"The label of a key has 1 to {LABEL_CHARACTERS} characters.")
    return shown


def check_names(what: str, names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names in order, each once; None stays None.

    Raises:
        UsageError: one cannot be a name, or they are one text, whose letters would be taken.
    """
    if names is None:
        return None
    if isinstance(names, str):
        raise UsageError(f"Names of several are wanted, not the text '{names}'.")
    return tuple(sorted({check_name(what, name) for name in names}))


def check_name(what: str, name: str) -> str:
    """Return a name.

    Raises:
        UsageError: it cannot be one.
    """
    if not valid_name(name):
        raise UsageError(
            f"'{name}' cannot be the name of a {what}.",
            hint="Letters, digits, - and _, at most 64; the first is a letter or digit.",
        )
    return name


def describe(grant: Grant) -> str:
    """Return what a grant permits, for the audit log."""
    limits = (("in", grant.workspaces), ("shelves", grant.shelves), ("personas", grant.personas))
    parts = (f"{word} {','.join(names) or 'none'}" for word, names in limits if names is not None)
    return " ".join((grant.level.value, *parts))
