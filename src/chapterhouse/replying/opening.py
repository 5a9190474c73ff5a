"""The parts of an answer, out of an open library."""

import secrets
import time
from collections.abc import Callable
from string import ascii_lowercase

from chapterhouse.answering.prompt import MARK_LETTERS
from chapterhouse.answering.second_opinion import with_entailment
from chapterhouse.claims.judge import judge
from chapterhouse.ports.models import LanguageModel
from chapterhouse.replying.parts import Parts, Retrieve
from chapterhouse.retrieval.method import Method
from chapterhouse.settings import Settings
from chapterhouse.wiring import Engines


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
        judge=with_entailment(judge, engines.entailment) if engines.entailment else judge,
        memories=engines.store.memories(),
        now=lambda: int(time.time()),
        nonce=lambda: "".join(secrets.choice(ascii_lowercase) for _ in range(MARK_LETTERS)),
        versions={
            "chapterhouse": version,
            "embedder": engines.encoders.current().embedder.fingerprint,
            "reranker": engines.reranker.fingerprint if engines.reranker else "",
            **({"entailment": engines.entailment.fingerprint} if engines.entailment else {}),
        },
    )
