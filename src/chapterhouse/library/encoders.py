"""Encoders: the vectors that follow their documents, and which encoder questions use."""

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import TYPE_CHECKING

from chapterhouse import lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import RefusedError
from chapterhouse.settings import EmbeddingSettings
from chapterhouse.types import EncoderStatus, Job, Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chapterhouse.ingest import jobs
    from chapterhouse.library import long_work
else:
    jobs = lazy("chapterhouse.ingest.jobs")
    long_work = lazy("chapterhouse.library.long_work")


_AGAIN = 0.5  # seconds after which another process that makes vectors is looked at again


class LibraryEncoders:
    """The embedders of a workspace. Where a model or its service fails, an EngineError says so."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def embed_pending(
        self,
        on_progress: Callable[[Progress], None] | None = None,
        stop: Event | None = None,
    ) -> tuple[EncoderStatus, ...]:
        """Make the vectors that documents lack, let a complete encoder take over, and read names.

        Commands start a process that does this in the background; call it to wait for it, or
        for another process that is at it. After an interrupt the next call goes on where this
        one was.

        Args:
            stop: Ends the work after the present documents, or the waiting, when set.
        """
        follow = on_progress or (lambda _: None)
        stop = stop or Event()
        while self.is_embedding():
            for one in self.statuses():
                follow(Progress(one.done, one.total, one.name))
            if stop.wait(_AGAIN):
                return self.statuses()
        long_work.do_here(long_work.embedding(), self._runtime, follow, stop)
        return self.statuses()

    def embed_later(self) -> Job:
        """Leave the vectors and names that documents lack to the next worker; return the job."""
        return long_work.enqueue(long_work.embedding(), self._runtime)

    def is_pending(self) -> bool:
        """Whether documents lack vectors or names, or an encoder has still to take over.

        Where no vectors are wanted, names are read when they are asked for.
        """
        whole = self._runtime.whole or self._runtime
        wanted = whole.encoders.embedder() is not None
        return whole.encoders.is_pending() or (wanted and whole.graph.pending() > 0)

    def is_embedding(self) -> bool:
        """Whether some process is making vectors for this library at this moment."""
        return jobs.is_busy(long_work.embedding().lane, self._runtime.runner)

    def speed(self) -> tuple[int, float]:
        """Return how many chunks wait for the encoder of the settings, and its chunks a second."""
        return self._runtime.encoders.speed(time.perf_counter)

    def statuses(self) -> tuple[EncoderStatus, ...]:
        """Return the embedder in use, then the one that is being built, then the previous one."""
        return self._runtime.encoders.statuses()

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one unit vector a text: of the encoder in use, else of the settings' own.

        Raises:
            RefusedError: there is none.
        """
        embedder = self._runtime.encoders.embedder()
        if embedder is None:
            raise RefusedError(
                "This library has no encoder: its settings want none, or it cannot be opened.",
                hint="See: chapterhouse status",
            )
        return embedder.embed_passages(texts)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has for the encoder in the box, whatever one is used."""
        return self._runtime.token_encoder.count_tokens(text)

    def previous(self) -> EmbeddingSettings:
        """Return the settings of the embedder before the present one."""
        return EmbeddingSettings.model_validate_json(self._runtime.encoders.previous().settings)

    def return_to_previous(self) -> None:
        """Use the embedder before the present one again, at once; give up one that is being built.

        The settings have to name it, too: the next opening goes by what they name.
        """
        self._runtime.encoders.back()

    def forget(self) -> int:
        """Delete the vectors of the previous encoder; return how many documents had them."""
        return self._runtime.encoders.forget()
