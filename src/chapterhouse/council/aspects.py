"""A question as the things that it asks: it is cut only where each part is a whole question.

What stands before a colon, or in a sentence that asks nothing, is context of all that follows it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from chapterhouse.retrieval.question import parse_question
from chapterhouse.text.language_data import STOPWORDS, cue_pattern
from chapterhouse.types import Aspect

MOST_ASPECTS: Final = 8
_LONGEST_CONTEXT: Final = 200  # characters
# What stands in angle brackets are cues of every language: ``cue_pattern``.
_BEGINS: Final = r"(?:(?:<before_asks> )?<asks>|<verbs> <subjects>|<inverted>)\b"
# Behind a comma and "and" a verb begins a question, whatever its subject: ", and may copies stay".
_CUT: Final = (
    rf"(?:,|;|\s[–—-])? <joins> (?={_BEGINS})|(?:[,;]|\s[–—-]) (?={_BEGINS})"
    r"|, <joins> (?=<verbs> \w)"
)
_LINK: Final = r"^<links>\s+"
_OVERVIEW: Final = r"^<overviews>\b.{0,80}?\b<about> "
_CONDITION: Final = r"^(<conditions>\b[^,]{3,120}), (?=\S)"
_SUPPOSED: Final = r"^<suppositions> "
_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"(?<=[?？!])\s+|(?<=[.;:]) +(?=[^\W\d_])")
_MARKS: Final = ("?", "？")
_EDGE: Final = " \t\n,;？?¿.!:"


def aspects_of(question: str, languages: Mapping[str, int]) -> tuple[Aspect, ...]:
    """Return the things that a question asks, one to ``MOST_ASPECTS``.

    Args:
        languages: Of the documents, with counts.
    """
    flat = " ".join(question.split())
    language = parse_question(flat, languages).languages[0]
    function_words = STOPWORDS.get(language, frozenset())

    def is_whole(text: str) -> bool:
        rest = cue_pattern(f"^{_BEGINS}").sub("", text)
        return any(word.casefold() not in function_words for word in _WORD.findall(rest))

    found: list[Aspect] = []
    for aspect in _asked(flat):
        before = found[-1] if found else Aspect("")
        if found and not (is_whole(before.text) and is_whole(aspect.text)):
            start = flat.index(before.text)  # "When?" asks nothing by itself
            end = flat.index(aspect.text, start + len(before.text)) + len(aspect.text)
            found[-1] = Aspect(flat[start:end], before.context)
        else:
            found.append(Aspect(aspect.text, aspect.context or before.text))
    return tuple(found[:MOST_ASPECTS]) or (Aspect(question.strip(_EDGE)),)


def _asked(question: str) -> Iterator[Aspect]:
    """Yield what is asked, each with what is said before it and asks nothing."""
    context = ""
    for sentence in _SENTENCE.split(question):
        text = cue_pattern(_LINK).sub("", sentence.strip(_EDGE))
        overview = cue_pattern(_OVERVIEW).match(text)
        if overview and _asks(text[overview.end() :]):
            text = text[overview.end() :]
        supposed = cue_pattern(_SUPPOSED).match(text)
        if supposed:
            text = text[supposed.end() :]
        condition = cue_pattern(_CONDITION).match(text)
        if condition and _asks(text[condition.end() :]):
            context, text = _joined(context, condition[1]), text[condition.end() :]
        parts = [part for piece in cue_pattern(_CUT).split(text) if (part := piece.strip(_EDGE))]
        is_context = bool(supposed) or (bool(parts) and not _asks(parts[0]))
        if is_context and (len(parts) > 1 or not sentence.rstrip().endswith(_MARKS)):
            context = _joined(context, cue_pattern(_OVERVIEW).sub("", parts[0]))
            parts = parts[1:]
        for part in parts:
            yield Aspect(part, context)


def _asks(text: str) -> bool:
    return cue_pattern(_BEGINS).match(text) is not None


def _joined(one: str, other: str) -> str:
    return f"{one} {other}".strip()[:_LONGEST_CONTEXT]
