"""What a question names: it binds the answer to what is about it.

A name is a word with a capital inside a sentence, a code, a number or a quotation. Where a document
has one in its title, its file's name or its first lines, the question is about that document, and
sentences of others do not answer it. Where no document has it at all, nothing answers it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chapterhouse.retrieval.question import Question
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Hit

_HEAD: Final = 600  # characters of a document that say what it is about
_CAPITAL_NOUNS: Final = frozenset({"de"})  # where a capital makes no name
_CAPITAL: Final = re.compile(r"[^\W\d_]")
_YEAR: Final = re.compile(r"[12]\d{3}")


@dataclass(frozen=True, slots=True)
class Names:
    """What a question names.

    Attributes:
        words: Numbers of the question's content words that are names.
        absent: Names that no document searched has.
        documents: Ids of the documents that the question is about; empty where it names none.
    """

    words: frozenset[int] = frozenset()
    absent: tuple[str, ...] = ()
    documents: frozenset[str] = frozenset()

    def missing_share(self, question: Question, weights: NDArray[np.float64], shown: str) -> float:
        """Return the share of the question's weight in names that what is shown lacks, 0 to 1."""
        here = frozenset(term for name in question.languages for term in analyse(shown, name))
        return float(
            sum(
                weights[number]
                for number in self.words
                if here.isdisjoint(question.words[number][1])
            )
        )


def find_names(
    question: Question,
    hits: Sequence[Hit],
    document_frequency: Callable[[str], int],
    text_of: Callable[[str], str],
) -> Names:
    """Return what a question names.

    Args:
        question: What was asked, made ready.
        hits: What was found.
        document_frequency: Counts the chunks in which a term occurs.
        text_of: The text of a document by its id.
    """
    named = [n for n, (word, _) in enumerate(question.words) if _is_name(word, question)]
    counts = {n: max(map(document_frequency, question.words[n][1])) for n in named}
    absent = tuple(question.words[n][0] for n in named if not counts[n])
    about: list[frozenset[str]] = []
    documents = {hit.document.id: hit.document for hit in hits}
    heads = {
        name: frozenset(analyse(f"{one.title} {one.source} {text_of(name)[:_HEAD]}", one.language))
        for name, one in (documents.items() if any(counts.values()) else ())
    }
    for number in named:
        own = question.words[number][1]
        found = frozenset(name for name, head in heads.items() if not head.isdisjoint(own))
        if found and len(found) < len(documents):
            about.append(found)
    together = frozenset.intersection(*about) if about else frozenset()
    return Names(frozenset(named), absent, together)


def _is_name(word: str, question: Question) -> bool:
    """Whether a word of a question is a name: not its first word, which has a capital anyway."""
    if any(map(str.isdigit, word)):
        return not word.isdigit() or _YEAR.fullmatch(word) is not None
    if word in question.identifiers or any(word in phrase for phrase in question.phrases):
        return True
    if question.text.lstrip("\"'“„«¿¡(").startswith(word) or question.text.isupper():
        return False
    if question.languages[0] in _CAPITAL_NOUNS:
        return word.isupper() and len(word) > 1
    first = _CAPITAL.search(word)
    return bool(first and first.group().isupper())
