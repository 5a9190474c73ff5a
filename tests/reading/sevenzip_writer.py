"""7-Zip archives for the tests, with their limits."""

import io
import random
from collections.abc import Mapping
from dataclasses import replace

import py7zr
from py7zr.helpers import ArchiveTimestamp

from chapterhouse.reading.limits import Limits

FILES = {"annex/a.txt": b"The annex.", "annex/b.bin": bytes(range(256)), "c.md": b"# C\n\nText."}
MAY = 1_777_888_800  # 4 May 2026, 10:00 UTC
NOISE = random.Random(1).randbytes(500)  # which cannot be made smaller
SMALL = replace(Limits(), archive_bytes=2_000_000, archive_entry_bytes=500_000, archive_files=50)


def sevenzipped(
    files: Mapping[str, bytes] = FILES,
    *,
    password: str | None = None,
    hidden_names: bool = False,
    plain_header: bool = False,
    method: int = py7zr.FILTER_LZMA2,
    attributes: int | None = None,
) -> bytes:
    """A solid 7-Zip archive, its names as they are given."""
    target = io.BytesIO()
    filters = None if password else [{"id": method}]
    if method == py7zr.FILTER_LZMA2 and filters:
        filters[0]["preset"] = 1
    archive = py7zr.SevenZipFile(
        target, "w", filters=filters, password=password, header_encryption=hidden_names
    )
    with archive:
        archive.set_encoded_header_mode(not plain_header)
        for name, content in files.items():
            archive._writef(io.BytesIO(content), name)
            entry = archive.files.files_list[-1]
            entry["filename"] = name
            entry["lastwritetime"] = ArchiveTimestamp.from_datetime(MAY)
            if attributes is not None:
                entry["attributes"] = attributes
    return target.getvalue()
