"""A turn by a model: told what lies before it, asked for a form, and checked sentence by sentence.

::

    excerpts, claims of others with their evidence -> prompt -> JSON -> sentences -> judged, cited

What cannot be read as the form is asked for once more, and then taken as prose. What a model
claims is put on record with how far the documents carry it, whatever that is.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final, Self, TypeVar

from chapterhouse.answering.check_written import Given, check
from chapterhouse.answering.cite import Citations, Lookup
from chapterhouse.answering.evidence_buffer import EvidenceBuffer
from chapterhouse.answering.prompt import Shown
from chapterhouse.claims.quotation import find_quotation
from chapterhouse.concurrency import run_limited
from chapterhouse.council.meeting import prompts
from chapterhouse.council.meeting.concessions import judge_concession
from chapterhouse.council.meeting.output_format import (
    ask_again,
    format_of,
    shape_in_words,
    stream_readable_text,
)
from chapterhouse.council.meeting.prompts import earlier_claims, excerpts_for, tools_for
from chapterhouse.council.meeting.session import Participant
from chapterhouse.council.meeting.turn_output import Output, ReplyOutput, TurnOutput, read_turn
from chapterhouse.council.meeting.turns import Ledger, OnText, Turn, with_examined
from chapterhouse.errors import EngineError, PromptTooLongError
from chapterhouse.models.metered import Metered
from chapterhouse.ports.models import LanguageModel
from chapterhouse.runtime import Runtime
from chapterhouse.types import (
    FOUND,
    Citation,
    Claim,
    Concession,
    Mismatch,
    MismatchKind,
    OutputFormat,
    Problem,
    ProblemKind,
    Reading,
    Reply,
    Scope,
    Stance,
    Statement,
    Support,
    Tool,
    ToolCall,
    Writing,
)

Value = TypeVar("Value")

# How well a statement is carried as a whole: as its weakest sentence.
_RANK: Final = (Support.QUOTED, Support.SUPPORTED, Support.CITED, Support.NOT_FOUND,
    Support.DISAGREES)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """A checked sentence with its citations."""

    text: str
    citations: tuple[Citation, ...]
    support: Support
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks what a model wrote by what lay before it.

    Attributes:
        given: All that lay there.
        lookup: Where quotations are looked up.
    """

    given: tuple[Given, ...]
    lookup: Lookup

    @classmethod
    def of(cls, evidence: EvidenceBuffer, runtime: Runtime) -> Self:
        """Return what checks by all that lies on a desk now; documents are read once."""
        # Others' quotations lie there, too.
        store, scope = evidence.with_texts(runtime).store, Scope.everything()
        document = cache(partial(store.document, scope=scope))
        body = cache(partial(store.body, scope=scope))
        return cls(evidence.given(), Lookup(document, body))

    def sentences(
        self, text: str, quotation: str = ""
    ) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
        """Return a text's sentences with verified citations, and the markers that cite nothing.

        Args:
            text: What a model wrote.
            quotation: The words of a source that it quotes for it; or empty.
        """
        checked = check(text, self.given, self.lookup)
        citations = Citations(self.lookup, checked.citations)
        span = find_quotation(quotation, [one.evidence for one in self.given])
        quoted = (citations.number(span),) if span else ()
        cited = {citation.number: citation for citation in citations.found}
        sentences = []
        for one in checked.sentences:
            numbers = quoted or one.citations
            found = tuple(cited[number] for number in numbers if number)
            supported = found and not one.mismatches
            support = Support.CITED if supported else Support.NOT_FOUND
            problems = tuple(map(_problem, one.mismatches))
            sentences.append(Sentence(one.text, found, support, problems))
        return tuple(sentences), checked.rejected

    def whole(self, text: str, quotation: str = "") -> tuple[Sentence, tuple[str, ...]]:
        """Return a text as one sentence, carried as far as its weakest claim is."""
        sentences, rejected = self.sentences(text, quotation)
        claims = [one for one in sentences if one.support is not Support.NO_STATEMENT]
        support = max(
            (one.support for one in claims), key=_RANK.index, default=Support.NO_STATEMENT
        )
        citations = tuple(dict.fromkeys(c for one in sentences for c in one.citations))
        problems = tuple(problem for one in sentences for problem in one.problems)
        return Sentence(" ".join(s.text for s in sentences), citations, support, problems), rejected


def _problem(found: Mismatch) -> Problem:
    kind = found.kind.value.replace(MismatchKind.AMOUNT, MismatchKind.NUMBER)
    return Problem(ProblemKind(kind), found.text, found.instead)


def statement_of(
    output: TurnOutput,
    participant: Participant,
    turn: Turn,
    evidence: EvidenceBuffer,
    runtime: Runtime,
) -> Statement:
    """Return what a model said as a statement: every sentence judged, every marker resolved.

    Args:
        output: What it said.
        participant: For whom it spoke.
        turn: What was asked.
        evidence: What lay before it; nothing else can be cited.
        runtime: The library's parts.
    """
    checker, ledger = Checker.of(evidence, runtime), Ledger()
    rejected: list[str] = []
    claims: list[Claim] = []
    for written in output.claims:
        sentences, wrong = checker.sentences(written.text, written.quotation)
        rejected += wrong
        claims += [
            _claim(sentence, participant, turn, ledger)
            for sentence in sentences
            if sentence.support is not Support.NO_STATEMENT
        ]
    warnings = [output.warning] if output.warning else []
    replies = []
    for reply in _known_replies(output.replies, participant, turn, warnings):
        reason, wrong = checker.whole(reply.reason, reply.quotation)
        rejected += wrong
        replies.append(_reply(reply, reason, participant, turn, ledger))
    position, _ = checker.whole(output.position)
    return Statement(
        member=participant.key,
        round=turn.round.name,
        position=position.text,
        option=output.option,
        claims=tuple(claims),
        replies=tuple(replies),
        concessions=_concessions(output, participant, turn, checker, ledger),
        missing=tuple(checker.whole(text)[0].text for text in output.missing),
        open_questions=tuple(checker.whole(text)[0].text for text in output.open_questions),
        citations=ledger.citations,
        warnings=tuple(warnings),
        rejected=tuple(dict.fromkeys(rejected)),
        read=readings_of(evidence),
        tool_texts=evidence.texts_among(one.document_id for one in ledger.citations),
    )


def _claim(sentence: Sentence, participant: Participant, turn: Turn, ledger: Ledger) -> Claim:
    return Claim(
        "",
        participant.key,
        turn.round.name,
        sentence.text,
        ledger.numbers(sentence.citations),
        sentence.support,
        sentence.problems,
    )


def _known_replies(
    replies: Sequence[ReplyOutput], participant: Participant, turn: Turn, warnings: list[str]
) -> Iterator[ReplyOutput]:
    """Yield the last reply to each claim of others, and of their own that is open."""
    others = {claim.id for claim in turn.others(participant)}
    own = {claim.id for claim in turn.open_claims(participant)} - others
    # Who no longer holds a claim of their own gives it up, by rules that are stricter.
    fits = [r for r in replies if r.claim in others or (_holds(r) and r.claim in own)]
    last = {reply.claim: reply for reply in fits}
    unknown = dict.fromkeys(reply.claim for reply in replies if reply not in fits)
    if unknown:
        warnings.append(f"Replies to what is no open claim were left out: {', '.join(unknown)}.")
    yield from last.values()


def _holds(reply: ReplyOutput) -> bool:
    return reply.stance in {Stance.SUPPORTS, Stance.QUALIFIES, Stance.ASKS}


def _reply(
    reply: ReplyOutput, reason: Sentence, participant: Participant, turn: Turn, ledger: Ledger
) -> Reply:
    return Reply(
        member=participant.key,
        round=turn.round.name,
        claim=reply.claim,
        stance=reply.stance,
        text=reason.text,
        citations=ledger.numbers(reason.citations),
        support=reason.support,
        problems=reason.problems,
    )


def _concessions(
    output: TurnOutput, participant: Participant, turn: Turn, checker: Checker, ledger: Ledger
) -> tuple[Concession, ...]:
    """Return what a member gives up, each claim once, with whether it counts."""
    made: dict[str, Concession] = {}
    known = {claim.id for claim in turn.record.claims}
    for given in output.concessions:
        if given.claim not in known or given.claim in made:
            continue
        reason, _ = checker.whole(given.reason)
        cited = reason.citations if reason.support in FOUND else ()
        concession = Concession(
            participant.key,
            turn.round.name,
            given.claim,
            given.to if given.to in known else "",
            reason.text,
            ledger.numbers(cited),
        )
        free = not turn.council.concession_rule
        made[given.claim] = judge_concession(concession, cited, turn.record, free=free)
    return tuple(made.values())


def readings_of(evidence: EvidenceBuffer) -> tuple[Reading, ...]:
    """Return the stretches of documents that lay on a desk."""
    return tuple(map(_reading, evidence.blocks()))


def _reading(block: Shown) -> Reading:
    excerpt = block.excerpt
    return Reading(excerpt.hit.document.id, excerpt.start, excerpt.end)


_FIXED: Final = 1_200  # tokens of a prompt that are no evidence
_SHOWN_MARKER: Final = re.compile(r"⟦(\^[^⟦⟧\n]{1,400}|\d{1,4})⟧")
_CUT: Final = (
    "The model was cut off at its longest answer (language_model.maximum_tokens): "
    "more would follow."
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that a model is given in a turn."""

    evidence: EvidenceBuffer
    instructions: str
    prompt: str
    tools: tuple[Tool, ...]
    form: OutputFormat


def prepare_turn(participant: Participant, turn: Turn, runtime: Runtime) -> Prepared:
    """Return what a model is given in a turn; nothing is asked of it yet.

    Args:
        participant: Who speaks.
        turn: What is asked.
        runtime: The library's parts.
    """
    evidence = EvidenceBuffer(participant.request, runtime, participant.capacity.evidence)
    if participant.grounding != "tool":
        evidence.add(excerpts_for(participant, turn))
    earlier = tuple(earlier_claims(participant, turn, runtime, evidence))
    tools = tools_for(participant, evidence, runtime)
    form = format_of(turn.round.kind, turn.council.options)
    return Prepared(
        evidence,
        prompts.instructions(participant, turn, shape_in_words(form), tools=bool(tools)),
        prompts.user_message(turn, evidence.blocks(), evidence.nonce, *earlier),
        tools,
        form,
    )


def with_less_evidence(
    participant: Participant, evidence: EvidenceBuffer, fits: float
) -> Participant:
    """Return who speaks with so much less before them that a prompt of which ``fits`` is left fits.

    Instructions and the form stay as long as they are, so that evidence has to give way for them.
    """
    tokens_left = int(evidence.tokens - (1 - fits) * (evidence.tokens + _FIXED))
    return replace(
        participant, capacity=replace(participant.capacity, evidence=max(tokens_left, 1))
    )


async def written_turn(
    participant: Participant,
    writer: LanguageModel,
    turn: Turn,
    runtime: Runtime,
    on_text: OnText | None = None,
) -> Statement:
    """Return what a model says in a round, checked.

    Args:
        participant: Who speaks.
        writer: The model that writes for them.
        turn: What is asked.
        runtime: The library's parts.
        on_text: Is given what the model writes as it comes, before it is checked.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    given = await run_limited(partial(prepare_turn, participant, turn, runtime))
    model = Metered(writer)
    read = partial(read_turn, options=turn.council.options)
    try:
        output, writing = await write_in_form(model, given, read, on_text)
    except PromptTooLongError as error:  # once more, with what fits
        participant = with_less_evidence(participant, given.evidence, error.fits)
        given = await run_limited(partial(prepare_turn, participant, turn, runtime))
        output, writing = await write_in_form(model, given, read, on_text)
    statement = await run_limited(
        partial(statement_of, output, participant, turn, given.evidence, runtime)
    )
    return replace(
        with_examined(statement, turn),
        method=model.fingerprint,
        usage=model.usage,
        tool_calls=calls_of(writing),
        warnings=(*statement.warnings, _CUT) if writing.cut else statement.warnings,
    )


async def write_in_form(
    model: LanguageModel,
    given: Prepared,
    read: Callable[[str], Output],
    on_text: OnText | None,
) -> tuple[Output, Writing]:
    """Return what a model said in the form that was asked for, and its first text.

    What is not in that form is asked for once more, without tools; what then is not is prose.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    writing = await model.write(
        given.instructions,
        given.prompt,
        tools=given.tools,
        on_text=stream_readable_text(on_text) if on_text else None,
        output=given.form,
    )
    output = read(writing.text)
    if output.in_form:
        return output, writing
    written = prompts.format_data("WHAT YOU WROTE", writing.text, "written", given.evidence.nonce)
    try:
        second = await model.write(ask_again(given.form), written, output=given.form)
    except EngineError:
        return output, writing
    again = read(_with_markers(second.text))
    return (again if again.in_form else output), writing


def _with_markers(text: str) -> str:
    """Return a text whose markers are spelt as their writer spelt them before they were shown."""
    return _SHOWN_MARKER.sub(r"[\1]", text)


def calls_of(writing: Writing) -> tuple[ToolCall, ...]:
    """Return what a model looked up, without what it was told."""
    return tuple(replace(call, result="") for call in writing.tool_calls)
