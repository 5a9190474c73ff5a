"""Library: one method for each thing a user does, and nothing else.

Interfaces call nothing below it; ``wiring`` makes its parts.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from chapterhouse.agents.council_model import is_council_shelf
from chapterhouse.answering.bundle import Bundle
from chapterhouse.answering.cite import CitationCheck, Holdings, recheck
from chapterhouse.asking import (
    checked_query,
    context_sources_of,
    sources_of,
    token_counter,
)
from chapterhouse.connectors.folder import is_there
from chapterhouse.errors import NotFoundError, RejectedError, UsageError
from chapterhouse.files import home_folder
from chapterhouse.ingest import doctor, ingest, remove, reprocess
from chapterhouse.ingest.compare import compare
from chapterhouse.ingest.find import find_archive, find_document
from chapterhouse.ingest.look import Work
from chapterhouse.ingest.preview import preview
from chapterhouse.ingest.privacy import check_privacy, make_private
from chapterhouse.ports.memories import Memories
from chapterhouse.ports.models import LanguageModel
from chapterhouse.reading.formats import supported_formats
from chapterhouse.replying.bundling import bundle_of
from chapterhouse.replying.metered import Metered
from chapterhouse.replying.now import run_now
from chapterhouse.replying.opening import open_parts
from chapterhouse.replying.parts import Parts
from chapterhouse.replying.put import Counter, complete, put
from chapterhouse.replying.request import Choices
from chapterhouse.replying.threads import settle
from chapterhouse.retrieval.candidates import Sources
from chapterhouse.retrieval.context import build_context, repack
from chapterhouse.retrieval.exhaustive import find_all
from chapterhouse.retrieval.method import Method
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.searching import method_for, packing_for
from chapterhouse.settings import EmbeddingSettings, Settings, load_settings
from chapterhouse.telemetry import retrieval_span, sharing_content, tell_hits
from chapterhouse.text.counting import counted
from chapterhouse.text.naming import valid_name
from chapterhouse.types import (
    DEFAULT_SHELF,
    AddReport,
    Answer,
    Body,
    Check,
    Chunk,
    Comparison,
    Context,
    Document,
    Draft,
    EncoderStatus,
    FileRecord,
    FollowUp,
    FormatSupport,
    LibraryStatus,
    MeetingEvent,
    Minutes,
    Progress,
    Query,
    Removal,
    SearchResult,
    Status,
    Turn,
)
from chapterhouse.wiring import (
    Engines,
    make_home,
    open_engines,
    open_house,
    preparer,
    reading_limits,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from chapterhouse.agents.council import Council
    from chapterhouse.agents.councils import Councils
    from chapterhouse.agents.personas import House
    from chapterhouse.council.meeting.session import CouncilContext, MeetingOptions, Plan
    from chapterhouse.council.minutes.bundle import MinutesBundle

_NO_CHOICES: Final = Choices()
_SETTLES: Final = 2.0  # seconds
_SOON: Final = 1_000  # chunks of which an encoder's vectors are waited for
_INDEXED_AT_ONCE: Final = 1_000  # documents of an ``add``
_AHEAD: Final = 8  # files being read while earlier ones are stored


class Library:
    """The documents of one workspace. Close it, or use it as a context manager.

    Safe to share between threads; several processes may open the same one.
    """

    def __init__(self, home: Path, workspace: str, settings: Settings, engines: Engines) -> None:
        self.home = home
        self.workspace = workspace
        self.settings = settings
        self._engines = engines

    @classmethod
    def open(
        cls,
        home: Path | str | None = None,
        workspace: str = "default",
        *,
        create: bool = True,
    ) -> Self:
        """Open the library of a workspace.

        Args:
            home: Its home folder; ``$CHAPTERHOUSE_HOME`` or ``~/Chapterhouse`` when None.
            workspace: Name of the workspace.
            create: Make what is not there yet.

        Raises:
            UsageError: the workspace's name or a setting cannot be used.
            NotFoundError: it is not there and ``create`` is False.
            NewerLibraryError: a newer Chapterhouse wrote it.
            CorruptLibraryError: it is something else, or damaged.
        """
        folder = home_folder(home)
        if not valid_name(workspace):
            raise UsageError(
                f"'{workspace}' cannot be the name of a workspace.",
                hint="Use letters, digits, '-' and '_', starting with a letter or digit.",
            )
        own = folder / "workspaces" / workspace
        if not create and not (own / "library.db").exists():
            raise NotFoundError(
                f"There is no library in {folder} (workspace '{workspace}').",
                hint="Make one with: chapterhouse init, or add documents: chapterhouse add PATH",
            )
        settings = load_settings(folder, own)
        make_home(folder, own)
        return cls(folder, workspace, settings, open_engines(own, settings))

    @classmethod
    @contextmanager
    def of_files(
        cls,
        paths: Sequence[Path | str],
        home: Path | str | None = None,
        workspace: str = "default",
        *,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Iterator[Self]:
        """Open a library of some files alone, under the settings of a home.

        It lies in a temporary folder, of which nothing stays behind.

        Args:
            paths: Files and folders; at least one.
            home: Whose settings hold, as in ``open``; nothing is written there.
            workspace: Likewise.
            on_progress: Called after each file.

        Raises:
            UsageError: no path was given, or a setting cannot be used.
            NotFoundError: a path is not there.
            RejectedError: a file cannot be read.
        """
        with cls.temporary(home, workspace) as library:
            report = library.add(*paths, on_progress=on_progress)
            if report.interrupted:
                raise KeyboardInterrupt
            _require_read(report)
            if library.status().chunks <= _SOON:
                library.embed_pending()
            yield library

    @classmethod
    @contextmanager
    def temporary(
        cls, home: Path | str | None = None, workspace: str = "default"
    ) -> Iterator[Self]:
        """Open an empty library under the settings of a home; nothing of it stays behind.

        Raises:
            UsageError: a setting cannot be used.
        """
        folder = home_folder(home)
        settings = load_settings(folder, folder / "workspaces" / workspace)
        with TemporaryDirectory(prefix="chapterhouse-", ignore_cleanup_errors=True) as name:
            own = Path(name) / "workspaces" / "default"
            make_home(Path(name), own)
            with cls(Path(name), "default", settings, open_engines(own, settings)) as library:
                yield library

    def close(self) -> None:
        """Stop the reading processes and close the database and what models hold open."""
        settle(_SETTLES)  # an interrupted answer may still be reading
        self._engines.close()

    @property
    def folder(self) -> Path:
        """The folder of the workspace."""
        return self.home / "workspaces" / self.workspace

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- documents in and out ------------------------------------------------------------------

    def add(
        self,
        *paths: Path | str,
        shelf: str = DEFAULT_SHELF,
        on_progress: Callable[[Progress], None] | None = None,
        dry_run: bool = False,
    ) -> AddReport:
        """Read the new and changed files below ``paths`` and index them.

        Args:
            paths: Files and folders; at least one.
            shelf: The shelf to put them on, beside those they are on already.
            on_progress: Called after each file, once it is safe on disk.
            dry_run: Only say what would be read.

        Returns:
            How each file ended. After an interrupt ``interrupted`` is set; what was reported is
            safe, and the same call does the rest.

        Raises:
            UsageError: no path was given, or the shelf's name cannot be used.
            NotFoundError: a path is not there; nothing was done.
        """
        if not paths:
            raise UsageError("Nothing to add.", hint="Name a file or a folder.")
        self._require_own_shelf(shelf)
        wanted = [Path(path).expanduser() for path in paths]
        if dry_run:
            maximum = self.settings.reading.maximum_megabytes * 2**20
            return preview(wanted, store=self._engines.store, maximum_bytes=maximum)
        report = ingest.add(
            wanted,
            store=self._engines.store,
            read=self._engines.pool.submit,
            prepare=preparer(self.settings, self._engines.embedder),
            shelf=shelf,
            workers=_AHEAD,
            maximum_bytes=self.settings.reading.maximum_megabytes * 2**20,
            on_progress=self._indexing(on_progress or _ignore),
        )
        self._catch_up()
        return report

    def _indexing(self, on_progress: Callable[[Progress], None]) -> Callable[[Progress], None]:
        """Bring the indexes up to date now and then: a stop leaves little to the first question."""
        changed = count(1)

        def follow(progress: Progress) -> None:
            on_progress(progress)
            told = progress.outcome
            if told is not None and told.changed and next(changed) % _INDEXED_AT_ONCE == 0:
                self._catch_up()

        return follow

    def add_text(self, text: str, *, title: str = "", shelf: str = DEFAULT_SHELF) -> AddReport:
        """Store text that came from no file, and index it; the same again changes nothing.

        Args:
            text: Plain text or Markdown. The library keeps it: there is no file to read again.
            title: Its title; empty for its first heading.
            shelf: The shelf to put it on, beside those it is on already.

        Raises:
            UsageError: there is no text, or the shelf's name cannot be used.
            RejectedError: it is longer than the settings let a file be.
        """
        if not text.strip():
            raise UsageError("There is no text to add.")
        self._require_own_shelf(shelf)
        maximum = self.settings.reading.maximum_megabytes
        if len(text) > maximum * 2**20:
            raise RejectedError("too-large", f"The text has over {maximum} megabytes.")
        prepare = preparer(self.settings, self._engines.embedder)
        read = self._engines.pool.submit
        work = Work(self._engines.store, read, prepare, shelf, 1, _ignore, Event())
        report = ingest.add_text(text, " ".join(title.split()), work)
        self._catch_up()
        return report

    def _require_own_shelf(self, shelf: str) -> None:
        """Refuse a shelf that is the image of folders.

        Raises:
            UsageError: it is, or its name cannot be used.
        """
        _require_shelf(shelf)
        if shelf in self.personas.names():
            raise UsageError(
                f"The shelf '{shelf}' belongs to the persona of that name.",
                hint=f"Put files in their folder: chapterhouse persona train {shelf} --file PATH",
            )
        if is_council_shelf(shelf):  # likewise
            raise UsageError(
                f"The shelf '{shelf}' is named like those that belong to councils.",
                hint="Link a folder instead: chapterhouse council docs link COUNCIL PATH",
            )

    def remove(self, *names: str, missing: bool = False, dry_run: bool = False) -> Removal:
        """Remove documents from the library for good; their files stay where they are.

        Remembered answers that rest on them go, too. The indexes are built anew, and every file
        of the workspace is searched for what was removed, as the receipt says.

        Args:
            names: Ids, unique beginnings of ids, sources or file names.
            missing: Also remove every document whose file is gone.
            dry_run: Only say what would be removed.

        Raises:
            NotFoundError: a name fits nothing; nothing was removed.
            UsageError: a name fits several documents, or nothing was named.
        """
        if not names and not missing:
            raise UsageError("Nothing to remove.", hint="Name a document, or use --missing.")
        documents = {document.id: document for document in map(self.document, names)}
        if missing:
            documents |= {
                document.id: document
                for document in self.documents()
                if not is_there(document.location)
            }
        if dry_run or not documents:
            return Removal(tuple(documents[name] for name in sorted(documents)))
        return remove.remove_for_good(
            sorted(documents),
            store=self._engines.store,
            folder=self.folder,
            rebuild=self._rebuild,
        )

    def reprocess(
        self, *names: str, on_progress: Callable[[Progress], None] | None = None
    ) -> AddReport:
        """Read documents again, all of them when none is named: from the folder, else as stored.

        Raises:
            NotFoundError: a name fits nothing.
            UsageError: a name fits several documents.
        """
        report = reprocess.reprocess(
            [self.document(name).id for name in names],
            store=self._engines.store,
            read=self._engines.pool.submit,
            prepare=preparer(self.settings, self._engines.embedder),
            workers=_AHEAD,
            maximum_bytes=self.settings.reading.maximum_megabytes * 2**20,
            on_progress=on_progress or _ignore,
        )
        self._catch_up()
        return report

    # --- asking --------------------------------------------------------------------------------

    @property
    def method(self) -> Method:
        """Return the stages by which this library retrieves."""
        return self._method(self.settings, self._engines.models.named())

    def _method(self, settings: Settings, model: LanguageModel | None) -> Method:
        if model is not None and settings.expansion.model:  # a smaller one rewrites questions
            smaller = self._engines.models.named(settings.expansion.model)
            payer = model if isinstance(model, Metered) else None
            model = Metered(smaller, payer) if smaller else None
        return method_for(
            settings,
            find_aliases=self._engines.aliases.find,
            reranker=self._engines.reranker,
            language_model=model,
            now=time.time,
        )

    def search(
        self,
        text: str,
        *,
        shelves: Sequence[str] = (),
        limit: int | None = None,
        per_document: int | None = None,
        tags: Sequence[str] = (),
        method: Method | None = None,
    ) -> SearchResult:
        """Return the chunks that answer ``text`` best.

        Args:
            text: A question or words; "quoted phrases", identifiers and file names are found to
                the letter.
            shelves: Only documents on one of these; all when empty.
            limit: Number of hits, 1 to 1,000; the setting when None.
            per_document: At most so many of one document, 0 for no cap; the setting when None.
            tags: What the asker knows about; documents with one of them rank a little higher.
            method: The stages of retrieval; the library's own when None.

        Raises:
            UsageError: the question is empty or a number is out of range.
        """
        query = self._query(Query(text, tuple(shelves), tags=tuple(tags)), limit, per_document)
        return self._retrieve(query, method or self.method)

    def search_all(self, text: str, *, shelves: Sequence[str] = ()) -> SearchResult:
        """Return every document in which all words of ``text`` stand, by its best chunk.

        Raises:
            UsageError: the question is empty.
        """
        query = self._query(Query(text, tuple(shelves)))
        return find_all(query, sources_of(self._engines))

    def context(
        self,
        question: str,
        *,
        maximum: int | None = None,
        shelves: Sequence[str] = (),
        tags: Sequence[str] = (),
    ) -> Context:
        """Return excerpts that answer ``question`` and fit ``maximum`` tokens.

        Args:
            question: A question.
            maximum: Tokens; the setting when None.
            shelves: Only documents on one of these; all when empty.
            tags: What the asker knows about.

        Raises:
            UsageError: the question is empty or a number is out of range.
        """
        packing = self.settings.packing
        budget = packing.maximum if maximum is None else maximum
        if budget < 1:
            raise UsageError(f"A context needs at least 1 token, not {budget}.")
        query = self._query(Query(question, tuple(shelves), tags=tuple(tags)), packing.hits, 0)
        lookup = context_sources_of(self._engines, self.settings.tokens)
        found = self._retrieve(query, self.method)
        return build_context(found, lookup, budget, packing_for(packing, lookup.count_tokens))

    def repack(self, context: Context, maximum: int) -> Context:
        """Fit a context to another number of tokens, without searching again.

        Raises:
            UsageError: the number is below 1.
        """
        if maximum < 1:
            raise UsageError(f"A context needs at least 1 token, not {maximum}.")
        count = token_counter(self.settings.tokens, self._engines.table)
        return repack(context, count, maximum, packing_for(self.settings.packing, count))

    def ask(
        self,
        question: str,
        *,
        persona: str = "",
        shelves: Sequence[str] = (),
        tags: Sequence[str] = (),
        words: int | None = None,
        model: str | None = None,
        remember: bool = True,
        use_kept: bool = True,
        search_text: str = "",
        in_conversation: bool = False,
        on_draft: Callable[[Draft], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Answer:
        """Answer from the documents, every sentence with a verified citation, or say why not.

        Args:
            question: A question.
            persona: Who is asked: a slug, its beginning, or a name. They read their own shelves,
                brought up to date with their folders first. Empty for the library itself.
            shelves: Only documents on one of these; all when empty. Not with a persona.
            tags: What the asker knows about.
            words: At most so many words without a model; the setting when None.
            model: A profile of the settings, ``none`` for quotations alone; when None the
                persona's, else the library's.
            remember: Whether question and answer go into the memory, if the settings have one.
            use_kept: Whether an answer may be given that was written before.
            search_text: What is searched for instead of the question, as ``follow_up`` says.
            in_conversation: Whether a model is reminded of earlier answers, unless the settings
                say otherwise.
            on_draft: Is given what a model writes as it comes, checked sentence by sentence.
            on_progress: Called for each file that is read first.

        Raises:
            UsageError: the question is empty, a number is out of range, there is no such profile.
            NotFoundError: there is no such persona or shelf.
            MissingExtraError: the model's extra is not installed.
        """
        return run_now(
            self.ask_async(
                question,
                persona=persona,
                choices=Choices(
                    tuple(shelves),
                    tuple(tags),
                    words,
                    model,
                    remember,
                    use_kept,
                    search_text,
                    in_conversation,
                ),
                on_draft=on_draft,
                on_progress=on_progress,
            )
        )

    async def ask_async(
        self,
        question: str,
        *,
        persona: str = "",
        choices: Choices = _NO_CHOICES,
        on_draft: Callable[[Draft], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Answer:
        """Answer as ``ask`` does, without blocking where a model is waited for."""
        return await put(question, persona, choices, self._counter(), on_draft, on_progress)

    def follow_up(
        self,
        question: str,
        before: Sequence[Turn],
        *,
        persona: str = "",
        shelves: Sequence[str] = (),
        model: str | None = None,
        remember: bool = True,
        certain: bool = False,
    ) -> FollowUp:
        """Return a question of a conversation as it can be understood by itself, to be asked.

        A model rewrites it; without one, words of the last turn are carried over, where it may go
        on from that and does not find its subject by itself.

        Args:
            question: As it is asked.
            before: The turns before it, oldest first, as they were understood.
            persona: As in ``ask``.
            shelves: As in ``ask``.
            model: As in ``ask``.
            remember: As in ``ask``; without it nothing is recalled either.
            certain: Whether it is known to go on from the last turn.

        Raises:
            UsageError, NotFoundError, MissingExtraError: as ``ask``.
        """
        choices = Choices(
            shelves=tuple(shelves), model=model, remember=remember, in_conversation=True
        )
        counter = self._counter()
        return run_now(complete(question, before, persona, choices, counter, certain=certain))

    def convene(
        self,
        council: "str | Council",
        question: str,
        *,
        choices: "MeetingOptions | None" = None,
        on_event: Callable[[MeetingEvent], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Minutes:
        """Put a question to a council and return the minutes of its meeting.

        Args:
            council: A slug, its beginning or a display name; or one that was built in Python.
            question: What is to be discussed.
            choices: What the caller says about this meeting.
            on_event: Is told what happens while it happens: who speaks, and what was said.
            on_progress: Called for each file that is read first.

        Raises:
            CouncilConfigError: the council cannot meet, with everything that is wrong.
            NotFoundError: there is no such council.
            UsageError: the question is empty or too long, or there is no such profile.
            MissingExtraError: a model's extra is not installed.
        """
        return run_now(
            self.convene_async(
                council, question, choices=choices, on_event=on_event, on_progress=on_progress
            )
        )

    async def convene_async(
        self,
        council: "str | Council",
        question: str,
        *,
        choices: "MeetingOptions | None" = None,
        on_event: Callable[[MeetingEvent], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Minutes:
        """Convene as ``convene`` does, without blocking where members are waited for."""
        from chapterhouse.council.meeting.convene import convene  # noqa: PLC0415 - only with councils

        return await convene(
            council, question, choices, self._council_context(), on_event, on_progress
        )

    def plan_council(
        self, council: "str | Council", question: str, *, choices: "MeetingOptions | None" = None
    ) -> "Plan":
        """Return what every member would be told, without asking a model; errors as ``convene``."""
        from chapterhouse.council.meeting.convene import planned  # noqa: PLC0415 - likewise

        return run_now(planned(council, question, choices, self._council_context()))

    def bundle(self, answer: Answer) -> Bundle:
        """Return an answer with all that another person needs to check it."""
        config = self.personas.load(answer.persona).config if answer.persona else None
        return bundle_of(answer, self._engines, self.settings, config, self._parts().versions)

    def recheck(self, answer: Answer) -> tuple[CitationCheck, ...]:
        """Say for each citation of an old answer what has become of its source.

        Personas on whose shelves the documents stand read what changed in their folders first.
        """
        store = self._engines.store
        personas = set(self.personas.names())
        cited = store.documents_among(sorted({c.document_id for c in answer.citations}))
        for slug in sorted(personas & {name for one in cited.values() for name in one.shelves}):
            self.personas.refresh(slug)
        return recheck(answer, Holdings(store.document, store.documents, store.body))

    def bundle_minutes(self, minutes: Minutes) -> "MinutesBundle":
        """Return minutes with all that another person needs to check them."""
        from chapterhouse.council.minutes.bundle import (  # noqa: PLC0415 - only with councils
            minutes_bundle_of,
        )

        return minutes_bundle_of(minutes, self._council_context(), self._engines)

    def recheck_minutes(self, minutes: Minutes) -> tuple[CitationCheck, ...]:
        """Say for each citation of old minutes what has become of its source.

        Personas and councils on whose shelves the documents stand read what changed first.
        """
        from chapterhouse.council.minutes.bundle import (  # noqa: PLC0415 - only with councils
            recheck_minutes,
        )

        return recheck_minutes(minutes, self._council_context(), self._engines)

    @property
    def memories(self) -> Memories:
        """What was asked and answered."""
        return self._engines.store.memories()

    @cached_property
    def personas(self) -> "House":
        """The personas, and all that is done with them."""
        return open_house(self.home, self.workspace, self._engines, self.settings, self._catch_up)

    @cached_property
    def councils(self) -> "Councils":
        """The councils, and all that is done with them but meeting."""
        from chapterhouse.council.opening import open_councils  # noqa: PLC0415 - only with councils

        return open_councils(self.personas, self._engines, self.settings, self._catch_up)

    # --- encoders ------------------------------------------------------------------------------

    def embed_pending(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        stop: "Event | None" = None,
    ) -> tuple[EncoderStatus, ...]:
        """Make the vectors that documents lack, and let a complete encoder take over.

        Commands start a process that does this in the background; call it to wait for it. After
        an interrupt the next call goes on where this one was.

        Args:
            on_progress: Called after each document, once its vectors are safe on disk.
            stop: Ends the work after the present documents when set.

        Raises:
            EngineError: the model or its service failed.
            RefusedError: another process is making vectors for this library.
        """
        self._engines.encoders.embed(on_progress or _ignore, stop)
        self._catch_up()
        return self.encoders()

    def has_pending_vectors(self) -> bool:
        """Whether documents lack vectors, or an encoder has still to take over."""
        return self._engines.encoders.is_pending()

    def is_embedding(self) -> bool:
        """Whether some process is making vectors for this library at this moment."""
        return self._engines.encoders.is_embedding()

    def embedding_speed(self) -> tuple[int, float]:
        """Return how many chunks wait for the encoder of the settings, and its chunks a second.

        Raises:
            EngineError: the model or its service failed.
        """
        return self._engines.encoders.speed(time.perf_counter)

    def encoders(self) -> tuple[EncoderStatus, ...]:
        """Return the embedder in use, then the one that is being built, then the previous one."""
        return self._engines.encoders.statuses()

    def previous_encoder(self) -> EmbeddingSettings:
        """Return the settings of the embedder before the present one.

        Raises:
            NotFoundError: there is none.
        """
        return EmbeddingSettings.model_validate_json(self._engines.encoders.previous().settings)

    def return_to_previous_encoder(self) -> None:
        """Use the embedder before the present one again, at once; give up one that is being built.

        The settings have to name it, too: the next opening goes by what they name.

        Raises:
            NotFoundError: there is none.
        """
        self._engines.encoders.back()

    def using_previous_encoder(self) -> "AbstractContextManager[None]":
        """Let the questions of this object use the previous encoder inside a block, to compare it.

        Raises:
            NotFoundError: there is none.
        """
        return self._engines.encoders.using_previous()

    def forget_encoders(self) -> int:
        """Delete the vectors of the previous encoder; return how many documents had them."""
        return self._engines.encoders.forget()

    # --- looking -------------------------------------------------------------------------------

    def documents(self, shelves: Sequence[str] = ()) -> Iterator[Document]:
        """Yield the documents on any of ``shelves``, or all, in order of id."""
        return self._engines.store.documents(shelves)

    def document(self, name: str) -> Document:
        """Return the document that ``name`` means: an id, its beginning, a source, a file name.

        Raises:
            NotFoundError: it fits nothing.
            UsageError: it fits several, or is empty.
        """
        return find_document(name, self._engines.store)

    def archive(self, name: str) -> FileRecord | None:
        """Return the unpacked archive that a source, a path or a file name means, if it is one."""
        return find_archive(name, self._engines.store)

    def body(self, document_id: str) -> Body:
        """Return the canonical text of a document and its shape.

        Raises:
            NotFoundError: there is no such document.
        """
        body = self._engines.store.body(document_id)
        if body is None:
            raise NotFoundError(f"There is no document '{document_id}'.")
        return body

    def compare(self, name: str, *, pages: str = "") -> Comparison:
        """Return a document beside the file that it was read from: what was taken, and what not.

        Args:
            name: As ``document`` takes it.
            pages: Pages of a PDF, as ``3-9``, at most 50; the first ones when empty.

        Raises:
            NotFoundError: it fits nothing, or the bytes of the file are not there any more.
            RejectedError: the file cannot be opened.
            UsageError: the name fits several, or there are no such pages.
        """
        found = self.document(name)
        limits = reading_limits(self.settings)
        return compare(found, self.body(found.id), self._engines.store, limits, pages)

    def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """Return the chunks of a document in order; none where there is no such document."""
        return self._engines.store.chunks_of(document_id)

    def files(self, inside: str = "") -> Iterator[FileRecord]:
        """Yield what became of every file ever looked at, in order of source.

        Args:
            inside: The location of an archive or a message: only of the files in it.
        """
        found = self._engines.store.files(inside)
        return (record for record in found if record.location != inside)

    def status(self) -> LibraryStatus:
        """Count what there is."""
        engines = self._engines
        counts, census = engines.store.counts(), engines.store.census()
        own = self.folder
        return LibraryStatus(
            home=str(self.home),
            workspace=self.workspace,
            documents=census.documents,
            chunks=census.chunks,
            sequence=engines.store.sequence(),
            by_format=counts["format"],
            by_status=counts["status"],
            by_shelf=counts["shelf"],
            index_sequences={name: index.sequence() for name, index in engines.indexes().items()},
            embedder=engines.encoders.current().embedder.fingerprint,
            disk_bytes=sum(path.stat().st_size for path in own.rglob("*") if path.is_file()),
            encoders=self.encoders(),
        )

    def doctor(self, *, fix: bool = False) -> tuple[Check, ...]:
        """Check everything that must be true of the library.

        Args:
            fix: Close what other users of the machine can look into; nothing else is changed.
        """
        engines = self._engines
        private = make_private(self.home) if fix else check_privacy(self.home)
        return (*doctor.examine(engines.store, engines.blobs, engines.indexes()), private)

    def check_language_model(self) -> Check | None:
        """Say how the language model does; None where the settings name none.

        A server on this machine is asked, for less than a second; nobody else is.
        """
        from chapterhouse.models.discovery import check_language_model  # noqa: PLC0415 - likewise

        return check_language_model(self.settings.language_model)

    def reindex(self) -> LibraryStatus:
        """Throw the indexes away and build them anew from the store, which is written anew, too.

        Raises:
            ReadOnlyError: the library can only be read.
        """
        self._engines.store.compact()
        self._rebuild()
        return self.status()

    @staticmethod
    def formats() -> tuple[FormatSupport, ...]:
        """Return every format, how it is read, and whether that is possible here."""
        return supported_formats()

    # --- inside --------------------------------------------------------------------------------

    def _rebuild(self) -> None:
        for index in self._engines.indexes().values():
            index.rebuild(self._engines.store)

    def _catch_up(self) -> None:
        self._engines.catch_up()

    def _query(
        self, query: Query, limit: int | None = None, per_document: int | None = None
    ) -> Query:
        search = self.settings.search
        checked = checked_query(query, self._engines.store, limit, per_document, search)
        self._catch_up()
        return checked

    def _retrieve(self, query: Query, method: Method) -> SearchResult:
        allowed = self.settings.telemetry.content
        opened = retrieval_span(query.text, query.shelves, query.limit)
        with sharing_content(allowed=allowed), opened as recorder:
            warnings = (self._engines.encoders.warning(), self._behind())
            found = retrieve(query, self._sources(), method)
            tell_hits(recorder, found)
        return replace(found, warnings=(*found.warnings, *filter(None, warnings)))

    def _behind(self) -> str:
        """Say so where the index could not catch up, as on a disk that takes nothing."""
        missing = self._engines.store.sequence() - self._engines.indexes()["lexical"].sequence()
        told = counted(missing, "change of the library is", "changes of the library are")
        return f"{told} not searched yet." if missing > 0 else ""

    def _sources(self) -> Sources:
        return sources_of(self._engines)

    def _council_context(self) -> "CouncilContext":
        from chapterhouse.council.meeting.session import CouncilContext  # noqa: PLC0415 - only with councils

        return CouncilContext(
            self.settings, self.personas, self.councils, self._parts(), self._catch_up
        )

    def _counter(self) -> Counter:
        return Counter(self.settings, lambda: self.personas, self._parts(), self._catch_up)

    def _parts(self) -> Parts:
        made_by = version("chapterhouse")
        return open_parts(self._engines, self._retrieve, self._method, made_by)


def _require_read(report: AddReport) -> None:
    """Refuse to answer from files of which one gave no document."""
    for outcome in report.outcomes:
        if outcome.record.status in {Status.REJECTED, Status.SKIPPED}:
            raise RejectedError(outcome.record.code, outcome.record.sentence)


def _require_shelf(name: str) -> None:
    if not valid_name(name):
        raise UsageError(
            f"'{name}' cannot be the name of a shelf.",
            hint="Use letters, digits, '-' and '_', starting with a letter or digit.",
        )


def _ignore(_: Progress) -> None:
    """Take no notice of progress."""
