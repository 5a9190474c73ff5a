"""What a ZIP container says of itself is checked before anything of it is unpacked."""

import io
import zipfile
from dataclasses import replace

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.zip_directory import check_claims, inflate, read_directory

LIMITS = Limits()
FILES = {"a.xml": b"<a/>" * 25, "b.xml": b"<b/>" * 25, "c.xml": b"<c/>" * 25}  # 100 bytes each


def container(files: dict[str, bytes] = FILES, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return written.getvalue()


def refused(data: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(RejectedError) as told:
        check_claims(data, read_directory(data, limits), limits)
    return told.value.code


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_entries_are_listed_and_come_out_as_they_went_in(method: int) -> None:
    data = container(method=method)
    entries = read_directory(data, LIMITS)
    check_claims(data, entries, LIMITS)
    assert {one.name: inflate(data, one, 1_000) for one in entries} == FILES
    assert all(len(inflate(data, one, 10)) == 10 for one in entries)


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({"archive_bytes": 300}, True),
        ({"archive_bytes": 299}, False),
        ({"archive_entry_bytes": 100}, True),
        ({"archive_entry_bytes": 99}, False),
        ({"archive_entries": 3}, True),
        ({"archive_entries": 2}, False),
    ],
)
def test_what_it_unpacks_to_is_bounded(limits: dict[str, int], *, fits: bool) -> None:
    own = replace(LIMITS, **limits)
    if fits:
        assert len(read_directory(container(), own)) == 3
    else:
        assert refused(container(), own).startswith("archive-too-")


def test_growth_beyond_the_ratio_is_refused() -> None:
    own = replace(LIMITS, archive_ratio=10, archive_ratio_grace=1_000)
    assert refused(container({"a": bytes(100_000)}), own) == "archive-ratio"


@pytest.mark.parametrize("cut", [1, 22, 60])
def test_a_directory_that_is_cut_off_is_damage(cut: int) -> None:
    assert refused(container()[:-cut]) == "archive-damaged"


def test_an_entry_that_goes_on_after_its_size_is_damage() -> None:
    data = container({"a": bytes(1_000_000)})
    smaller = data.replace((1_000_000).to_bytes(4, "little"), (1_000).to_bytes(4, "little"))
    assert refused(smaller, replace(LIMITS, archive_entry_bytes=1_000)) == "archive-damaged"
