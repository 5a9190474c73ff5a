"""What ``add`` says where many files have one problem: a line each, at most ten, and a count."""

from collections.abc import Iterable
from io import StringIO

from rich.console import Console

from chapterhouse.interfaces.cli.render import report
from chapterhouse.presenting.blocks import TerminalBlock
from chapterhouse.presenting.terminal import draw
from chapterhouse.reading.ocr import how_to_install
from chapterhouse.types import AddReport, FileOutcome, FileRecord, Notice, Status


def lines(blocks: Iterable[TerminalBlock]) -> list[str]:
    out = StringIO()
    draw(Console(file=out, width=400, markup=False, highlight=False, emoji=False), blocks)
    return out.getvalue().splitlines()


def ended(status: Status, name: str, code: str, sentence: str, notices: int = 0) -> FileOutcome:
    record = FileRecord(f"/papers/{name}", name, 10, 1, "ef" * 32, status, code, sentence)
    further = tuple(Notice("guessed", f"Page {number}\nis odd.") for number in range(notices))
    return FileOutcome(record, changed=False, notices=(Notice(code, sentence), *further))


def pictures(number: int, why: str) -> list[FileOutcome]:
    names = [f"{why[:1]}{place:03}.jpg" for place in range(number)]
    sentences = {name: f"{name} holds no text. {why}" for name in names}
    return [ended(Status.REJECTED, name, "no-text", text) for name, text in sentences.items()]


SEE_ALL = "See all of them: chapterhouse docs list --problems"


def test_pictures_that_were_not_read_are_one_line() -> None:
    no_engine = f"No text, {how_to_install()}"
    told = lines(report(AddReport(tuple(pictures(176, no_engine)))))
    assert len(told) == 3
    assert told[0] == "176 files: 176 rejected"
    reason = "(text recognition is not installed: "
    assert told[1].startswith(f"rejected  176 pictures were not read {reason}")
    assert told[1].endswith(" and add the file again)")
    assert told[2] == SEE_ALL
    _, one = lines(report(AddReport(tuple(pictures(1, no_engine)))))
    assert one.startswith(f"rejected  1 picture was not read: N000.jpg {reason}")


def test_pictures_without_text_are_a_line_for_each_reason() -> None:
    found = [*pictures(2, "Empty."), *pictures(5, "Text recognition found nothing in it.")]
    assert lines(report(AddReport(tuple(found))))[1:] == [
        "rejected  2 pictures without text: E000.jpg, E001.jpg. Empty.",
        (
            "rejected  5 pictures without text: T000.jpg, T001.jpg, T002.jpg, and 2 more. "
            "Text recognition found nothing in it."
        ),
        SEE_ALL,
    ]


def test_files_with_a_problem_are_a_line_each_and_ten_of_a_kind() -> None:
    empty = [ended(Status.REJECTED, f"e{n:02}.txt", "empty", "It has no bytes.") for n in range(13)]
    partly = [ended(Status.PARTIAL, f"p{n:02}.pdf", "odd", "It\nis odd.", 200) for n in range(10)]
    told = lines(report(AddReport((*empty, *partly))))
    assert told[1:11] == [f"rejected  e{n:02}.txt: It has no bytes. (empty)" for n in range(10)]
    assert told[11:21] == [
        f"partial   p{n:02}.pdf: It is odd. (odd) And 200 more notices." for n in range(10)
    ]
    assert told[21:] == ["rejected  3 more (empty)", SEE_ALL]
    assert SEE_ALL not in lines(report(AddReport(tuple(partly))))
