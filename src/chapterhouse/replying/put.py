"""A question put to someone: the library, or a persona with their colleagues."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from chapterhouse.errors import ChapterhouseError, UsageError
from chapterhouse.replying.following import completed
from chapterhouse.replying.handover import hand_over
from chapterhouse.replying.parts import Parts
from chapterhouse.replying.request import Choices, Request, library_request, persona_request
from chapterhouse.replying.respond import respond
from chapterhouse.replying.streaming import OnDraft
from chapterhouse.settings import Settings
from chapterhouse.telemetry import agent_span, sharing_content, tell_answer
from chapterhouse.types import Answer, FollowUp, Progress, Route, Turn

if TYPE_CHECKING:
    from chapterhouse.agents.personas import House

OnProgress = Callable[[Progress], None]
_LIBRARY: Final = "library"  # who answers where nobody is named


@dataclass(frozen=True, slots=True)
class Counter:
    """Where questions are put.

    Attributes:
        settings: The library's.
        house: The personas.
        parts: What answers.
        catch_up: Brings the indexes up to date with the store.
    """

    settings: Settings
    house: "Callable[[], House]"
    parts: Parts
    catch_up: Callable[[], None]


async def put(
    question: str,
    persona: str,
    choices: Choices,
    counter: Counter,
    on_draft: OnDraft | None = None,
    on_progress: OnProgress | None = None,
) -> Answer:
    """Answer a question.

    Args:
        question: A question.
        persona: Who is asked; empty for the library itself.
        choices: What the caller says about it.
        counter: Where it is put.
        on_draft: Is given what a model writes as it comes, checked sentence by sentence.
        on_progress: Called for each file that is read first.

    Raises:
        UsageError: the question is empty, a number is out of range, there is no such profile, or
            shelves were named beside a persona.
        NotFoundError: there is no such persona or shelf.
        MissingExtraError: the model's extra is not installed.
    """
    if choices.words is not None and choices.words < 1:
        raise UsageError(f"An answer needs at least 1 word, not {choices.words}.")
    if persona and choices.shelves is not None:
        raise UsageError(
            "A persona reads their own shelves.", hint="Name a persona or shelves, not both."
        )
    slug = counter.house().load(persona).config.slug if persona else ""
    allowed = counter.settings.telemetry.content
    with sharing_content(allowed=allowed), agent_span(slug or _LIBRARY, question) as recorder:
        if slug:
            given = await _put_to(slug, question, choices, counter, on_draft, on_progress)
        else:
            counter.catch_up()
            request = library_request(question, counter.settings, choices)
            given = await respond(request, counter.parts, on_draft)
        tell_answer(recorder, given)
    return given


async def complete(
    question: str,
    before: Sequence[Turn],
    persona: str,
    choices: Choices,
    counter: Counter,
    *,
    certain: bool,
) -> FollowUp:
    """Return a question of a conversation as it can be understood by itself.

    Args:
        question: A question.
        before: The turns before it, oldest first.
        persona: Who is asked; empty for the library itself.
        choices: What the caller says about it.
        counter: Where it is put.
        certain: Whether it is known to go on from the last of them.

    Raises:
        UsageError: the question is empty, or there is no such profile.
        NotFoundError: there is no such persona or shelf.
        MissingExtraError: the model's extra is not installed.
    """
    counter.catch_up()
    if persona:
        request = _request(counter.house().load(persona).config.slug, question, choices, counter)
    else:
        request = library_request(question, counter.settings, choices)
    return await completed(request, before, counter.parts, certain=certain)


async def _put_to(
    slug: str,
    question: str,
    choices: Choices,
    counter: Counter,
    on_draft: OnDraft | None,
    on_progress: OnProgress | None,
) -> Answer:
    """Answer as a persona, or as the colleague whom the question is handed to."""
    refreshed = counter.house().refresh(slug, on_progress=on_progress)
    counter.catch_up()
    request = _request(slug, question, choices, counter)
    given = await respond(request, counter.parts, on_draft)
    if given.route is Route.OUT_OF_SCOPE and request.out_of_scope == "persona":
        others = _colleagues(request, choices, counter, on_progress)
        counter.catch_up()
        given = await hand_over(request, given, others, counter.parts, on_draft)
    return replace(
        given,
        refreshed=refreshed.sentence if refreshed.changed else "",
        warnings=(*given.warnings, *refreshed.warnings),
    )


def _request(slug: str, question: str, choices: Choices, counter: Counter) -> Request:
    folder = counter.house().load(slug)
    return persona_request(question, folder.persona, folder.config, counter.settings, choices)


def _colleagues(
    request: Request, choices: Choices, counter: Counter, on_progress: OnProgress | None
) -> tuple[Request, ...]:
    """Return the same question as put to each other persona, brought up to date.

    One whose configuration or folders cannot be used now is passed over.
    """
    own = request.persona.slug if request.persona else ""
    found = []
    for slug in counter.house().names():
        if slug == own:
            continue
        try:
            counter.house().refresh(slug, on_progress=on_progress)
            other = _request(slug, request.question, choices, counter)
        except ChapterhouseError:  # it is told of by ``persona validate``, not by this answer
            continue
        found.append(replace(other, out_of_scope="defer"))
    return tuple(found)
