"""What an ``add`` tells of its files."""

from io import StringIO

import pytest
from rich.console import Console

from chapterhouse.interfaces.cli.envelope import plain
from chapterhouse.interfaces.cli.render import report, report_code
from chapterhouse.presenting.terminal import draw
from chapterhouse.types import AddReport, FileOutcome, FileRecord, Notice, Status


def ended(status: Status, name: str, code: str = "", sentence: str = "") -> FileOutcome:
    record = FileRecord(f"/papers/{name}", name, 10, 1, "ef" * 32, status, code, sentence)
    return FileOutcome(record, changed=status is Status.READY, seconds=0.5)


def told(*outcomes: FileOutcome, missing: tuple[str, ...] = ()) -> str:
    out = StringIO()
    target = Console(file=out, width=100, markup=False, highlight=False, emoji=False)
    draw(target, report(AddReport(outcomes, missing)))
    return out.getvalue()


@pytest.mark.parametrize("status", [Status.REJECTED, Status.PARTIAL])
def test_files_that_are_not_wholly_read_are_named(status: Status) -> None:
    outcomes = (ended(Status.READY, "a.md"), ended(status, "other.pdf"))
    assert report_code(AddReport(outcomes)) == 4
    out = told(*outcomes, missing=("gone.md",))
    assert out.startswith(f"2 files: 1 ready, 1 {status.value}\n")
    assert f"{status.value:<10}other.pdf" in out
    assert "missing   gone.md" in out


def test_each_file_is_explained_once() -> None:
    notice = Notice("no-text", "Page 2 is empty.")
    read = ended(Status.PARTIAL, "scan.pdf", notice.code, notice.sentence)
    guessed = Notice("encoding-guessed", "It may be Latin-1.")
    read = FileOutcome(read.record, changed=True, seconds=0.5, notices=(notice, guessed))
    out = told(
        read,
        ended(Status.SKIPPED, "link.txt", "symbolic-link", "A link."),
        ended(Status.SKIPPED, "same.txt", "unchanged"),
    )
    assert out.count(notice.sentence) == 1
    assert "It may be Latin-1." in out
    assert "skipped   link.txt\n          A link. (symbolic-link)" in out
    assert "same.txt" not in out


def test_seconds_are_not_data() -> None:
    assert "seconds" not in str(plain(AddReport((ended(Status.READY, "a.md"),))))
