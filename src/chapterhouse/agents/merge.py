"""Bring a hand-edited document and a newly generated one together over what both came from.

Lines are merged as diff3 does: where one side left the base alone the other side's lines stand,
where both changed the same lines the hand edit stands and a conflict is reported. Front matter is
merged field by field, its lists value by value.

A new document's base is written before it, a changed one's after it, and a version that could not
be merged before both: wherever the work stops, the next run ends in the same state.

Sources: Khanna, Kunal and Pierce, "A formal investigation of diff3", 2007; lines are matched as in
Cohen's patience diff, which pairs unique lines first and so does not confuse blank ones.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path
from typing import Final

from chapterhouse.agents.curated import (
    Curated,
    Known,
    Outcome,
    base_path,
    new_path,
    read_own,
    remove_whole,
    target_path,
    write_whole,
)
from chapterhouse.errors import UsageError
from chapterhouse.text.front_matter import (
    Entry,
    field_values,
    join_front_matter,
    make_entry,
    split_front_matter,
)

_DIFFLIB_MOST: Final = 400  # lines of a stretch without unique ones that difflib may compare
_LISTS: Final = frozenset({"tags", "personas"})  # whose order says nothing

DELETED: Final = (
    "It was deleted by hand and stays away until its source changes. To make it again: "
    "chapterhouse persona update SLUG."
)
_EDITED: Final = "It was edited by hand and stays as it is."


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged text, and how many places both sides changed in different ways."""

    text: str
    conflicts: int = 0


def merge(base: str, ours: str, theirs: str) -> Merged:
    """Merge two versions of a curated document.

    Args:
        base: What both came from.
        ours: As edited by hand; it stands where both changed the same thing.
        theirs: As newly generated.
    """
    if ours in (base, theirs):
        return Merged(theirs)
    if theirs == base:
        return Merged(ours)
    (base_fields, base_text), (our_fields, our_text), (their_fields, their_text) = map(
        split_front_matter, (base, ours, theirs)
    )
    fields, conflicts = _merge_fields(base_fields, our_fields, their_fields)
    body = merge_lines(base_text, our_text, their_text)
    return Merged(join_front_matter(fields, body.text), conflicts + body.conflicts)


def merge_lines(base: str, ours: str, theirs: str) -> Merged:
    """Merge two versions of a text line by line."""
    lines = [text.splitlines(keepends=True) for text in (base, ours, theirs)]
    to_ours, to_theirs = (_matches(lines[0], other) for other in lines[1:])
    result: list[str] = []
    conflicts = 0
    at = [0, 0, 0]
    end = [len(side) for side in lines]
    for stable in chain(_stable(to_ours, to_theirs), [tuple(end)]):
        sections = [side[a:b] for side, a, b in zip(lines, at, stable, strict=True)]
        chosen, conflict = _choose(*sections)
        result += chosen
        conflicts += conflict
        if stable[0] < end[0]:
            result.append(lines[0][stable[0]])
        at = [position + 1 for position in stable]
    return Merged("".join(result), conflicts)


def _stable(
    to_ours: Mapping[int, int], to_theirs: Mapping[int, int]
) -> Iterator[tuple[int, int, int]]:
    """Yield the places of the lines that all three texts have, in order."""
    for line, our_line in to_ours.items():
        if line in to_theirs:
            yield line, our_line, to_theirs[line]


def _choose(base: list[str], ours: list[str], theirs: list[str]) -> tuple[list[str], bool]:
    """Return the lines of a stretch between stable ones, and whether both changed it."""
    if ours in (base, theirs):
        return theirs, False
    return ours, theirs != base


# --- which lines of two texts are the same ---


def _matches(first: Sequence[str], second: Sequence[str]) -> dict[int, int]:
    """Return lines of ``first`` and their places in ``second``, both rising."""
    found: dict[int, int] = {}
    waiting = [(0, len(first), 0, len(second))]
    while waiting:
        start, stop, other_start, other_stop = waiting.pop()
        while start < stop and other_start < other_stop and first[start] == second[other_start]:
            found[start] = other_start
            start, other_start = start + 1, other_start + 1
        while (
            start < stop and other_start < other_stop and first[stop - 1] == second[other_stop - 1]
        ):
            stop, other_stop = stop - 1, other_stop - 1
            found[stop] = other_stop
        if start == stop or other_start == other_stop:
            continue
        anchors = _anchors(first, second, (start, stop, other_start, other_stop))
        if not anchors:
            found |= _match_repeated(first, second, (start, stop, other_start, other_stop))
            continue
        for line, other_line in anchors:
            found[line] = other_line
            waiting.append((start, line, other_start, other_line))
            start, other_start = line + 1, other_line + 1
        waiting.append((start, stop, other_start, other_stop))
    return dict(sorted(found.items()))


_Window = tuple[int, int, int, int]


def _anchors(first: Sequence[str], second: Sequence[str], window: _Window) -> list[tuple[int, int]]:
    """Return the longest rising row of lines that each text has once in a window."""
    start, stop, other_start, other_stop = window
    counts = Counter(first[start:stop])
    other_counts = Counter(second[other_start:other_stop])
    places = {second[place]: place for place in range(other_start, other_stop)}
    pairs = [
        (line, places[first[line]])
        for line in range(start, stop)
        if counts[first[line]] == 1 == other_counts[first[line]]
    ]
    return _longest_rise(pairs)


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of ``pairs``, in order, whose second numbers rise."""
    tops: list[int] = []  # the least second number with which a row of each length ends
    ends: list[int] = []  # the index of the pair that it belongs to
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(tops, place)
        before.append(ends[length - 1] if length else -1)
        tops[length : length + 1] = [place]
        ends[length : length + 1] = [index]
    row: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _match_repeated(first: Sequence[str], second: Sequence[str], window: _Window) -> dict[int, int]:
    """Match what has no unique lines; long stretches of it count as changed."""
    start, stop, other_start, other_stop = window
    if max(stop - start, other_stop - other_start) > _DIFFLIB_MOST:
        return {}
    matcher = SequenceMatcher(
        None, first[start:stop], second[other_start:other_stop], autojunk=False
    )
    return {
        start + block.a + offset: other_start + block.b + offset
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }


# --- front matter ---


def _merge_fields(
    base: Sequence[Entry], ours: Sequence[Entry], theirs: Sequence[Entry]
) -> tuple[list[Entry], int]:
    """Merge fields in the order of ours; new ones of theirs come behind."""
    if not _distinct(base) or not _distinct(ours) or not _distinct(theirs):
        return _merge_repeated(base, ours, theirs)
    old, own, new = ({entry.name: entry for entry in side} for side in (base, ours, theirs))
    result: list[Entry] = []
    conflicts = 0
    for name in dict.fromkeys((*own, *new)):
        entry, conflict = _merge_field(old.get(name), own.get(name), new.get(name))
        conflicts += conflict
        if entry is not None:
            result.append(entry)
    return result, conflicts


def _merge_field(
    base: Entry | None, ours: Entry | None, theirs: Entry | None
) -> tuple[Entry | None, bool]:
    if ours in (base, theirs):
        return theirs, False
    if theirs == base:
        return ours, False
    if ours and theirs and ours.name in _LISTS and _is_only_list(ours):
        return _merge_list(base, ours, theirs), False
    return ours, True


def _merge_list(base: Entry | None, ours: Entry, theirs: Entry) -> Entry:
    """Return our values, with what theirs added and without what they took out."""
    old = field_values(base) if base else ()
    own, new = field_values(ours), field_values(theirs)
    gone = set(old) - set(new)
    retained = [value for value in own if value not in gone]
    added = [value for value in new if value not in old]
    return make_entry(ours.name, tuple(dict.fromkeys((*retained, *added))))


def _is_only_list(entry: Entry) -> bool:
    """Whether a field can be written anew without losing a comment or a line of its own."""
    _, *others = entry.lines.splitlines()
    return "#" not in entry.lines and all(line.lstrip().startswith("- ") for line in others)


def _distinct(entries: Sequence[Entry]) -> bool:
    return len({entry.name for entry in entries}) == len(entries)


def _merge_repeated(
    base: Sequence[Entry], ours: Sequence[Entry], theirs: Sequence[Entry]
) -> tuple[list[Entry], int]:
    """Merge front matter that says a thing twice, which only a hand can have done, by its lines."""
    texts = ["".join(f"{entry.lines}\n" for entry in side) for side in (base, ours, theirs)]
    merged = merge_lines(*texts)
    return ([Entry("", merged.text.removesuffix("\n"))] if merged.text else []), merged.conflicts


# --- on disk --------------------------------------------------------------------------------------


def merge_document(rag: Path, known: Known, text: str, *, remake: bool, dry_run: bool) -> Curated:
    """Write what comes of a newly generated text and what stands in its place; say what it was.

    Args:
        rag: The folder of curated documents.
        known: What is remembered of the source.
        text: What was generated from it now.
        remake: Whether to make again what was deleted by hand.
        dry_run: Write nothing.

    Raises:
        UsageError: what stands in its place cannot be read.
        ChapterhouseError: a file cannot be written.
    """
    target, base_file = target_path(rag, known.id), base_path(rag, known.id)
    ours, base = read_own(target), read_own(base_file)
    if ours is None:
        was_deleted = known.made and not remake
        _write([(base_file, text), *([] if was_deleted else [(target, text)])], dry_run=dry_run)
        if was_deleted:
            return _curated(known, Outcome.RETAINED, "deleted-by-hand", DELETED)
        return _curated(known, Outcome.WRITTEN, "made-again" if known.made else "new")
    if base is None and ours != text:
        return _conflict(rag, known, ours, text, "base-lost", dry_run=dry_run)
    merged = merge(text if base is None else base, ours, text)
    if merged.conflicts:
        code = "edited-on-both-sides"
        return _conflict(rag, known, merged.text, text, code, dry_run=dry_run)
    changed = [(target, merged.text)] if merged.text != ours else []
    _write([*changed, *([(base_file, text)] if base != text else [])], dry_run=dry_run)
    return _outcome_of(known, ours, text, merged.text)


def _outcome_of(known: Known, ours: str, text: str, result: str) -> Curated:
    if result == text:
        return _curated(known, Outcome.UNCHANGED if ours == text else Outcome.WRITTEN)
    if result == ours:
        return _curated(known, Outcome.RETAINED, "edited-by-hand", _EDITED)
    sentence = "Your edits and the new version of the source are both in it."
    return _curated(known, Outcome.MERGED, "edited-by-hand", sentence)


def _conflict(
    rag: Path, known: Known, ours: str, text: str, code: str, *, dry_run: bool
) -> Curated:
    """Leave the hand edit where it is and put the new version beside the base."""
    new_file = new_path(rag, known.id)
    files = [(new_file, text), (target_path(rag, known.id), ours), (base_path(rag, known.id), text)]
    _write(files, dry_run=dry_run)
    sentence = (
        "You and the new version changed the same lines: yours stand. The new version is in "
        f".curated/{new_file.name}; take over what you want and delete it."
    )
    return _curated(known, Outcome.CONFLICT, code, sentence)


def include_waiting(rag: Path, known: Known, outcome: Curated) -> Curated:
    """Say so where the new version of an earlier conflict still waits."""
    new_file = new_path(rag, known.id)
    if outcome.status is Outcome.CONFLICT or not known.id or not new_file.exists():
        return outcome
    sentence = (
        f"A version that could not be merged still waits in .curated/{new_file.name}; take over "
        "what you want and delete it."
    )
    return replace(
        outcome,
        code=outcome.code or "conflict-waiting",
        sentence=" ".join(filter(None, (outcome.sentence, sentence))),
    )


def take_away(rag: Path, known: Known, *, dry_run: bool) -> bool:
    """Remove the document of a source that is gone; return whether it went.

    One that a hand has edited stays.
    """
    if not known.id:
        return True
    target, base_file = target_path(rag, known.id), base_path(rag, known.id)
    try:
        ours, base = read_own(target), read_own(base_file)
    except UsageError:  # what cannot be read cannot be known to be unedited
        return False
    if ours is not None and ours != base:
        return False
    for path in (target, new_path(rag, known.id), base_file):
        if not dry_run:
            remove_whole(path)
    return True


def _write(files: list[tuple[Path, str]], *, dry_run: bool) -> None:
    for path, text in files:
        if not dry_run:
            write_whole(path, text)


def _curated(known: Known, status: Outcome, code: str = "", sentence: str = "") -> Curated:
    return Curated("", known.target, status, code, sentence)
