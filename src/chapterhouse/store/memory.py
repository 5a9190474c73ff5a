"""What was asked and answered, in tables of its own beside the documents.

No search of documents looks into them. A memory belongs to who answered: its persona, or the
library itself. What has expired is not shown, and is deleted with the next memory. What is
forgotten, or rests on a document that is removed, is overwritten in the file once SQLite copies its
log back, at the latest on closing.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.store.rows import Connection, Database, Row, first, repeatable, run
from chapterhouse.text.analyse import SNOWBALL, analyse
from chapterhouse.types import Memory, MemoryHit, Scope

if TYPE_CHECKING:
    from chapterhouse.text import language as language_of
else:
    language_of = lazy("chapterhouse.text.language")

_ID: Final = re.compile(r"m?([0-9]{1,18})")
_MOST_TERMS: Final = 200  # of a question that is searched for
_NO_SEQUENCE: Final = -1
_NOTHING: Final = "null"  # JSON
_ASKED: Final = 2.0  # what a word of the question counts
_K1: Final = 1.2
_B: Final = 0.75
_LEAST_WEIGHT: Final = 1e-6  # of a term that most memories hold

FAR_FUTURE: Final = 2**62  # seconds


@repeatable
class MemoryStore:
    """What was asked and answered, and answers that hold until anything in the library changes.

    A memory belongs to a persona, or to the library itself. The scope of a read is whose memories
    it may see; where nobody is named it sees none.
    """

    def __init__(self, connections: Database) -> None:
        self._connections = connections

    def remember(self, memory: Memory, given: str = "") -> Memory:
        """Keep a memory; return it with the id that it was given.

        Args:
            memory: Its ``id`` is not looked at; ``asked`` is the time now.
            given: The whole answer, or the minutes, as JSON.
        """
        fields = astuple(memory)[1:]
        values = [json.dumps(one) if isinstance(one, tuple) else one for one in fields]
        with self._connections.write() as connection:
            _drop(connection, [key for (key,) in run(connection, "expired_memories", memory.asked)])
            ((key,),) = run(connection, "put_memory", *values, given or _NOTHING)
            run(connection, "put_memory_terms", key, *_terms_of(memory.question, memory.answer))
        return replace(memory, id=f"m{key}")

    def get(self, memory_id: str, personas: Sequence[str], now: int) -> tuple[Memory, str]:
        """Return a memory, and the whole answer as JSON; empty where only its text is known.

        Raises:
            UsageError: the id is none.
            NotFoundError: ``personas`` have no such memory.
        """
        key = _key(memory_id)
        found = self._connections.rows("memory", key, json.dumps(tuple(personas)), now)
        if not found:
            raise _missing(key)
        *row, given = found[0]
        return _memory(tuple(row)), "" if given == _NOTHING else given

    def memories(self, personas: Sequence[str], limit: int, now: int) -> tuple[Memory, ...]:
        """Return the latest memories of ``personas``, newest first."""
        found = self._connections.rows("memories", json.dumps(tuple(personas)), now, limit)
        return tuple(map(_memory, found))

    def search(
        self, text: str, personas: Sequence[str], limit: int, now: int
    ) -> tuple[MemoryHit, ...]:
        """Return the memories of ``personas`` that fit ``text`` best, by BM25.

        A word counts double where it was asked for. Full-text search would count the memories of
        all personas; what others were asked must not move a score, so it only finds.
        """
        # A few words do not tell their language, so they are looked for by the stems of each.
        likely = (language_of.detect(text), "", *SNOWBALL)
        words = dict.fromkeys(" ".join(_index_terms(text, name) for name in likely).split())
        if not words:
            return ()
        terms = list(words)[:_MOST_TERMS]
        wanted = " OR ".join(f'"{word}"' for word in terms)
        owners = json.dumps(tuple(personas))
        with self._connections.read() as connection:
            found = run(connection, "search_memories", wanted, owners, now)
            ((number, length),) = run(connection, "memory_lengths", owners, now)
        texts = [(question.split(), answer.split()) for *_, question, answer in found]
        scores = _scores(terms, texts, number, length / max(number, 1))
        best = sorted(zip(found, scores, strict=True), key=lambda pair: -pair[1])[:limit]
        return tuple(MemoryHit(_memory(row[:-2]), round(score, 6)) for row, score in best)

    def personas(self) -> tuple[str, ...]:
        """Return whose memories there are; the library itself is the empty name."""
        return tuple(name for (name,) in self._connections.rows("memory_personas"))

    def forget(self, ids: Iterable[str]) -> int:
        """Delete memories by id; return how many.

        Raises:
            UsageError: an id is none.
            NotFoundError: there is no such memory; nothing was deleted.
        """
        keys = [_key(name) for name in dict.fromkeys(ids)]
        with self._connections.write() as connection:
            for key in keys:
                if first(connection, "memory_owner", key) is None:
                    raise _missing(key)
            _forget(connection, keys)
        return len(keys)

    def forget_all(self, personas: Sequence[str], before: int = FAR_FUTURE) -> int:
        """Delete every memory of ``personas`` asked before a time; return how many."""
        with self._connections.write() as connection:
            found = run(connection, "memory_keys", json.dumps(tuple(personas)), before)
            _forget(connection, [key for (key,) in found])
        return len(found)

    def forget_of(self, document_ids: Iterable[str]) -> int:
        """Delete the memories that rest on documents, whose words they may repeat; count them."""
        with self._connections.write() as connection:
            found = run(connection, "memories_of_documents", json.dumps(list(document_ids)))
            _drop(connection, [key for (key,) in found])
        return len(found)

    def count(self, personas: Sequence[str], before: int = FAR_FUTURE) -> int:
        """Count the memories of ``personas`` asked before a time."""
        return len(self._connections.rows("memory_keys", json.dumps(tuple(personas)), before))

    def cached_answer(self, key: str, scope: Scope) -> str | None:
        """Return the answer that was kept under a key for exactly this scope, or None."""
        with self._connections.read() as connection:
            found = first(connection, "cached_answer", _cache_key(key, scope))
        return found[0] if found else None

    def cache_answer(self, key: str, scope: Scope, sequence: int, answer: str) -> None:
        """Keep an answer given at ``sequence`` of the library; those of any other are dropped.

        It is not kept where the library has changed since: it may quote what was removed.
        """
        with self._connections.write() as connection:
            ((current,),) = run(connection, "sequence")
            if sequence < current:
                return
            run(connection, "drop_cached_answers", sequence)
            run(connection, "put_cached_answer", _cache_key(key, scope), sequence, answer)


def _terms_of(question: str, answer: str) -> tuple[str, str]:
    """Return the index terms of question and answer, which are in one language."""
    language = language_of.detect(f"{question}\n{answer}")
    return _index_terms(question, language), _index_terms(answer, language)


def _cache_key(key: str, scope: Scope) -> str:
    return hashlib.sha256(f"{key} {scope.key}".encode("utf-8", "surrogatepass")).hexdigest()


def _forget(connection: Connection, keys: Sequence[int]) -> None:
    """Delete memories, the texts of the same questions as they are counted, and cached answers.

    Of those all: they hold their questions too, and whose is not known.
    """
    run(connection, "forget_texts_of_memories", json.dumps(keys))
    _drop(connection, keys)
    run(connection, "drop_cached_answers", _NO_SEQUENCE)


def _drop(connection: Connection, keys: Iterable[int]) -> None:
    for key in keys:
        run(connection, "drop_memory", key)
        run(connection, "drop_memory_terms", key)


def _scores(
    terms: Sequence[str],
    texts: Sequence[tuple[Sequence[str], Sequence[str]]],
    memories: int,
    average: float,
) -> list[float]:
    """Return BM25 as SQLite's full-text search has it, counted over some memories alone.

    Args:
        texts: Terms of question and answer of every memory that holds one of them.
        memories: How many there are in all.
        average: Number of terms that a memory has.
    """
    counted = [(Counter(question), Counter(answer)) for question, answer in texts]
    scores = [0.0] * len(texts)
    for term in terms:
        times = [_ASKED * question[term] + answer[term] for question, answer in counted]
        holding = sum(map(bool, times))
        if not holding:
            continue
        weight = max(math.log((memories - holding + 0.5) / (holding + 0.5)), _LEAST_WEIGHT)
        for place, (often, (question, answer)) in enumerate(zip(times, texts, strict=True)):
            norm = _K1 * (1 - _B + _B * (len(question) + len(answer)) / average)
            scores[place] += weight * often * (_K1 + 1) / (often + norm)
    return scores


def _index_terms(text: str, language: str) -> str:
    """Return index terms as words that the full-text index takes as they are.

    It would cut a term at its punctuation; letters and digits stay, the rest is joined.
    """
    terms = analyse(text, language)
    return " ".join(filter(None, (re.sub(r"[^\w]|_", "", term) for term in terms)))


def _missing(key: int) -> NotFoundError:
    return NotFoundError(f"There is no memory 'm{key}'.", hint="See: chapterhouse memory list")


def _key(name: str) -> int:
    match = _ID.fullmatch(name.strip())
    if match is None:
        raise UsageError(
            f"'{name}' is no id of a memory.", hint="They look like m12; see: memory list"
        )
    return int(match[1])


def _memory(row: Row) -> Memory:
    key, persona, asked, expires, question, answer, found, method, sources, sequence = row
    texts, cited = (question, answer), tuple(json.loads(sources))
    return Memory(f"m{key}", persona, asked, expires, *texts, bool(found), method, cited, sequence)
