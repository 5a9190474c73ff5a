"""What is written into a compound file comes out of it again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.ole import CompoundFile, compound_file

NAMES = st.text(st.characters(codec="utf-16-le", exclude_characters="/\0"), min_size=1, max_size=15)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
SIZES = st.sampled_from([0, 1, 63, 64, 65, 4095, 4096, 4097, 9000])


def apart(paths: list[str]) -> bool:
    """Whether no path leads through another one, and none differs by case alone."""
    folded = {path.casefold() for path in paths}
    above = {"/".join(p.split("/")[:n]) for p in folded for n in range(1, p.count("/") + 1)}
    return len(folded) == len(paths) and not folded & above


@given(st.lists(PATHS, unique=True, max_size=12).filter(apart), st.data())
def test_streams_come_out_as_they_went_in(paths: list[str], data: st.DataObject) -> None:
    streams = {path: bytes([n]) * data.draw(SIZES) for n, path in enumerate(paths)}
    file = CompoundFile(compound_file(streams))
    assert {path: file.read(path) for path in file.names()} == streams


def test_many_streams_and_large_ones() -> None:
    streams = {f"storage {n % 40}/{n}": bytes(n * 7) for n in range(1_500)}
    streams["large"] = bytes(range(256)) * 40_000
    file = CompoundFile(compound_file(streams))
    assert {path: file.read(path) for path in file.names()} == streams


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        compound_file({"x" * 32: b""})
