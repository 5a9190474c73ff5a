"""The minutes: a draft without a chair, and as the chair's model writes them.

In a draft nothing is concluded but what most would choose: it is who stands by which statement, as
members said themselves, and what documents say where one has no model. What a chair names must
exist: ids of statements and markers of sources that do not are left out, and a warning says so.
Whatever it leaves out, who stands by which statement is in the minutes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Final

from chapterhouse.answering.cite import cite, verify
from chapterhouse.answering.evidence_buffer import EvidenceBuffer
from chapterhouse.answering.parts import render_part
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import method_for, reference_of, search
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.meeting import prompts
from chapterhouse.council.meeting.forms import (
    Summary,
    read_summary,
    summary_format,
)
from chapterhouse.council.meeting.record import Ledger, OnText, Record, TurnTask
from chapterhouse.council.meeting.session import Participant, Session, participant_record
from chapterhouse.council.meeting.written import (
    TurnPrompt,
    checker_of,
    open_evidence,
    prepare,
    statements_named,
    write_in_form,
)
from chapterhouse.council.minutes.contents import find_agreement
from chapterhouse.council.passages import best_passage, goes_on
from chapterhouse.models.opening import MeteredModel
from chapterhouse.retrieval.fuse import RankedList, combine_scores
from chapterhouse.retrieval.question import parse_question
from chapterhouse.retrieval.sentences import Sentence, text_of
from chapterhouse.store.sqlite import Store
from chapterhouse.text.canonical import LONGEST, body_start
from chapterhouse.text.sanitise import inert
from chapterhouse.types import (
    GAP,
    Aspect,
    Citation,
    Gap,
    Hit,
    Minutes,
    Point,
    Query,
    Quotation,
    Scope,
    SearchResult,
    TableCell,
    TableRow,
    corrected,
)
from chapterhouse.types.engines import LanguageModel

_HITS: Final = 8
_NO_DUPLICATES: Final = 2.0  # no two passages are so alike


def table_of(session: Session, runtime: Runtime, ledger: Ledger) -> tuple[TableRow, ...]:
    """Return what the documents of members without a model say on each thing that is asked."""
    return tuple(
        TableRow(
            aspect.text,
            tuple(table_cell(aspect, one, runtime, ledger) for one in session.silent),
        )
        for aspect in (session.aspects if session.silent else ())
    )


def table_cell(
    aspect: Aspect, participant: Participant, runtime: Runtime, ledger: Ledger
) -> TableCell:
    """Return what a member's documents say on one thing; empty where nothing is found."""
    scope = participant.request.scope
    asked = tuple(dict.fromkeys((aspect.text, _with_context(aspect))))
    results = [_search(text, participant, runtime) for text in asked]
    hits = _best_hits(results)
    census = runtime.store.census(scope)
    meant = (corrected(text, one.corrections) for text, one in zip(asked, results, strict=True))
    questions = [parse_question(text, census.languages) for text in meant]
    begins = dict(_begins(hits, runtime.store, scope))
    scorer = reference_of(runtime, scope).scorer
    passage = best_passage(questions, hits, begins, census.chunks, scorer)
    if passage is None:
        return TableCell(participant.key)
    hit = hits[passage.rank]
    quotation = Quotation(hit.document.id, passage.begin, passage.stop, text_of(hit, passage))
    citation = check_citation(quotation, runtime.store, scope)
    if citation is None:
        return TableCell(participant.key)
    return TableCell(participant.key, _shown(passage, hit), (ledger.number(citation),))


def _best_hits(results: Sequence[SearchResult]) -> tuple[Hit, ...]:
    """Return the hits of some searches, each once, best first."""
    best: dict[str, Hit] = {}
    for hit in chain(*(one.hits for one in results)):
        known = best.get(hit.chunk.id)
        if known is None or hit.score > known.score:
            best[hit.chunk.id] = hit
    return tuple(sorted(best.values(), key=lambda hit: (-hit.score, hit.chunk.id)))


def _search(text: str, participant: Participant, runtime: Runtime) -> SearchResult:
    request = participant.request
    method = method_for(runtime, request.settings, None)
    # Versions of one document are nearly the same, and what differs in them is what counts.
    method = replace(method, fuse=_combine_all, duplicates=_NO_DUPLICATES)
    query = Query(text, request.scope, _HITS, 0, request.tags)
    return search(query, runtime, method)


def _combine_all(lists: Sequence[RankedList]) -> dict[int, float]:
    """Return the scores of all chunks, also of those that are near by meaning alone.

    A member has few documents, which say it in words of their own; what is near is told later.
    """
    return combine_scores(
        [
            replace(each, similarity=replace(each.similarity, alone=-1.0))
            if each.similarity
            else each
            for each in lists
        ]
    )


def _with_context(aspect: Aspect) -> str:
    return f"{aspect.context}: {aspect.text}" if aspect.context else aspect.text


def _begins(hits: Sequence[Hit], store: Store, scope: Scope) -> Iterator[tuple[str, int]]:
    """Yield where the text of curated documents begins, behind what only describes them."""
    described = {
        hit.document.id for hit in hits if hit.document.format == "md" and hit.chunk.start < LONGEST
    }
    for name in described:
        body = store.body(name, scope)
        yield name, body_start(body.text) if body else 0


def check_citation(span: Quotation, store: Store, scope: Scope) -> Citation | None:
    """Return the citation of a span, unnumbered; None where it does not stand there."""
    document = store.document(span.document_id, scope)
    if document is None:
        return None
    body = store.body(span.document_id, scope)
    checked = verify(cite(document, span, 0), document, body)
    return checked if checked.verified else None


def _shown(passage: Sentence, hit: Hit) -> str:
    """Return a passage as it is shown, with a mark where its sentence goes on."""
    own = text_of(hit, passage)
    shown = inert(render_part(own, hit.document.format, passage.header.split("\n", 1)[0]))
    if passage.header:
        return shown
    before = hit.chunk.text[: passage.begin - hit.chunk.start]
    after = hit.chunk.text[passage.stop - hit.chunk.start :]
    begin = f"{GAP} " if goes_on(before, own) else ""
    return f"{begin}{shown}{f' {GAP}' if goes_on(own, after) else ''}"


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


async def write_minutes(
    chair: Participant,
    writer: LanguageModel,
    session: Session,
    task: TurnTask,
    draft: Minutes,
    runtime: Runtime,
    on_text: OnText | None = None,
) -> Minutes:
    """Return the minutes as the chair's model writes them; ``on_text`` is given them unchecked.

    ``draft`` are the minutes without a chair.
    """
    given = await run_in_thread(partial(prepare_synthesis, chair, session, task, runtime))
    model = MeteredModel(writer)
    writing = await write_in_form(model, given, on_text)
    summary = read_summary(writing.text, draft.options)
    sum_up = partial(_minutes, summary, session, task, draft, given.evidence, runtime)
    minutes = await run_in_thread(sum_up)
    warnings = [*minutes.warnings, *([f"The chair: {summary.warning}"] if summary.warning else [])]
    if writing.cut:
        warnings.append("The chair was cut off at its longest answer: more would follow.")
    method = model.fingerprint if minutes.decision or minutes.grounds else minutes.method
    return replace(minutes, method=method, usage=model.usage, warnings=tuple(warnings))


def prepare_synthesis(
    chair: Participant, session: Session, task: TurnTask, runtime: Runtime
) -> TurnPrompt:
    """Return what the chair's model is given; nothing is asked of it yet."""
    record = task.record
    numbers = [number for one in record.statements for number in prompts.numbers_of(one)]
    numbers += [number for one in record.replies for number in one.citations]
    form = summary_format(task.council.options, [one.key for one in session.participants])
    evidence = open_evidence(chair, task, runtime)
    cited = record.cited(dict.fromkeys(numbers))
    evidence.add(prompts.evidence_excerpts(cited, chair.request.scope, runtime))
    members = "\n".join(_members(session, record))
    board = (
        prompts.format_statements("STATEMENTS", record.statements, task, evidence),
        prompts.format_replies("REPLIES", record.replies, task, evidence),
        prompts.format_data("MEMBERS", members, "members", evidence.nonce),
    )
    return prepare(chair, task, runtime, form, evidence, board)


def _members(session: Session, record: Record) -> Iterator[str]:
    """Yield who met under which key, and which option each would choose in the end."""
    options = {one.member: one.option for one in record.turns if one.option}
    for one in session.participants:
        chosen = f", would choose “{options[one.key]}”" if one.key in options else ""
        yield f"{one.key} is {one.title}{chosen}"


def _minutes(
    summary: Summary,
    session: Session,
    task: TurnTask,
    draft: Minutes,
    evidence: EvidenceBuffer,
    runtime: Runtime,
) -> Minutes:
    """Return the draft with what the chair wrote; where that is nothing, the draft."""
    check_text, ledger = checker_of(evidence, runtime, task.question), Ledger(draft.citations)
    known = {one.id for one in task.record.statements}
    left_out = list[str]()

    def point(text: str, *members: str) -> Point:
        words, names = statements_named(text)
        checked = check_text(words)
        left_out.extend((*(f"[{one}]" for one in names if one not in known), *checked.rejected))
        named = tuple(one for one in names if one in known)
        numbers = ledger.numbers(checked.citations)
        return Point(checked.text, numbers, checked.mismatches, named, members)

    def points(texts: Iterable[str]) -> tuple[Point, ...]:
        return tuple(one for one in map(point, texts) if one.text)

    decision, grounds = points(summary.decision), points(summary.grounds)
    if not decision and not grounds:
        return replace(draft, warnings=(*draft.warnings, "The chair wrote nothing to sum up."))
    shelves = {one.key: _shelf_of_gap(one) for one in session.participants}
    dissent = tuple(
        point(one.text, *(key for key in one.members if key in shelves)) for one in summary.dissent
    )
    missing = [
        Gap(member, shelves.get(member, ""), check_text(one.text).text)
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
