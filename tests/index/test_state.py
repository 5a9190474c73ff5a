"""Files that only grow: what does not count is cut off, and what counts is read exactly."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.index.state import (
    IndexState,
    KeyTable,
    append,
    drop_generations,
    is_whole,
    log_path,
    map_log,
    read_log,
    read_state,
    write_state,
)

KEYS = st.lists(st.lists(st.integers(-50, 50), max_size=8), max_size=6)


def test_what_a_killed_writer_left_is_cut_off_before_anything_is_added(tmp_path: Path) -> None:
    path = log_path(tmp_path, "rows", 3)
    assert append(path, 0, [b"ab", np.array([1], dtype=np.uint8)]) == 3
    path.write_bytes(path.read_bytes() + b"torn")
    assert append(path, 3, []) == 3
    assert path.read_bytes() == b"ab\x01"
    assert append(path, 2, [b"c"]) == 3
    assert read_log(path, 1, 3) == b"bc"


def test_a_log_that_is_too_short_is_noticed_however_it_is_read(tmp_path: Path) -> None:
    path, missing = log_path(tmp_path, "rows", 1), log_path(tmp_path, "rows", 2)
    append(path, 0, [b"1234"])
    assert (is_whole(path, 4), is_whole(path, 5)) == (True, False)
    with pytest.raises(ValueError, match="4 bytes, not 5"):
        read_log(path, 2, 5)
    with pytest.raises(ValueError, match="mmap"):
        map_log(path, np.int64, (1,))
    assert (is_whole(missing, 0), is_whole(missing, 1)) == (True, False)  # nothing of it counts
    assert read_log(missing, 5, 5) == b""
    assert map_log(missing, np.float32, (0, 7)).shape == (0, 7)


def test_only_earlier_generations_of_the_named_logs_go(tmp_path: Path) -> None:
    names = ["rows.1", "rows.2", "rows.10", "rows.new", "keys.1", "rows2.1"]
    for name in names:
        (tmp_path / name).touch()
    drop_generations(tmp_path, ["rows"], 10)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted({*names} - {"rows.1", "rows.2"})


@given(KEYS, st.lists(st.integers(-60, 60), max_size=10))
def test_a_key_is_found_at_the_last_row_that_it_was_given(
    batches: list[list[int]], wanted: list[int]
) -> None:
    table = KeyTable()
    for batch in batches:
        table = table.extended(np.array(batch, dtype=np.int64))
    last = {key: row for row, key in enumerate(key for batch in batches for key in batch)}
    found = table.find(np.array(wanted, dtype=np.int64)).tolist()
    assert found == [last.get(key, -1) for key in wanted]


def test_every_state_is_seen_as_soon_as_it_is_written(tmp_path: Path) -> None:
    for sequence in range(200):  # numbers of equal length: files of equal size
        state = IndexState(1_000 + sequence, "make", 1, {"rows": 1_000 + sequence})
        write_state(tmp_path, state)
        assert read_state(tmp_path) == state
        assert read_state(tmp_path) == state


def test_a_state_that_is_gone_or_torn_is_empty(tmp_path: Path) -> None:
    write_state(tmp_path, IndexState(1, "make"))
    assert read_state(tmp_path).sequence == 1
    (tmp_path / "state.json").write_text('{"sequence": 1', "utf-8")
    assert read_state(tmp_path) == IndexState()
    (tmp_path / "state.json").unlink()
    assert read_state(tmp_path) == IndexState()
