"""The minutes by the chair's model: written from the claims and the map, and checked like any text.

What rules can write stands already; the model's words take its place only where something of them
is carried, and nothing that a rule found missing or disputed is lost.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chapterhouse.answering.evidence_buffer import EvidenceBuffer
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting import prompts
from chapterhouse.council.meeting.agenda import facts_in
from chapterhouse.council.meeting.draft import shelf_of_gap
from chapterhouse.council.meeting.grounds import why_no_ground
from chapterhouse.council.meeting.output_format import format_of, shape_in_words
from chapterhouse.council.meeting.position_table import position_table
from chapterhouse.council.meeting.prompts import evidence_excerpts, excerpts_for, tools_for
from chapterhouse.council.meeting.session import Participant, Session
from chapterhouse.council.meeting.turn_output import (
    StatedOutput,
    SynthesisOutput,
    VerdictOutput,
    read_synthesis,
)
from chapterhouse.council.meeting.turns import Ledger, OnText, Turn, span_of
from chapterhouse.council.meeting.written import Checker, Prepared, write_in_form
from chapterhouse.models.metered import Metered
from chapterhouse.ports.models import LanguageModel
from chapterhouse.runtime import Runtime
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import (
    FOUND,
    DissentReason,
    Gap,
    Leaning,
    MapRow,
    Minutes,
    Point,
    PositionTable,
    Stance,
    Support,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Synthesis:
    """What the chair is to sum up.

    Attributes:
        session: Who met.
        turn: The round, with all that was said.
        draft: The minutes that rules could write.
    """

    session: Session
    turn: Turn
    draft: Minutes


async def write_synthesis(
    chair: Participant,
    writer: LanguageModel,
    synthesis: Synthesis,
    runtime: Runtime,
    on_text: OnText | None = None,
) -> Minutes:
    """Return the minutes as the chair's model writes them, every sentence checked.

    Args:
        chair: Who presides.
        writer: The model that writes for them.
        synthesis: What is to be summed up.
        runtime: The library's parts.
        on_text: Is given what the model writes as it comes, before it is checked.

    Raises:
        EngineError: the model cannot be reached or wrote nothing.
    """
    given = await run_in_thread(partial(prepare_synthesis, chair, synthesis, runtime))
    model = Metered(writer)
    read = partial(read_synthesis, options=synthesis.draft.options)
    output, writing = await write_in_form(model, given, read, on_text)
    minutes = await run_in_thread(
        partial(_minutes, output, synthesis, given.evidence, runtime, model.fingerprint)
    )
    warnings = [*minutes.warnings, *([output.warning] if output.warning else [])]
    if writing.cut:
        warnings.append("The chair was cut off at its longest answer: more would follow.")
    return replace(minutes, usage=model.usage, warnings=tuple(warnings))


def prepare_synthesis(chair: Participant, synthesis: Synthesis, runtime: Runtime) -> Prepared:
    """Return what the chair's model is given; nothing is asked of it yet."""
    turn, draft = synthesis.turn, synthesis.draft
    evidence = EvidenceBuffer(chair.request, runtime)
    if chair.grounding != "tool":
        evidence.add(excerpts_for(chair, turn))
    cited = turn.record.cited(dict.fromkeys(_by_weight(draft)))
    evidence.add(evidence_excerpts(cited, chair.request.scope, runtime))
    blocks, nonce = evidence.blocks(), evidence.nonce
    tools = tools_for(chair, evidence, runtime)
    form = format_of(turn.round.kind, draft.options)
    board = (
        prompts.format_claims(
            "CLAIMS", prompts.mark_claims(turn, turn.record.claims, blocks), nonce
        ),
        prompts.format_data("MEMBERS", "\n".join(_members(synthesis)), "members", nonce),
        prompts.format_data("DISAGREEMENT MAP", "\n".join(_map(synthesis)), "map", nonce),
    )
    return Prepared(
        evidence,
        prompts.instructions(chair, turn, shape_in_words(form), tools=bool(tools)),
        prompts.user_message(turn, blocks, nonce, *board),
        tools,
        form,
    )


# --- what the chair is told ---------------------------------------------------------------------


def _by_weight(draft: Minutes) -> Iterator[int]:
    """Yield the numbers of citations, those of disputes first: there is not context for all."""
    for dispute in draft.map.disputes:
        for side in dispute.sides:
            yield from side.citations
    for claim in draft.claims:
        yield from claim.citations


def _members(synthesis: Synthesis) -> Iterator[str]:
    """Yield who met under which key, and what each held in the end."""
    positions = {s.member: s for s in synthesis.draft.statements if s.position or s.option}
    for participant in synthesis.session.participants:
        own_position = positions.get(participant.key)
        option = (
            f", would choose “{own_position.option}”"
            if own_position and own_position.option
            else ""
        )
        position = f": {own_position.position}" if own_position and own_position.position else ""
        yield f"{participant.key} is {participant.title}{option}{position}"


def _map(synthesis: Synthesis) -> Iterator[str]:
    """Yield every row, dispute and concession on a line, without text that stands above."""
    draft = synthesis.draft
    for row in draft.map.rows:
        yield f"{', '.join(row.claims)}: {_stances(row)} ({', '.join(row.kinds)})"
    for dispute in draft.map.disputes:
        sides = " against ".join(
            f"{side.claim or 'a document of ' + ', '.join(side.members)}"
            f"{f' ({side.date})' if side.date else ''}: {side.value or side.text}"
            for side in dispute.sides
        )
        yield f"{dispute.kind.value}: {sides}{', the first is newer' if dispute.newer else ''}"
    for given in draft.concessions:
        counted = "counts" if given.accepted else "does not count"
        yield f"{given.member} gave up {given.claim}: {counted}. {given.reason}"


def _stances(row: MapRow) -> str:
    return ", ".join(
        f"{cell.member} {cell.stance.value}"
        for cell in row.cells
        if cell.stance is not Stance.SILENT
    )


# --- what the chair wrote -----------------------------------------------------------------------


def _minutes(
    output: SynthesisOutput,
    synthesis: Synthesis,
    evidence: EvidenceBuffer,
    runtime: Runtime,
    method: str,
) -> Minutes:
    draft, checker = synthesis.draft, Checker.of(evidence, runtime)
    ledger = Ledger(synthesis.turn.record.citations)
    reading = position_table(synthesis.session, runtime, ledger)
    points = partial(_points, checker=checker, ledger=ledger)
    keys = {participant.key for participant in synthesis.session.participants}
    decision, stated = points(output.decision), points(output.grounds)
    if not any(point.support in FOUND for point in (*decision, *stated)):
        warning = "Nothing that the chair wrote is carried by the documents: the map speaks."
        return replace(draft, warnings=(*draft.warnings, warning))
    dissent = [
        replace(
            point,
            members=(entry.member,) if entry.member in keys else (),
            why=entry.why or _known_reason(point, draft, ledger),
        )
        for entry in output.dissent
        for point in points([StatedOutput(text=entry.text)])
    ]
    grounds, left_out = _grounds(stated, synthesis, reading, ledger, runtime)
    warnings = (*draft.warnings, *left_out)
    if output.decided and not _is_chosen(output, draft):
        unfounded = f"No member would choose “{output.decided}”: the chair chose it."
        warnings = (*warnings, unfounded)
    return replace(
        draft,
        warnings=warnings,
        reading=reading,
        decided=output.decided,
        decision=decision,
        grounds=grounds or draft.grounds,
        dissent=(*dissent, *_unmentioned(draft.dissent, dissent)),
        open_questions=(
            *points(StatedOutput(text=text) for text in output.open_questions),
            *(p for p in draft.open_questions if p.claims),
        ),
        missing=tuple(dict.fromkeys((*_gaps(output, synthesis, checker), *draft.missing))),
        matrix=tuple(_matrix(output.matrix, synthesis, checker, ledger)),
        citations=ledger.citations,
        tool_texts=evidence.texts_among(one.document_id for one in ledger.citations),
        method=method,
    )


def _known_reason(point: Point, draft: Minutes, ledger: Ledger) -> DissentReason | None:
    """Return why rules know that a dispute is one about what a point cites."""
    cited = {span_of(one) for one in ledger.citations if one.number in point.citations}
    spans = {one.number: span_of(one) for one in draft.citations}
    for known in draft.dissent:
        if any(spans[number] in cited for number in known.citations):
            return known.why
    return None


def _grounds(
    stated: Sequence[Point],
    synthesis: Synthesis,
    reading: PositionTable,
    ledger: Ledger,
    runtime: Runtime,
) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    """Return what of the chair's grounds may be one, and what is said of the others."""
    known = replace(synthesis.draft, citations=ledger.citations, reading=reading)
    facts = facts_in(synthesis.session, {}, runtime)
    reasons = why_no_ground(stated, synthesis.session, known, facts, runtime)
    pairs = list(zip(stated, reasons, strict=True))
    return (
        tuple(point for point, why in pairs if not why),
        tuple(f"No ground, for {why}: “{point.text}”" for point, why in pairs if why),
    )


def _is_chosen(output: SynthesisOutput, draft: Minutes) -> bool:
    """Whether a member would choose what the chair chose."""
    chosen = (statement.option for statement in draft.statements)
    return output.decided in {sanitise_line(option) for option in chosen}


def _points(stated: Iterable[StatedOutput], checker: Checker, ledger: Ledger) -> tuple[Point, ...]:
    """Return what was stated as checked sentences, one point each."""
    found: list[Point] = []
    for one in stated:
        for sentence in checker.sentences(one.text, one.quotation)[0]:
            numbers = ledger.numbers(sentence.citations)
            found.append(Point(sentence.text, numbers, sentence.support, sentence.problems))
    return tuple(found)


def _unmentioned(found: Sequence[Point], mentioned: Sequence[Point]) -> Iterator[Point]:
    """Yield sides of disputes of which the chair cites nothing: dissent is never dropped."""
    cited = {number for point in mentioned for number in point.citations}
    for point in found:
        if not cited.intersection(point.citations):
            yield point


def _gaps(output: SynthesisOutput, synthesis: Synthesis, checker: Checker) -> Iterator[Gap]:
    shelves = {one.key: shelf_of_gap(one) for one in synthesis.session.participants}
    for gap in output.missing:
        text, _ = checker.whole(gap.text)
        member = gap.member if gap.member in shelves else ""
        yield Gap(member, shelves.get(member, ""), text.text)


def _matrix(
    output: Sequence[VerdictOutput], synthesis: Synthesis, checker: Checker, ledger: Ledger
) -> Iterator[Verdict]:
    """Yield the chair's cells, and where there is none what the member chose themselves."""
    draft = synthesis.draft
    by_cell = {(verdict.option, verdict.member): verdict for verdict in output}
    chosen = {(verdict.option, verdict.member): verdict for verdict in draft.matrix}
    for option in draft.options if by_cell or chosen else ():
        for one in synthesis.session.participants:
            cell = chosen.get((option, one.key)) or Verdict(option, one.key, Leaning.SILENT)
            given = by_cell.get((sanitise_line(option), one.key))
            yield cell if given is None else _verdict(given, cell, checker, ledger)


def _verdict(output: VerdictOutput, cell: Verdict, checker: Checker, ledger: Ledger) -> Verdict:
    if output.leaning is Leaning.SILENT and not output.text:
        return Verdict(cell.option, cell.member, Leaning.SILENT)
    sentence, _ = checker.whole(output.text)
    support = Support.NO_STATEMENT if not sentence.text else sentence.support
    numbers = ledger.numbers(sentence.citations)
    return Verdict(cell.option, cell.member, output.leaning, sentence.text, numbers, support)
