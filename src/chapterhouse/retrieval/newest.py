"""Of several the newest: "the latest version", "the current fee".

Of documents that fit about as well, those come first whose stated day is later. Where the best one
has a section for each version, the highest is what is asked for, as if it were named.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.retrieval.exact import HEADING
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.language_data import newest_pattern
from chapterhouse.types import Chunk, Document, Question

_AS_GOOD: Final = 0.6  # share of the best score from which the day decides
_STEP: Final = 1e-6  # between scores that would be equal
_EQUAL: Final = 0.95  # the same of versions, where nobody asks for the newest
# Called a version, or a heading of its own, as in a list of changes; "2.1 Payment" is a clause.
_VERSION = re.compile(
    r"(?:\bv|\b(?:vers|release|ausgabe|fassung|edition|edición|édition|utgave|udgave)\w*\.?\s+v?|^\W*)"
    r"(?<!\d)(\d{1,4}(?:\.\d{1,4}){1,3})(?![.\w])(?=(?P<rest>.*))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST: Final = 2  # versions in headings: a document of one has nothing newer


def asks_newest(question: Question) -> bool:
    """Whether a question asks for the newest of several."""
    return newest_pattern().search(question.text) is not None


def newest_first(
    scores: Mapping[int, float], chunks: Sequence[Chunk], documents: Mapping[str, Document]
) -> dict[int, float]:
    """Return scores exchanged so that of chunks that fit about as well newer ones come first.

    What states no day, keeps its own.
    """
    return _exchanged(scores, chunks, documents, _AS_GOOD)


def newer_versions_first(
    scores: Mapping[int, float], chunks: Sequence[Chunk], documents: Mapping[str, Document]
) -> dict[int, float]:
    """Return the same for versions of one document: sections of one name below one title."""
    versions: dict[tuple[str, ...], list[Chunk]] = {}
    for chunk in chunks:
        if document := documents.get(chunk.document_id):
            place = document.title.casefold(), *chunk.section_path
            versions.setdefault(place, []).append(chunk)
    found = dict(scores)
    for own in versions.values():
        if len({chunk.document_id for chunk in own}) > 1:
            found |= _exchanged(found, own, documents, _EQUAL)
    return found


def _exchanged(
    scores: Mapping[int, float],
    chunks: Sequence[Chunk],
    documents: Mapping[str, Document],
    share: float,
) -> dict[int, float]:
    best = max((scores[chunk.key] for chunk in chunks), default=0.0)
    days = {name: stated_date(document) for name, document in documents.items()}
    dated = [
        chunk
        for chunk in chunks
        if scores[chunk.key] >= share * best and days.get(chunk.document_id)
    ]
    by_score = sorted((scores[chunk.key] for chunk in dated), reverse=True)
    dated.sort(key=lambda chunk: (-scores[chunk.key], chunk.document_id, chunk.ordinal))
    dated.sort(key=lambda chunk: days[chunk.document_id], reverse=True)
    given = zip(dated, _falling(by_score), strict=True)
    return {**scores, **{chunk.key: score for chunk, score in given}}


def _falling(scores: Sequence[float]) -> Iterator[float]:
    """Yield scores of which none is another's equal: equal ones would stand in any order."""
    before = math.inf
    for score in scores:
        before = min(float(score), before - _STEP)
        yield before


def newest_version(chunks: Iterable[Chunk]) -> str:
    """Return the highest version in the headings of a document's chunks; empty without several."""
    headings = (
        heading
        for chunk in chunks
        for heading in (*chunk.section_path[-1:], *HEADING.findall(chunk.text))
    )
    matches = (match for heading in headings for match in _VERSION.finditer(heading))
    found = {
        one[1] for one in matches if one.start(1) > one.start() or not _WORD.search(one["rest"])
    }
    several = len(found) >= _FEWEST
    return max(found, key=lambda one: tuple(map(int, one.split(".")))) if several else ""
