"""What bounds a meeting: the time and the tokens that its caller allows, and what each model takes.

When the time or the tokens of a meeting are used, nobody is asked any more, and the minutes are
made of what there is.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting.session import Capacity, Participant, Session
from chapterhouse.types import ModelLimits, Usage

_INSTRUCTIONS: Final = 900  # tokens of a system message, the form in words and the question
_ANSWER: Final = 350  # tokens that a turn writes
_MOST_EVIDENCE: Final = 6_000  # tokens, however much a model takes
_LEAST_EVIDENCE: Final = 250


class Allowance:
    """What is left of the time and the tokens of a meeting, and what was left undone without.

    Args:
        seconds: From now on; 0 for any.
        tokens: Of prompts and answers together; 0 for any. A turn that has begun is finished.
    """

    def __init__(
        self,
        seconds: float = 0.0,
        tokens: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds, self._tokens, self._clock = seconds, tokens, clock
        self._began = clock()
        self._used = 0
        self._undone: dict[str, None] = {}

    @property
    def seconds_left(self) -> float:
        """The seconds until the time is used."""
        if not self._seconds:
            return float("inf")
        return max(0.0, self._seconds - (self._clock() - self._began))

    @property
    def is_used(self) -> bool:
        """Whether nobody may be asked any more."""
        return bool(self._tokens and self._used >= self._tokens) or not self.seconds_left

    def add(self, used: Usage | None) -> None:
        """Count what a model has used."""
        if used is not None:
            self._used += used.prompt_tokens + used.completion_tokens

    def note(self, undone: str) -> None:
        """Remember what was not done because of a limit, in words."""
        self._undone[undone] = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not done, once each."""
        reached = f"{self._tokens:,} tokens" if self.seconds_left else f"{self._seconds:g} seconds"
        return tuple(f"The limit of {reached} was reached: {one}." for one in self._undone)


async def fit_session(session: Session) -> Session:
    """Return the session with what lies before each model sized to what that model takes."""
    models = {one.model.fingerprint: one.model for one in _speakers(session) if one.model}
    return _with_capacities(
        session,
        {name: _capacity(await run_in_thread(model.limits)) for name, model in models.items()},
    )


def _capacity(limits: ModelLimits) -> Capacity:
    if not limits.context:
        return Capacity(_MOST_EVIDENCE, limits.at_once)
    fitting = limits.context - min(limits.answer or _ANSWER, _ANSWER) - _INSTRUCTIONS
    return Capacity(max(_LEAST_EVIDENCE, min(fitting, _MOST_EVIDENCE)), limits.at_once)


def _with_capacities(session: Session, capacities: Mapping[str, Capacity]) -> Session:
    def with_capacity(one: Participant) -> Participant:
        if one.inner:
            return replace(one, inner=_with_capacities(one.inner, capacities))
        return replace(one, capacity=capacities[one.model.fingerprint]) if one.model else one

    chair = with_capacity(session.chair) if session.chair else None
    return replace(
        session, participants=tuple(map(with_capacity, session.participants)), chair=chair
    )


def _speakers(session: Session) -> Iterator[Participant]:
    """Yield everybody who may speak by a model, those of councils within too."""
    for one in session.everyone:
        if one.inner:
            yield from _speakers(one.inner)
        else:
            yield one
