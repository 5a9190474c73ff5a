"""A question as the things that it asks: aspects, each with the kind of answer that it wants.

What stands before a colon or in a sentence that asks nothing is context, which all aspects share.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.answering.question_kind import QuestionKind, kind_of
from chapterhouse.retrieval.question import parse_question
from chapterhouse.text.language import detect
from chapterhouse.text.language_data import cue_pattern
from chapterhouse.types import Aspect, AspectKind

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
_VERB_FIRST: Final = r"^(?:<verbs>|<inverted>|<whether>)\b"
_ASKS_WHAT: Final = r"<asks_or_verb> (?!<subjects>\b)"
# A question that wants a choice, not a reason or a risk.
_CHOOSES: Final = r"^\W*<should>\b|\b<chooses>\b"
_SENTENCE: Final = re.compile(r"(?<=[?？!])\s+|(?<=[.;:]) +(?=[^\W\d_])")
# "Should we agree to two years or to five?"
_CHOICE: Final = r"^\W*<should> \w+ (\S.{2,80}?),? <or> (\S.{2,80})$"
_MARKS: Final = ("?", "？")
_EDGE: Final = " \t\n,;？?¿.!:"
_LISTS: Final = frozenset({QuestionKind.ALL, QuestionKind.STEPS})


def aspects_of(
    question: str, languages: Mapping[str, int], options: Sequence[str] = ()
) -> tuple[Aspect, ...]:
    """Return the things that a question asks, at most ``MOST_ASPECTS``.

    At least one, but where all it asks is to choose between the options.

    Args:
        question: As it was asked.
        languages: Of the documents, with counts.
        options: What is to be decided between; a part that only names them is left out.
    """
    parsed = parse_question(question, languages)
    pieces = list(_pieces(" ".join(question.split())))
    asked = [one for one in pieces if one[0]] or [(question.strip(_EDGE), "")]
    wanted = [(text, context) for text, context in asked if not _weighs(text, options)]
    return tuple(
        Aspect(f"a{number}", text, _kind(text, parsed.languages), context)
        for number, (text, context) in enumerate(wanted[:MOST_ASPECTS], start=1)
    )


def asks_decision(question: str, options: Sequence[str]) -> bool:
    """Whether a question asks to choose between options: it names two of them, or says so.

    Args:
        question: As it was asked.
        options: What can be decided between.
    """
    if _weighs(question, options):
        return True
    language = detect(question)
    asked = _content(question, language)
    about = any(not asked.isdisjoint(_content(option, language)) for option in options)
    return about and cue_pattern(_CHOOSES).search(question) is not None


def options_in(question: str) -> tuple[str, ...]:
    """Return the two things that a question asks to choose between; nothing where it asks more.

    Only what begins with "should", and is one sentence.
    """
    found = cue_pattern(_CHOICE).match(question.strip(_EDGE))
    if found is None or _SENTENCE.search(question.strip()):
        return ()
    return found[1], found[2]


def _content(text: str, language: str) -> frozenset[str]:
    return frozenset(parse_question(text, {language: 1}).order)


def _pieces(question: str) -> Iterator[tuple[str, str]]:
    """Yield what is asked, each with the context before it."""
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
            yield part, context


def _asks(text: str) -> bool:
    return cue_pattern(_BEGINS).match(text) is not None


def _joined(one: str, other: str) -> str:
    return f"{one} {other}".strip()[:_LONGEST_CONTEXT]


def _weighs(text: str, options: Sequence[str]) -> bool:
    """Whether a part names what is to be decided between: most words of two options or more."""
    language = detect(text)
    words = _content(text, language)
    named = [_content(option, language) for option in options]
    shares = [(len(own & words), len(own)) for own in named]
    return sum(2 * shared > total for shared, total in shares) > 1


def _kind(text: str, languages: Sequence[str]) -> AspectKind:
    if cue_pattern(_VERB_FIRST).match(text) and not cue_pattern(_ASKS_WHAT).match(text):
        return AspectKind.YES_NO
    kind = kind_of(text, languages)
    if kind is QuestionKind.REASON:
        return AspectKind.REASON
    return AspectKind.LIST if kind in _LISTS else AspectKind.VALUE
