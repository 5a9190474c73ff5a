"""A question that is not for one persona goes to the one of the house who knows."""

from collections.abc import Sequence
from dataclasses import replace

from chapterhouse.answering.route import deferral
from chapterhouse.errors import ChapterhouseError
from chapterhouse.replying.parts import Parts
from chapterhouse.replying.request import Request
from chapterhouse.replying.respond import offline, respond
from chapterhouse.replying.streaming import OnDraft
from chapterhouse.telemetry import agent_span, tell_answer
from chapterhouse.types import Answer


async def hand_over(
    request: Request,
    given: Answer,
    colleagues: Sequence[Request],
    parts: Parts,
    on_draft: OnDraft | None = None,
) -> Answer:
    """Return the answer of the colleague whose documents answer best, or ``given``.

    The evidence decides, found by quotation from each colleague's own shelf; of equals the first
    by slug. Nothing of a shelf is shown but by the colleague who answers.

    Args:
        request: The question as it was put to the first.
        given: Their answer: out of scope.
        colleagues: The same question as it would be put to the others.
        parts: What the library is made of.
        on_draft: Is given what a model writes as it comes, checked sentence by sentence.
    """
    best: Request | None = None
    strongest = 0.0
    for colleague in sorted(colleagues, key=_slug):
        try:
            told = offline(colleague, parts)
        except ChapterhouseError:  # such as a shelf that is not there yet: nothing to find
            continue
        if told.found and told.confidence > strongest:
            best, strongest = colleague, told.confidence
    if best is None or best.persona is None or request.persona is None:
        return given
    with agent_span(best.persona.slug, best.question) as recorder:
        told = await respond(best, parts, on_draft)
        tell_answer(recorder, told)
    return replace(
        told,
        notice=deferral(request.persona, best.persona.display_name),
        handed_to=best.persona.slug,
    )


def _slug(request: Request) -> str:
    return request.persona.slug if request.persona else ""
