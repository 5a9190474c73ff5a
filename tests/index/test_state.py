"""The file in which an index says how far it has come."""

from pathlib import Path

from chapterhouse.index.state import IndexState, read_state, write_state


def test_every_state_is_seen_as_soon_as_it_is_written(tmp_path: Path) -> None:
    for sequence in range(200):  # numbers of equal length: files of equal size
        state = IndexState(1_000 + sequence, "make", 1, {"rows": 1_000 + sequence})
        write_state(tmp_path, state)
        assert read_state(tmp_path) == state
        assert read_state(tmp_path) == state


def test_two_folders_have_two_states(tmp_path: Path) -> None:
    write_state(tmp_path, IndexState(1, "make"))
    (tmp_path / "other").mkdir()
    write_state(tmp_path / "other", IndexState(2, "make"))
    assert [read_state(tmp_path).sequence, read_state(tmp_path / "other").sequence] == [1, 2]


def test_a_state_that_is_gone_or_torn_is_empty(tmp_path: Path) -> None:
    write_state(tmp_path, IndexState(1, "make"))
    assert read_state(tmp_path).sequence == 1
    (tmp_path / "state.json").write_text('{"sequence": 1', "utf-8")
    assert read_state(tmp_path) == IndexState()
    (tmp_path / "state.json").unlink()
    assert read_state(tmp_path) == IndexState()
