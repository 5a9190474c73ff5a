"""What people see of a question: hits, answers, and the place that a citation opens."""

from typing import TYPE_CHECKING

from chapterhouse.interfaces.cli.shapes import Place
from chapterhouse.presenting import answers, terminal
from chapterhouse.presenting.citing import page_name, without_title
from chapterhouse.presenting.hits import hits_blocks
from chapterhouse.presenting.terminal import one_line, shown, styled
from chapterhouse.text.counting import counted
from chapterhouse.types import Answer, Body, Context, SearchResult

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_HASH_DIGITS = 12


def search(
    target: "Console", result: SearchResult, *, explain: bool = False, telling: bool = False
) -> None:
    """Show hits, best first, with their text."""
    terminal.show(target, hits_blocks(result, explain=explain, telling=telling))


def answer(
    target: "Console", value: Answer, options: str | None = "", *, detailed: bool = False
) -> None:
    """Show an answer and its sources, or what was searched in vain.

    ``options`` are those that a command needs to open the same library; None where none can.
    """
    terminal.show(target, answers.answer_blocks(value), options, detailed=detailed)


def answer_markdown(target: "Console", value: Answer) -> None:
    """Print an answer as Markdown with footnotes."""
    target.out(shown(answers.answer_markdown(value)), highlight=False, end="")


def context(target: "Console", value: Context) -> None:
    """Print the Markdown as it is, and below it, apart, what it cost."""
    if value.excerpts:
        target.out(shown(value.markdown), highlight=False)
    for warning in value.warnings:
        target.print(styled((one_line(warning), "yellow")))
    if not value.excerpts:
        target.print(styled((_nothing(value), "bold")))
        return
    facts = [
        f"{value.tokens:,} of {value.maximum:,} tokens",
        f"{counted(len(value.excerpts), 'excerpt')} of {counted(len(value.sources), 'document')}",
        f"{value.information_gain:.0%} of the value found",
    ]
    target.print(styled((" · ".join(facts), "dim")))


def _nothing(value: Context) -> str:
    if not value.candidates:
        return "Nothing found."
    return (
        f"Something was found, but no sentence of it fits into {counted(value.maximum, 'token')}."
    )


def place(target: "Console", value: Place) -> None:
    """Show a span of a document with what surrounds it."""
    facts = [
        value.document.source,
        page_name(value.document.page_kind, value.page, value.page_label),
        f"characters {value.start}–{value.end}",
        f"sha256 {value.document.text_sha256[:_HASH_DIGITS]}",
    ]
    title = value.document.title
    path = " › ".join((title, *without_title(title, value.section_path)))
    target.print(styled((one_line(path), "bold cyan")))
    target.print(styled((" · ".join(map(one_line, filter(None, facts))), "dim")))
    target.print()
    target.print(_framed(target, value))


def _framed(target: "Console", value: Place) -> "Text":
    """Set the span off by colour, or by marks where there is none."""
    opening, closing = ("", "") if target.is_terminal and not target.no_color else ("»", "«")
    return styled(
        (value.before, "dim"),
        (f"{opening}{value.text}{closing}", "bold reverse" if not opening else ""),
        (value.after, "dim"),
    )


def text(target: "Console", body: Body) -> None:
    """Print the whole canonical text, safe to show."""
    target.out(shown(body.text), highlight=False, end="" if body.text.endswith("\n") else "\n")
