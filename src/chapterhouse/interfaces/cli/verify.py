"""The command that checks saved answers and minutes: verify."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.options import argument, flag, require_path
from chapterhouse.interfaces.cli.output_files import destination
from chapterhouse.interfaces.cli.session import FAILED, OK, PARTLY, Outcome, opened_library
from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Block, Style, verbatim
from chapterhouse.types import Answer, Check, Minutes

if TYPE_CHECKING:
    from chapterhouse.answering import bundle as answer_bundle
    from chapterhouse.answering import cite
    from chapterhouse.council.minutes import bundle as minutes_bundle
else:
    answer_bundle = lazy("chapterhouse.answering.bundle")
    cite = lazy("chapterhouse.answering.cite")
    minutes_bundle = lazy("chapterhouse.council.minutes.bundle")

_SOURCES: Final = {
    "same": "is as it was cited",
    "changed": "has changed since",
    "changed-on-disk": "has changed on the disk since, and the library has not read it anew",
    "moved": "has another name now",
    "gone": "is gone",
}
_QUOTES: Final = {
    "stands": ("the quotation stands", Style.GOOD),
    "moved": ("the quotation stands at another place", Style.WARNING),
    "lost": ("the quotation is not there any more", Style.BAD),
}

_File = Annotated[
    str | None,
    argument(
        "[FILE]", "What ask or convene wrote with --bundle or --json; “-” for standard input."
    ),
]


def verify(
    file: _File = None,
    *,
    alone: Annotated[
        bool, flag("--alone", "Check a bundle by itself, without any library.")
    ] = False,
) -> Outcome:
    """Check a saved answer or saved minutes and their quotations.

    A bundle shows whether it was altered and whether its quotations are still there.
    Of what --json printed only the quotations can be checked. A file that is on this machine is
    read itself: what the library remembers of it may be older. With --alone a bundle is checked as
    far as possible without its documents, on any machine. Exit code 1 means that the file is not
    to be trusted, 4 that a quotation is no longer in its document.
    """
    if file is None:
        raise typer.BadParameter("Name a file. The library is checked by: chapterhouse doctor")
    return _file_outcome(file, alone=alone)


def _file_outcome(file: str, *, alone: bool) -> Outcome:
    if alone:
        examined = _examine(file_content(file), needs_bundle=True)
        code = OK if examined.trusted else FAILED
        return Outcome(_verified(examined, None), _show_verified(examined, None), code)
    with opened_library() as library:
        examined = _examine(file_content(file))
        held = examined.held
        if isinstance(held, Minutes):
            found = library.councils.recheck(held)
        else:
            found = library.answers.recheck(held)
    holds = all(one.holds for one in found)
    code = FAILED if examined.trusted is False else OK if holds else PARTLY
    return Outcome(_verified(examined, found), _show_verified(examined, found), code)


@dataclass(frozen=True, slots=True)
class Examined:
    """A file that was checked by itself.

    Attributes:
        held: The answer or the minutes in it.
        versions: Of what made it; nothing where it is no bundle.
        checks: What a bundle shows by itself; nothing where it is none.
    """

    held: Answer | Minutes
    versions: Mapping[str, str]
    checks: tuple[Check, ...]

    @property
    def trusted(self) -> bool | None:
        """Whether a bundle passed every check; None where it is no bundle."""
        return all(check.passed for check in self.checks) if self.checks else None


def _examine(data: bytes, *, needs_bundle: bool = False) -> Examined:
    of_minutes = minutes_bundle.holds_minutes(data)
    if not (needs_bundle or answer_bundle.states_format(data)):
        read = minutes_bundle.read_minutes if of_minutes else answer_bundle.read_answer
        return Examined(read(data), {}, ())
    if of_minutes:
        held = minutes_bundle.read_minutes_bundle(data)
        checks = minutes_bundle.examine_minutes(held)
        return Examined(held.minutes, held.versions, checks)
    bundle = answer_bundle.read_bundle(data)
    return Examined(bundle.answer, bundle.versions, answer_bundle.examine(bundle))


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


def file_content(name: str) -> bytes:
    """Return what stands in a file that a command wrote, or on standard input.

    Raises:
        NotFoundError: there is no such file.
    """
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
    """Return what was found.

    ``trusted`` is null where the file is no bundle, ``holds`` and ``citations`` without a library.
    """
    return {
        "question": examined.held.question,
        "trusted": examined.trusted,
        "checks": examined.checks,
        "versions": examined.versions,
        "holds": None if found is None else all(one.holds for one in found),
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
        if one.holds and not citation.tool and one.source.value != "changed-on-disk":
            span = f"{one.start}:{one.end}"
            opens = f"chapterhouse docs show {one.document_id} --span {span}"
            yield verbatim((opens, Style.QUIET), indent=4)
    if not found:
        yield verbatim("It cites nothing.")


def _show_verified(
    examined: Examined, found: "Sequence[cite.CitationCheck] | None"
) -> Iterator[Block]:
    """Show what was found of a file."""
    for check in examined.checks:
        mark = ("ok  ", Style.GOOD) if check.passed else ("BAD ", Style.BAD)
        yield verbatim(mark, f"{check.name}: {one_line(check.sentence)}")
        if check.hint:
            yield verbatim((one_line(check.hint), Style.QUIET), indent=4)
    if not examined.checks:
        yield verbatim(("This is no bundle: only its quotations were checked.", Style.QUIET))
    if found is None:
        yield verbatim(("Checked by itself: the documents were not looked at.", Style.QUIET))
        return
    yield from _show_citations(examined.held.question, found)
