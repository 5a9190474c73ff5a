"""Bring a hand-edited document and a newly generated one together over what both came from.

Lines are merged as diff3 does: where one side left the base alone the other side's lines stand,
where both changed the same lines the hand edit stands and a conflict is reported. Front matter is
merged field by field, its lists value by value.

Sources: Khanna, Kunal and Pierce, "A formal investigation of diff3", 2007; lines are matched as in
Cohen's patience diff, which pairs unique lines first and so does not confuse blank ones.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import Final

from chapterhouse.text.front_matter import (
    Entry,
    field_values,
    join_front_matter,
    make_entry,
    split_front_matter,
)

_DIFFLIB_MOST: Final = 400  # lines of a stretch without unique ones that difflib may compare
_LISTS: Final = frozenset({"tags", "personas"})  # whose order says nothing


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
