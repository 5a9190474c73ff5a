"""What people see of removed documents and of the search for them."""

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime

from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.presenting.wording import join_words
from chapterhouse.text.counting import counted
from chapterhouse.types import Purge, Receipt, Removal, RemovedDocument, Restored

_NAMED = 5
# What is searched for by each path, one and several.
_WORDS = {
    "phrases": ("phrase", "phrases"),
    "terms": ("term", "terms"),
    "vectors": ("vector", "vectors"),
    "names": ("name", "names"),
    "ids": ("id", "ids"),
    "passages": ("passage", "passages"),
}


def removal(value: Removal, in_place: int, *, dry_run: bool) -> Iterator[Block]:
    """Say what was, or would be, removed, whether it was found afterwards, and how it comes back.

    Args:
        value: What was removed.
        in_place: How many of the files are still in their folders.
        dry_run: Whether it only would be.
    """
    verb = "Would remove" if dry_run else "Removed"
    yield verbatim(f"{verb} {counted(len(value.documents), 'document')}.")
    for document in value.documents:
        yield verbatim(f"  {document.id}  {one_line(document.source)}")
    if value.receipt is not None:
        yield from receipt_of(value.receipt, {entry.source for entry in value.retained})
    if value.retained:
        until = value.retained[0].until
        when = f"until {_day(until)}" if until else "until you purge them"
        yield verbatim(
            f"The bytes of {_files(len(value.retained))} are retained {when}: bring them back with"
            " 'docs undo', or drop them now with 'docs purge'."
        )
    if in_place:
        text = counted(in_place, "file is", "files are")
        warning = (
            f"{text} in place, and read by the next 'add' or 'sync': move away or exclude what"
            " shall not come back."
        )
        yield verbatim((warning, Style.WARNING))


def entries(found: Sequence[tuple[RemovedDocument, int | None]]) -> Iterator[Block]:
    """List removed documents that can come back, with the days left."""
    if not found:
        yield verbatim("No removed document is retained.")
        return
    rows = [("id", "removed", "days left", "source")]
    for entry, days in found:
        left = "no end" if days is None else str(days)
        rows.append((entry.id, _day(entry.removed), left, one_line(entry.source)))
    yield Columns(rows)


def restored(value: Restored) -> Iterator[Block]:
    """Say which documents are back, and why others are not."""
    yield verbatim(f"Brought back {counted(len(value.documents), 'document')}.")
    for document in value.documents:
        yield verbatim(f"  {document.id}  {one_line(document.source)}")
    for entry, reason in value.refused:
        yield verbatim((f"Not back: {one_line(entry.source)}. {one_line(reason)}", Style.WARNING))


def purge(value: Purge, *, dry_run: bool) -> Iterator[Block]:
    """Say the bytes of which removed documents were, or would be, dropped."""
    verb = "Would drop" if dry_run else "Dropped"
    yield verbatim(f"{verb} the bytes of {counted(len(value.dropped), 'removed document')}.")
    for entry in value.dropped:
        yield verbatim(f"  {entry.id}  {one_line(entry.source)}")
    if value.receipt is not None:
        yield from receipt_of(value.receipt)


def receipt_of(receipt: Receipt, known: Collection[str] = ()) -> Iterator[Block]:
    """Say by each path what was found of how much; ``known`` are sources told of elsewhere."""
    counts = [
        f"{path.found:,} of {counted(path.searched, *_WORDS[name])}"
        for name, path in receipt.paths.items()
    ]
    place = f"{counted(receipt.files, 'file')} ({receipt.bytes / 2**20:,.1f} MB) of the library"
    verdict = ("Some was found", Style.BAD) if receipt.found else ("Nothing was found", Style.GOOD)
    yield verbatim(verdict, f" of it: {', '.join(counts)} in {place}.")
    places = sorted({place for path in receipt.paths.values() for place in path.places})
    if places:
        yield verbatim(f"Look into: {', '.join(map(one_line, places))}")
    further = [one_line(source) for source in receipt.retained if source not in known]
    if further:
        names = join_words(further, _NAMED)
        yield verbatim(f"Not counted, for it is part of original bytes that stay: {names}")


def _files(number: int) -> str:
    return "the file" if number == 1 else f"{number:,} files"


def _day(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
