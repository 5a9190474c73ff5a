"""Which encoder questions use: none until its vectors are complete, for words answer alone then.

Vectors follow their documents: those of a few small documents within the command that added them,
the rest in the background. An encoder takes over in one step when every document has its vectors.
A change of encoder is built side by side: the old one answers until the new one is complete, and
is kept as the way back.
"""

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final, Protocol

from chapterhouse.errors import ChapterhouseError, EngineError, NotFoundError
from chapterhouse.index import Index
from chapterhouse.ingest.embedding import (
    ReadWithNames,
    embed_documents,
    embed_pending,
    pending_texts,
    read_note,
    served_languages,
    write_note,
)
from chapterhouse.models.cards import card_of, display_name
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.store.embeddings import ACTIVE, BUILDING, PREVIOUS, EmbeddingStore
from chapterhouse.store.limited import limit
from chapterhouse.store.sqlite import Store
from chapterhouse.types import (
    Document,
    EmbeddingProgress,
    EncoderRecord,
    EncoderStatus,
    Progress,
    Scope,
)
from chapterhouse.types.engines import Embedder, VectorLayer, VectorSearch

_WORK: Final = "background"  # the folder of the workspace that has the note
_TRIED: Final = 4  # chunks embedded to learn the speed
_SOON: Final = 2.0  # seconds that whoever adds documents waits for their vectors
NONE: Final = "none"  # the fingerprint of no embedder
Open = Callable[[EmbeddingSettings], Embedder]
OpenIndex = Callable[[Path, Embedder], "SearchedVectors"]
_FOLDER: Final = "vectors-"  # in the index folder, followed by a hash of the fingerprint
_HASH_LENGTH: Final = 12


class SearchedVectors(Index, VectorSearch, Protocol):
    """An index of the vectors of one embedder."""


@dataclass(frozen=True, slots=True)
class EncoderTarget:
    """The encoder that the settings name; ``problem`` says why it could not be opened."""

    settings: EmbeddingSettings
    embedder: Embedder | None
    problem: str = ""


def recorded_settings(record: EncoderRecord) -> EmbeddingSettings:
    """Return the settings by which an encoder is opened, but for those that are gone since."""
    stated = json.loads(record.settings)
    known = stated.keys() & EmbeddingSettings.model_fields.keys()
    return EmbeddingSettings.model_validate({name: stated[name] for name in known})


class Encoders:
    """The embedders of one workspace. Safe to share between threads; processes may share it.

    Args:
        wanted: The encoder of the settings; None where they want no vectors.
        read: Embeds those of a few documents whose names are to be read, and reads these.
    """

    def __init__(
        self,
        store: Store,
        folder: Path,
        wanted: EncoderTarget | None,
        open_embedder: Open,
        open_index: OpenIndex,
        read: ReadWithNames | None = None,
    ) -> None:
        self._store = store
        self._read = read or (lambda _: {})
        self._folder = folder
        self._wanted = wanted
        self._open_embedder = open_embedder
        self._open_index = open_index
        self._known: dict[str, tuple[Embedder, SearchedVectors]] = {}  # each is opened once
        self._problems: dict[str, str] = {}  # why an embedder could not be opened
        self._opening = threading.Lock()
        self._permitted = Scope.everything()
        if wanted and wanted.embedder:
            self._add(wanted.embedder)
        self._arrange()

    # --- questions -----------------------------------------------------------------------------

    def current(self) -> VectorLayer | None:
        """Return what questions are embedded with and searched in; None where words count alone."""
        opened = self._current()
        if opened is None:
            return None
        embedder, index = opened
        search: VectorSearch = index
        if self._permitted.shelves is not None:
            search = limit(index, self._permitted)
        return VectorLayer(embedder, search, card_of(embedder.fingerprint).fusion)

    def fingerprint(self) -> str:
        """Return which embedder questions use at this moment; ``none`` where words count alone."""
        opened = self._current()
        return opened[0].fingerprint if opened else NONE

    def embedder(self) -> Embedder | None:
        """Return what makes vectors: the encoder in use, else the one of the settings."""
        if opened := self._current():
            return opened[0]
        return self._wanted.embedder if self._wanted else None

    def _current(self) -> "tuple[Embedder, SearchedVectors] | None":
        record = self._embeddings.encoders().get(ACTIVE) if self._wanted else None
        return self._opened(record) if record else None

    def within(self, permitted: Scope) -> "Encoders":
        """Return the same, in whose current index only what is inside a scope is searched."""
        view = copy(self)
        view._permitted = self._permitted.within(permitted)  # noqa: SLF001 - our own
        return view

    def warning(self) -> str:
        """Return what an asker should know, or nothing."""
        if self._wanted and self._wanted.problem:
            return f"The encoder of the settings cannot be used: {self._wanted.problem}"
        active = self._embeddings.encoders().get(ACTIVE)
        return self._problems.get(active.fingerprint, "") if active else ""

    def indexes(self) -> Mapping[str, Index]:
        """Return the vector indexes of this workspace, by a name for people."""
        opened = self._current()
        return {"vectors": opened[1]} if opened else {}

    def drop_unused_indexes(self) -> None:
        """Delete the indexes of encoders that no question uses: they hold what was removed."""
        self._drop_indexes({self.fingerprint()})

    # --- work in the background ----------------------------------------------------------------

    def is_pending(self) -> bool:
        """Whether there are vectors to make, or an encoder waits to take over."""
        if self._wanted and self._wanted.problem:
            return True  # trying again is what may help
        complete = self._complete()
        if read_note(self._folder / _WORK) == complete:
            return False  # every command asks: nothing has changed since the last look
        if BUILDING in self._embeddings.encoders() and self._can_take_over():
            return True
        made = self._made()
        if made and self._progress(made[0]).pending:
            return True
        write_note(self._folder / _WORK, complete)
        return False

    def embed(
        self,
        on_progress: Callable[[Progress], None],
        stop: Event | None = None,
        on_begin: Callable[[Sequence[Document]], object] = lambda _: None,
    ) -> None:
        """Make the vectors that are missing, then let the encoder take over.

        Raises:
            EngineError: the model failed, or the settings' encoder cannot be opened.
        """
        stop = stop or Event()
        while self.is_pending() and not stop.is_set():
            if not self._embed(on_progress, stop, on_begin):  # only what keeps changing is left
                break

    def embed_soon(self, document_ids: Sequence[str], clock: Callable[[], float]) -> None:
        """Make the vectors of documents that were just stored, as far as two seconds reach.

        Whoever adds a few pages finds them at once as well as all others. Large documents, and
        whatever a service has to compute, are left to the background: nobody waits for those.
        """
        made = self._made()
        if not made or not document_ids or not self._is_quick():
            return
        embedder, index = made
        end = clock() + _SOON
        try:
            embed_documents(self._store, embedder, document_ids, lambda: clock() < end, self._read)
        except ChapterhouseError:
            return  # the documents are safe, and what makes vectors in the background says so
        index.catch_up(self._store)
        self._take_over()

    def _is_quick(self) -> bool:
        assert self._wanted is not None
        settings = self._wanted.settings
        return settings.background and settings.engine != "openai"

    def speed(self, clock: Callable[[], float]) -> tuple[int, float]:
        """Return how many chunks wait for the encoder, and how many it does in a second.

        A few are embedded to find out. 0 where none wait.
        """
        embedder = self._wanted.embedder if self._wanted else None
        if embedder is None:
            return 0, 0.0
        texts = pending_texts(self._store, embedder, _TRIED)
        if not texts:
            return 0, 0.0
        embedder.embed_passages(texts[:1])  # loads the model
        start = clock()
        embedder.embed_passages(texts)
        seconds = max(clock() - start, 1e-6)
        return self._progress(embedder).chunks, len(texts) / seconds

    def _embed(
        self,
        on_progress: Callable[[Progress], None],
        stop: Event,
        on_begin: Callable[[Sequence[Document]], object],
    ) -> int:
        written = 0
        if made := self._made():
            embedder, index = made
            catch_up = partial(index.catch_up, self._store)
            written = embed_pending(
                self._store,
                embedder,
                read=self._read,
                on_progress=on_progress,
                on_begin=on_begin,
                on_batch=catch_up,
                stop=stop,
            )
            catch_up()
        if self._wanted and self._wanted.problem:
            raise EngineError(self._wanted.problem)
        return written + self._take_over()

    # --- the switch ----------------------------------------------------------------------------

    def previous(self) -> EncoderRecord:
        """Return what ``back`` returns to: the one in use while another is being built.

        Raises:
            NotFoundError: there is none.
        """
        roles = self._embeddings.encoders()
        earlier = roles.get(ACTIVE if BUILDING in roles else PREVIOUS)
        if earlier is None:
            raise NotFoundError(
                "There is no previous encoder.", hint="See: chapterhouse model list"
            )
        return earlier

    def back(self) -> None:
        """Return to the embedder before the present one, or give up the one being built."""
        earlier, roles = self.previous(), self._embeddings.encoders()
        if earlier == roles.get(ACTIVE):
            self._embeddings.forget(BUILDING)
        else:
            self._embeddings.activate(earlier, None)

    def forget(self) -> int:
        """Delete the vectors of every embedder that is neither in use nor being built; count."""
        self._embeddings.forget(PREVIOUS)
        return self._clean()

    def statuses(self) -> tuple[EncoderStatus, ...]:
        """Return the embedder in use, then the one being built, then the previous one."""
        roles = self._embeddings.encoders() if self._wanted else {}
        shown = [self._status(role, roles[role]) for role in (ACTIVE, BUILDING, PREVIOUS)
                 if role in roles]  # fmt: skip
        if self._wanted and self._wanted.problem:
            name = display_name(self._wanted.settings, "")
            shown.append(EncoderStatus(BUILDING, name, "", 0, 0, self._wanted.problem))
        return tuple(shown)

    def _status(self, role: str, record: EncoderRecord) -> EncoderStatus:
        settings = recorded_settings(record)
        opened = self._known.get(record.fingerprint)
        if opened is not None:
            languages = served_languages(self._embeddings, opened[0])
        else:  # not opened only to be counted
            wanted = settings.languages
            languages = tuple(
                name for name in self._embeddings.languages() if not wanted or name in wanted
            )
        progress = self._embeddings.progress(record.fingerprint, languages)
        unserved = tuple(one for one in self._embeddings.languages() if one not in languages)
        problem = record.problem or self._problems.get(record.fingerprint, "")
        name = display_name(settings, record.fingerprint)
        return EncoderStatus(
            role, name, record.fingerprint, progress.done, progress.total, problem, unserved
        )

    def _arrange(self) -> None:
        """Record what the settings want: nothing where it is so already."""
        wanted = self._record()
        if wanted is None:
            return
        roles = self._embeddings.encoders()
        active, building = roles.get(ACTIVE), roles.get(BUILDING)
        if active and wanted.fingerprint == active.fingerprint:
            if building is not None:
                self._embeddings.forget(BUILDING)
            if active.settings != wanted.settings:  # a service that moved
                self._embeddings.activate(wanted, None)
        elif PREVIOUS in roles and wanted.fingerprint == roles[PREVIOUS].fingerprint:
            self._embeddings.activate(wanted, None)
        elif building is None or building.fingerprint != wanted.fingerprint:
            self._embeddings.build(wanted)
            self._take_over()

    def _take_over(self) -> int:
        """Make the encoder that is being built the one in use, if it is complete."""
        record, made = self._record(), self._made()
        building = self._embeddings.encoders().get(BUILDING)
        if record is None or building is None or building.fingerprint != record.fingerprint:
            return 0
        languages = served_languages(self._embeddings, made[0]) if made else ()
        if not self._embeddings.activate(record, languages):
            return 0
        self._clean()
        return 1

    def _can_take_over(self) -> bool:
        made = self._made()
        progress = self._progress(made[0]) if made else None
        return bool(progress and progress.done and not progress.pending)

    def _clean(self) -> int:
        """Delete vectors and indexes of embedders that have no role."""
        fingerprints = {record.fingerprint for record in self._embeddings.encoders().values()}
        deleted = self._embeddings.drop_others(sorted(fingerprints))
        self._drop_indexes(fingerprints)
        return deleted

    # --- inside --------------------------------------------------------------------------------

    def _add(self, embedder: Embedder) -> None:
        name = embedder.fingerprint
        index = self._open_index(self._folder / "index" / index_name(name), embedder)
        self._known[name] = embedder, index

    def _opened(self, record: EncoderRecord) -> "tuple[Embedder, SearchedVectors] | None":
        """Return a recorded encoder and its index; None where it cannot be opened."""
        name = record.fingerprint
        with self._opening:
            if name not in self._known and name not in self._problems:
                try:
                    self._add(self._open(record))
                except (ChapterhouseError, ValueError) as error:
                    self._problems[name] = (
                        f"The encoder in use cannot be opened, so words count alone: {error}"
                    )
            return self._known.get(name)

    def _open(self, record: EncoderRecord) -> Embedder:
        embedder = self._open_embedder(recorded_settings(record))
        if embedder.fingerprint != record.fingerprint:
            raise EngineError(
                f"The model's files have changed: they give {embedder.fingerprint}, not "
                f"{record.fingerprint}.",
                hint="Choose an encoder anew: chapterhouse model use --embedder NAME",
            )
        return embedder

    def _drop_indexes(self, fingerprints: Iterable[str]) -> None:
        """Delete the indexes of all encoders but those with these fingerprints."""
        names = {index_name(fingerprint) for fingerprint in fingerprints}
        for path in (self._folder / "index").glob("vectors*"):
            if path.name not in names:
                shutil.rmtree(path, ignore_errors=True)  # a reader may hold it: next time

    @property
    def _embeddings(self) -> EmbeddingStore:
        return self._store.embeddings()

    def _record(self) -> EncoderRecord | None:
        """Return what the settings want as it is recorded; None where it cannot be opened."""
        if self._wanted is None or self._wanted.embedder is None:
            return None
        return EncoderRecord(self._wanted.embedder.fingerprint, _json(self._wanted.settings))

    def _made(self) -> "tuple[Embedder, SearchedVectors] | None":
        """Return the encoder whose vectors are made, the one of the settings, and its index."""
        embedder = self._wanted.embedder if self._wanted else None
        return self._known.get(embedder.fingerprint) if embedder else None

    def _complete(self) -> str:
        """Return what decides whether anything is pending, as one line."""
        made = self._made()
        served = served_languages(self._embeddings, made[0]) if made else ()
        roles = sorted((role, r.fingerprint) for role, r in self._embeddings.encoders().items())
        return f"{self._store.sequence()} {served} {roles}"

    def _progress(self, embedder: Embedder) -> EmbeddingProgress:
        languages = served_languages(self._embeddings, embedder)
        return self._embeddings.progress(embedder.fingerprint, languages)


def _json(settings: EmbeddingSettings) -> str:
    """Return what differs from the defaults, and the engine: its default may change one day."""
    given = settings.model_dump(mode="json", exclude_defaults=True)
    return json.dumps({"engine": settings.engine, **given}, sort_keys=True)


def index_name(fingerprint: str) -> str:
    """Return the name of the folder of an encoder's vectors, in the index folder."""
    return _FOLDER + hashlib.sha256(fingerprint.encode()).hexdigest()[:_HASH_LENGTH]
