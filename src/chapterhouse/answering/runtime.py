"""Runtime: everything that an open library works with, and the only thing that holds it."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.store.limited import limit
from chapterhouse.types import LibraryStatus, Progress, Scope, Traces

if TYPE_CHECKING:
    from chapterhouse.connectors.fetched import Fetch
    from chapterhouse.index import Index
    from chapterhouse.index.aliases import AliasIndex
    from chapterhouse.index.graph import GraphIndex
    from chapterhouse.index.ranking import Rank
    from chapterhouse.ingest import jobs, look, prepare, remove
    from chapterhouse.ingest.encoders import Encoders
    from chapterhouse.ingest.look import Prepare, Read
    from chapterhouse.ingest.workers import Worker
    from chapterhouse.reading.page_views import PageViews
    from chapterhouse.settings import Settings
    from chapterhouse.settings_stored import ResolvedSettings
    from chapterhouse.store.blobs import BlobStore
    from chapterhouse.store.definitions import Definitions
    from chapterhouse.store.memory import MemoryStore
    from chapterhouse.store.sqlite import Store
    from chapterhouse.types import AddReport, Chunk, Document, FileSearch, Removal
    from chapterhouse.types.engines import (
        LanguageModel,
        LexicalSearch,
        Reranker,
        TokenEmbedder,
    )
else:
    jobs = lazy("chapterhouse.ingest.jobs")
    look = lazy("chapterhouse.ingest.look")
    prepare = lazy("chapterhouse.ingest.prepare")
    remove = lazy("chapterhouse.ingest.remove")

_AHEAD: Final = 8  # files being read while earlier ones are stored


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that an open library works with.

    Functions that read, search, write and meet take it; tests replace single parts of it.

    Attributes:
        definitions: Those of ``persona`` and of ``council``, by kind.
        store: The documents, and all that is known of files.
        memories: What was asked and answered before.
        indexes: Returns all that is derived from the store, by a name for people.
        rank_in_memory: Returns what ranks chunks that are in no store by BM25.
        encoders: Says which embedder and index questions use.
        token_encoder: The encoder in the box, whatever embeds chunks: it judges sentences.
        language_model: Returns the language model of a name; the library's own for "", or None.
        open_fetch: Returns what fetches web pages; called when a page is fetched.
        nonce: Gives the fresh random letters that mark what is ours in a prompt.
        whole: The runtime of which this one shows a part; None where it shows everything.
    """

    home: Path
    workspace: str
    settings: "Settings"
    resolved: "ResolvedSettings"
    definitions: "Mapping[str, Definitions]"
    store: "Store"
    memories: "MemoryStore"
    worker: "Worker"
    blobs: "BlobStore"
    lexical: "LexicalSearch"
    aliases: "AliasIndex"
    graph: "GraphIndex"
    indexes: "Callable[[], Mapping[str, Index]]"
    rank_in_memory: "Callable[[Sequence[tuple[Document, Sequence[Chunk]]]], Rank]"
    encoders: "Encoders"
    token_encoder: "TokenEmbedder"
    reranker: "Reranker | None"
    language_model: "Callable[[str], LanguageModel | None]"
    read: "Read"
    page_views: "PageViews"
    preparer: "Callable[[], Prepare]"
    cutter: "Callable[[], prepare.Cutter]"
    open_fetch: "Callable[[], Fetch]"
    now: Callable[[], int]
    nonce: Callable[[], str]
    version: str
    close: Callable[[], None]
    whole: "Runtime | None" = None

    def within(self, permitted: Scope, personas: Collection[str] | None = None) -> "Runtime":
        """Return the same, through which only what is inside a scope can be read.

        There are no councils, whose members read what is theirs. Nothing can be written through it,
        and closing it does nothing.
        """
        known = self.definitions["persona"]
        return replace(
            self,
            definitions={
                "persona": known.within(known.names() if personas is None else personas),
                "council": self.definitions["council"].within(()),
            },
            store=limit(self.store, permitted),
            memories=limit(self.memories, permitted),
            lexical=limit(self.lexical, permitted),
            aliases=limit(self.aliases, permitted),
            graph=limit(self.graph, permitted),
            encoders=self.encoders.within(permitted),
            close=lambda: None,
            whole=self.whole or self,
        )

    @property
    def folder(self) -> Path:
        """The folder of the workspace."""
        return self.home / "workspaces" / self.workspace

    @property
    def maximum_bytes(self) -> int:
        """The size of the largest file that is read."""
        return self.settings.reading.maximum_megabytes * 2**20

    def work(
        self, on_progress: Callable[[Progress], None], shelf: str = ""
    ) -> "look.ReadingContext":
        """Return what reading files needs; documents are put on ``shelf``, if one is named."""
        return look.ReadingContext(
            self.store,
            self.read,
            self.preparer(),
            shelf,
            _AHEAD,
            self.maximum_bytes,
            on_progress,
        )

    @property
    def runner(self) -> "jobs.Runner":
        """What running long work as jobs of the store needs."""
        return jobs.Runner(self.store, self.worker)

    @property
    def versions(self) -> Mapping[str, str]:
        """What decides an answer beside the settings: versions of Chapterhouse and of models."""
        return {
            "chapterhouse": self.version,
            "embedder": self.encoders.fingerprint(),
            "reranker": self.reranker.fingerprint if self.reranker else "",
        }

    def today(self) -> str:
        """Return the day, ISO 8601, in UTC."""
        return datetime.fromtimestamp(self.now(), UTC).date().isoformat()

    def status(self) -> LibraryStatus:
        """Count what there is."""
        everything = Scope.everything()
        counts, census = self.store.counts(everything), self.store.census(everything)
        own = self.folder
        return LibraryStatus(
            home=str(self.home),
            workspace=self.workspace,
            documents=census.documents,
            chunks=census.chunks,
            sequence=self.store.sequence(),
            by_format=counts["format"],
            by_status=counts["status"],
            by_shelf=counts["shelf"],
            index_sequences={name: index.sequence() for name, index in self.indexes().items()},
            embedder=self.encoders.fingerprint(),
            disk_bytes=sum(path.stat().st_size for path in own.rglob("*") if path.is_file()),
            encoders=self.encoders.statuses(),
            cut_otherwise=prepare.count_others(self.store, self.cutter()),
        )

    def catch_up(self, *read: "AddReport") -> None:
        """Let every index apply what it has missed.

        Args:
            read: How files ended that were just read: vectors of small ones are made now, unless
                somebody has stopped the reading and waits for its end.
        """
        whole = self.whole or self
        for index in whole.indexes().values():
            index.catch_up(whole.store)
        ended = (report for report in read if not report.interrupted)
        outcomes = (outcome for report in ended for outcome in report.outcomes)
        stored = [each.record.document_id for each in outcomes if each.changed]
        whole.encoders.embed_soon(list(filter(None, stored)), time.monotonic)

    def cut_again(self, on_progress: Callable[[Progress], None]) -> None:
        """Cut documents again that other settings cut."""
        prepare.cut_all(self.store, self.cutter(), on_progress)

    def rebuild(self) -> int:
        """Throw every index away and build it anew; return how far they have come.

        Those of encoders that no question uses go: they are made again where they are wanted.
        """
        self.encoders.drop_unused_indexes()
        return min(index.rebuild(self.store) for index in self.indexes().values())

    def erase(self, removals: "Sequence[Removal]") -> "FileSearch":
        """Take removed documents out of all files, and search these for them."""
        traces = sum((removal.traces for removal in removals), start=Traces())
        search = remove.erase(traces, self.store, self.folder, self.rebuild)
        if search.redacted and self.store.identity:  # other machines have the transcripts, too
            self.definitions["council"].share()
            self.store.compact()
        return search
