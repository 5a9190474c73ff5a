"""What answering needs of an open library."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from chapterhouse.ports.memories import Memories
from chapterhouse.ports.models import ClaimJudge, LanguageModel
from chapterhouse.retrieval.method import Method
from chapterhouse.settings import Settings
from chapterhouse.types import Query, SearchResult
from chapterhouse.wiring import Engines

Retrieve = Callable[[Query, Method], SearchResult]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a library that take part in an answer.

    Attributes:
        engines: Store, indexes and models.
        retrieve: Searches; tells of vectors that do not fit.
        method: The stages of retrieval under some settings, with the model that rephrases.
        model: The language model of a profile by its name; None for ``none``.
        judge: Says how far evidence carries a sentence.
        memories: What was asked and answered before.
        now: The time in seconds.
        nonce: Gives the fresh random letters that mark what is ours in a prompt.
        versions: Of Chapterhouse and of the models, for keys and bundles.
    """

    engines: Engines
    retrieve: Retrieve
    method: Callable[[Settings, LanguageModel | None], Method]
    model: Callable[[str], LanguageModel | None]
    judge: ClaimJudge
    memories: Memories
    now: Callable[[], int]
    nonce: Callable[[], str]
    versions: Mapping[str, str]

    def today(self) -> str:
        """Return the day, ISO 8601, in UTC."""
        return datetime.fromtimestamp(self.now(), UTC).date().isoformat()
