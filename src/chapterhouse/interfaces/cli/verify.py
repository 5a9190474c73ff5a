"""Commands that check old answers: cite check, verify."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.options import require_path
from chapterhouse.interfaces.cli.output_files import destination
from chapterhouse.interfaces.cli.session import FAILED, OK, PARTLY, Outcome, run, with_library
from chapterhouse.interfaces.cli.terminal import drawn, one_line
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.types import Answer, Check, Minutes

if TYPE_CHECKING:
    from chapterhouse.answering import bundle as answer_bundle
    from chapterhouse.answering import cite
    from chapterhouse.claims import judge as claims
    from chapterhouse.council.minutes import bundle as minutes_bundle
    from chapterhouse.library import Library
else:
    answer_bundle = lazy("chapterhouse.answering.bundle")
    cite = lazy("chapterhouse.answering.cite")
    claims = lazy("chapterhouse.claims.judge")
    minutes_bundle = lazy("chapterhouse.council.minutes.bundle")

_SOURCES: Final = {
    "same": "is as it was cited",
    "changed": "has changed since",
    "moved": "has another name now",
    "gone": "is gone",
}
_QUOTES: Final = {
    "stands": ("the quotation stands", Style.GOOD),
    "moved": ("the quotation stands at another place", Style.WARNING),
    "lost": ("the quotation is not there any more", Style.BAD),
}

app = typer.Typer(
    help="Check the citations of answers and minutes of earlier.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="What ask or convene wrote with --json or --bundle; “-” to read it."
    ),
]
_BundleFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="What ask or convene wrote with --bundle; “-” to read it."),
]


@app.command("check")
def check(
    file: _File,
) -> None:
    """Say which sources of an old answer or of minutes have changed, moved or gone.

    Exit code 4 says that a quotation no longer stands anywhere in its document.
    """

    def work(library: "Library") -> Outcome:
        data = _content(file)
        if minutes_bundle.holds_minutes(data):
            minutes = minutes_bundle.read_minutes(data)
            question, found = minutes.question, library.councils.recheck(minutes)
        else:
            answer = answer_bundle.read_answer(data)
            question, found = answer.question, library.answers.recheck(answer)
        return Outcome(
            {
                "question": question,
                "holds": all(one.holds for one in found),
                "citations": [_citation(one) for one in found],
            },
            drawn(_show_citations(question, found)),
            OK if all(one.holds for one in found) else PARTLY,
        )

    with_library(work)


def verify(
    file: _BundleFile,
    *,
    alone: Annotated[
        bool, typer.Option("--alone", help="Check the file by itself, without any library.")
    ] = False,
) -> None:
    """Check a bundle: that it is as it was written, and that its quotations stand.

    With --alone all is checked that the file itself can show, on any machine. Exit code 1 says
    that the file is not to be trusted, 4 that a quotation stands no more.
    """

    def by_itself() -> Outcome:
        examined = _examined(_content(file))
        return Outcome(
            _verified(examined, None),
            drawn(_show_bundle(examined, None)),
            OK if examined.trusted else FAILED,
        )

    def against(library: "Library") -> Outcome:
        examined = _examined(_content(file))
        held = examined.held
        if isinstance(held, Minutes):
            found = library.councils.recheck(held)
        else:
            found = library.answers.recheck(held)
        stands = all(one.holds for one in found)
        return Outcome(
            _verified(examined, found),
            drawn(_show_bundle(examined, found)),
            FAILED if not examined.trusted else OK if stands else PARTLY,
        )

    if alone:
        run(by_itself)
    with_library(against)


@dataclass(frozen=True, slots=True)
class Examined:
    """A bundle that was checked by itself, of whichever kind.

    Attributes:
        held: What it is the bundle of.
        versions: Of what made it.
    """

    held: Answer | Minutes
    versions: Mapping[str, str]
    checks: tuple[Check, ...]

    @property
    def trusted(self) -> bool:
        """Whether it passed every check."""
        return all(check.passed for check in self.checks)


def _examined(data: bytes) -> Examined:
    if minutes_bundle.holds_minutes(data):
        held = minutes_bundle.read_minutes_bundle(data)
        return Examined(
            held.minutes, held.versions, minutes_bundle.examine_minutes(held, claims.judge)
        )
    bundle = answer_bundle.read_bundle(data)
    return Examined(bundle.answer, bundle.versions, answer_bundle.examine(bundle, claims.judge))


def bundle_path(name: str) -> Path:
    """Return the file that a bundle is to be written to, once it is clear that it can be.

    Raises:
        UsageError: it is no name of a file, or its folder is not there.
        RefusedError: it is a file of something else, which would be lost.
    """
    return destination(name, "A bundle", "--bundle answer.json", is_bundle)


def is_bundle(data: bytes) -> bool:
    """Whether bytes are a bundle, of an answer or of minutes, which may be replaced."""
    try:
        if minutes_bundle.holds_minutes(data):
            minutes_bundle.read_minutes_bundle(data)
        else:
            answer_bundle.read_bundle(data)
    except UsageError:
        return False
    return True


def write_bundle(path: Path, bundle: "answer_bundle.Bundle") -> None:
    """Write a bundle whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    write_output(path, answer_bundle.bundle_json(bundle))


def _content(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read(answer_bundle.LARGEST + 1)
    path = Path(require_path(name)).expanduser()
    try:
        with path.open("rb") as stream:
            # What is longer is refused, and never read whole.
            return stream.read(answer_bundle.LARGEST + 1)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {name}.", hint="Check the spelling.") from None


# --- what is shown --------------------------------------------------------------------------------


def _verified(
    examined: Examined, found: "Sequence[cite.CitationCheck] | None"
) -> dict[str, object]:
    """Return what was found of a bundle; ``citations`` is null where there was no library."""
    return {
        "question": examined.held.question,
        "trusted": examined.trusted,
        "checks": examined.checks,
        "versions": examined.versions,
        "citations": None if found is None else [_citation(one) for one in found],
    }


def _citation(one: "cite.CitationCheck") -> dict[str, object]:
    return {
        "number": one.citation.number,
        "title": one.citation.title,
        "document_id": one.citation.document_id,
        "quote": one.citation.quote,
        "source": one.source.value,
        "quotation": one.quote.value,
        "document_now": one.document_id,
        "source_now": one.source_now,
        "start": one.start,
        "end": one.end,
    }


def _show_citations(question: str, found: "Sequence[cite.CitationCheck]") -> Iterator[Block]:
    """Show what has become of the citations of an answer or of minutes."""
    yield verbatim((one_line(question), Style.STRONG))
    for one in found:
        citation = one.citation
        verdict = _QUOTES[one.quote.value]
        name = one_line(citation.title or citation.source)
        yield verbatim((f"[{citation.number}] ", Style.STRONG), (name, Style.TITLE))
        moved = f" ({one_line(one.source_now)})" if one.source.value == "moved" else ""
        yield verbatim(
            f"{one_line(citation.source)} {_SOURCES[one.source.value]}{moved}; ", verdict, indent=4
        )
        if one.holds:
            span = f"{one.start}:{one.end}"
            opens = f"chapterhouse docs show {one.document_id} --span {span}"
            yield verbatim((opens, Style.QUIET), indent=4)
    if not found:
        yield verbatim("It cites nothing.")


def _show_bundle(
    examined: Examined, found: "Sequence[cite.CitationCheck] | None"
) -> Iterator[Block]:
    """Show what was found of a bundle."""
    for check in examined.checks:
        mark = ("ok  ", Style.GOOD) if check.passed else ("BAD ", Style.BAD)
        yield verbatim(mark, f"{check.name}: {one_line(check.sentence)}")
        if check.hint:
            yield verbatim((one_line(check.hint), Style.QUIET), indent=4)
    if found is None:
        yield verbatim(("Checked by itself: the documents were not looked at.", Style.QUIET))
        return
    yield from _show_citations(examined.held.question, found)
