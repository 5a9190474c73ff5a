"""A question in a conversation: completed by what was spoken of, before it is put to anyone.

A language model rewrites it in one call. Without one, the words of the question before are carried
over, where this one may go on from it and does not find its subject by itself.
"""

from collections.abc import Sequence
from dataclasses import replace

from chapterhouse.errors import EngineError
from chapterhouse.models.question_rewriting import standalone_question
from chapterhouse.replying.metered import Metered
from chapterhouse.replying.parts import Parts
from chapterhouse.replying.request import NO_MODEL, Request
from chapterhouse.replying.respond import query_of
from chapterhouse.retrieval import follow_up
from chapterhouse.retrieval.question import understand
from chapterhouse.types import FollowUp, Turn

CARRIED = "carried"


async def completed(
    request: Request, before: Sequence[Turn], parts: Parts, *, certain: bool
) -> FollowUp:
    """Return a question as it can be understood without those before it.

    Args:
        request: The question as it is asked, and everything that decides how it is answered.
        before: The turns before it, oldest first.
        parts: What the library is made of.
        certain: Whether it is known to go on from the last of them.

    Raises:
        UsageError: the question is empty or too long, or there is no such profile.
        NotFoundError: there is no such shelf.
        MissingExtraError: the model's extra is not installed.
    """
    model = None if request.model == NO_MODEL else parts.model(request.model)
    asked = query_of(request, parts).text
    if not before:
        return FollowUp(asked, asked)
    if model is None:
        return _carried(request, asked, before[-1], parts, certain=certain)
    try:
        question, writing = await standalone_question(Metered(model), asked, before)
    except EngineError as error:
        found = _carried(request, asked, before[-1], parts, certain=certain)
        return replace(found, warning=error.message)
    if not question:
        found = _carried(request, asked, before[-1], parts, certain=certain)
        return replace(found, usage=writing.usage)
    if question.casefold() == asked.casefold():
        return FollowUp(asked, asked, usage=writing.usage)
    languages = parts.engines.store.census(request.shelves).languages
    said = [understand(text, languages) for text in (before[-1].question, asked)]
    search_text = " ".join((question, *map(follow_up.spoken_of, said)))
    return FollowUp(asked, question, search_text, writing.model, writing.usage)


def _carried(request: Request, asked: str, last: Turn, parts: Parts, *, certain: bool) -> FollowUp:
    """Carry words over, unless the question stands by itself."""
    languages = parts.engines.store.census(request.shelves).languages
    question = understand(asked, languages)
    if not (certain or follow_up.begins_as_follow_up(question)):
        if not follow_up.says_little(question):
            return FollowUp(asked, asked)
        query = query_of(request, parts)
        hits = parts.retrieve(query, parts.method(request.settings, None)).hits
        if hits and hits[0].score >= follow_up.SURE:
            return FollowUp(asked, asked)
    before = understand(last.question, languages)
    subject = follow_up.subject(before, parts.engines.lexical.document_frequencies)
    search_text = f"{asked} {follow_up.spoken_of(before)}"
    return FollowUp(asked, f"{asked} ({subject})", search_text, CARRIED)
