"""What two people ask who ask the same thing, one in other words of politeness."""

import re
import unicodedata
from functools import cache
from typing import Final

from chapterhouse.text.language_data import language_data

# Without quotation marks: what they hold is searched to the letter.
_EDGES: Final = "?!.,;:…¿¡。？！，、"
_BETWEEN: Final = r"[\s?!.,;:…¿¡。？！，、]"


def bare_question(text: str) -> str:
    """Return a question without what makes no difference to its answer.

    Case, punctuation around words, and politeness before and behind it go, in every language that
    is known. Words in capitals stay, for they are names: WHO, IT. A question that is nothing but
    polite stays as it is.
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    bare = _before().sub("", _behind().sub("", plain))
    names = not plain.isupper()
    words = (word.strip(_EDGES) for word in (bare or plain).split())
    return " ".join(
        word if names and len(word) > 1 and word.isupper() else word.casefold()
        for word in words
        if word
    )


@cache
def _phrases() -> str:
    known = (phrase for data in language_data().values() for phrase in data.polite_phrases)
    return "|".join(f"(?:{phrase})" for phrase in known)


@cache
def _before() -> re.Pattern[str]:
    return re.compile(rf"^(?:{_BETWEEN}*(?:{_phrases()})(?:{_BETWEEN}+|$))+", re.IGNORECASE)


@cache
def _behind() -> re.Pattern[str]:
    return re.compile(rf"(?:{_BETWEEN}+(?:{_phrases()}))+{_BETWEEN}*$", re.IGNORECASE)
