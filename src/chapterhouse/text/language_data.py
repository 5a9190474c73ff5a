"""What is known of languages: the word lists of ``languages/*.toml``, one file a language.

With them a question is stripped of what makes no difference to its answer.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

# Without quotation marks: what they hold is searched word for word.
_EDGES: Final = "?!.,;:…¿¡。？！，、"
_CUES: Final = re.compile(r"<([a-z_]+)>")
_BETWEEN: Final = r"[\s?!.,;:…¿¡。？！，、]"


@dataclass(frozen=True, slots=True)
class LanguageData:
    """The words of a language that say something of a text's form rather than of its subject."""

    # Articles, pronouns, prepositions, auxiliaries, question words: closed classes only, so that no
    # subject of a question is ever dropped.
    function_words: frozenset[str] = frozenset()
    form_words: frozenset[str] = frozenset()  # that say in which form a question is answered
    part_words: frozenset[str] = frozenset()  # what numbered parts of a document are called
    number_words: frozenset[str] = frozenset()
    date_words: frozenset[str] = frozenset()  # names of months and days
    label_words: frozenset[str] = frozenset()  # what columns of names are called
    value_words: frozenset[str] = frozenset()  # what columns of their values are called
    empty_words: frozenset[str] = frozenset()  # that say nothing of what a document is about
    joining_words: frozenset[str] = frozenset()  # others that join words as function words do
    pointing_words: frozenset[str] = frozenset()  # that stand for what was spoken of before
    linking_words: frozenset[str] = frozenset()  # with which a question goes on from the last
    # Regular expressions: of politeness and no other, of what gives a reason, of the newest of
    # several, by kind of question, and without groups by what they tell of a question or of a
    # sentence that answers it.
    polite_phrases: tuple[str, ...] = ()
    reason_cues: str = ""
    newest_cues: str = ""
    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    positions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def language_data() -> Mapping[str, LanguageData]:
    """Return what is known of every language, by its ISO 639-1 code."""
    folder = files("chapterhouse.text").joinpath("languages")
    found = {
        path.name.removesuffix(".toml"): _parse(path.read_text("utf-8"))
        for path in folder.iterdir()
        if path.name.endswith(".toml")
    }
    return dict(sorted(found.items()))


def _parse(text: str) -> LanguageData:
    fields = tomllib.loads(text)
    for name, value in fields.items():
        if isinstance(value, dict):
            fields[name] = {kind: tuple(cues) for kind, cues in value.items()}
        elif name.endswith("_words"):
            fields[name] = frozenset(value.split())
        elif name == "polite_phrases":
            fields[name] = tuple(value)
    return LanguageData(**fields)


# Words that a question loses before it is looked up; documents keep theirs. Removing them is free
# in quality and saves nine tenths of the work of a long question.
STOPWORDS: Final[Mapping[str, frozenset[str]]] = {
    language: data.function_words for language, data in language_data().items()
}


@cache
def cue_pattern(template: str) -> re.Pattern[str]:
    """Return a regular expression without regard to case, built once.

    ``<yes>`` in the template stands for the cues of ``positions`` with this name, of all languages.

    Raises:
        KeyError: No language has cues of a name.
    """
    return re.compile(_CUES.sub(lambda named: _cues(named[1]), template), re.IGNORECASE)


def _cues(name: str) -> str:
    known = [cue for data in language_data().values() for cue in data.positions.get(name, ())]
    if not known:
        raise KeyError(name)
    return f"(?:{'|'.join(known)})"


@cache
def newest_pattern() -> re.Pattern[str]:
    """Return what finds words that ask for the newest of several, in any language."""
    cues = filter(None, (data.newest_cues for data in language_data().values()))
    return re.compile(rf"(?<!\w)(?:{'|'.join(cues)})(?!\w)", re.IGNORECASE)


def bare_question(text: str) -> str:
    """Return a question without what makes no difference to its answer.

    Case, punctuation around words, and politeness before and behind it go, in every language that
    is known. Words in capitals stay, for they are names: WHO, IT. A question that is nothing but
    polite stays as it is.
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    before, behind = _politeness()
    bare = before.sub("", behind.sub("", plain))
    names = not plain.isupper()
    words = (word.strip(_EDGES) for word in (bare or plain).split())
    return " ".join(
        word if names and len(word) > 1 and word.isupper() else word.casefold()
        for word in words
        if word
    )


@cache
def _politeness() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what is polite before a question, and behind it."""
    known = (phrase for data in language_data().values() for phrase in data.polite_phrases)
    phrases = "|".join(f"(?:{phrase})" for phrase in known)
    before = rf"^(?:{_BETWEEN}*(?:{phrases})(?:{_BETWEEN}+|$))+"
    behind = rf"(?:{_BETWEEN}+(?:{phrases}))+{_BETWEEN}*$"
    return re.compile(before, re.IGNORECASE), re.compile(behind, re.IGNORECASE)
