import json
import re
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.index.comparing import compare_entries, damaged_segments, foreign_files
from chapterhouse.types import Remedy

KEYS = st.dictionaries(
    st.sampled_from("abc"), st.lists(st.integers(0, 5), max_size=4, unique=True), max_size=3
)
SEGMENT = "0" * 32


@given(KEYS, KEYS)
def test_entries_differ_in_nothing_exactly_if_they_are_the_same(
    expected: dict[str, list[int]], found: dict[str, list[int]]
) -> None:
    same = {name: sorted(keys) for name, keys in expected.items() if keys} == {
        name: sorted(keys) for name, keys in found.items() if keys
    }
    assert (not list(compare_entries(expected, found))) == same
    assert not list(compare_entries(expected, found, "abc"))


def test_each_way_of_differing_is_named() -> None:
    found = list(compare_entries({"a": [1, 2]}, {"a": [1, 1, 3], "b": [4]}))
    assert found == [
        "lacks 1 chunk of document a",
        "has 1 chunk of document a more than once",
        "has 1 chunk of document a that the library has not",
        "has 1 chunk of document b that the library has not",
    ]


def _segment(folder: Path, body: bytes = b"postings") -> None:
    names = [f"{SEGMENT}.{part}" for part in ("fast", "fieldnorm", "idx", "pos", "store", "term")]
    for name in names:
        footer = json.dumps({"version": {}, "crc": zlib.crc32(body)}).encode()
        end = len(footer).to_bytes(4, "little") + (1337).to_bytes(4, "little")
        (folder / name).write_bytes(body + footer + end)
    (folder / "meta.json").write_text(json.dumps({"segments": [{"segment_id": SEGMENT}]}))
    (folder / ".managed.json").write_text(json.dumps([*names, "meta.json"]))


def test_a_segment_is_compared_with_its_checksums(tmp_path: Path) -> None:
    _segment(tmp_path)
    assert not list(damaged_segments(tmp_path))
    path = tmp_path / f"{SEGMENT}.idx"
    whole = path.read_bytes()
    for data in (b"Postings" + whole[8:], whole[:-1], b"", whole[:-1] + b"\x06"):
        path.write_bytes(data)
        (found,) = damaged_segments(tmp_path)
        assert found.sentence == f"has a damaged file: {SEGMENT}.idx"
    path.unlink()
    (found,) = damaged_segments(tmp_path)
    assert found.sentence == f"lacks its file {SEGMENT}.idx"


def test_what_tantivy_did_not_write_is_foreign(tmp_path: Path) -> None:
    _segment(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    (found,) = damaged_segments(tmp_path)
    assert found.remedy is Remedy.NONE
    assert "notes.txt" in list(foreign_files(tmp_path, re.compile("meta.*")))
    assert not list(foreign_files(tmp_path / "nothing", re.compile("")))


def test_a_list_of_segments_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    _segment(tmp_path)
    (tmp_path / "meta.json").write_text('{"segments": 3}')
    with pytest.raises(TypeError):
        list(damaged_segments(tmp_path))


def test_what_a_kill_leaves_of_a_list_is_no_foreign_file(tmp_path: Path) -> None:
    _segment(tmp_path)
    (tmp_path / ".tmpX6Xwom").write_bytes(b"{")
    assert not list(damaged_segments(tmp_path))
