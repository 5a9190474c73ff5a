"""A question in a conversation: completed by what was spoken of, before it is put to anyone.

A language model rewrites it in one call. Without one, the words of the question before are carried
over, where this one begins so, or leaves its subject open and does not find it by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from chapterhouse.answering.memory import recall
from chapterhouse.answering.request import Request
from chapterhouse.answering.respond import model_of, query_of
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import method_for, search
from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import EngineError
from chapterhouse.models.question_rewriting import standalone_question
from chapterhouse.retrieval.question import parse_question, plain_words, points_back
from chapterhouse.text.counting import script_language
from chapterhouse.text.language_data import cue_pattern, language_data
from chapterhouse.text.mentions import is_form_word
from chapterhouse.types import FollowUp, Question, Turn
from chapterhouse.types.engines import LanguageModel

SURE: Final = 0.3  # score of the first hit from which a question has found its subject by itself
_FEW: Final = 3  # content words
_SUBJECT: Final = 3  # words that say what a question is about
_MOST: Final = 32  # words of a question that are looked at
# What stands in angle brackets are cues of every language: ``cue_pattern``.
_ASKS_WITHIN: Final = r"<before_asks> <asks>\b"  # "at which site?"
_OF_ANOTHER: Final = r"<goes_on>\b"  # "what about guests?"


def says_little(question: Question) -> bool:
    """Whether a question has so few content words that it may need those of the one before."""
    return len(question.words) <= _FEW


def leaves_open(question: Question) -> bool:
    """Whether a question does not say what it is about: "is it free?", "how long?", "in which?"."""
    own = [word for word, _ in question.words if not is_form_word(word)]
    return (
        len(own) <= int(cue_pattern(_ASKS_WITHIN).match(question.text) is not None)
        or cue_pattern(_OF_ANOTHER).match(question.text) is not None
        or points_back(question.text, question.languages[0])
    )


def begins_as_follow_up(question: Question) -> bool:
    """Whether a question begins with a word that ties it to what was said: "and", "but"."""
    data = language_data().get(question.languages[0] or "en")
    words = data.linking_words if data else frozenset[str]()
    text = question.text.casefold()
    if script_language(text):
        return text.startswith(tuple(words))
    return bool(words & set(plain_words(text)[:1]))


def subject(before: Question, frequencies: Callable[[Sequence[str]], Sequence[int]]) -> str:
    """Return the words that tell best what a question is about: its rarest, in their order."""
    words = before.words[:_MOST]
    counts = [min(frequencies(terms), default=0) for _, terms in words]
    rarest = sorted(range(len(words)), key=lambda place: (counts[place], place))[:_SUBJECT]
    return " ".join(words[place][0] for place in sorted(rarest))


def content_words(before: Question) -> str:
    """Return the content words of a question: what a question that goes on is searched with."""
    return " ".join(before.content.split()[:_MOST])


RULES = "rules"


async def resolve_follow_up(
    request: Request, before: Sequence[Turn], runtime: Runtime, *, certain: bool
) -> FollowUp:
    """Return a question as it can be understood without those before it; raises as ``respond``."""
    model = await run_in_thread(partial(model_of, request, runtime))
    question = await run_in_thread(lambda: query_of(request, runtime).text)
    request = replace(request, question=question)
    if model is None:
        return await run_in_thread(
            partial(_complete_by_rules, request, before, runtime, certain=certain)
        )
    found = FollowUp(question, question)
    if before:
        found = await _rewrite(request, before, runtime, model, certain=certain)
    complete = replace(request, question=found.question)
    return replace(found, recalled=await run_in_thread(partial(recall, complete, runtime)))


async def _rewrite(
    request: Request,
    before: Sequence[Turn],
    runtime: Runtime,
    model: LanguageModel,
    *,
    certain: bool,
) -> FollowUp:
    """Let a model say how a question is meant; where it does not, carry words over."""
    asked, by_rules = request.question, partial(_complete_by_rules, request, before, runtime)
    try:
        question, writing = await standalone_question(model, asked, before)
    except EngineError as error:
        return replace(by_rules(certain=certain), warning=error.message)
    if not question:
        return replace(by_rules(certain=certain), usage=writing.usage)
    if question.casefold() == asked.casefold():
        return FollowUp(asked, asked, usage=writing.usage)
    languages = runtime.store.census(request.scope).languages
    questions = [parse_question(text, languages) for text in (before[-1].question, asked)]
    search_text = " ".join((question, *map(content_words, questions)))
    return FollowUp(asked, question, search_text, writing.model, writing.usage)


def _complete_by_rules(
    request: Request, before: Sequence[Turn], runtime: Runtime, *, certain: bool
) -> FollowUp:
    """Carry words over, unless the question stands by itself."""
    asked = request.question
    languages = runtime.store.census(request.scope).languages
    question = parse_question(asked, languages)
    if not before or not (certain or _goes_on(question, request, runtime)):
        return FollowUp(asked, asked)
    last = parse_question(before[-1].question, languages)
    counts = partial(runtime.lexical.document_frequencies, scope=request.scope)
    topic = subject(last, counts)
    search_text = f"{asked} {content_words(last)}"
    return FollowUp(asked, f"{asked} ({topic})", search_text, RULES)


def _goes_on(question: Question, request: Request, runtime: Runtime) -> bool:
    """Whether a question goes on from the one before: it begins so, or leaves its subject open.

    What it leaves open may still be found by its own words: then it stands by itself.
    """
    if begins_as_follow_up(question):
        return True
    if not says_little(question) or not leaves_open(question):
        return False
    query = query_of(request, runtime)
    hits = search(query, runtime, method_for(runtime, request.settings, None)).hits
    return not hits or hits[0].score < SURE
