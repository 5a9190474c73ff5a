"""What a question names binds: a passage about something else is no answer.

A name is a word with a capital inside a sentence, a code, a year, a quotation, or a number behind a
name: "Tidewatch 4" is not Tidewatch 3. It must stand in the passage that is shown, in its headings,
or in the title, the path or the first lines of its document.
"""

import re
from dataclasses import dataclass
from typing import Final

from chapterhouse.text.aliases import fold_words
from chapterhouse.text.analyse import analyse
from chapterhouse.types import Hit, Question

_HEAD: Final = 600  # characters of a document that say what it is about
_CAPITAL_NOUNS: Final = frozenset({"de"})  # where a capital makes no name
_CAPITAL: Final = re.compile(r"[^\W\d_]")
_YEAR: Final = re.compile(r"[12]\d{3}")


@dataclass(frozen=True, slots=True)
class Names:
    """What a question names.

    Attributes:
        terms: The index terms of each word of a name; a passage that has one of them has the word.
        numbered: Names with their numbers, folded: "tidewatch 4".
    """

    terms: tuple[tuple[str, ...], ...] = ()
    numbered: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is one."""
        return bool(self.terms)

    def are_in(self, text: str, language: str) -> bool:
        """Whether a text has all of them."""
        there = frozenset(analyse(text, language))
        if any(there.isdisjoint(own) for own in self.terms):
            return False
        folded = f" {fold_words(text)} " if self.numbered else ""
        return all(f" {name} " in folded for name in self.numbered)


def find_names(question: Question) -> Names:
    """Return what a question names."""
    named = [(word, terms) for word, terms in question.words if _is_name(word, question)]
    numbered = tuple(
        fold_words(match.group())
        for word, _ in named
        if not word[-1].isdigit()
        for match in re.finditer(rf"\b{re.escape(word)}\s+\d+(?:\.\d+)*\b", question.text)
    )
    return Names(tuple(terms for _, terms in named), numbered)


def is_about(names: Names, hit: Hit, body: str) -> bool:
    """Whether a passage has all names, in it or in what it stands below."""
    document, chunk = hit.document, hit.chunk
    above = (document.title, document.source, *chunk.section_path, chunk.header, body[:_HEAD])
    return not names or names.are_in("\n".join((*above, chunk.text)), document.language)


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
