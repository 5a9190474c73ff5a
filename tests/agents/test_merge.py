"""Merging hand edits with newly generated documents."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.merge import Merged, _matches, merge, merge_lines
from chapterhouse.text.front_matter import (
    front_matter,
    join_front_matter,
    make_entry,
)

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "d", "# x", "long line"]), max_size=14)
TEXTS = LINES.map(lambda lines: "".join(f"{line}\n" for line in lines))
DOCUMENTS = st.builds(
    lambda fields, body: join_front_matter([make_entry(*own) for own in fields.items()], body),
    st.dictionaries(
        st.sampled_from(["title", "tags", "date", "own"]),
        st.sampled_from(["x", "y", ["a"], ["a", "b"], ["b", "c"]]),
    ),
    TEXTS,
)


@given(DOCUMENTS, DOCUMENTS)
def test_only_one_side_changed(base: str, other: str) -> None:
    assert merge(base, base, other) == Merged(other)
    assert merge(base, other, base) == Merged(other)
    assert merge(base, other, other) == Merged(other)


@given(TEXTS, TEXTS)
def test_only_one_side_changed_its_lines(base: str, other: str) -> None:
    assert merge_lines(base, base, other) == Merged(other)
    assert merge_lines(base, other, base) == Merged(other)
    assert merge_lines(base, other, other) == Merged(other)


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_no_hand_edited_line_is_lost_without_a_word(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    if merged.conflicts:
        return
    _, _, body = ours.rpartition("---\n") if ours.startswith("---") else ("", "", ours)
    old, kept = base.splitlines(), merged.text.splitlines()
    for line in set(body.splitlines()):
        added = body.splitlines().count(line) - old.count(line)
        assert added <= 0 or line in kept


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_merging_again_changes_nothing(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    assert merge(theirs, merged.text, theirs) == Merged(merged.text)


@given(
    st.lists(st.integers(0, 10_000), min_size=5, max_size=30, unique=True).map(
        lambda numbers: [f"line {number}\n" for number in numbers]
    ),
    st.data(),
)
def test_edits_apart_from_each_other_both_survive(base: list[str], data: st.DataObject) -> None:
    places = st.integers(0, len(base) - 1)
    mine = data.draw(places)
    yours = data.draw(places.filter(lambda place: abs(place - mine) > 1))
    ours, theirs = list(base), list(base)
    ours[mine] = data.draw(st.sampled_from(["mine\n", "mine\nand more\n"]))
    theirs[yours] = data.draw(st.sampled_from(["yours\n", ""]))
    expected = list(ours)
    expected[yours] = theirs[yours]
    merged = merge_lines("".join(base), "".join(ours), "".join(theirs))
    assert merged == Merged("".join(expected))


@given(LINES, LINES)
def test_matching_lines_are_the_same_and_rise(first: list[str], second: list[str]) -> None:
    found = _matches(first, second)
    assert all(first[a] == second[b] for a, b in found.items())
    for (a, b), (c, d) in pairwise(found.items()):
        assert a < c
        assert b < d


def test_both_changed_the_same_line_and_the_hand_stands() -> None:
    merged = merge_lines("a\nb\nc\n", "a\nmine\nc\n", "a\nyours\nc\n")
    assert merged == Merged("a\nmine\nc\n", 1)


def test_two_changes_to_one_place_in_the_same_way_are_no_conflict() -> None:
    assert merge_lines("a\nb\nc\n", "a\nx\nc\nd\n", "0\na\nx\nc\n") == Merged("0\na\nx\nc\nd\n")


def test_many_blank_lines_do_not_confuse_or_slow_it() -> None:
    base = [text for number in range(10_000) for text in (f"{number}\n", "\n")]
    ours, theirs = list(base), list(base)
    ours[500], theirs[15_000] = "mine\n", "yours\n"
    merged = merge_lines("".join(base), "".join(ours), "".join(theirs))
    assert not merged.conflicts
    assert merged.text.splitlines()[500] == "mine"
    assert merged.text.splitlines()[15_000] == "yours"


def test_long_stretches_of_the_same_line_still_merge() -> None:
    base = "x\n" * 3_000
    assert merge_lines(base, f"mine\n{base}", f"{base}yours\n") == Merged(f"mine\n{base}yours\n")


# --- front matter ---

BASE = '---\ntitle: "Old"\ntags: [a, b]\nsummary: "One."\n---\n\n# Old\n'


def test_fields_are_merged_one_by_one() -> None:
    ours = BASE.replace('"One."', '"By hand."').replace("---\n\n", "reviewed: yes\n---\n\n")
    theirs = BASE.replace('"Old"', '"New"').replace("# Old", "# New")
    merged = merge(BASE, ours, theirs)
    assert merged.conflicts == 0
    assert front_matter(merged.text) == {
        "title": "New",
        "tags": "a, b",
        "summary": "By hand.",
        "reviewed": "yes",
    }
    assert merged.text.endswith("# New\n")


def test_lists_are_merged_value_by_value() -> None:
    merged = merge(BASE, BASE.replace("[a, b]", "[mine, a, b]"), BASE.replace("[a, b]", "[b, c]"))
    assert merged.conflicts == 0
    assert front_matter(merged.text)["tags"] == "mine, b, c"


def test_a_comment_in_a_list_is_not_lost() -> None:
    ours = BASE.replace("[a, b]", "[a, b, x] # see the board")
    merged = merge(BASE, ours, BASE.replace("[a, b]", "[b]"))
    assert merged.conflicts == 1
    assert "# see the board" in merged.text


def test_one_value_changed_twice_is_a_conflict_and_the_hand_stands() -> None:
    merged = merge(BASE, BASE.replace('"One."', "mine"), BASE.replace('"One."', "yours"))
    assert merged.conflicts == 1
    assert front_matter(merged.text)["summary"] == "mine"


def test_a_field_deleted_by_hand_stays_away() -> None:
    ours = BASE.replace('summary: "One."\n', "")
    assert merge(BASE, ours, BASE.replace("# Old", "# New")).text == ours.replace("# Old", "# New")


def test_a_field_changed_by_hand_and_no_longer_generated_is_said() -> None:
    ours = BASE.replace('"One."', '"By hand."')
    merged = merge(BASE, ours, BASE.replace('summary: "One."\n', ""))
    assert (merged.conflicts, front_matter(merged.text)["summary"]) == (1, "By hand.")


@pytest.mark.parametrize("ours", ["no front matter\n", "", "---\ntitle: x\ntitle: y\n---\n# Old\n"])
def test_front_matter_that_a_hand_broke_is_kept_as_it_is(ours: str) -> None:
    merged = merge(BASE, ours, BASE.replace("# Old", "# New"))
    assert merged.conflicts or all(line in merged.text for line in ours.splitlines())
