"""Asking before something is changed for good, where somebody is there to be asked."""

import sys

import typer

from chapterhouse.interfaces.cli.session import ConfirmationNeededError


def may_ask(*, as_json: bool) -> bool:
    """Whether a person sits at a terminal and reads what is asked."""
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()


def agreed(question: str) -> bool:
    """Ask on standard error; Ctrl-C and Ctrl-D at the question mean no."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        return False


def require_yes(what: str, *, as_json: bool) -> None:
    """Ask whether ``what`` may be done.

    Args:
        what: As in "Take X out of the index", one line.
        as_json: Whether a program reads the output, and nobody is to be asked.

    Raises:
        ConfirmationNeededError: nobody can be asked, or the answer was no.
    """
    from chapterhouse.interfaces.cli.terminal import one_line  # noqa: PLC0415 - see options

    if not may_ask(as_json=as_json):
        raise ConfirmationNeededError(
            f"This needs to be confirmed: {one_line(what)}.",
            hint="Add --yes, or look first with --dry-run.",
        )
    if not agreed(f"{one_line(what)}?"):
        raise ConfirmationNeededError("Nothing was changed.")
