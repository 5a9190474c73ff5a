"""The minutes: a draft without a chair, and as the chair's model writes them.

In a draft nothing is concluded but what most would choose: it is who stands by which statement, as
members said themselves, and what documents say where one has no model. What a chair names must
exist: ids of statements and markers of sources that do not are left out, and a warning says so.
Whatever it leaves out, who stands by which statement is in the minutes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from chapterhouse.answering.evidence_buffer import EvidenceBuffer
from chapterhouse.answering.runtime import Runtime
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting import prompts
from chapterhouse.council.meeting.forms import (
    SummaryReply,
    read_summary,
    summary_format,
)
from chapterhouse.council.meeting.record import Ledger, OnText, Record, TurnTask
from chapterhouse.council.meeting.session import Participant, Session, participant_record
from chapterhouse.council.meeting.table import table_of
from chapterhouse.council.meeting.written import (
    Checker,
    Prepared,
    prepare,
    statements_named,
    write_in_form,
)
from chapterhouse.council.minutes.contents import find_agreement
from chapterhouse.models.opening import Metered
from chapterhouse.types import Gap, Minutes, Point
from chapterhouse.types.engines import LanguageModel


def draft_minutes(session: Session, record: Record, runtime: Runtime) -> Minutes:
    """Return the minutes of a session without what a chair writes."""
    ledger, council = Ledger(record.citations), session.council
    table = table_of(session, runtime, ledger)
    choices = {turn.member: turn.option for turn in record.turns if turn.option}
    keys = [one.key for one in session.participants]
    return Minutes(
        council=council.slug,
        title=council.title,
        question=session.question,
        purpose=council.purpose,
        options=council.options if session.debates else (),
        members=tuple(participant_record(one, runtime) for one in session.participants),
        rounds=tuple(dict.fromkeys(turn.round for turn in record.turns)),
        turns=record.turns,
        absences=record.absences,
        agreement=find_agreement(record.turns, keys),
        decided=_majority(choices),
        decision=tuple(_choices(choices, session)),
        open_questions=tuple(
            Point(text, members=(turn.member,))
            for turn in record.turns
            for text in turn.open_questions
        ),
        missing=tuple(dict.fromkeys(_missing(session, record))),
        table=table,
        citations=ledger.citations,
        chair=session.chair.title if session.chair and session.debates else "",
        warnings=tuple(_draft_warnings(session, record)),
    )


def _shelf_of_gap(participant: Participant) -> str:
    """Return the shelf that lacks something: a member's own, of a council all that it reads."""
    return ", ".join(participant.shelves) if participant.inner else participant.shelves[0]


def _majority(choices: Mapping[str, str]) -> str:
    """Return the option that most of those who chose one would choose; or empty."""
    counts = Counter(choices.values())
    return next((option for option, count in counts.items() if 2 * count > len(choices)), "")


def _choices(choices: Mapping[str, str], session: Session) -> Iterator[Point]:
    """Yield for each option who would choose it."""
    titles = {one.key: one.title for one in session.everyone}
    for option in session.council.options:
        members = tuple(key for key, chosen in choices.items() if chosen == option)
        if members:
            names = ", ".join(titles[key] for key in members)
            yield Point(f"Would choose “{option}”: {names}.", members=members)


def _missing(session: Session, record: Record) -> Iterator[Gap]:
    shelves = {one.key: _shelf_of_gap(one) for one in session.everyone}
    for turn in record.turns:
        for text in turn.missing:
            yield Gap(turn.member, shelves[turn.member], text)


def _draft_warnings(session: Session, record: Record) -> Iterator[str]:
    """Yield each warning once, with all members who have it."""
    yield from session.warnings
    titles = {one.key: one.title for one in session.everyone}
    whose: dict[str, dict[str, None]] = {}
    for turn in record.turns:
        for warning in turn.warnings:
            whose.setdefault(warning, {})[titles[turn.member]] = None
    for warning, names in whose.items():
        yield f"{', '.join(names)}: {warning}"


# --- by the chair --------------------------------------------------------------------------------


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

    def add_evidence(evidence: EvidenceBuffer) -> Iterator[str]:
        cited = record.cited(dict.fromkeys(numbers))
        evidence.add(prompts.evidence_excerpts(cited, chair.request.scope, runtime))
        yield prompts.format_statements("STATEMENTS", record.statements, task, evidence)
        yield prompts.format_replies("REPLIES", record.replies, task, evidence)
        members = "\n".join(_members(synthesis))
        yield prompts.format_data("MEMBERS", members, "members", evidence.nonce)

    keys = [one.key for one in synthesis.session.participants]
    return prepare(chair, task, runtime, summary_format(task.council.options, keys), add_evidence)


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
    shelves = {one.key: _shelf_of_gap(one) for one in synthesis.session.participants}
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
