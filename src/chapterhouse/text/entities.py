"""Names in a text, found by a linear head over the states of its tokens.

The head scores nine labels for each word: outside, and the beginning and inside of four kinds; the
best sequence of labels gives the names. Weights: ``benchmarks/entities.py``, on English text.
"""

import io
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.text.entity_features import LINKS, OPENING, POSSESSIVES, describe
from chapterhouse.text.language_data import language_data
from chapterhouse.types import TokenVectors
from chapterhouse.types.graph import EntityKind, Mention

Floats = NDArray[np.float32]

# In the order of the labels: 0 is outside, 2k + 1 the beginning of a name of kind k, 2k + 2 inside.
KINDS: Final = (
    EntityKind.PERSON,
    EntityKind.ORGANIZATION,
    EntityKind.LOCATION,
    EntityKind.CONCEPT,  # anything else with a name; see ``_kind``
)
LABELS: Final = 2 * len(KINDS) + 1
_ON_ONE_THREAD: Final = 16  # words whose product BLAS does without others (retrieval/judging.py)
_FILE: Final = "entity_head.npz"
_PRONOUN_WORDS: Final = (
    "i you he she it we they me him her us them my your his its our their mine yours hers ours "
    "theirs this that these those who whom whose which what there here one"
)
_PRONOUNS: Final = frozenset(_PRONOUN_WORDS.split())
_LIKELY: Final = 0.5  # chance to be a name, of whatever kind
_CAMEL: Final = re.compile(r"(?=\w*[a-z][A-Z]|[A-Z][a-z]+\.[a-z]{2,3}\Z)[A-Za-z][A-Za-z.]+\Z")
_IDENTIFIED: Final = 0.25  # the same for a word written so: "jQuery", "Node.js"; it is one then
_SO_WRITTEN: Final = 0.85
_YEAR: Final = re.compile(r"(?:1[5-9]|20)\d\d\Z")
_NUMBERED: Final = re.compile(r"(?=.*[A-Za-z]).*\d")  # "XR-200"
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+\Z")
_IDENTIFIER: Final = re.compile(r".*(?:[a-z][A-Z]|\w_\w|[^\W\d_]\w*\.[^\W\d_]{2}|\w\(\))")


@dataclass(frozen=True, slots=True, eq=False)
class EntityHead:
    """What labels words, made by ``benchmarks/entities.py``.

    Attributes:
        encoder: Fingerprint of the encoder whose states it was fitted on.
        weights: Shape (features, labels).
        bias: Shape (labels,).
        transitions: What a label counts after another, shape (labels, labels).
    """

    encoder: str
    weights: Floats
    bias: Floats
    transitions: Floats


def entity_head(data: bytes) -> EntityHead:
    """Return the head that the bytes of an ``.npz`` file hold.

    Raises:
        ValueError: its arrays are missing, do not fit each other, or hold no finite numbers.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        if missing := {"encoder", "weights", "bias", "transitions"} - set(found.files):
            raise ValueError(f"The head has no {', '.join(sorted(missing))}")
        numbers = [found[name].astype(np.float32) for name in ("weights", "bias", "transitions")]
        encoder = str(found["encoder"])
    weights, bias, transitions = numbers
    shapes = (weights.shape[1:], bias.shape, transitions.shape)
    if shapes != ((LABELS,), (LABELS,), (LABELS, LABELS)):
        raise ValueError(f"The head has arrays of shapes {shapes} for {LABELS} labels")
    if not all(np.isfinite(each).all() for each in numbers):
        raise ValueError("A weight of the head is not a finite number")
    return EntityHead(encoder, weights, bias, transitions)


def packaged_head() -> bytes:
    """Return the bytes of the head that ships with Chapterhouse."""
    return files("chapterhouse.text").joinpath(_FILE).read_bytes()


def find_mentions(text: str, tokens: TokenVectors, head: EntityHead) -> tuple[Mention, ...]:
    """Return the names in a text, in order; they do not overlap.

    Args:
        tokens: Of this text, by the encoder that the head was fitted on.
    """
    words, table = describe(text, tokens)
    if not words:
        return ()
    rows = range(0, len(table), _ON_ONE_THREAD)
    products = [table[at : at + _ON_ONE_THREAD] @ head.weights for at in rows]
    logits = np.concatenate(products) + head.bias
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances = powers / powers.sum(axis=1, keepdims=True)
    labels = best_labels(np.log(chances + 1e-9), head.transitions)
    labels = _with_likely(labels, chances, [word.group() for word in words])
    found = []
    for first, last, kind in _apart(runs(labels, _paragraphs(text, words)), words):
        likely = 1 - chances[first:last, 0] >= _LIKELY
        begin, stop = _trimmed([word.group() for word in words[first:last]], likely)
        inside = words[first + begin : first + stop]
        if _is_name([word.group() for word in inside]):
            own = chances[first + begin : first + stop]
            start, end = inside[0].start(), inside[-1].end()
            confidence, likelihood = (
                round(min(float(columns.sum(axis=1).mean()), 1.0), 4)
                for columns in (own[:, 2 * kind + 1 : 2 * kind + 3], own[:, 1:])
            )
            name = text[start:end]
            if _CAMEL.match(name):
                likelihood = max(likelihood, _SO_WRITTEN)
            found.append(Mention(start, end, _kind(name, KINDS[kind]), confidence, likelihood))
    return tuple(found)


# --- from labels to names ------------------------------------------------------------------------


def best_labels(scores: Floats, transitions: Floats) -> Sequence[int]:
    """Return the labels that together score most, as Viterbi found them; before the first is none.

    Args:
        scores: Of each label of each word, shape (words, labels).
    """
    best = scores[0] + transitions[0]
    origins = []
    for row in scores[1:]:
        paths = best[:, None] + transitions
        origins.append(paths.argmax(axis=0))
        best = paths.max(axis=0) + row
    labels = [int(best.argmax())]
    for origin in reversed(origins):
        labels.append(int(origin[labels[-1]]))
    return labels[::-1]


def _with_likely(labels: Sequence[int], chances: Floats, words: Sequence[str]) -> Sequence[int]:
    """Return labels with those of single words that are likely a name, if of no one kind.

    The best label of "jQuery" may be none, for its chance to be a name is that of several kinds.
    """
    found = list(labels)
    for place in np.flatnonzero(1 - chances[:, 0] >= _IDENTIFIED).tolist():
        chance = 1 - chances[place, 0]
        shown = chance >= _LIKELY and not words[place].islower()
        if (shown or _CAMEL.match(words[place])) and not any(found[max(place - 1, 0) : place + 2]):
            kinds = chances[place, 1::2] + chances[place, 2::2]
            found[place] = 2 * int(kinds.argmax()) + 1
    return found


def runs(labels: Sequence[int], begins: Collection[int] = ()) -> Sequence[tuple[int, int, int]]:
    """Return where each name begins and ends among the words, and which of ``KINDS`` it is.

    Args:
        begins: Words with which a paragraph begins: no name reaches over it.
    """
    found: list[tuple[int, int, int]] = []
    for place, label in enumerate(labels):
        kind = (label - 1) // 2
        if label % 2 or (label and place in begins):
            found.append((place, place + 1, kind))
        elif label and found and found[-1][1:] == (place, kind):
            found[-1] = (found[-1][0], place + 1, kind)
    return found


def _apart(
    found: Sequence[tuple[int, int, int]], words: Sequence[re.Match[str]]
) -> Iterator[tuple[int, int, int]]:
    """Yield names; a place with a comma inside, as "Kiel, Germany", is two.

    None goes on behind a colon, a semicolon, an opening bracket or quotation mark.
    """
    for first, end, kind in found:
        inside = range(first + 1, end)
        last = next((place for place in inside if words[place].group()[0] in OPENING), end)
        begin = first
        if KINDS[kind] is EntityKind.LOCATION:
            for place in range(first + 1, last - 1):
                if words[place].group() == ",":
                    yield begin, place, kind
                    begin = place + 1
        yield begin, last, kind


def _paragraphs(text: str, words: Sequence[re.Match[str]]) -> Collection[int]:
    """Return the words before which there is an empty line."""
    return {
        place
        for place, (one, other) in enumerate(pairwise(words), start=1)
        if "\n\n" in text[one.end() : other.start()]
    }


def _trimmed(words: Sequence[str], likely: Sequence[bool]) -> tuple[int, int]:
    """Return where the words begin and stop without marks and possessives at their ends.

    Behind a capital, words without one stay at the end only where they are likely a name.
    """
    own = [
        place
        for place, word in enumerate(words)
        if word not in POSSESSIVES and any(map(str.isalnum, word))
    ]
    capitals = [place for place in own if not words[place].islower()]
    while capitals and own[-1] > capitals[-1]:
        word = words[own[-1]]
        if likely[own[-1]] and word not in LINKS:
            break
        own.pop()
    return (own[0], own[-1] + 1) if own else (0, 0)


def _is_name(words: Sequence[str]) -> bool:
    """Whether words may name something: not a number, a pronoun, a month or a weekday."""
    if len(words) == 1:
        folded = words[0].casefold()
        dates = (data.date_words for data in language_data().values())
        if any(folded in each for each in dates) or (
            folded in _PRONOUNS and not (words[0].isupper() and len(folded) > 1)
        ):
            return False
    return any(map(str.isalpha, "".join(words)))


def _kind(name: str, kind: EntityKind) -> EntityKind:
    """Return what a name is, where it is none of the first three kinds by how it is written."""
    words = name.split()
    if kind is not EntityKind.CONCEPT:
        return kind
    if any(map(_VERSION.match, words)) or (len(words) == 1 and _IDENTIFIER.match(name)):
        return EntityKind.TECHNOLOGY
    numbered = words[-1].isdigit() and len(words) > 1 and not _YEAR.match(words[-1])
    return EntityKind.PRODUCT if numbered or any(map(_NUMBERED.match, words)) else kind
