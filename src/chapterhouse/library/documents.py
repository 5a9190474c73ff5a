"""Documents: in and out of a library, and looked at."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from chapterhouse import lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import named_scope
from chapterhouse.connectors.folder import GIVEN, is_there
from chapterhouse.errors import NotFoundError, RefusedError, RejectedError, UsageError
from chapterhouse.retrieval.rerank import fold_tag, tags_of
from chapterhouse.text.naming import valid_name
from chapterhouse.types import (
    AddReport,
    Body,
    Chunk,
    Document,
    FileRecord,
    FormatSupport,
    Job,
    ListedFile,
    Listing,
    PassagePlace,
    Progress,
    Removal,
    Scope,
)

if TYPE_CHECKING:
    from chapterhouse.agents import council_model, personas
    from chapterhouse.ingest import (
        find,
        ingest,
        outcomes,
        remove,
        uploads,
    )
    from chapterhouse.library import long_work
    from chapterhouse.reading import formats, page_views
else:
    council_model = lazy("chapterhouse.agents.council_model")
    personas = lazy("chapterhouse.agents.personas")
    find = lazy("chapterhouse.ingest.find")
    long_work = lazy("chapterhouse.library.long_work")
    ingest = lazy("chapterhouse.ingest.ingest")
    outcomes = lazy("chapterhouse.ingest.outcomes")
    remove = lazy("chapterhouse.ingest.remove")
    uploads = lazy("chapterhouse.ingest.uploads")
    formats = lazy("chapterhouse.reading.formats")
    page_views = lazy("chapterhouse.reading.page_views")


class Documents:
    """The documents of a workspace.

    A name, a shelf or a number that cannot be used is a UsageError, and what is not there a
    NotFoundError; nothing was done then.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def add(
        self,
        *paths: Path | str,
        shelf: str = "",
        on_progress: Callable[[Progress], None] | None = None,
        dry_run: bool = False,
    ) -> AddReport:
        """Read the new and changed files below ``paths`` and index them.

        Folders are remembered as sources, which ``sources.sync`` follows.

        Args:
            shelf: The shelf to put them on, beside those they are on already; empty for where they
                are, or the default one.

        Returns:
            How each file ended. After an interrupt ``interrupted`` is set; what was reported is
            safe, and the same call does the rest.
        """
        wanted = self._wanted(paths, shelf)
        if dry_run:
            maximum = self._runtime.maximum_bytes
            return ingest.preview(wanted, store=self._runtime.store, maximum_bytes=maximum)
        order = long_work.adding(wanted, shelf)
        report: AddReport = long_work.do_here(order, self._runtime, on_progress or _ignore)
        return report

    def add_later(self, *paths: Path | str, shelf: str = "") -> Job:
        """Leave an ``add`` to the next worker; return its job, or the equal one that waits."""
        order = long_work.adding(self._wanted(paths, shelf), shelf)
        return long_work.enqueue(order, self._runtime)

    def _wanted(self, paths: Sequence[Path | str], shelf: str) -> Sequence[Path]:
        if not paths:
            raise UsageError("Nothing to add.", hint="Name a file or a folder.")
        if shelf:
            self.require_own_shelf(shelf)
        return [Path(path).expanduser() for path in paths]

    def add_text(self, text: str, *, title: str = "", shelf: str = "") -> AddReport:
        """Store text that came from no file, and index it; the same again changes nothing.

        Args:
            text: Plain text or Markdown. The library keeps it: there is no file to read again.
            shelf: The shelf to put it on, beside those it is on already; empty: as it is, or for
                a new one the usual shelf.

        Raises:
            RejectedError: it is longer than the settings let a file be.
        """
        if not text.strip():
            raise UsageError("There is no text to add.")
        if shelf:
            self.require_own_shelf(shelf)
        maximum = self._runtime.settings.reading.maximum_megabytes
        if len(text) > maximum * 2**20:
            raise RejectedError("too-large", f"The text has over {maximum} megabytes.")
        work = self._runtime.work(_ignore, shelf)
        report = ingest.add_text(text, " ".join(title.split()), work)
        self._runtime.catch_up(report)
        return report

    def add_bytes(self, data: bytes, name: str, *, shelf: str = "") -> AddReport:
        """Store the bytes of a file that is not on this disk; the same again changes nothing.

        Args:
            data: As they are in the file. The library keeps them: there is no file to read again.
            name: The file's name, whose ending says the format where the bytes do not.
            shelf: The shelf to put it on, beside those it is on already.

        Raises:
            RejectedError: there are more than the settings let a file have.
        """
        called = _file_name(name)
        if not data:
            raise UsageError("The file is empty.")
        if shelf:
            self.require_own_shelf(shelf)
        if len(data) > self._runtime.maximum_bytes:
            maximum = self._runtime.settings.reading.maximum_megabytes
            raise RejectedError("too-large", f"{called} has over {maximum} megabytes.")
        report = ingest.add_bytes(data, called, self._runtime.work(_ignore, shelf))
        self._runtime.catch_up(report)
        return report

    def receive(self) -> AbstractContextManager["uploads.Upload"]:
        """Give an upload to write the bytes of a file to, which ``upload_later`` then takes.

        What is not finished is deleted.
        """
        has_job = partial(long_work.has_upload_job, self._runtime.store.jobs())
        return uploads.receive(
            self._runtime.folder,
            self._runtime.store.shared_files(),
            self._runtime.maximum_bytes,
            has_job,
        )

    def upload_later(
        self, file: str, name: str, *, shelf: str = "", retain_both: bool = False
    ) -> Job:
        """Leave a received file to the next worker; return its job.

        It replaces what was sent to the shelf under this name before: ``replaced`` in the result
        of the job names it.

        Args:
            file: What ``Upload.finish`` returned: it is safe on disk.
            name: The file's name, whose ending says the format where the bytes do not; with
                folders before it, as ``papers/2026/report.pdf``, files of one name are several.
            retain_both: Whether what was sent under this name before stays, too.
        """
        order = long_work.uploading(file, _file_name(name), shelf, retain_both=retain_both)
        if shelf:
            self.require_own_shelf(shelf)
        return long_work.enqueue(order, self._runtime)

    def reprocess_later(self, *document_ids: str) -> Job:
        """Leave reading documents again to the next worker; return the job."""
        documents = [self.by_id(one) for one in document_ids]
        self.release_quarantined(*(one.location for one in documents))
        order = long_work.reprocessing([one.id for one in documents])
        return long_work.enqueue(order, self._runtime)

    def set_shelves(self, document_id: str, shelves: Sequence[str]) -> Document:
        """Say on which shelves a document is that came from no source; return it.

        Raises:
            RefusedError: it belongs to a source, which says on which shelf its documents are.
        """
        document = self.by_id(document_id)
        if not document.location.startswith(GIVEN):
            raise RefusedError(
                f"The document '{document_id}' follows a source, which says its shelf.",
                hint="Change the source: chapterhouse source list",
            )
        if not shelves:
            raise UsageError("A document needs a shelf.", hint="Remove it to have it on none.")
        for shelf in shelves:
            self.require_own_shelf(shelf)
        self._runtime.store.set_shelves(document_id, sorted(set(shelves)))
        self._runtime.catch_up()
        return self.by_id(document_id)

    def take_off(
        self, document_id: str, shelves: Collection[str], *, prove: bool = True
    ) -> Removal:
        """Remove a document for those who see only some shelves; on others it stays.

        Returns:
            The same as ``remove``; what is on other shelves does not count as found.
        """
        document = self.by_id(document_id)
        if set(document.shelves) <= set(shelves):
            return self.remove(document_id, prove=prove)
        removal = remove.take_off(document, shelves, self._runtime.store)
        return self._searched(removal, prove=prove)

    def require_own_shelf(self, shelf: str) -> None:
        """Refuse a shelf that is the image of folders."""
        _require_shelf(shelf)
        if shelf in personas.Personas(self._runtime).names():
            raise UsageError(
                f"The shelf '{shelf}' belongs to the persona of that name.",
                hint=f"Put files in their folder: chapterhouse persona update {shelf} --file PATH",
            )
        if council_model.is_council_shelf(shelf):  # likewise
            raise UsageError(
                f"The shelf '{shelf}' is named like those that belong to councils.",
                hint="Link a folder instead: chapterhouse source add PATH --council COUNCIL",
            )

    def remove(
        self,
        *names: str,
        missing: bool = False,
        dry_run: bool = False,
        prove: bool = True,
    ) -> Removal:
        """Remove documents from the library for good; their files stay where they are.

        Remembered answers that rest on them go, too. The indexes and the database are written
        anew, and every file of the workspace is searched for what was removed.

        Args:
            names: Ids, unique beginnings of ids, sources or file names.
            missing: Also remove every document whose file is gone.
            prove: Whether what was removed is taken out of every file of the library, and searched
                for, at once: that takes seconds in a large one. No search finds it in any case;
                its words leave the files with the next removal, or with ``reindex``.
        """
        if not names and not missing:
            raise UsageError("Nothing to remove.", hint="Name a document, or use --missing.")
        documents = {document.id: document for document in map(self.get, names)}
        if missing:
            documents |= {
                document.id: document for document in self.list() if not is_there(document.location)
            }
        if dry_run or not documents:
            return Removal(tuple(documents[name] for name in sorted(documents)))
        removal = remove.remove_documents(sorted(documents), store=self._runtime.store)
        for name in removal.traces.uploads:
            uploads.drop(self._runtime.folder, self._runtime.store.shared_files(), name)
        return self._searched(removal, prove=prove)

    def _searched(self, removal: Removal, *, prove: bool) -> Removal:
        if prove:
            return replace(removal, search=self._runtime.erase([removal]))
        self._runtime.catch_up()
        return removal

    def in_place(self, documents: Sequence[Document]) -> Sequence[Document]:
        """Return those of ``documents`` whose files are where they were: ``add`` reads them."""
        return [
            document
            for document in documents
            if not document.location.startswith(GIVEN) and is_there(document.location)
        ]

    def reprocess(
        self, *names: str, on_progress: Callable[[Progress], None] | None = None
    ) -> AddReport:
        """Read documents again, all of them when none is named: from the folder, else as stored.

        Files in quarantine are tried again: those that gave no document by the next ``add`` or
        ``sync``.
        """
        alone = [one for one in self.release_quarantined(*names) if not one.document_id]
        chosen = [name for name in names if not any(outcomes.fits(one, name) for one in alone)]
        if names and not chosen:
            return AddReport(())
        order = long_work.reprocessing([self.get(name).id for name in chosen])
        report: AddReport = long_work.do_here(order, self._runtime, on_progress or _ignore)
        return report

    def quarantined(self, *names: str) -> tuple[FileRecord, ...]:
        """Return the files that ended their reader or its process three times.

        Args:
            names: Sources, locations or file names; all such files when none is named.
        """
        return outcomes.parked_files(names, self._runtime.store)

    def release_quarantined(self, *names: str) -> tuple[FileRecord, ...]:
        """Let files in quarantine be read again; return them. Names as for ``quarantined``."""
        found = self.quarantined(*names)
        outcomes.release(found, self._runtime.store)
        return found

    def list(
        self, shelves: Sequence[str] | None = None, *, after: str = "", text: str = ""
    ) -> Iterator[Document]:
        """Yield the documents on any of ``shelves``, all when None, in order of id.

        Args:
            after: Only those whose ids come behind this one.
            text: Only those that have it in title, source or author, whatever its case.
        """
        return self._runtime.store.documents(named_scope(shelves), after, text)

    def listed(self, listing: Listing) -> tuple[tuple[ListedFile, ...], int]:
        """Return a part of what a listing lists, and how much that is in all.

        Files that gave no document are on no shelf: only who may see everything gets them.
        """
        tag, scope = fold_tag(listing.tag), named_scope([listing.shelf] if listing.shelf else None)
        among = {one.id for one in self.list() if tag in tags_of(one)} if tag else None
        return self._runtime.store.listed_files(listing, scope, among)

    def folders(self) -> Mapping[str, int]:
        """Count the documents, and files that gave none, that stand in each folder itself."""
        return self._runtime.store.folders(Scope.everything())

    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """Count documents by ``format`` and ``shelf``, and files by ``status``."""
        return self._runtime.store.counts(Scope.everything())

    def by_id(self, document_id: str) -> Document:
        """Return the document with exactly this id."""
        document = self._runtime.store.document(document_id, Scope.everything())
        if document is None:
            raise NotFoundError(f"There is no document '{document_id}'.")
        return document

    def by_ids(self, document_ids: Iterable[str]) -> Mapping[str, Document]:
        """Return those of some documents that there are, by id."""
        return self._runtime.store.documents_among(document_ids, Scope.everything())

    def original(self, document_id: str) -> bytes:
        """Return the bytes of the file that a document was read from, as they were then.

        Raises:
            CorruptLibraryError: they are damaged.
        """
        document = self.by_id(document_id)
        content = self._runtime.store.content(document.sha256, Scope.everything())
        if content is None:
            raise NotFoundError(
                f"The library has no bytes of the file of '{document_id}'.",
                hint="If other machines have larger files in object storage, set store.objects here"
                " as well. Else add the file again.",
            )
        return content

    def original_link(self, document_id: str) -> str:
        """Return an address by which anyone can read a document's file for five minutes.

        Empty where the file is not in object storage; what is there is not compared with its hash.
        """
        return self._runtime.store.link(self.by_id(document_id).sha256, Scope.everything())

    def page_image(self, document_id: str, page: int) -> bytes:
        """Return a page of a document that is a PDF, as a PNG.

        Raises:
            NotFoundError: it is none, or has no such page.
            RejectedError: the page cannot be drawn.
        """
        document = self.by_id(document_id)
        png = b""
        if document.format == "pdf":
            load = partial(self.original, document_id)
            png = self._runtime.page_views.image(document.sha256, page, load)
        if not png:
            raise NotFoundError(f"'{document_id}' has no page {page} that could be drawn.")
        return png

    def locate(self, document_id: str, start: int, end: int) -> tuple[PassagePlace, ...]:
        """Return where a span of a document's text stands, on each of its pages, or why not.

        What has no pages has no places.
        """
        document, body = self.by_id(document_id), self.body(document_id)
        if not 0 <= start < end <= len(body.text):
            raise UsageError(f"'{document_id}' has no text from {start} to {end}.")
        passages = page_views.passages_of(body, start, end)
        if document.format != "pdf":
            reason = f"No picture can be made of a {document.page_kind or 'page'}."
            return tuple(PassagePlace(one.page, reason=reason) for one in passages)
        try:
            return self._runtime.page_views.places(self.original(document_id), passages)
        except (NotFoundError, RejectedError) as error:  # its bytes are gone, or cannot be shown
            return tuple(PassagePlace(one.page, reason=error.message) for one in passages)

    def get(self, name: str) -> Document:
        """Return the document that ``name`` means: an id, its beginning, a source, a file name."""
        return find.find_document(name, self._runtime.store)

    def archive(self, name: str) -> FileRecord | None:
        """Return the unpacked archive that a source, a path or a file name means, if it is one."""
        return find.find_archive(name, self._runtime.store)

    def body(self, document_id: str) -> Body:
        """Return the canonical text of a document and its shape."""
        body = self._runtime.store.body(document_id, Scope.everything())
        if body is None:
            raise NotFoundError(f"There is no document '{document_id}'.")
        return body

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """Return the chunks of a document in order; none where there is no such document."""
        return self._runtime.store.chunks_of(document_id, Scope.everything())

    def files(self, inside: str = "") -> Iterator[FileRecord]:
        """Yield what became of every file ever looked at, in order of source.

        Args:
            inside: The location of an archive or a message: only of the files in it.
        """
        found = self._runtime.store.files(inside)
        return (record for record in found if record.location != inside)

    @staticmethod
    def formats() -> tuple[FormatSupport, ...]:
        """Return every format, how it is read, and whether that is possible here."""
        return formats.supported_formats()


def _require_shelf(name: str) -> None:
    if not valid_name(name):
        raise UsageError(
            f"'{name}' cannot be the name of a shelf.",
            hint="Use letters, digits, '-' and '_', starting with a letter or digit.",
        )


def _file_name(name: str) -> str:
    """Return the name of a file that is on no disk of ours, below the folders it was sent with."""
    parts = (" ".join(part.split()) for part in name.split("/"))
    called = "/".join(part for part in parts if part not in {"", ".", ".."})
    if not called:
        raise UsageError("A file needs a name.", hint="Name it like: report.pdf")
    return called


def _ignore(_: Progress) -> None:
    """Take no notice of progress."""
