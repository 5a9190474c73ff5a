"""What differs from an earlier meeting, for readers: what no longer holds, then each position."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from chapterhouse.council.minutes.reading import SHORT, aspect_title, position_line, position_word
from chapterhouse.council.minutes.wording import Reader, legible
from chapterhouse.presenting.blocks import Block, Bullets, Line, Paragraph, Style, Words, paragraph
from chapterhouse.presenting.styled import cut
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    ChangeKind,
    DocumentChange,
    DocumentChangeKind,
    Lapse,
    LapsedConclusion,
    LapseReason,
    MinutesChanges,
    Position,
    PositionChange,
    PositionRelation,
    Unmatched,
)

_RELATIONS: Final = {
    PositionRelation.AGREE: "they say the same",
    PositionRelation.DIFFER: "they seem to differ",
    PositionRelation.CONDITIONAL: "they differ in a condition",
    PositionRelation.NOT_COMPARABLE: "not compared",
    PositionRelation.ONE_ONLY: "only one member's documents speak of it",
    PositionRelation.SILENT: "nobody's documents speak of it",
}
_DOCUMENTS: Final = {
    DocumentChangeKind.CHANGED: "{} has changed",
    DocumentChangeKind.REMOVED: "{} is not read any more",
    DocumentChangeKind.FIRST_QUOTED: "{} was not quoted before",
}
_LAPSES: Final = {
    LapseReason.REMOVED: "{source} is not read any more",
    LapseReason.CHANGED: "{source} has changed and no longer says so",
    LapseReason.NEWER_VERSION: "{newer} is a newer version of {source}",
    LapseReason.NEWER_DOCUMENT: "{newer} is newer than {source} and says otherwise",
}
_NAMED: Final = 3  # conclusions that a warning names
_UNCHANGED: Final = (
    "Nothing has changed since the earlier meeting: all that it concluded still holds."
)


def changes_blocks(reader: Reader) -> tuple[Block, ...]:
    """Return what differs from an earlier meeting; nothing where that was not asked for."""
    changes = reader.minutes.changes
    if changes is None:
        return ()
    blocks: list[Block] = [] if changes else [paragraph(_UNCHANGED)]
    if changes.decision:
        was, now = (text or "nothing" for text in (changes.decision.before, changes.decision.now))
        line = (Words("Decided before: ", Style.QUIET), Words(was), Words(" → now: ", Style.QUIET))
        blocks.append(Paragraph((*line, Words(now, Style.STRONG))))
    blocks += _list(
        "No longer holds, or rests on an older version",
        [_lapsed(reader, one) for one in changes.lapsed],
    )
    blocks += _aspects(reader, changes)
    blocks += _list("Cannot be compared", [_unmatched(one) for one in changes.unmatched])
    counts = (
        f"{reader.title(one.member)} {counted(one.now, 'document')}, before {one.before:,}"
        for one in changes.counts
    )
    read = "; ".join(counts)
    return (*blocks, *([paragraph(f"Reads now: {read}.", Style.QUIET)] if read else ()))


def lapse_warning(lapsed: Sequence[LapsedConclusion]) -> str:
    """Return in one sentence what was concluded the last time and no longer holds."""
    named = [f"“{cut(one.text, SHORT)}” ({_reasons(one)})" for one in lapsed[:_NAMED]]
    named += [f"and {len(lapsed) - _NAMED} more"] if len(lapsed) > _NAMED else []
    return (
        "Of what was concluded on this question the last time, this no longer holds or rests on "
        f"an older version: {'; '.join(named)}. See what has changed: --since LAST."
    )


def _list(title: str, lines: Sequence[Line]) -> list[Block]:
    return [paragraph(title, Style.STRONG), Bullets(tuple(lines))] if lines else []


def _lapsed(reader: Reader, one: LapsedConclusion) -> Line:
    who = reader.titles(one.members)
    before: Line = (Words(f"{who}: ", Style.QUIET),) if who else ()
    return (*before, Words(f"“{legible(one.text)}”"), Words(f" — {_reasons(one)}", Style.WARNING))


def _reasons(one: LapsedConclusion) -> str:
    reasons = "; ".join(map(_reason, one.lapses))
    rest = f"; {counted(one.standing, 'other citation')} still holds" if one.standing == 1 else ""
    rest = f"; {one.standing} other citations still hold" if one.standing > 1 else rest
    return f"{reasons}{rest}"


def _reason(lapse: Lapse) -> str:
    return _LAPSES[lapse.reason].format(source=lapse.source, newer=lapse.newer)


# --- positions ---------------------------------------------------------------------------------


def _aspects(reader: Reader, changes: MinutesChanges) -> Iterator[Block]:
    """Yield each aspect on which something differs, with the positions that do."""
    relations = {one.aspect: one for one in changes.relations}
    documents = {one.document_id: one for one in changes.documents}
    for asked in dict.fromkeys(
        (*(one.aspect for one in changes.positions), *(one.aspect for one in changes.relations))
    ):
        relation = relations.get(asked)
        head: Line = (Words(aspect_title(asked), Style.STRONG),)
        if relation:
            was, now = _RELATIONS[relation.before], _RELATIONS[relation.now]
            head = (*head, Words(f" Before, {was}; now, {now}."))
        yield Paragraph(head)
        lines = [
            _position(reader, one, documents) for one in changes.positions if one.aspect == asked
        ]
        yield from [Bullets(tuple(lines))] if lines else []


def _position(reader: Reader, one: PositionChange, documents: Mapping[str, DocumentChange]) -> Line:
    was, now = _value(one.before), _value(one.now)
    arrow: Line = (
        (Words("still ", Style.QUIET),)
        if one.kind is ChangeKind.CHANGED and was == now
        else (Words(was), Words(" → ", Style.QUIET))
    )
    behind = [documents[name] for name in one.documents if name in documents]
    because = "; ".join(_DOCUMENTS[each.kind].format(each.source) for each in behind)
    because = because or "the documents quoted are as they were"
    return (
        Words(f"{reader.title(one.member)}: ", Style.QUIET),
        *arrow,
        *position_line(reader, one.now, SHORT),
        Words(f" — {because}", Style.WARNING),
    )


def _value(cell: Position) -> str:
    return position_word(cell) or f"“{cut(legible(cell.text), SHORT)}”"


def _unmatched(one: Unmatched) -> Line:
    where = "only asked" if one.what == "aspect" else "was a member only"
    when = "now" if one.kind is ChangeKind.NEW else "before"
    name = aspect_title(one.name) if one.what == "aspect" else one.name
    if one.what == "member" and one.kind is ChangeKind.NEW:
        where = "is a member only"
    return (Words(f"{name} {where} {when}"),)
