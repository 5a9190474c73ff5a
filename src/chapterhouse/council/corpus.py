"""Texts in memory as a tool: BM25 by the textbook, for small collections and for tests.

    score(d, q) = Σ over tokens t of q:  idf(t) · tf(t, d) · (k1 + 1) / (tf(t, d) + k1 · norm(d))
    norm(d) = 1 − b + b · |d| / mean |d|
    idf(t) = ln(1 + (N − n(t) + ½) / (n(t) + ½))

with k1 = 1.2 and b = .75, and a token that a query says twice counted twice. Robertson and
Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; the 1 within the
logarithm keeps a word that most texts have from counting against them. The two numbers are fixed:
who has to turn them needs a library, not a list.
"""

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.council.tool_results import MAXIMUM_CHARACTERS, Found, heading, numbered
from chapterhouse.errors import UsageError
from chapterhouse.text.analyse import analyse
from chapterhouse.text.sanitise import sanitise
from chapterhouse.text.language_data import STOPWORDS
from chapterhouse.types import Tool

K1: Final = 1.2
B: Final = 0.75
TOP_K: Final = 4
_MOST: Final = 50  # results that a model may ask for
_LONGEST_QUERY: Final = 1_000
_DECIMALS: Final = 10  # of a score: beyond them lies the noise of summation order
_WORDS: Final = re.compile(r"\w+")
_SHORTEST: Final = 2  # characters of a token

Tokenise = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class CorpusText:
    """A text of a corpus, and whatever is known of it."""

    text: str
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CorpusHit:
    """A text that was found. ``place`` is its number in the corpus, from 0."""

    text: str
    meta: Mapping[str, object]
    score: float
    place: int


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Texts and their BM25 postings; ``build_index`` makes it. Safe to share between threads.

    Attributes:
        texts: In their order.
        tokens: What makes tokens of texts and queries.
        numbers: The number of each token.
        starts: Where the postings of each token begin, and the end of the last, (tokens + 1,).
        rows: The text of each posting, ascending within a token.
        weights: What each posting adds to the score of its text.
    """

    texts: tuple[CorpusText, ...]
    tokens: Tokenise
    numbers: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float64]


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text by the textbook: words in lower case.

    A word is a run of letters, digits and underscores in any script. Words of one character and
    English function words are dropped. Nothing is stemmed, and a Chinese or Japanese sentence
    without spaces is one word: for those see ``analysed``.
    """
    words = _WORDS.findall(text.lower())
    return [word for word in words if len(word) >= _SHORTEST and word not in STOPWORDS["en"]]


def analysed(language: str = "") -> Tokenise:
    """Return what makes index terms of a text as the library does, less function words.

    Stems by language, pairs of characters for Chinese, Japanese and Korean, identifiers whole and
    in parts.

    Args:
        language: ISO 639-1 code; texts of an unknown language are stemmed as English.
    """
    return partial(_content_terms, language=language or "en")


def normalize_doc(item: CorpusText | str | Mapping[str, object]) -> CorpusText:
    """Return a text with what is known of it; a string knows nothing. Idempotent.

    Characters that nobody sees are taken out of the text.

    Raises:
        UsageError: it is neither a string nor ``{"text": …, "meta": {…}}``.
    """
    if isinstance(item, CorpusText):
        text, meta = item.text, item.meta
    elif isinstance(item, str):
        text, meta = item, {}
    else:
        text, meta = _fields(item)
    return CorpusText(sanitise(text).text, MappingProxyType(dict(meta)))


def build_index(
    texts: Iterable[CorpusText | str | Mapping[str, object]], tokens: Tokenise = tokenize
) -> Corpus:
    """Return texts as a corpus that can be searched.

    Args:
        texts: Strings or ``{"text": …, "meta": {…}}``.
        tokens: What makes tokens of texts and queries: ``tokenize``, ``analysed()`` or your own.

    Raises:
        UsageError: one of them is something else.
    """
    normal = tuple(map(normalize_doc, texts))
    numbers: dict[str, int] = {}
    terms, rows, counts, lengths = array("q"), array("i"), array("q"), array("q")
    for row, item in enumerate(normal):
        found = Counter(tokens(item.text))
        lengths.append(found.total())
        rows.extend([row] * len(found))
        terms.extend(numbers.setdefault(token, len(numbers)) for token in found)
        counts.extend(found.values())
    order = np.argsort(np.asarray(terms), kind="stable")
    starts = np.zeros(len(numbers) + 1, dtype=np.int64)
    np.cumsum(np.bincount(np.asarray(terms), minlength=len(numbers)), out=starts[1:])
    in_order = np.asarray(rows)[order]
    weights = _weights(starts, in_order, np.asarray(counts)[order], np.asarray(lengths))
    for values in (starts, in_order, weights):
        values.setflags(write=False)
    return Corpus(normal, tokens, MappingProxyType(numbers), starts, in_order, weights)


def search(corpus: Corpus, query: str, top_k: int = TOP_K) -> tuple[CorpusHit, ...]:
    """Return the texts that fit a query best; those that share no token with it never.

    Args:
        corpus: What to look through.
        query: Words; their order does not matter.
        top_k: At most so many, at least 1.

    Returns:
        Best first; texts of one score in their order in the corpus.

    Raises:
        UsageError: the query is empty, or ``top_k`` is below 1.
    """
    if not query.strip():
        raise UsageError("The query is empty. Say in words what to look for.")
    if top_k < 1:
        raise UsageError(f"At least 1 result must be wanted, not {top_k}.")
    scores = _scores(corpus, query)
    found = np.flatnonzero(scores > 0)
    if top_k < len(found):
        cut = np.partition(scores[found], len(found) - top_k)[len(found) - top_k]
        found = found[scores[found] >= cut]
    best = found[np.lexsort((found, -scores[found]))][:top_k].tolist()
    return tuple(
        CorpusHit(corpus.texts[row].text, corpus.texts[row].meta, float(scores[row]), row)
        for row in best
    )


def corpus_tool(
    name: str,
    description: str,
    corpus: Corpus,
    *,
    top_k: int = TOP_K,
    maximum_characters: int = MAXIMUM_CHARACTERS,
) -> Tool:
    """Return a tool that searches a corpus.

    Args:
        name: How models call it.
        description: When to call it: "Call this when the question touches refunds". A model
            trusts it, so it never holds text of the corpus.
        corpus: What it searches.
        top_k: Results where the model does not say how many.
        maximum_characters: Of all that is told at once.

    Raises:
        UsageError: the description is empty, or ``top_k`` is out of range.
    """
    if not description.strip():
        raise UsageError(f"The tool {name} does not say when to call it.")
    if not 1 <= top_k <= _MOST:
        raise UsageError(f"top_k must be 1 to {_MOST}, not {top_k}.")

    def call(arguments: Mapping[str, object]) -> str:
        query, wanted = str(arguments.get("query", "")), arguments.get("top_k")
        hits = search(corpus, query, int(wanted) if isinstance(wanted, int | float) else top_k)
        return _told(query, hits, corpus, maximum_characters)

    return Tool(name, description, _parameters(top_k), call, parallel=True)


def _parameters(top_k: int) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "What to look for, in the words that the texts would use.",
                "minLength": 1,
                "maxLength": _LONGEST_QUERY,
            },
            "top_k": {
                "type": "integer",
                "description": f"Number of results; {top_k} where it is left out.",
                "minimum": 1,
                "maximum": _MOST,
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    }


def _told(query: str, hits: Sequence[CorpusHit], corpus: Corpus, maximum: int) -> str:
    if not hits:
        return (
            f"{heading('No results for', query)}\n\n"
            f"(None of the {len(corpus.texts):,} texts shares a word with it. "
            "Try other words for the same thing.)"
        )
    found = [Found(f"{_known(hit)} (score {hit.score:.2f})", hit.text) for hit in hits]
    return numbered(heading("Results for", query), found, maximum=maximum)


def _known(hit: CorpusHit) -> str:
    """Return what is known of a text on one line; its number where nothing is."""
    facts = [f"{name}: {_value(value)}" for name, value in hit.meta.items()]
    return ", ".join(facts) or f"text {hit.place + 1}"


def _value(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _fields(item: object) -> tuple[str, Mapping[str, object]]:
    text = item.get("text") if isinstance(item, Mapping) else None
    meta = item.get("meta", {}) if isinstance(item, Mapping) else None
    if not (
        isinstance(item, Mapping)
        and isinstance(text, str)
        and isinstance(meta, Mapping)
        and set(item) <= {"text", "meta"}
    ):
        raise UsageError(
            f"A text of a corpus is a string or {{'text': …, 'meta': {{…}}}}, not {item!r:.80}."
        )
    return text, meta


def _weights(
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    counts: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return what each posting adds to a score, in the order of the postings."""
    having = np.diff(starts)
    idf = np.log1p((len(lengths) - having + 0.5) / (having + 0.5))
    mean = float(lengths.mean()) if lengths.any() else 1.0
    norm = K1 * (1.0 - B + B * lengths / mean)
    weights: NDArray[np.float64] = (
        np.repeat(idf, having) * counts * (K1 + 1.0) / (counts + norm[rows])
    )
    return weights


def _scores(corpus: Corpus, query: str) -> NDArray[np.float64]:
    """Return the score of every text; tokens in one order, so that theirs in the query is none."""
    said = Counter(corpus.tokens(query))
    known = sorted(
        (corpus.numbers[token], count) for token, count in said.items() if token in corpus.numbers
    )
    scores = np.zeros(len(corpus.texts), dtype=np.float64)
    for number, count in known:
        part = slice(corpus.starts[number], corpus.starts[number + 1])
        scores[corpus.rows[part]] += count * corpus.weights[part]
    return scores.round(_DECIMALS)


def _content_terms(text: str, *, language: str) -> list[str]:
    dropped = _function_terms(language)
    return [term for term in analyse(text, language) if term not in dropped]


@cache
def _function_terms(language: str) -> frozenset[str]:
    words = STOPWORDS.get(language, frozenset())
    return frozenset(term for word in words for term in analyse(word, language))
