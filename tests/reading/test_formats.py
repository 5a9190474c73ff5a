import os
import subprocess
import sys
from pathlib import Path

import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading.formats import supported_formats
from chapterhouse.reading.pool import ReadingPool

SOURCE = Path(__file__).parents[2] / "src"
STEP = int(os.environ.get("CHAPTERHOUSE_FILES_STEP", "20"))  # 1 before a release: every real file
FOLDERS = ("docling-groundtruth", "csv-spectrum", "eml-mikel-mail", "odfpy-samples")


def test_no_extension_belongs_to_two_formats() -> None:
    rows = supported_formats()
    extensions = [extension for row in rows for extension in row.extensions]
    assert len(extensions) == len(set(extensions))


def test_listing_formats_imports_no_reader() -> None:
    script = (
        "import sys; from chapterhouse.reading.formats import supported_formats as s; s();"
        "from chapterhouse.reading.pool import ReadingPool;"
        "print([m for m in ('xberg','pypdfium2','selectolax','charset_normalizer') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


@pytest.mark.data
def test_real_files_end_in_text_or_a_reason(pool: ReadingPool, data_folder: Path) -> None:
    files = [
        path
        for folder in FOLDERS
        for path in sorted((data_folder / "documents" / folder).rglob("*"))
        if path.is_file() and "groundtruth" not in path.parts[-2] and path.suffix != ".tsv"
    ][::STEP]
    assert len(files) > 150 / STEP
    readable = 0
    codes: dict[str, str] = {}
    for path in files:
        try:
            extraction = pool.read(path.read_bytes(), path.name)
        except RejectedError as error:
            codes[path.name] = error.code
            continue
        text = "".join(page.text for page in extraction.pages)
        assert text.strip() or extraction.notices, path
        readable += bool(text.strip())
    assert not set(codes.values()) & {"reader-crashed", "timed-out", "out-of-memory"}, codes
    assert readable > 0.8 * len(files)
