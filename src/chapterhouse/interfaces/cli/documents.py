"""Commands about single documents: docs list, show, quality, reprocess, formats."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.cli import (
    progress,
    removals,
    render,
    render_places,
)
from chapterhouse.interfaces.cli.envelope import is_incomplete
from chapterhouse.interfaces.cli.options import DryRun, Shelves, argument, flag, group, option
from chapterhouse.interfaces.cli.session import Outcome, opened_library
from chapterhouse.loading import lazy
from chapterhouse.presenting.blocks import Raw, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import FileRecord

if TYPE_CHECKING:
    from chapterhouse.chunking import quality as measuring
    from chapterhouse.facets import documents as facet
    from chapterhouse.library import Library
else:
    measuring = lazy("chapterhouse.chunking.quality")
    facet = lazy("chapterhouse.facets.documents")

app = group("List, show, remove and reread documents.")
app.command()(removals.remove)

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
                record
                for record in library.documents.files()
                if not problems or is_incomplete(record)
            )
            return Outcome(records, render.files(records, problems=problems))
        found = tuple(
            document
            for document in library.documents.list(shelf or None)
            if not notice or any(one.code == notice for one in document.notices)
        )
        return Outcome(found, render.documents(found))


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
            place = render_places.place_of(document, body, *_bounds(span, len(body.text)))
            return Outcome(place, render_places.place(place))
        if text:
            data = {"document": document, "text": body.text}
            return Outcome(data, [Raw(body.text)])
        inside = tuple(library.documents.files(document.location))
        data = {"document": document, "sections": body.sections, "pages": body.pages}
        return Outcome({**data, "files": inside}, render.document(document, body, inside))


def _archive(library: "Library", record: FileRecord) -> Outcome:
    inside = tuple(library.documents.files(record.location))
    data = {"file": record, "files": inside}
    return Outcome(data, render.archive(record, inside))


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
        return Outcome(data, render.chunk_quality(chunks, measured, mean))


@app.command()
def reprocess(names: removals.Names = None, *, dry_run: DryRun = False) -> Outcome:
    """Read stored files again, as after an update; also those that are in quarantine.

    Without a name, all of them. A file in quarantine that gave no document is read by the next add
    or sync.
    """
    with opened_library() as library:
        if dry_run:
            chosen = tuple(map(library.documents.get, names) if names else library.documents.list())
            data = {"documents": chosen, "dry_run": True}
            return Outcome(data, render.documents(chosen))
        reprocess = partial(library.documents.reprocess, *(names or ()))
        parked = library.documents.quarantined(*(names or ()))
        report = progress.run_with_progress(lambda on_progress: reprocess(on_progress=on_progress))
        waiting = [one for one in parked if not one.document_id]
        later = f"The next add or sync reads {counted(len(waiting), 'file')} in quarantine again."
        blocks = [*render.report(report), *([verbatim(later)] if waiting else [])]
        return Outcome(report, blocks, render.report_code(report))


@app.command()
def formats() -> Outcome:
    """List the formats that can be read here."""
    found = facet.Documents.formats()
    return Outcome(found, render.formats(found))


def _bounds(span: str, length: int) -> tuple[int, int]:
    """Read ``A:B``.

    Raises:
        UsageError: it is not two numbers, or lies outside the text.
    """
    start, colon, end = span.partition(":")
    if not (colon and start.isdecimal() and end.isdecimal()):
        raise UsageError(f"--span wants two numbers as A:B, not {span!r}.")
    if not int(start) < int(end) <= length:
        raise UsageError(
            f"--span {span} lies outside the text, which has {counted(length, 'character')}.",
            hint="A citation names its characters as a–b: write them as A:B.",
        )
    return int(start), int(end)
