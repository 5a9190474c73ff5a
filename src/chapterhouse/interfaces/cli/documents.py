"""Commands about single documents: docs list, show, quality, remove, reprocess, formats."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer

from chapterhouse import lazy
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.cli import progress, render, search
from chapterhouse.interfaces.cli.envelope import is_incomplete
from chapterhouse.interfaces.cli.options import DryRun, Shelves, Yes, argument, flag, group, option
from chapterhouse.interfaces.cli.session import OK, PARTLY, Outcome, opened_library, require_yes
from chapterhouse.presenting.blocks import (
    Columns,
    Raw,
    Style,
    TerminalBlock,
    record,
    table,
    verbatim,
)
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.wording import outcome_word, size
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    Body,
    Chunk,
    Document,
    FileRecord,
    Removal,
    RemovalState,
    Trust,
)

if TYPE_CHECKING:
    from chapterhouse.chunking import content as measuring
    from chapterhouse.library import Library
    from chapterhouse.library import documents as facet
else:
    measuring = lazy("chapterhouse.chunking.content")
    facet = lazy("chapterhouse.library.documents")

app = group("List, show, remove and reread documents.")

_COPY: Final = "A copy of the library first: chapterhouse export FILE"
_NO_FILES: Final = "No files. Add some: chapterhouse add PATH"

Names = Annotated[list[str] | None, argument("[NAME]...", "Ids, beginnings of ids or files.")]
Name = Annotated[str, argument("NAME", "An id, the beginning of one, or a file name.")]


@app.command("list")
def list_documents(
    *,
    shelf: Shelves = None,
    files: Annotated[
        bool, flag("--files", "List every file that was looked at, with the reasons.")
    ] = False,
    problems: Annotated[
        bool, flag("--problems", "List only files that are not completely in the library.")
    ] = False,
    notice: Annotated[
        str, option("--notice", "CODE", "List only documents with this notice, as ocr-unsure.")
    ] = "",
) -> Outcome:
    """List the documents, or what became of every file."""
    if (files or problems) and shelf:
        named = "--problems" if problems else "--files"
        raise typer.BadParameter(f"{named} lists files, which are on no shelf: leave one out.")
    if (files or problems) and notice:
        raise typer.BadParameter("--notice lists documents, not files: leave one out.")

    with opened_library() as library:
        if files or problems:
            records = tuple(
                one for one in library.documents.files() if not problems or is_incomplete(one)
            )
            return Outcome(records, _files(records, problems=problems))
        found = tuple(
            document
            for document in library.documents.list(shelf or None)
            if not notice or any(one.code == notice for one in document.notices)
        )
        return Outcome(found, _documents(found))


@app.command()
def show(
    name: Name,
    *,
    text: Annotated[bool, flag("--text", "Print the whole text.")] = False,
    span: Annotated[str, option("--span", "A:B", "Open a citation: characters A to B.")] = "",
) -> Outcome:
    """Show a document or open a citation.

    Without an option: what is known of the document, its outline, and the files in it. Of an
    archive: the files in it.
    """
    if text and span:
        raise typer.BadParameter("--text and --span exclude each other.")

    with opened_library() as library:
        try:
            document = library.documents.get(name)
        except NotFoundError:
            unpacked = None if text or span else library.documents.archive(name)
            if unpacked is None:
                raise
            return _archive(library, unpacked)
        body = library.documents.body(document.id)
        if span:
            place = search.place_of(document, body, *_bounds(span, len(body.text)))
            return Outcome(place, search.show_place(place))
        if text:
            data = {"document": document, "text": body.text}
            return Outcome(data, [Raw(body.text)])
        inside = tuple(library.documents.files(document.location))
        data = {"document": document, "sections": body.sections, "pages": body.pages}
        return Outcome({**data, "files": inside}, _show_document(document, body, inside))


def _archive(library: "Library", unpacked: FileRecord) -> Outcome:
    inside = tuple(library.documents.files(unpacked.location))
    data = {"file": unpacked, "files": inside}
    return Outcome(data, _show_archive(unpacked, inside))


@app.command()
def quality(name: Name) -> Outcome:
    """Measure the chunks of a document.

    Entropy, coherence, density and importance of each chunk's words, and their means.
    """
    with opened_library() as library:
        document = library.documents.get(name)
        chunks = library.documents.chunks(document.id)
        measured = measuring.measure_quality([chunk.text for chunk in chunks], document.language)
        mean = measuring.mean_quality(measured)
        rows = [
            {"id": chunk.id, "start": chunk.start, "end": chunk.end, "quality": measures}
            for chunk, measures in zip(chunks, measured, strict=True)
        ]
        data = {"document": document, "chunks": rows, "mean": mean}
        return Outcome(data, _show_quality(chunks, measured, mean))


@app.command()
def remove(
    names: Names = None,
    *,
    missing: Annotated[bool, flag("--missing", "Remove documents whose files are gone.")] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> Outcome:
    """Remove documents from the library, for good.

    The files they came from are not touched. Text, bytes, vectors and what was remembered of
    answers that rest on them go. The indexes and the database are written anew, and every file of
    the library is searched for what was removed. Exit code 4 says that a file still has some.

    There is no undo: chapterhouse export writes a copy of the library first.

    Asks first. Off a terminal, and with --json, it does nothing without --yes: exit code 10.
    """
    if not names and not missing:
        raise typer.BadParameter("Name what to remove, or use --missing.")

    with opened_library() as library:
        removal = library.documents.remove(*(names or ()), missing=missing, dry_run=True)
        if removal.documents and not dry_run:
            if not yes:
                count = counted(len(removal.documents), "document")
                require_yes(
                    f"Remove {count} from the library for good",
                    needed=f"Removing {count} for good needs to be confirmed. {_COPY}",
                    refused=f"Nothing was removed. {_COPY}",
                    listed=[document.source for document in removal.documents],
                )
            removal = library.documents.remove(*(document.id for document in removal.documents))
        in_place = library.documents.in_place(removal.documents)
        data = {
            "state": None if dry_run else removal.state,
            "documents": removal.documents,
            "in_place": [document.source for document in in_place],
            "search": removal.search,
            "dry_run": dry_run,
        }
        shown = _removed(removal, len(in_place), dry_run=dry_run)
        return Outcome(data, shown, PARTLY if removal.state is RemovalState.INCOMPLETE else OK)


@app.command()
def reprocess(names: Names = None, *, dry_run: DryRun = False) -> Outcome:
    """Read stored files again, as after an update; also those that are in quarantine.

    Without a name, all of them. A file in quarantine that gave no document is read by the next add
    or sync.
    """
    with opened_library() as library:
        if dry_run:
            chosen = tuple(map(library.documents.get, names) if names else library.documents.list())
            data = {"documents": chosen, "dry_run": True}
            return Outcome(data, _documents(chosen))
        parked = library.documents.quarantined(*(names or ()))
        with progress.interruptible() as on_progress:
            report = library.documents.reprocess(*(names or ()), on_progress=on_progress)
            progress.require_end(report)
        waiting = [one for one in parked if not one.document_id]
        later = f"The next add or sync reads {counted(len(waiting), 'file')} in quarantine again."
        blocks = [*render.report(report), *([verbatim(later)] if waiting else [])]
        return Outcome(report, blocks, render.report_code(report))


@app.command()
def formats() -> Outcome:
    """List the formats that can be read here."""
    found = facet.Documents.formats()
    shown = table(
        found,
        "format",
        ("extensions", lambda one: " ".join(one.extensions)),
        ("read by", lambda one: one.method),
        ("here", lambda one: one.available),
        "note",
        wrap=True,
    )
    return Outcome(found, shown)


def _bounds(span: str, length: int) -> tuple[int, int]:
    """Read ``A:B``, two places in a text."""
    start, colon, end = span.partition(":")
    if not (colon and start.isdecimal() and end.isdecimal()):
        raise UsageError(f"--span wants two numbers as A:B, not {span!r}.")
    if not int(start) < int(end) <= length:
        raise UsageError(
            f"--span {span} lies outside the text, which has {counted(length, 'character')}.",
            hint="A citation names its characters as a–b: write them as A:B.",
        )
    return int(start), int(end)


# --- what is shown ------------------------------------------------------------------------------


def _removed(removal: Removal, in_place: int, *, dry_run: bool) -> Iterator[TerminalBlock]:
    verb = "Would remove" if dry_run else "Removed"
    yield verbatim(f"{verb} {counted(len(removal.documents), 'document')}.")
    for document in removal.documents:
        yield verbatim(f"  {document.id}  {one_line(document.source)}")
    if removal.search is not None:
        yield from render.file_search(removal.search)
    if in_place:
        text = counted(in_place, "file is", "files are")
        warning = (
            f"{text} in place, and read by the next 'add', or by 'sync' in a folder that is"
            " followed: move away or exclude what shall not come back."
        )
        yield verbatim((warning, Style.WARNING))


def _documents(found: Sequence[Document]) -> Iterator[TerminalBlock]:
    columns = ("id", "format", "status", "characters", "title", "source")
    return table(found, *columns, none="No documents. Add some: chapterhouse add PATH", whole={0})


def _files(records: Sequence[FileRecord], *, problems: bool = False) -> Iterator[TerminalBlock]:
    return table(
        records,
        ("status", outcome_word),
        "format",
        ("size", lambda one: size(one.size)),
        "source",
        ("document", lambda one: one.document_id),
        none="All files are completely in the library." if problems else _NO_FILES,
        whole={4},
        below=render.reason_of,
    )


def _show_archive(one: FileRecord, inside: Sequence[FileRecord]) -> Iterator[TerminalBlock]:
    status = f"{outcome_word(one)}. {one.sentence}"
    weight = size(one.size)
    yield record(
        one, "source", "location", "format", ("status", status), ("size", weight), "sha256"
    )
    yield from _inside(inside)


def _inside(inside: Sequence[FileRecord]) -> Iterator[TerminalBlock]:
    if inside:
        yield verbatim()
        yield verbatim(("Files in it", Style.STRONG))
        yield from _files(inside)


def _show_document(
    entry: Document, body: Body, inside: Sequence[FileRecord]
) -> Iterator[TerminalBlock]:
    yield record(
        entry,
        "title",
        "id",
        "source",
        "location",
        ("format", f"{entry.format}, read by {entry.method}"),
        "status",
        "shelves",
        ("trust", None if entry.trust is Trust.OWN else entry.trust),
        ("language", entry.language or "not known"),
        ("modified", f"{datetime.fromtimestamp(entry.modified, UTC):%Y-%m-%d %H:%M} UTC"),
        ("size", size(entry.size)),
        ("text", f"{counted(entry.characters, 'character')}, {counted(entry.chunks, 'chunk')}"),
        "sha256",
        ("text sha256", entry.text_sha256),
        *sorted(entry.metadata.items()),
        *((f"notice {notice.code}", notice.sentence) for notice in entry.notices),
    )
    if any(section.path for section in body.sections):
        yield verbatim()
        yield verbatim(("Sections", Style.STRONG))
    for section in body.sections:
        if section.path:
            indent = "  " * len(section.path)
            span = f"  {section.start}:{section.end}"
            yield verbatim(indent, section.path[-1], (span, Style.QUIET))
    yield from _inside(inside)


def _show_quality(
    chunks: Sequence[Chunk], measured: "Sequence[measuring.Quality]", mean: "measuring.Quality"
) -> Iterator[TerminalBlock]:

    def figures(quality: "measuring.Quality") -> tuple[str, ...]:
        return tuple(f"{value:.2f}" for value in astuple(quality))

    rows: list[tuple[str, ...]] = [
        ("chunk", "characters", "entropy", "coherence", "density", "importance", "text")
    ]
    rows += [
        (str(chunk.ordinal), f"{chunk.start}:{chunk.end}", *figures(quality), chunk.text[:60])
        for chunk, quality in zip(chunks, measured, strict=True)
    ]
    yield Columns([*rows, ("mean", "", *figures(mean), "")])
