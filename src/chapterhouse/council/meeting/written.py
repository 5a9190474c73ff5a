"""A turn by a model: told what lies before it, asked for a form, and shown as it wrote it.

::

    excerpts, statements of others with their evidence -> prompt -> JSON -> statements and replies

Every marker is resolved to the words of its source. Beside a sentence stands only what can be
compared exactly, and is not in what it cites.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

from chapterhouse.answering.check_written import check
from chapterhouse.answering.cite import Lookup
from chapterhouse.answering.evidence_buffer import EvidenceBuffer
from chapterhouse.answering.runtime import Runtime
from chapterhouse.concurrency import compute_in_thread
from chapterhouse.council.meeting import prompts
from chapterhouse.council.meeting.forms import (
    read_turn,
    shape_in_words,
    statement_ids,
    stream_readable_text,
    turn_format,
)
from chapterhouse.council.meeting.record import Ledger, OnText, TurnTask
from chapterhouse.council.meeting.session import Participant
from chapterhouse.errors import PromptTooLongError
from chapterhouse.models.opening import MeteredModel
from chapterhouse.types import (
    Citation,
    Ground,
    MemberTurn,
    Mismatch,
    OutputFormat,
    Reply,
    Scope,
    Statement,
    Tool,
    Writing,
)
from chapterhouse.types.engines import LanguageModel

_STATEMENT_MARKER: Final = re.compile(
    r" ?[\[(]\s*(s\d{1,6}(?:\s*[,;]?\s*s\d{1,6})*)\s*[\])]", re.IGNORECASE
)
_FIXED: Final = 1_200  # tokens of a prompt that are no evidence
_CUT: Final = (
    "The model was cut off at its longest answer (language_model.maximum_tokens): "
    "more would follow."
)


@dataclass(frozen=True, slots=True)
class CheckedText:
    """What a model wrote, its markers resolved.

    Attributes:
        citations: Not numbered yet.
        mismatches: What was compared exactly, and none of the passages has that it cites.
        rejected: Markers that cite nothing it was given.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    rejected: tuple[str, ...] = ()


def checker_of(
    evidence: EvidenceBuffer, runtime: Runtime, known: str
) -> Callable[[str], CheckedText]:
    """Return what checks a text of one or more sentences by all that lies before a model now.

    ``known`` is what else it was told, such as the question: a number of it is missed nowhere.
    """
    # Others' quotations lie there, too; documents are read once.
    store, scope = evidence.with_texts(runtime).store, Scope.everything()
    lookup = Lookup(
        cache(partial(store.document, scope=scope)), cache(partial(store.body, scope=scope))
    )
    given = evidence.given()

    def check_text(text: str) -> CheckedText:
        checked = check(text, given, lookup, known)
        cited = {citation.number: citation for citation in checked.citations}
        numbers = dict.fromkeys(n for one in checked.sentences for n in one.citations)
        return CheckedText(
            " ".join(one.text for one in checked.sentences),
            tuple(cited[number] for number in numbers),
            tuple(found for one in checked.sentences for found in one.mismatches),
            checked.rejected,
        )

    return check_text


def statements_named(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without the markers of statements in it, such as [s3], and their ids."""
    names = statement_ids(" ".join(_STATEMENT_MARKER.findall(text)))
    return _STATEMENT_MARKER.sub("", text), names


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """All that a model is given in a turn."""

    evidence: EvidenceBuffer
    instructions: str
    prompt: str
    tools: tuple[Tool, ...]
    form: OutputFormat


def open_evidence(participant: Participant, task: TurnTask, runtime: Runtime) -> EvidenceBuffer:
    """Return what lies before a participant at first: excerpts, unless they search themselves."""
    evidence = EvidenceBuffer(participant.request, runtime, participant.capacity.evidence)
    if participant.grounding != "tool":
        evidence.add(prompts.excerpts_for(participant, task))
    return evidence


def prepare(
    participant: Participant,
    task: TurnTask,
    runtime: Runtime,
    form: OutputFormat,
    evidence: EvidenceBuffer,
    board: Iterable[str],
) -> TurnPrompt:
    """Return what a model is given; ``board`` is what was said before, its evidence laid out."""
    parts = tuple(board)
    tools = prompts.tools_for(participant, evidence, runtime)
    return TurnPrompt(
        evidence,
        prompts.instructions(participant, task, shape_in_words(form), tools=bool(tools)),
        prompts.user_message(task, evidence.blocks(), evidence.nonce, *parts),
        tools,
        form,
    )


def prepare_turn(participant: Participant, task: TurnTask, runtime: Runtime) -> TurnPrompt:
    """Return what a model is given in a turn; nothing is asked of it yet."""
    statements = [one.id for one in (*task.to_reply(participant.key), *task.own(participant.key))]
    form = turn_format(
        task.round.kind,
        len(task.questions),
        list(dict.fromkeys(statements)) if task.round.shows_statements else [],
        task.council.options,
    )
    evidence = open_evidence(participant, task, runtime)
    board = prompts.add_statements(participant, task, runtime, evidence)
    return prepare(participant, task, runtime, form, evidence, board)


async def write_turn(
    participant: Participant,
    writer: LanguageModel,
    task: TurnTask,
    runtime: Runtime,
    on_text: OnText | None = None,
) -> MemberTurn:
    """Return what a model says in a round; ``on_text`` is given it as it comes, unchecked."""
    given = await compute_in_thread(partial(prepare_turn, participant, task, runtime))
    model = MeteredModel(writer)
    try:
        writing = await write_in_form(model, given, on_text)
    except PromptTooLongError as error:  # once more, with what fits
        participant = with_less_evidence(participant, given.evidence, error.fits)
        given = await compute_in_thread(partial(prepare_turn, participant, task, runtime))
        writing = await write_in_form(model, given, on_text)
    empty = MemberTurn(participant.key, task.round.name)
    turn = read_turn(writing.text, empty, task.questions, task.council.options)
    turn = await compute_in_thread(partial(resolve_turn, turn, task, given.evidence, runtime))
    return replace(
        turn,
        method=model.fingerprint,
        usage=model.usage,
        tool_calls=tuple(replace(call, result="") for call in writing.tool_calls),
        warnings=(*turn.warnings, _CUT) if writing.cut else turn.warnings,
    )


async def write_in_form(model: LanguageModel, given: TurnPrompt, on_text: OnText | None) -> Writing:
    """Return what a model wrote that was asked for a form."""
    return await model.write(
        given.instructions,
        given.prompt,
        tools=given.tools,
        on_text=stream_readable_text(on_text) if on_text else None,
        output=given.form,
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


def resolve_turn(
    turn: MemberTurn, task: TurnTask, evidence: EvidenceBuffer, runtime: Runtime
) -> MemberTurn:
    """Return what a model said with every marker resolved, and each statement replied to once.

    Nothing but ``evidence`` can be cited.
    """
    check_text, ledger = checker_of(evidence, runtime, task.question), Ledger()
    rejected: list[str] = []

    def ground(text: str) -> Ground:
        checked = check_text(_STATEMENT_MARKER.sub(r" (\1)", text))
        rejected.extend(checked.rejected)
        return Ground(checked.text, ledger.numbers(checked.citations), checked.mismatches)

    def statement(one: Statement) -> Statement:
        found = ground(one.position)
        return replace(
            one,
            position=found.text,
            citations=found.citations,
            mismatches=found.mismatches,
            grounds=tuple(ground(each.text) for each in one.grounds),
        )

    def reply(one: Reply) -> Reply:
        found = ground(one.reason)
        return replace(
            one, reason=found.text, citations=found.citations, mismatches=found.mismatches
        )

    known = {one.id for one in task.record.statements}
    unknown = dict.fromkeys(one.statement for one in turn.replies if one.statement not in known)
    last = {one.statement: one for one in turn.replies if one.statement in known}
    warning = f"Replies to what nobody stated were left out: {', '.join(unknown)}."
    statements = tuple(map(statement, turn.statements))
    replies = tuple(map(reply, last.values()))
    return replace(
        turn,
        statements=statements,
        replies=replies,
        missing=tuple(check_text(text).text for text in turn.missing),
        open_questions=tuple(check_text(text).text for text in turn.open_questions),
        citations=ledger.citations,
        warnings=(*turn.warnings, warning) if unknown else turn.warnings,
        rejected=tuple(dict.fromkeys(rejected)),
        tool_texts=evidence.texts_among(one.document_id for one in ledger.citations),
    )
