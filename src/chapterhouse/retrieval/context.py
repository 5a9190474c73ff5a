"""From hits to a context that fits a budget of tokens.

::

    sentences and their shares -> versions of each hit -> pack -> merge -> arrange -> Markdown

A hit competes with itself: its best run of sentences, longer ones, and all of it, of which at most
one is taken. With ``widen`` it goes the other way and takes in what stands around it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.retrieval.judging import SentenceScorer
from chapterhouse.retrieval.pack import Item, Widen, best_windows, merge_ranges, pack, shorten
from chapterhouse.retrieval.present import MARKDOWN, Layout, arrange, markdown
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.sentences import Sentence, table_header
from chapterhouse.types import Body, Chunk, Context, Excerpt, Hit, Range, SearchResult, VariantKind

MAXIMUM: Final = 2_000
PRICE: Final = 3e-5
# Share of a hit that is spread evenly over its tokens: an answer is often longer than the sentence
# that has the question's words, and the sentences around it have none of them.
SPREAD: Final = 0.6

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ContextSources:
    """What building a context looks up."""

    body: Callable[[str], Body | None]
    count_tokens: CountTokens
    scorer: SentenceScorer


@dataclass(frozen=True, slots=True)
class Packing:
    """How to fill the budget.

    Attributes:
        price: Value that a token must bring to be spent, 0 or more: what adds less is left out
            though the budget had room for it. The values of all candidates add up to about 1.
        widen: Takes in what stands around a hit; None offers its best sentences instead.
    """

    price: float = PRICE
    widen: Widen | None = None
    layout: Layout = MARKDOWN


_DEFAULT: Final = Packing()


@dataclass(frozen=True, slots=True)
class _Costs:
    """What excerpts cost as they are shown, in tokens."""

    count_tokens: CountTokens
    layout: Layout

    def counted(self, excerpt: Excerpt) -> Excerpt:
        return replace(excerpt, tokens=self.count_tokens(self.layout.piece(excerpt)))

    def page(self, excerpts: Sequence[Excerpt]) -> int:
        return self.count_tokens(self.layout.page(excerpts))


def build_context(
    result: SearchResult,
    lookup: ContextSources,
    maximum: int = MAXIMUM,
    packing: Packing = _DEFAULT,
) -> Context:
    """Choose from the hits of a search what answers the question within ``maximum`` tokens.

    About 12 hits without a cap per document are a good choice to choose from. The context never
    costs more than ``maximum``. Where not even the best excerpt fits, it is cut behind a whole
    sentence; where no sentence fits, the context has candidates but no excerpt.

    Raises:
        ValueError: ``maximum`` is not at least 1.
    """
    hits = result.hits
    judged = _judge(result, lookup.scorer)
    costs = [lookup.count_tokens(_text(hits, sentence)) for sentence in judged]
    sentences = _spread(judged, costs)
    if packing.widen:
        found = _widen(hits, sentences, lookup, packing.widen)
    else:
        found = _narrow(hits, sentences, costs)
    costs_of = _Costs(lookup.count_tokens, packing.layout)
    candidates = [costs_of.counted(excerpt) for excerpt in found]
    packed = _pack(result.query.text, candidates, costs_of, maximum, packing)
    return replace(packed, warnings=result.warnings)


def _judge(result: SearchResult, scorer: SentenceScorer) -> Sequence[Sentence]:
    """Return the sentences of the hits with their shares; each part of a question counts alike."""
    languages = dict.fromkeys(result.question.languages, 1)
    parts = [one.text for one in result.variants if one.kind is VariantKind.PART]
    questions = [parse_question(part, languages) for part in parts] or [result.question]
    judged = [scorer.judge(one, result.hits, result.chunks).sentences for one in questions]
    return [
        replace(of_parts[0], share=math.fsum(one.share for one in of_parts) / len(of_parts))
        for of_parts in zip(*judged, strict=True)
    ]


def repack(
    context: Context,
    count_tokens: CountTokens,
    maximum: int = MAXIMUM,
    packing: Packing = _DEFAULT,
) -> Context:
    """Choose anew from the candidates of a context, without searching; ``widen`` has no say.

    Raises:
        ValueError: ``maximum`` is not at least 1.
    """
    costs_of = _Costs(count_tokens, packing.layout)
    packed = _pack(context.question, context.candidates, costs_of, maximum, packing)
    return replace(packed, warnings=context.warnings)


def first_whole(context: Context, hits: int = 8) -> tuple[int, float]:
    """Return tokens and share of the value of the first hits, whole, as without packing."""
    longest: dict[int, Excerpt] = {}
    for one in context.candidates:
        known = longest.get(one.hit.rank)
        if known is None or one.tokens > known.tokens:
            longest[one.hit.rank] = one
    first = [longest[rank] for rank in sorted(longest)[:hits]]
    gain = sum(one.relevance for one in first)
    return sum(one.tokens for one in first), min(gain, 1.0)


# --- candidates ----------------------------------------------------------------------------------


def _text(hits: Sequence[Hit], sentence: Sentence) -> str:
    chunk = hits[sentence.rank].chunk
    return chunk.text[sentence.start - chunk.start : sentence.end - chunk.start]


def _spread(sentences: Sequence[Sentence], costs: Sequence[int]) -> Sequence[Sentence]:
    """Return the sentences with a part of their hit's share spread evenly over its tokens."""
    tokens, shares = dict[int, int](), dict[int, float]()
    for sentence, cost in zip(sentences, costs, strict=True):
        tokens[sentence.rank] = tokens.get(sentence.rank, 0) + max(cost, 1)
        shares[sentence.rank] = shares.get(sentence.rank, 0.0) + sentence.share
    return [
        replace(
            one,
            share=(1 - SPREAD) * one.share
            + SPREAD * shares[one.rank] * max(cost, 1) / tokens[one.rank],
        )
        for one, cost in zip(sentences, costs, strict=True)
    ]


def _narrow(
    hits: Sequence[Hit], sentences: Sequence[Sentence], costs: Sequence[int]
) -> Iterator[Excerpt]:
    by_rank: dict[int, list[int]] = {}
    for row, sentence in enumerate(sentences):
        by_rank.setdefault(sentence.rank, []).append(row)
    for rank, rows in by_rank.items():
        chunk = hits[rank].chunk
        header = chunk.header or table_header(chunk)
        runs = best_windows([sentences[row] for row in rows], [costs[row] for row in rows])
        for (start, end), share in runs:
            text = chunk.text[start - chunk.start : end - chunk.start]
            shown = text if start == chunk.start and not chunk.header else header + text
            yield Excerpt(hits[rank], start, end, shown, 0, min(share, 1.0))


def _widen(
    hits: Sequence[Hit], sentences: Sequence[Sentence], lookup: ContextSources, widen: Widen
) -> Iterator[Excerpt]:
    """Yield each widened stretch once, under the best of the hits that lie in it."""
    bodies = {hit.document.id: lookup.body(hit.document.id) for hit in hits}
    ranges: dict[str, list[Range]] = {}
    for hit in hits:
        body = bodies[hit.document.id]
        own = (hit.chunk.start, hit.chunk.end)
        ranges.setdefault(hit.document.id, []).append(widen(hit.chunk, body) if body else own)
    joined = {  # without the text that lies between them, hits cannot be joined
        name: merge_ranges(found) if bodies[name] else found for name, found in ranges.items()
    }
    seen: set[tuple[str, Range]] = set()
    for hit in hits:
        name = hit.document.id
        start, end = next(s for s in joined[name] if s[0] <= hit.chunk.start < s[1])
        if (name, (start, end)) in seen:
            continue
        seen.add((name, (start, end)))
        share = math.fsum(
            sentence.share
            for sentence in sentences
            if hits[sentence.rank].document.id == name and start <= sentence.start < end
        )
        body = bodies[name]
        text = body.text[start:end] if body else hit.chunk.text
        yield Excerpt(hit, start, end, _header(hit.chunk, text) + text, 0, min(share, 1.0))


def _header(chunk: Chunk, text: str) -> str:
    return "" if chunk.header in text else chunk.header


# --- choosing ------------------------------------------------------------------------------------


def _pack(
    question: str,
    candidates: Sequence[Excerpt],
    costs: _Costs,
    maximum: int,
    packing: Packing,
) -> Context:
    if maximum < 1:
        raise ValueError(f"the budget must be at least 1 token, got {maximum}")
    chosen = _choose(candidates, costs, maximum, packing)
    excerpts = arrange(_join(chosen, costs))
    sources = tuple(dict.fromkeys(excerpt.hit.document.id for excerpt in excerpts))
    everything = _relevance_of_all(candidates)
    gained = math.fsum(e.relevance for e in chosen) / everything if everything else 0.0
    return Context(
        question=question,
        excerpts=tuple(excerpts),
        candidates=tuple(candidates),
        markdown=markdown(excerpts),
        tokens=costs.page(excerpts),
        maximum=maximum,
        sources=sources,
        diversity=len(sources) / len(excerpts) if excerpts else 0.0,
        information_gain=round(min(gained, 1.0), 6),
    )


def _choose(
    candidates: Sequence[Excerpt], costs: _Costs, maximum: int, packing: Packing
) -> Sequence[Excerpt]:
    items = _items(candidates, costs, packing.price)
    budget = maximum
    while True:
        chosen = [candidates[place] for place in pack(items, budget)]
        tokens = costs.page(arrange(_join(chosen, costs)))
        if tokens <= maximum:
            break
        budget -= tokens - maximum  # a tokenizer may count a whole higher than its parts
    return chosen or _cut(candidates, costs, maximum)


def _items(candidates: Sequence[Excerpt], costs: _Costs, price: float) -> Sequence[Item]:
    openings = {e.hit.document.id: e.hit.document for e in candidates}
    titles = {
        name: costs.count_tokens(costs.layout.opening(document))
        for name, document in openings.items()
    }
    worth = [excerpt.relevance for excerpt in candidates]
    net = [max(e.relevance - price * e.tokens, 0.0) for e in candidates]
    return [
        Item(e.tokens, w, e.hit.document.id, e.hit.chunk.id, titles[e.hit.document.id])
        for w, e in zip(net if any(net) else worth, candidates, strict=True)
    ]


def _cut(candidates: Sequence[Excerpt], costs: _Costs, maximum: int) -> Sequence[Excerpt]:
    """Return the most relevant excerpt of which a beginning fits, cut to that."""
    for excerpt in sorted(candidates, key=lambda e: (-e.relevance, e.hit.rank, e.start)):
        found = shorten(excerpt, lambda e: costs.page([e]) <= maximum)
        if found:
            return [costs.counted(found)]
    return []


def _join(chosen: Sequence[Excerpt], costs: _Costs) -> Sequence[Excerpt]:
    """Make one of excerpts that overlap, or that touch in one section of one page."""
    result: list[Excerpt] = []
    for excerpt in sorted(chosen, key=lambda e: (e.hit.document.id, e.start, e.end)):
        if result and _belong_together(result[-1], excerpt):
            result[-1] = costs.counted(_union(result[-1], excerpt))
        else:
            result.append(excerpt)
    return result


def _belong_together(first: Excerpt, second: Excerpt) -> bool:
    if first.hit.document.id != second.hit.document.id or second.start > first.end:
        return False
    one, other = first.hit.chunk, second.hit.chunk
    same_place = (one.section_path, one.page) == (other.section_path, other.page)
    return same_place or second.start < first.end


def _union(first: Excerpt, second: Excerpt) -> Excerpt:
    new = max(second.end - first.end, 0)
    return Excerpt(
        hit=min(first.hit, second.hit, key=lambda hit: hit.rank),
        start=first.start,
        end=max(first.end, second.end),
        text=first.text + (second.text[-new:] if new else ""),
        tokens=0,
        relevance=min(first.relevance + second.relevance, 1.0),
    )


def _relevance_of_all(candidates: Sequence[Excerpt]) -> float:
    best: dict[str, float] = {}
    for excerpt in candidates:
        name = excerpt.hit.chunk.id
        best[name] = max(best.get(name, 0.0), excerpt.relevance)
    return math.fsum(best.values())
