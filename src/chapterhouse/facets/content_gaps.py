"""Questions that the documents answer weakly or not at all, grouped by what they are about.

Where a text is recorded, a question joins the group whose words and nearest documents are most like
its own, if they are like enough; otherwise it begins one. Rare words count more than common ones, a
document less the farther down it came. Without a text, questions with the same nearest document
are one group. Questions are taken in order of time, so the same questions give the same groups.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import OutcomeCounts, QuestionOutcome, QuestionRecord

_LIKE: Final = 0.18  # how alike a question and a group have to be, 0 to 1
_WORDS: Final = 0.7  # how much of that is shared words; the rest is shared documents
_EXAMPLES: Final = 3
_TERMS: Final = 5
_MOSTLY: Final = 0.5  # share of a group's questions that have a word which names it


@dataclass(frozen=True, slots=True)
class Asked:
    """A question made ready to be grouped.

    Attributes:
        words: As they are shown, by their index term.
        documents: How near each came, 1 for the nearest.
    """

    record: QuestionRecord
    words: Mapping[str, str]
    documents: Mapping[str, float]


@dataclass(slots=True)
class Group:
    """Questions on one subject, with how often they have each term and document.

    Attributes:
        term_square: Square of the length of the vector of weighted terms; added up, for a group may
            be of thousands of questions.
        document_square: The same of the documents.
    """

    questions: list[Asked] = field(default_factory=list)
    terms: Counter[str] = field(default_factory=Counter)
    documents: dict[str, float] = field(default_factory=dict)
    term_square: float = 0.0
    document_square: float = 0.0

    def add(self, asked: Asked, weights: Mapping[str, float]) -> None:
        """Take a question in."""
        self.questions.append(asked)
        for term in asked.words:
            self.term_square += weights[term] ** 2 * (2 * self.terms[term] + 1)
            self.terms[term] += 1
        for name, nearness in asked.documents.items():
            before = self.documents.get(name, 0.0)
            self.document_square += (before + nearness) ** 2 - before**2
            self.documents[name] = before + nearness

    @property
    def outcomes(self) -> OutcomeCounts:
        """Count the questions by what they came to."""
        found = Counter(asked.record.outcome for asked in self.questions)
        return OutcomeCounts(
            len(self.questions),
            found[QuestionOutcome.ANSWER],
            found[QuestionOutcome.PASSAGES],
            found[QuestionOutcome.NOT_FOUND],
        )

    @property
    def nearest(self) -> tuple[str, ...]:
        """The documents, those first that came near most."""
        return tuple(sorted(self.documents, key=lambda name: (-self.documents[name], name)))

    @property
    def examples(self) -> tuple[str, ...]:
        """Some of the texts, the most frequent first, else as they were asked."""
        texts = Counter(asked.record.text for asked in self.questions if asked.record.text)
        return tuple(text for text, _ in texts.most_common(_EXAMPLES))

    def count(self, document: str) -> int:
        """Count the questions to which a document came near."""
        return sum(document in asked.documents for asked in self.questions)

    def shared_words(self, weights: Mapping[str, float]) -> tuple[str, ...]:
        """Return the words that most of the questions have, the strongest first."""
        texts = sum(bool(asked.words) for asked in self.questions)
        strongest = [term for term, count in self.terms.items() if count > _MOSTLY * texts]
        strongest.sort(key=lambda term: (-self.terms[term] * weights[term], term))
        spelled = {
            term: Counter(asked.words[term] for asked in self.questions if term in asked.words)
            for term in strongest[:_TERMS]
        }
        return tuple(
            min(words, key=lambda word: (-words[word], word)) for words in spelled.values()
        )


def group_questions(
    weak: Sequence[QuestionRecord], languages: Mapping[str, int]
) -> tuple[tuple[Group, ...], Mapping[str, float]]:
    """Return the groups of questions, the largest first, and what each term weighs.

    Args:
        weak: The questions, in order of time.
        languages: Of the documents, with counts.
    """
    every = [_asked(record, languages) for record in weak]
    counts = Counter(term for asked in every for term in asked.words)
    texts = sum(bool(asked.words) for asked in every)
    weights = {term: math.log(1 + texts / count) for term, count in counts.items()}
    groups = [
        *_by_words([one for one in every if one.words], weights),
        *_by_document([one for one in every if not one.words]),
    ]
    groups.sort(
        key=lambda one: (-len(one.questions), one.nearest[:1], one.questions[0].record.text)
    )
    return tuple(groups), weights


def _asked(record: QuestionRecord, languages: Mapping[str, int]) -> Asked:
    words: dict[str, str] = {}
    if record.text:
        for word, terms in parse_question(record.text, languages).words:
            words.setdefault(terms[0], word.casefold())
    nearness = {name: 1 / place for place, name in enumerate(record.nearest, 1)}
    return Asked(record, words, nearness)


def _by_document(every: Sequence[Asked]) -> Iterator[Group]:
    groups: dict[tuple[str, ...], Group] = {}
    for asked in every:
        groups.setdefault(asked.record.nearest[:1], Group()).add(asked, {})
    yield from groups.values()


def _by_words(every: Sequence[Asked], weights: Mapping[str, float]) -> Iterator[Group]:
    groups: list[Group] = []
    having: dict[str, dict[int, None]] = {}  # the groups in which a term is
    for asked in every:
        near = dict.fromkeys(number for term in asked.words for number in having.get(term, ()))
        likeness = {number: _likeness(asked, groups[number], weights) for number in sorted(near)}
        best = max(likeness, key=lambda number: (likeness[number], -number), default=-1)
        if best < 0 or likeness[best] < _LIKE:
            best = len(groups)
            groups.append(Group())
        groups[best].add(asked, weights)
        for term in asked.words:
            having.setdefault(term, {})[best] = None
    yield from groups


def _likeness(asked: Asked, group: Group, weights: Mapping[str, float]) -> float:
    own = {term: weights[term] for term in asked.words}
    theirs = {term: weights[term] * group.terms[term] for term in own}
    words = _cosine(own, theirs, group.term_square)
    documents = _cosine(asked.documents, group.documents, group.document_square)
    return _WORDS * words + (1 - _WORDS) * documents


def _cosine(one: Mapping[str, float], other: Mapping[str, float], other_square: float) -> float:
    shared = math.fsum(weight * other[name] for name, weight in one.items() if name in other)
    length = math.hypot(*one.values()) * math.sqrt(other_square)
    return shared / length if length else 0.0
