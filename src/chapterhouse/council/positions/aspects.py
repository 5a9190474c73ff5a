"""A question as the things that it asks: aspects, each with the kind of answer that it wants.

What stands before a colon or in a sentence that asks nothing is context, which all aspects share.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.answering.question_kind import QuestionKind, kind_of
from chapterhouse.retrieval.question import parse_question
from chapterhouse.text.language import detect
from chapterhouse.types import Aspect, AspectKind

MOST_ASPECTS: Final = 8
_LONGEST_CONTEXT: Final = 200  # characters
_ASKING: Final = (
    "what|which|who|whom|whose|when|where|why|how|whether"
    "|welche[rsnm]?|wer|wen|wem|wann|wo|wohin|woher|warum|wieso|weshalb|was|wie|wieviele?|ob"
    "|wofür|worüber|wovon|womit|wodurch|worauf"
    "|que|quoi|quel(?:le)?s?|qui|quand|où|pourquoi|comment|combien|qu'est-ce|est-ce"
    "|qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|cómo|cuánt[oa]s?"
)
_BEFORE: Final = (  # "in which city", "up to what sum", "von wem"
    "(?:(?:in|on|at|by|for|from|to|under|before|up to|until|since|with|of|about|after|during|how"
    "|von|bis|ab|seit|mit|in|an|auf|für|aus|unter|vor|nach|bei|zu"
    "|à|de|dans|pour|par|sur|avec|depuis|jusqu['’]à|en|sous) )?"
)
_VERB: Final = (
    "is|are|was|were|does|do|did|can|could|should|shall|will|would|may|might|must|has|have|had"
    "|ist|sind|war|waren|gibt|darf|dürfen|muss|müssen|kann|können|hat|haben|soll|sollen|sollte"
    "|sollten|wird|werden|wurde|wurden|gelten|gilt"
    "|peuvent|doivent|sont|est"
)
_SUBJECT: Final = (
    "the|an?|there|it|they|he|she|we|you|i|my|our|your|this|that|these|those|any|all|some|one"
    "|anybody|anyone|someone|somebody|each|every|what|which|people|users?|no"
    "|der|die|das|den|dem|ein\\w{0,2}|es|sie|er|wir|ich|man|dies\\w{0,2}|jemand|alle|eigene|dort|da"
    "|le|la|les|un|une|des|il|elle|ils|elles|on|nous|vous|je|cela|ce|ces"
)
_INVERTED: Final = "peut-on|faut-il|doit-on|y a-t-il|existe-t-il|est-ce que?"
_BEGINS: Final = rf"(?:{_BEFORE}(?:{_ASKING})|(?:{_VERB}) (?:{_SUBJECT})|(?:{_INVERTED}))\b"
_QUESTION: Final = re.compile(_BEGINS, re.IGNORECASE)
_CUT: Final = re.compile(
    rf"(?:,|;|\s[–—-])? (?:and also|and|as well as|und auch|und|sowie|et|y) (?={_BEGINS})"
    rf"|(?:[,;]|\s[–—-]) (?={_BEGINS})",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[?？!])\s+|(?<=[.;:]) +(?=[^\W\d_])")
_LINK: Final = re.compile(r"^(?:and|und|et|y|also|but|aber|mais)\s+", re.IGNORECASE)
_OVERVIEW: Final = re.compile(
    r"^(?:please )?(?:give|tell|show|list|explain|describe|i (?:just )?need|no decision)\b"
    r".{0,80}?\b(?:of|on|about|über) ",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"^((?:if|when|in case|suppose|once|wenn|falls|sobald|si|lorsque)\b[^,]{3,120}), (?=\S)",
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(r"^(?:what if|suppose(?: that)?|was,? wenn|et si) ", re.IGNORECASE)
_MARKS: Final = ("?", "？")
_EDGE: Final = " \t\n,;？?¿.!:"
_VERB_FIRST: Final = re.compile(rf"^(?:{_VERB}|{_INVERTED}|whether|ob|si)\b", re.IGNORECASE)
# "Was" is a verb in English and asks in German, where no subject follows it.
_ASKS_WHAT: Final = re.compile(rf"was (?!(?:{_SUBJECT})\b)", re.IGNORECASE)
# A question that wants a choice, not a reason or a risk.
_CHOOSES: Final = re.compile(
    r"^\W*(?:should|shall|sollen|sollten|soll|faut-il|doit-on|devons-nous)\b"
    r"|\b(?:which (?:option|one|of)|what should we|decide|choose|better|recommend|entscheid\w*"
    r"|was sollen|was sollten|welche (?:option|möglichkeit)|que faire|choisir)\b",
    re.IGNORECASE,
)
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
    kept = [(text, context) for text, context in asked if not _weighs(text, options)]
    return tuple(
        Aspect(f"a{number}", text, _kind(text, parsed.languages), context)
        for number, (text, context) in enumerate(kept[:MOST_ASPECTS], start=1)
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
    return about and _CHOOSES.search(question) is not None


def _content(text: str, language: str) -> frozenset[str]:
    return frozenset(parse_question(text, {language: 1}).order)


def _pieces(question: str) -> Iterator[tuple[str, str]]:
    """Yield what is asked, each with the context before it."""
    context = ""
    for sentence in _SENTENCE.split(question):
        text = _LINK.sub("", sentence.strip(_EDGE))
        overview = _OVERVIEW.match(text)
        if overview and _asks(text[overview.end() :]):
            text = text[overview.end() :]
        supposed = _SUPPOSED.match(text)
        if supposed:
            text = text[supposed.end() :]
        condition = _CONDITION.match(text)
        if condition and _asks(text[condition.end() :]):
            context, text = _joined(context, condition[1]), text[condition.end() :]
        parts = list(filter(None, (part.strip(_EDGE) for part in _CUT.split(text))))
        tells = bool(supposed) or (bool(parts) and not _asks(parts[0]))
        if tells and (len(parts) > 1 or not sentence.rstrip().endswith(_MARKS)):
            context = _joined(context, _OVERVIEW.sub("", parts[0]))
            parts = parts[1:]
        for part in parts:
            yield part, context


def _asks(text: str) -> bool:
    return _QUESTION.match(text) is not None


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
    if _VERB_FIRST.match(text) and not _ASKS_WHAT.match(text):
        return AspectKind.YES_NO
    kind = kind_of(text, languages)
    if kind is QuestionKind.REASON:
        return AspectKind.REASON
    return AspectKind.LIST if kind in _LISTS else AspectKind.VALUE
