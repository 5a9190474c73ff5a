"""The command that checks saved answers and minutes: verify."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from chapterhouse import lazy
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.files import write_output
from chapterhouse.interfaces.cli.options import argument, destination, flag, require_path
from chapterhouse.interfaces.cli.session import FAILED, OK, PARTLY, Outcome, opened_library
from chapterhouse.presenting.blocks import Style, TerminalBlock, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.types import Answer, Check, Minutes

if TYPE_CHECKING:
    from chapterhouse.answering import bundle as bundles
    from chapterhouse.answering import cite
    from chapterhouse.council.minutes import bundle as minutes_bundle
else:
    bundles = lazy("chapterhouse.answering.bundle")
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

_Found = Sequence["cite.CitationCheck"] | None  # None where no library was asked
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
class Verification:
    """A file that was checked by itself; versions and checks are a bundle's."""

    held: Answer | Minutes
    versions: Mapping[str, str]
    checks: tuple[Check, ...]

    @property
    def trusted(self) -> bool | None:
        """Whether a bundle passed every check; None where it is no bundle."""
        return all(check.passed for check in self.checks) if self.checks else None


def _examine(data: bytes, *, needs_bundle: bool = False) -> Verification:
    kind = _kind_of(data)
    if not (needs_bundle or "format" in bundles.parse(data)):
        return Verification(bundles.read_held(data, kind), {}, ())
    bundle = bundles.read_bundle(data, kind)
    return Verification(bundle.held, bundle.versions, bundles.examine(bundle))


def _kind_of(data: bytes) -> "bundles.Kind[Any]":
    return minutes_bundle.MINUTES if minutes_bundle.holds_minutes(data) else bundles.ANSWER


def bundle_path(name: str) -> Path:
    """Return the file that a bundle is to be written to; errors as of ``destination``."""
    return destination(name, "A bundle", "--bundle answer.json", _is_bundle)


def _is_bundle(data: bytes) -> bool:
    """Whether bytes are a bundle, of an answer or of minutes, which may be replaced."""
    try:
        bundles.read_bundle(data, _kind_of(data))
    except UsageError:
        return False
    return True


def write_bundle(path: Path, bundle: "bundles.Bundle[Any]") -> None:
    """Write a bundle whole or not at all."""
    write_output(path, bundles.bundle_json(bundle))


def file_content(name: str) -> bytes:
    """Return what stands in a file that a command wrote, or on standard input."""
    if name == "-":
        return sys.stdin.buffer.read(bundles.LARGEST + 1)
    path = Path(require_path(name)).expanduser()
    try:
        with path.open("rb") as stream:
            # What is longer is refused, and never read whole.
            return stream.read(bundles.LARGEST + 1)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {name}.", hint="Check the spelling.") from None


# --- what is shown --------------------------------------------------------------------------------


def _verified(examined: Verification, found: "_Found") -> dict[str, object]:
    """Return what was found.

    ``trusted`` is null where the file is no bundle, ``holds`` and ``citations`` without a library.
    """
    return {
        "question": examined.held.question,
        "trusted": examined.trusted,
        "checks": examined.checks,
        "versions": examined.versions,
        "holds": None if found is None else all(one.holds for one in found),
        "citations": None if found is None else list(map(_citation, found)),
    }


def _citation(one: "cite.CitationCheck") -> dict[str, object]:
    names = ("number", "title", "document_id", "quote")
    return {
        **{name: getattr(one.citation, name) for name in names},
        "source": one.source.value,
        "quotation": one.quote.value,
        "document_now": one.document_id,
        "source_now": one.source_now,
        "start": one.start,
        "end": one.end,
    }


def _show_verified(examined: Verification, found: "_Found") -> Iterator[TerminalBlock]:
    """Show what was found of a file, and what has become of its citations."""
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
    yield verbatim((one_line(examined.held.question), Style.STRONG))
    for one in found:
        yield from _show_citation(one)
    if not found:
        yield verbatim("It cites nothing.")


def _show_citation(one: "cite.CitationCheck") -> Iterator[TerminalBlock]:
    citation, state = one.citation, one.source.value
    name = one_line(citation.title or citation.source)
    yield verbatim((f"[{citation.number}] ", Style.STRONG), (name, Style.TITLE))
    moved = f" ({one_line(one.source_now)})" if state == "moved" else ""
    what = f"{one_line(citation.source)} {_SOURCES[state]}{moved}; "
    yield verbatim(what, _QUOTES[one.quote.value], indent=4)
    if one.holds and not citation.tool and state != "changed-on-disk":
        opens = f"chapterhouse docs show {one.document_id} --span {one.start}:{one.end}"
        yield verbatim((opens, Style.QUIET), indent=4)
