import json
import zlib
from pathlib import Path

import pytest

from chapterhouse.index.comparing import require_whole_segments

SEGMENT = "0" * 32


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
    (tmp_path / ".tmpX6Xwom").write_bytes(b"{")  # what a kill leaves
    require_whole_segments(tmp_path)
    path = tmp_path / f"{SEGMENT}.idx"
    whole = path.read_bytes()
    for data in (b"Postings" + whole[8:], whole[:-1], b"", whole[:-1] + b"\x06"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=f"{SEGMENT}.idx is damaged"):
            require_whole_segments(tmp_path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        require_whole_segments(tmp_path)


def test_a_list_of_segments_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    _segment(tmp_path)
    (tmp_path / "meta.json").write_text('{"segments": 3}')
    with pytest.raises(TypeError):
        require_whole_segments(tmp_path)
