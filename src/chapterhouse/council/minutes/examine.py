"""What of minutes can be checked without the documents and without the library."""

from collections.abc import Iterator, Mapping, Sequence

from chapterhouse.agents.council_model import CHAIR
from chapterhouse.answering import sealed
from chapterhouse.answering.sealed import Source
from chapterhouse.council.minutes.bundle import MinutesBundle, bundle_fields
from chapterhouse.council.minutes.contents import all_citations, carried, meetings, numbers_used
from chapterhouse.council.minutes.fitting import misplaced
from chapterhouse.ports.models import ClaimJudge
from chapterhouse.types import Check, Claim, Concession, Minutes, Reply, Statement

_NAMED = 8  # of what does not fit, the rest is counted


def examine_minutes(bundle: MinutesBundle, judge: ClaimJudge) -> tuple[Check, ...]:
    """Check all of a bundle of minutes that can be checked without its documents.

    Args:
        bundle: As it was read.
        judge: Judges what a model wrote again, by the quotations alone.

    Returns:
        ``seal``, ``quotations``, ``sources``, ``numbering``, ``claims``, ``names`` and ``map``:
        the last two say whether every claim, member and option that is named is there, and
        whether the disagreement map fits the claims, the documents' dates and what is summed up.
    """
    sources = {source.document_id: source for source in bundle.sources}
    cited = list(all_citations(bundle.minutes))
    held = [meeting for _, meeting in meetings(bundle.minutes)]
    torn = [f"[{name}]" for name, c in cited if not sealed.holds(c, bundle.quotes.get(name))]
    without = [f"[{name}]" for name, c in cited if not sealed.is_of(c, sources)]
    return (
        sealed.seal_check(bundle_fields(bundle)),
        sealed.listed("quotations", torn),
        sealed.listed("sources", without),
        sealed.check(
            "numbering", all(map(_numbered, held)), "Every number in the minutes has its citation."
        ),
        _told(
            "claims",
            [where for one in held for where in _against(one, sources, judge)],
            "Every sentence says what its quotations say.",
            "{} says other than its quotations.",
        ),
        _told(
            "names",
            [name for one in held for name in _unknown(one)],
            "Every claim, member and option that is named is there.",
            "There is no {}.",
        ),
        _told(
            "map",
            [where for one in held for where in misplaced(one, sources)],
            "The disagreement map fits the claims and what is summed up.",
            "It does not fit together: {}.",
        ),
    )


def _told(name: str, wrong: Sequence[str], passed: str, failed: str) -> Check:
    if not wrong:
        return Check(name, passed=True, sentence=passed)
    more = f", and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
    named = failed.format(", ".join(wrong[:_NAMED]) + more)
    hint = "The minutes were altered, or judged by other rules."
    return Check(name, passed=False, sentence=named[:1].upper() + named[1:], hint=hint)


def _numbered(minutes: Minutes) -> bool:
    """Whether citations count from 1, every number used is one, and nothing counts otherwise."""
    numbers = [citation.number for citation in minutes.citations]
    return (
        numbers == list(range(1, len(numbers) + 1))
        and numbers_used(minutes) <= set(numbers)
        and not any(statement.citations for statement in minutes.statements)
    )


def _against(minutes: Minutes, sources: Mapping[str, Source], judge: ClaimJudge) -> Iterator[str]:
    """Yield the sentences that their quotations do not support, though they pass for it.

    A member without a model quotes. What a model wrote, or may have, is judged again.
    """
    known = {citation.number: citation for citation in minutes.citations}
    language_of = sealed.languages(sources.values())
    for one in carried(minutes):
        cited = [known[number] for number in one.citations if number in known]
        if one.quoted:
            fits = any(sealed.quotes(one.text, [each]) for each in cited)
        else:
            fits = sealed.agrees(one.text, one.support, cited, language_of, judge)
        if not fits:
            yield one.where


# --- names -------------------------------------------------------------------------------------


def _unknown(minutes: Minutes) -> Iterator[str]:
    """Yield claims, members, rounds and options that are named and are not there."""
    claims = [claim.id for claim in minutes.claims]
    yield from (
        f"second claim {name}" for name in sorted({c for c in claims if claims.count(c) > 1})
    )
    members = {seat.key for seat in minutes.members}
    if minutes.chair:
        members.add(CHAIR)  # who presides may speak in a round, too
    wanted = {
        "claim": set(_claims_named(minutes)) - set(claims),
        "member": set(_members_named(minutes)) - members,
        "round": set(_rounds_named(minutes)) - set(minutes.rounds),
        "option": _options_named(minutes) - set(minutes.options),
    }
    for kind, names in wanted.items():
        yield from (f"{kind} {name!r}" for name in sorted(names))


def _claims_named(minutes: Minutes) -> Iterator[str]:
    for statement in minutes.statements:
        yield from (reply.claim for reply in statement.replies)
        for given in statement.concessions:
            yield given.claim
            yield from filter(None, (given.to,))
    for point in (*minutes.decision, *minutes.grounds, *minutes.dissent, *minutes.open_questions):
        yield from point.claims
    for row in minutes.map.rows:
        yield from (row.claim, *row.claims)
        for cell in row.cells:
            yield from cell.claims
    for dispute in minutes.map.disputes:
        yield from filter(None, (side.claim for side in dispute.sides))


def _members_named(minutes: Minutes) -> Iterator[str]:
    yield from minutes.map.members
    for statement in minutes.statements:
        yield from (statement.member, *(one.member for one in _said(statement)))
    for row in minutes.map.rows:
        yield from (cell.member for cell in row.cells)
    for dispute in minutes.map.disputes:
        for side in dispute.sides:
            yield from side.members
    for point in (*minutes.decision, *minutes.grounds, *minutes.dissent, *minutes.open_questions):
        yield from point.members
    yield from (verdict.member for verdict in minutes.matrix)
    yield from filter(None, (gap.member for gap in minutes.missing))


def _rounds_named(minutes: Minutes) -> Iterator[str]:
    for statement in minutes.statements:
        yield from (statement.round, *(one.round for one in _said(statement)))


def _said(statement: Statement) -> tuple[Claim | Reply | Concession, ...]:
    return (*statement.claims, *statement.replies, *statement.concessions)


def _options_named(minutes: Minutes) -> set[str]:
    chosen = {statement.option for statement in minutes.statements} | {minutes.decided}
    return (chosen | {verdict.option for verdict in minutes.matrix}) - {""}
