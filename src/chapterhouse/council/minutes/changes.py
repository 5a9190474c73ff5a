"""What differs between two meetings of one council on one question.

Nothing is looked up here: what has become of the documents is for the caller to say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from chapterhouse.answering.cite import CitationCheck, SourceState
from chapterhouse.types import (
    Aspect,
    ChangeKind,
    Citation,
    DecisionChange,
    DocumentChange,
    DocumentChangeKind,
    DocumentCount,
    Lapse,
    LapsedConclusion,
    LapseReason,
    Leaning,
    Minutes,
    MinutesChanges,
    Position,
    PositionChange,
    PositionKind,
    RelationChange,
    Support,
    Unmatched,
)

NO_NEWER: Final[Mapping[str, str]] = MappingProxyType({})
_Documents = Mapping[str, DocumentChange]


@dataclass(frozen=True, slots=True)
class _Conclusion:
    """What was concluded, and by what it is known again in the other meeting."""

    part: str
    text: str
    members: tuple[str, ...]
    citations: tuple[int, ...]
    key: tuple[object, ...]


def changes_between(
    before: Minutes,
    now: Minutes,
    checks: Sequence[CitationCheck] = (),
    newer: Mapping[str, str] = NO_NEWER,
) -> MinutesChanges:
    """Return what differs between two meetings.

    Aspects are matched by what they ask, members by their keys.

    Args:
        before: Of the earlier meeting.
        now: Of the later one.
        checks: What has become of the citations of ``before``, as far as that was looked up.
        newer: Files of the newer versions of documents that ``before`` cites, by their ids.
    """
    changed = _documents_changed(before, now, checks)
    positions = tuple(_positions(before, now, changed))
    lapsed = tuple(_lapsed(before, now, _lapses(before, now, checks, newer)))
    behind = {name for one in positions for name in one.documents}
    behind |= {lapse.document_id for one in lapsed for lapse in one.lapses}
    cited = {number for one in positions for number in one.before.citations}
    return MinutesChanges(
        positions=positions,
        relations=tuple(_relations(before, now)),
        decision=_decision(before, now),
        lapsed=lapsed,
        documents=tuple(changed[name] for name in sorted(behind & changed.keys())),
        unmatched=tuple(_unmatched(before, now)),
        counts=tuple(_counts(before, now)),
        citations=tuple(one for one in before.citations if one.number in cited),
    )


# --- documents ---------------------------------------------------------------------------------


def _documents_changed(
    before: Minutes, now: Minutes, checks: Sequence[CitationCheck]
) -> _Documents:
    """Return of all documents cited what has become of them, where they are not as they were."""
    cited = {one.document_id: one for one in before.citations}
    texts = {one.text_sha256 for one in before.citations}
    found: dict[str, DocumentChangeKind] = {}
    sources = {one.document_id: one.source for one in (*now.citations, *before.citations)}
    for one in now.citations:
        if one.text_sha256 in texts:
            continue  # the same, under whatever name
        known = one.document_id in cited
        kind = DocumentChangeKind.CHANGED if known else DocumentChangeKind.FIRST_QUOTED
        found[one.document_id] = kind
    for check in checks:
        if check.source is SourceState.GONE:
            found[check.citation.document_id] = DocumentChangeKind.REMOVED
        elif check.source is SourceState.CHANGED:
            found[check.citation.document_id] = DocumentChangeKind.CHANGED
    return {name: DocumentChange(kind, name, sources[name]) for name, kind in found.items()}


# --- what documents say ------------------------------------------------------------------------


def _asked(aspect: Aspect) -> tuple[str, str]:
    return aspect.context, aspect.text


def _matched(before: Minutes, now: Minutes) -> Iterator[tuple[Aspect, Aspect]]:
    """Yield the aspects of both meetings, in the order of the later."""
    known = {_asked(aspect): aspect for aspect in before.reading.aspects}
    for aspect in now.reading.aspects:
        if _asked(aspect) in known:
            yield known[_asked(aspect)], aspect


def _positions(before: Minutes, now: Minutes, changed: _Documents) -> Iterator[PositionChange]:
    """Yield the positions that differ, of members who were in both meetings."""
    cells, earlier = (
        {(cell.aspect, cell.member): cell for cell in minutes.reading.positions}
        for minutes in (now, before)
    )
    numbered, numbered_now = _by_number(before), _by_number(now)
    for old_aspect, aspect in _matched(before, now):
        for member in [cell.member for cell in now.reading.positions if cell.aspect == aspect.id]:
            cell, old = cells[aspect.id, member], earlier.get((old_aspect.id, member))
            if old is None or (old.kind is cell.kind is PositionKind.SILENT):
                continue
            cited, cited_now = _cited(old, numbered), _cited(cell, numbered_now)
            if _stated(old) == _stated(cell) and _same_source(cited, cited_now):
                continue
            behind = (one.document_id for one in (*cited, *cited_now))
            documents = tuple(dict.fromkeys(name for name in behind if name in changed))
            yield PositionChange(aspect.text, member, _kind(old, cell), old, cell, documents)


def _by_number(minutes: Minutes) -> Mapping[int, Citation]:
    return {one.number: one for one in minutes.citations}


def _cited(cell: Position, numbered: Mapping[int, Citation]) -> list[Citation]:
    return [numbered[number] for number in cell.citations if number in numbered]


def _stated(cell: Position) -> tuple[object, ...]:
    return cell.kind, cell.keys, cell.values, cell.condition, cell.text, cell.date


def _same_source(cited: Sequence[Citation], cited_now: Sequence[Citation]) -> bool:
    """Whether both quote the same, from the same document or from one with the same text."""
    return len(cited) == len(cited_now) and all(
        one.quote == other.quote
        and (one.document_id == other.document_id or one.text_sha256 == other.text_sha256)
        for one, other in zip(cited, cited_now, strict=True)
    )


def _kind(before: Position, now: Position) -> ChangeKind:
    if before.kind is PositionKind.SILENT:
        return ChangeKind.NEW
    return ChangeKind.GONE if now.kind is PositionKind.SILENT else ChangeKind.CHANGED


def _relations(before: Minutes, now: Minutes) -> Iterator[RelationChange]:
    relations, relations_now = (
        {one.aspect: one.relation for one in minutes.reading.comparisons}
        for minutes in (before, now)
    )
    for old, aspect in _matched(before, now):
        was, relation = relations.get(old.id), relations_now.get(aspect.id)
        if was and relation and was is not relation:
            yield RelationChange(aspect.text, was, relation)


def _unmatched(before: Minutes, now: Minutes) -> Iterator[Unmatched]:
    for minutes, other, kind in (
        (before, now, ChangeKind.GONE),
        (now, before, ChangeKind.NEW),
    ):
        asked = {_asked(aspect) for aspect in other.reading.aspects}
        for aspect in minutes.reading.aspects:
            if _asked(aspect) not in asked:
                yield Unmatched("aspect", aspect.text, kind)
        keys = {member.key for member in other.members}
        for member in minutes.members:
            if member.key not in keys:
                yield Unmatched("member", member.title or member.key, kind)


def _counts(before: Minutes, now: Minutes) -> Iterator[DocumentCount]:
    read = {member.key: member.documents for member in before.members}
    for member in now.members:
        count = read.get(member.key, member.documents)
        if count != member.documents:
            yield DocumentCount(member.key, count, member.documents)


# --- conclusions -------------------------------------------------------------------------------


def _decision(before: Minutes, now: Minutes) -> DecisionChange | None:
    """Return the decisions where they differ: where options were chosen between, the options."""
    was, decision = _decided(before), _decided(now)
    return DecisionChange(was, decision) if was != decision else None


def _decided(minutes: Minutes) -> str:
    stated = (one.text for one in minutes.decision if one.support is not Support.NO_STATEMENT)
    return minutes.decided or " ".join(stated)


def _conclusions(minutes: Minutes) -> Iterator[_Conclusion]:
    """Yield what was concluded on which citations.

    Where nobody debated, the grounds are what documents say, which comes by member.
    """
    chosen = [
        one
        for one in minutes.matrix
        if one.option == minutes.decided and one.leaning in {Leaning.FOR, Leaning.CONDITIONAL}
    ]
    if minutes.decided and chosen:
        numbers = tuple(dict.fromkeys(number for one in chosen for number in one.citations))
        members = tuple(one.member for one in chosen)
        yield _Conclusion("decision", minutes.decided, members, numbers, (minutes.decided,))
    points = [("decision", one) for one in minutes.decision]
    points += [("grounds", one) for one in minutes.grounds if minutes.debated]
    for part, point in points:
        yield _Conclusion(part, point.text, point.members, point.citations, (point.text,))
    grounds = {number for _, point in points for number in point.citations}
    asked = {aspect.id: _asked(aspect) for aspect in minutes.reading.aspects}
    for cell in minutes.reading.positions:
        if not grounds.issuperset(cell.citations):
            stated = cell.text if cell.kind is PositionKind.STATED else (cell.keys, cell.condition)
            key = asked.get(cell.aspect), cell.member, cell.kind, stated
            yield _Conclusion("reading", cell.text, (cell.member,), cell.citations, key)


def _lapsed(
    before: Minutes, now: Minutes, lapses: Mapping[int, Lapse]
) -> Iterator[LapsedConclusion]:
    """Yield what no longer holds; what the later meeting concludes from elsewhere still does."""
    gone = {_place(one) for one in before.citations if one.number in lapses}
    current = {one.number for one in now.citations if _place(one) not in gone}
    concluded = {one.key for one in _conclusions(now) if not current.isdisjoint(one.citations)}
    for one in _conclusions(before):
        found = [lapses[number] for number in one.citations if number in lapses]
        if found and one.key not in concluded:
            standing = len(one.citations) - len(found)
            reasons = tuple(dict.fromkeys(found))
            yield LapsedConclusion(one.part, one.text, one.members, reasons, standing)


def _lapses(
    before: Minutes, now: Minutes, checks: Sequence[CitationCheck], newer: Mapping[str, str]
) -> Mapping[int, Lapse]:
    """Return why citations carry nothing any more, by their numbers.

    What both meetings conclude from has lapsed only if documents came since, of which one is newer.
    """
    grown = any(one.now > one.before for one in _counts(before, now))
    relied = {number for one in _conclusions(now) for number in one.citations}
    current = {_place(one) for one in now.citations if one.number in relied}
    otherwise = _replaced(now)
    found: dict[int, Lapse] = {}
    for check in checks:
        one = check.citation
        place = _place(one)
        if check.source is SourceState.GONE:
            reason, by = LapseReason.REMOVED, ""
        elif not check.holds:
            reason, by = LapseReason.CHANGED, ""
        elif one.document_id in newer and (grown or place not in current):
            reason, by = LapseReason.NEWER_VERSION, newer[one.document_id]
        elif place in otherwise and place not in current:
            reason, by = LapseReason.NEWER_DOCUMENT, otherwise[place]
        else:
            continue
        found[one.number] = Lapse(reason, one.document_id, one.source, by)
    return found


def _place(citation: Citation) -> tuple[str, str]:
    return citation.document_id, citation.quote


def _replaced(minutes: Minutes) -> Mapping[tuple[str, str], str]:
    """Return of what newer documents say otherwise the file of the newer one."""
    numbered = _by_number(minutes)
    return {
        _place(one): newer.source
        for cell in minutes.reading.positions
        if cell.outdated
        for one in _cited(cell.outdated, numbered)
        for newer in _cited(cell, numbered)
    }
