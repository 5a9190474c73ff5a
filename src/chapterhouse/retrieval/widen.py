"""How much of a document goes with a hit: more than the chunk, or only its best sentences.

All work on offsets into the document's text. A hit's text stands in its chunk too, so that a
document which has gone meanwhile only loses what stands around its hits.
"""

from collections.abc import Callable, Sequence
from typing import Final

from chapterhouse.retrieval.sentences import Sentence
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Body, Chunk, Excerpt, Range

Widen = Callable[[Chunk, Body], Range]
MOST_VERSIONS: Final = 6
LIMIT: Final = 400  # tokens of an excerpt that was widened


def with_surroundings(
    chunk: Chunk, body: Body, *, limit: int = LIMIT, count_tokens: Callable[[str], int]
) -> Range:
    """Return the chunk with whole sentences around it, at most ``limit`` tokens in all.

    It grows by a sentence after and a sentence before in turn, and stays in its section and, for
    a document with pages, slides or sheets, on the page on which it starts. A chunk of ``limit``
    tokens or more stays as it is.
    """
    low, high = _widest(chunk, body)
    before = [start for start, _ in sentence_spans(body.text, low, chunk.start)]
    after = [end for _, end in sentence_spans(body.text, chunk.end, high)][::-1]
    start, end = chunk.start, chunk.end
    forward = True
    while before or after:
        forward = (forward and bool(after)) or not before
        to = (start, after[-1]) if forward else (before[-1], end)
        if count_tokens(chunk.header + body.text[to[0] : to[1]]) > limit:
            (after if forward else before).clear()
            continue
        (after if forward else before).pop()
        start, end = to
        forward = not forward
    return start, end


def _widest(chunk: Chunk, body: Body) -> Range:
    low, high = 0, len(body.text)
    places = [(section.start, section.end) for section in body.sections]
    places += [(page.start, page.end) for page in body.pages]
    for start, end in places:
        if start <= chunk.start < end:
            low = max(low, start)
        if start < chunk.end <= end:
            high = min(high, end)
    return low, high


def with_parent(
    chunk: Chunk, body: Body, *, limit: int = LIMIT, count_tokens: Callable[[str], int]
) -> Range:
    """Return the smallest of the chunk's parents that is more than it, if ``limit`` allows it.

    Where even that has more than ``limit`` tokens, or there is none, the chunk stays as it is.
    """
    own = (chunk.start, chunk.end)
    larger = [
        parent
        for parent in chunk.parents
        if parent != own and parent[0] <= chunk.start and chunk.end <= parent[1] <= len(body.text)
    ]
    smallest = min(larger, key=lambda parent: (parent[1] - parent[0], parent), default=own)
    return smallest if count_tokens(body.text[slice(*smallest)]) <= limit else own


def merge_ranges(ranges: Sequence[Range]) -> Sequence[Range]:
    """Return stretches in order, those that overlap or touch as one."""
    result: list[Range] = []
    for start, end in sorted(ranges):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def best_windows(
    sentences: Sequence[Sentence], tokens: Sequence[int], most: int = MOST_VERSIONS
) -> Sequence[tuple[Range, float]]:
    """Return runs of whole sentences worth choosing from, the shortest first, with their shares.

    A run is worth it when none is as short and holds more, and when it lies on the concave hull of
    those: what it adds to the next shorter one is worth its tokens more than anything longer. The
    run that holds most is always the last. Runs do not cross a gap between sentences.
    """
    runs: list[tuple[int, float, int, int]] = []
    for first in range(len(sentences)):
        cost, share = 0, 0.0
        for last in range(first, len(sentences)):
            if last > first and sentences[last].start != sentences[last - 1].end:
                break
            cost += tokens[last]
            share += sentences[last].share
            runs.append((cost, share, first, last))
    hull: list[tuple[int, float, int, int]] = []
    for run in sorted(runs, key=lambda run: (run[0], -run[1], run[2])):
        if hull and run[1] <= hull[-1][1]:
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-2], run):
            hull.pop()
        hull.append(run)
    chosen_runs = _thinned(hull, most)
    return [((sentences[a].start, sentences[b].end), share) for _, share, a, b in chosen_runs]


def _slope(shorter: tuple[int, float, int, int], longer: tuple[int, float, int, int]) -> float:
    return (longer[1] - shorter[1]) / max(longer[0] - shorter[0], 1)


def _thinned(
    hull: list[tuple[int, float, int, int]], most: int
) -> list[tuple[int, float, int, int]]:
    """Keep the first, the last, and of those between the ones that add most."""
    if len(hull) <= most:
        return hull
    between = sorted(range(1, len(hull) - 1), key=lambda i: (hull[i - 1][1] - hull[i][1], i))
    return [hull[i] for i in sorted({0, len(hull) - 1, *between[: most - 2]})]


def shorten(excerpt: Excerpt, fits: Callable[[Excerpt], bool]) -> Excerpt | None:
    """Return the excerpt cut behind the last whole sentence with which it fits, or None.

    Its relevance falls by the share of the text that is lost.
    """
    length = excerpt.end - excerpt.start
    text = excerpt.text[len(excerpt.text) - length :]
    header = excerpt.text[: len(excerpt.text) - length]
    for begin, end in list(sentence_spans(text, 0, length))[::-1]:
        shortened_text = text[:end].rstrip()
        if text.startswith("#", begin):  # a heading that nothing follows
            continue
        shorter = Excerpt(
            excerpt.hit,
            excerpt.start,
            excerpt.start + len(shortened_text),
            header + shortened_text,
            excerpt.tokens,
            excerpt.relevance * len(shortened_text) / length,
        )
        if fits(shorter):
            return shorter
    return None
