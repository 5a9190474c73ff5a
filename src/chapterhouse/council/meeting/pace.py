"""How fast a model reads and writes, and what of it a meeting will take: calls, tokens and time."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.agents.council_model import Round, RoundKind
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting.budget import Budget, Need, Spending, duration
from chapterhouse.council.meeting.session import Capacity, Participant, Session
from chapterhouse.errors import EngineError, UsageError
from chapterhouse.ports.models import LanguageModel
from chapterhouse.runtime import Runtime
from chapterhouse.text.counting import counted, estimate_tokens
from chapterhouse.types import ModelLimits

_INSTRUCTIONS: Final = 900  # tokens of a system message, the form in words and the question
_ANSWER: Final = 350  # tokens that a turn is expected to write
_MOST_EVIDENCE: Final = 6_000  # tokens, however much a model takes
_LEAST_EVIDENCE: Final = 250
_USUAL_EVIDENCE: Final = 2_000  # what a turn lays out where it may
_SHARES: Final = (1.0, 0.5, 0.25, 0.0)  # of the evidence that is usual, in a smaller meeting
_SHARE: Final = 0.6  # of the longest time for a response, in which one is to be whole
_CLAIM: Final = 60  # tokens of a claim before the chair
_CLAIMS: Final = 5  # that a member is expected to make
# How many of those who could speak are expected to have something open.
_OPEN: Final[Mapping[RoundKind, float]] = {
    RoundKind.CROSS_EXAMINATION: 0.75,
    RoundKind.REBUTTAL: 0.5,
}
_COUNTING: Final = "Write the numbers from 1 to 30, and nothing else."
_FILLER: Final = "The harbour master wrote down how fast each vessel went and who steered it. " * 8
_PIECES: Final = 16  # of a response, mostly a token each
_PATIENCE: Final = 20.0  # seconds for them


@dataclass(frozen=True, slots=True)
class Pace:
    """Tokens a second that a model reads and writes."""

    reads: float
    writes: float

    def seconds(self, prompt: float, answer: float) -> float:
        """Return the time for one response."""
        return prompt / self.reads + answer / self.writes


HOSTED: Final = Pace(2_000, 60)  # assumed of a service, which is not asked for its pace
SLOW: Final = Pace(10, 2)  # of what does not even begin in time


async def measure_pace(model: LanguageModel, nonce: str) -> Pace:
    """Return the pace of a model by the beginning of a response.

    HOSTED where it fails, which is told when a member is to speak; SLOW where it does not even
    begin in time.

    Args:
        model: The model.
        nonce: Fresh letters, so that its server has not read the prompt before.
    """
    try:
        await _times(model, f"{nonce}: {_COUNTING}", 1)  # which loads it, if it was not
        began = time.perf_counter()
        prompt = f"{nonce} {_FILLER}\n\n{_COUNTING}"
        times = await _times(model, prompt, _PIECES)
    except EngineError:
        return HOSTED
    if not times:
        return SLOW
    reading, writing = times[0] - began, times[-1] - times[0]
    writes = (len(times) - 1) / max(writing, 1e-3) if len(times) > 1 else HOSTED.writes
    return Pace(
        min(estimate_tokens(prompt) / max(reading, 1e-3), HOSTED.reads),
        min(writes, HOSTED.writes),
    )


async def _times(model: LanguageModel, prompt: str, pieces: int) -> Sequence[float]:
    """Return when the first pieces of a response came; the rest is not waited for."""
    times: list[float] = []
    enough = asyncio.Event()

    def on_text(_: str) -> None:
        times.append(time.perf_counter())
        if len(times) >= pieces:
            enough.set()

    writing = asyncio.ensure_future(model.write("", prompt, on_text=on_text))
    waiting = asyncio.ensure_future(enough.wait())
    try:
        await asyncio.wait(
            {writing, waiting}, timeout=_PATIENCE, return_when=asyncio.FIRST_COMPLETED
        )
        if writing.done():
            await writing
    finally:
        for task in (writing, waiting):
            task.cancel()
        await asyncio.gather(writing, waiting, return_exceptions=True)
    return times


async def fit_session(session: Session, runtime: Runtime, budget: Budget | None) -> Session:
    """Return the session with what lies before each model sized to that model and to the budget.

    Args:
        session: Who meets.
        runtime: The library's parts.
        budget: What the meeting may use, if anything is said of it.

    Raises:
        UsageError: not even the smallest meeting is within the budget.
    """
    models = {one.model.fingerprint: one.model for one in _speaking(session) if one.model}
    capacities = {name: await _capacity(model, runtime) for name, model in models.items()}
    fitted = _with_capacities(session, capacities)
    if budget is None or not capacities:
        return fitted
    spending = Spending(budget)
    sizes = [_smaller(fitted, share) for share in _SHARES]
    for smaller in sizes:
        if spending.allows(estimate(smaller)):
            return smaller
    for smaller in sizes:  # rounds for which there is no room are left out when it comes to them
        if spending.allows(_least_need(smaller)):
            return smaller
    raise UsageError(
        f"A budget of {budget} is too small: the smallest meeting takes about"
        f" {describe_need(smallest_need(fitted))}.",
        hint="Give more, or only read what documents say: --model none",
    )


def estimate(session: Session) -> Need:
    """Return what a meeting is expected to take."""
    total = Need()
    for entry in session.council.rounds:
        total += round_need(entry, session)
    return total


def round_need(entry: Round, session: Session) -> Need:
    """Return what one round is expected to take."""
    if entry.kind is RoundKind.SYNTHESIS:
        return chair_need(session)
    keys = entry.speakers or tuple(one.key for one in session.participants)
    speakers = [session.participant(key) for key in keys]
    needs = [(one, turn_need(one)) for one in speakers]
    share = _OPEN.get(entry.kind, 1.0)
    total = sum((need for _, need in needs), Need())
    waits: dict[str, float] = {}
    for one, need in needs:
        if one.model:
            name = one.model.fingerprint
            waits[name] = waits.get(name, 0.0) + need.seconds / _at_once(one, len(speakers))
    calls = round(total.calls * share)
    return Need(calls, round(total.tokens * share), share * max(waits.values(), default=0.0))


def chair_need(session: Session) -> Need:
    """Return what summing up is expected to take."""
    if session.chair is None:
        return Need()
    return turn_need(session.chair, _CLAIMS * _CLAIM * len(session.participants))


def turn_need(participant: Participant, further: int = 0) -> Need:
    """Return what one turn is expected to take, ``further`` tokens in its prompt."""
    if participant.inner:
        return estimate(participant.inner)
    if participant.model is None:
        return Need()
    capacity = participant.capacity
    evidence = min(capacity.evidence or _MOST_EVIDENCE, _USUAL_EVIDENCE)
    prompt = _INSTRUCTIONS + evidence + further
    answer = min(capacity.limits.answer or _ANSWER, _ANSWER)
    pace = Pace(capacity.reads, capacity.writes) if capacity.reads else HOSTED
    return Need(1, prompt + answer, pace.seconds(prompt, answer))


def describe_need(need: Need) -> str:
    """Return an estimate for people."""
    return f"{duration(need.seconds)}, {counted(need.calls, 'call')}, {need.tokens:,} tokens"


def _at_once(participant: Participant, speakers: int) -> int:
    limits = participant.capacity.limits
    return limits.at_once or (1 if limits.local else speakers)


def smallest_need(session: Session) -> Need:
    """Return what the smallest meeting on a question is expected to take."""
    return _least_need(_smaller(session, 0.0))


def _least_need(session: Session) -> Need:
    """Return what the first round takes, and summing up."""
    rounds = session.council.rounds
    ends = [entry for entry in rounds[1:] if entry.kind is RoundKind.SYNTHESIS]
    council = replace(session.council, rounds=(*rounds[:1], *ends[:1]))
    return estimate(replace(session, council=council))


async def _capacity(model: LanguageModel, runtime: Runtime) -> Capacity:
    limits = await run_in_thread(model.limits)
    pace = await measure_pace(model, runtime.nonce()) if limits.local else HOSTED
    reads, writes = (pace.reads, pace.writes) if limits.local else (0.0, 0.0)
    return Capacity(_evidence_tokens(limits, pace), reads, writes, limits)


def _evidence_tokens(limits: ModelLimits, pace: Pace) -> int:
    """Return the tokens of evidence that fit a model, and the time that one response may take."""
    answer = min(limits.answer or _ANSWER, _ANSWER)
    bounds = [float(_MOST_EVIDENCE)]
    if limits.context:
        bounds.append(limits.context - answer - _INSTRUCTIONS)
    if limits.local and limits.seconds:
        seconds = _SHARE * limits.seconds - answer / pace.writes
        bounds.append(seconds * pace.reads - _INSTRUCTIONS)
    return max(_LEAST_EVIDENCE, int(min(bounds)))


def _with_capacities(session: Session, capacities: Mapping[str, Capacity]) -> Session:
    def with_capacity(one: Participant) -> Participant:
        if one.inner:
            return replace(one, inner=_with_capacities(one.inner, capacities))
        found = capacities.get(one.model.fingerprint) if one.model else None
        return replace(one, capacity=found) if found else one

    return _map_everyone(session, with_capacity)


def _smaller(session: Session, share: float) -> Session:
    """Return the session with a share of the evidence that usually lies before a model."""

    def with_share(one: Participant) -> Participant:
        if one.inner:
            return replace(one, inner=_smaller(one.inner, share))
        usual = min(one.capacity.evidence or _MOST_EVIDENCE, _USUAL_EVIDENCE)
        evidence = max(_LEAST_EVIDENCE, int(usual * share))
        return replace(one, capacity=replace(one.capacity, evidence=evidence))

    return session if share >= 1 else _map_everyone(session, with_share)


def _map_everyone(session: Session, change: Callable[[Participant], Participant]) -> Session:
    chair = change(session.chair) if session.chair else None
    return replace(session, participants=tuple(map(change, session.participants)), chair=chair)


def _speaking(session: Session) -> Iterator[Participant]:
    """Yield everybody who speaks by a model, those of councils within too."""
    for one in session.everyone:
        if one.inner:
            yield from _speaking(one.inner)
        else:
            yield one
