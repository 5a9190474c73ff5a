"""The minutes by the chair's model: written from statements, replies and sources.

What it names must exist: ids of statements and markers of sources that do not are left out, and a
warning says so. Whatever it leaves out, who stands by which statement is in the minutes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from chapterhouse.answering.evidence_buffer import EvidenceBuffer
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting import prompts
from chapterhouse.council.meeting.draft import shelf_of_gap
from chapterhouse.council.meeting.forms import (
    SummaryReply,
    read_summary,
    summary_format,
)
from chapterhouse.council.meeting.record import Ledger, OnText, TurnTask
from chapterhouse.council.meeting.session import Participant, Session
from chapterhouse.council.meeting.written import (
    Checker,
    Prepared,
    prepare,
    statements_named,
    write_in_form,
)
from chapterhouse.models.metered import Metered
from chapterhouse.ports.models import LanguageModel
from chapterhouse.runtime import Runtime
from chapterhouse.types import Gap, Minutes, Point


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What the chair is to sum up.

    Attributes:
        draft: The minutes without a chair.
    """

    session: Session
    task: TurnTask
    draft: Minutes


async def write_minutes(
    chair: Participant,
    writer: LanguageModel,
    synthesis: Synthesis,
    runtime: Runtime,
    on_text: OnText | None = None,
) -> Minutes:
    """Return the minutes as the chair's model writes them.

    Args:
        on_text: Is given what the model writes as it comes, before it is checked.
    """
    given = await run_in_thread(partial(prepare_synthesis, chair, synthesis, runtime))
    model = Metered(writer)
    writing = await write_in_form(model, given, on_text)
    summary = read_summary(writing.text, synthesis.draft.options)
    minutes = await run_in_thread(partial(_minutes, summary, synthesis, given.evidence, runtime))
    warnings = [*minutes.warnings, *([f"The chair: {summary.warning}"] if summary.warning else [])]
    if writing.cut:
        warnings.append("The chair was cut off at its longest answer: more would follow.")
    method = model.fingerprint if minutes.decision or minutes.grounds else minutes.method
    return replace(minutes, method=method, usage=model.usage, warnings=tuple(warnings))


def prepare_synthesis(chair: Participant, synthesis: Synthesis, runtime: Runtime) -> Prepared:
    """Return what the chair's model is given; nothing is asked of it yet."""
    task, record = synthesis.task, synthesis.task.record
    numbers = [number for one in record.statements for number in prompts.numbers_of(one)]
    numbers += [number for one in record.replies for number in one.citations]

    def lay_out(evidence: EvidenceBuffer) -> Iterator[str]:
        cited = record.cited(dict.fromkeys(numbers))
        evidence.add(prompts.evidence_excerpts(cited, chair.request.scope, runtime))
        yield prompts.format_statements("STATEMENTS", record.statements, task, evidence)
        yield prompts.format_replies("REPLIES", record.replies, task, evidence)
        members = "\n".join(_members(synthesis))
        yield prompts.format_data("MEMBERS", members, "members", evidence.nonce)

    keys = [one.key for one in synthesis.session.participants]
    return prepare(chair, task, runtime, summary_format(task.council.options, keys), lay_out)


def _members(synthesis: Synthesis) -> Iterator[str]:
    """Yield who met under which key, and which option each would choose in the end."""
    options = {one.member: one.option for one in synthesis.task.record.turns if one.option}
    for one in synthesis.session.participants:
        chosen = f", would choose “{options[one.key]}”" if one.key in options else ""
        yield f"{one.key} is {one.title}{chosen}"


def _minutes(
    summary: SummaryReply, synthesis: Synthesis, evidence: EvidenceBuffer, runtime: Runtime
) -> Minutes:
    """Return the draft with what the chair wrote; where that is nothing, the draft."""
    draft, record = synthesis.draft, synthesis.task.record
    checker = Checker.of(evidence, runtime, synthesis.task.question)
    ledger = Ledger(draft.citations)
    known = {one.id for one in record.statements}
    left_out = list[str]()

    def point(text: str, *members: str) -> Point:
        words, names = statements_named(text)
        checked = checker.check(words)
        left_out.extend((*(f"[{one}]" for one in names if one not in known), *checked.rejected))
        named = tuple(one for one in names if one in known)
        numbers = ledger.numbers(checked.citations)
        return Point(checked.text, numbers, checked.mismatches, named, members)

    def points(texts: Iterable[str]) -> tuple[Point, ...]:
        return tuple(one for one in map(point, texts) if one.text)

    decision, grounds = points(summary.decision), points(summary.grounds)
    if not decision and not grounds:
        return replace(draft, warnings=(*draft.warnings, "The chair wrote nothing to sum up."))
    shelves = {one.key: shelf_of_gap(one) for one in synthesis.session.participants}
    dissent = tuple(
        point(one.text, *([one.member] if one.member in shelves else [])) for one in summary.dissent
    )
    missing = [
        Gap(member, shelves.get(member, ""), checker.check(one.text).text)
        for one in summary.missing
        for member in [one.member if one.member in shelves else ""]
    ]
    open_questions = (*points(summary.open_questions), *draft.open_questions)
    warnings = draft.warnings
    if left_out:
        names = ", ".join(dict.fromkeys(left_out))
        warnings = (*warnings, f"The chair names what does not exist; it was left out: {names}.")
    return replace(
        draft,
        decided=summary.decided,
        decision=decision,
        grounds=grounds,
        dissent=dissent,
        open_questions=open_questions,
        missing=tuple(dict.fromkeys((*missing, *draft.missing))),
        citations=ledger.citations,
        warnings=warnings,
        tool_texts=evidence.texts_among(one.document_id for one in ledger.citations),
    )
