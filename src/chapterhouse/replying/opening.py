"""The parts of an answer, out of an open library."""

import secrets
import time
from collections.abc import Callable

from chapterhouse.claims.judge import judge
from chapterhouse.protocols import LanguageModel
from chapterhouse.replying.parts import Parts, Retrieve
from chapterhouse.retrieval.method import Method
from chapterhouse.settings import Settings
from chapterhouse.wiring import Engines

_NONCE_BYTES = 16


def open_parts(
    engines: Engines,
    retrieve: Retrieve,
    method: Callable[[Settings, LanguageModel | None], Method],
    version: str,
) -> Parts:
    """Return what answering needs of a library.

    Args:
        engines: The library's.
        retrieve: Searches in it.
        method: Makes the stages of retrieval under some settings, with a model that rephrases.
        version: Of Chapterhouse.
    """
    return Parts(
        engines=engines,
        retrieve=retrieve,
        method=method,
        model=engines.models.named,
        judge=judge,
        memories=engines.store.memories(),
        now=lambda: int(time.time()),
        nonce=lambda: secrets.token_hex(_NONCE_BYTES),
        versions={
            "chapterhouse": version,
            "embedder": engines.encoders.current().embedder.fingerprint,
            "reranker": engines.reranker.fingerprint if engines.reranker else "",
        },
    )
