"""What is shown while something goes on, on a terminal alone."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from chapterhouse.facets.documents import Documents
from chapterhouse.interfaces.cli import progress
from chapterhouse.interfaces.cli.options import COMMON, Common
from chapterhouse.types import (
    AddReport,
    AnswerSentence,
    Draft,
    DraftEvent,
    Mismatch,
    MismatchKind,
    Progress,
)

DRAFT = Draft(
    (
        AnswerSentence("It leaves at nine.", (1,)),
        AnswerSentence(
            "It costs 9 euros.",
            (1,),
            (Mismatch(MismatchKind.NUMBER, "9", "12"),),
            before="\n",
        ),
        AnswerSentence("It is \x1b[31mred.", ()),
    ),
    "And so",
)


def test_each_sentence_of_a_draft_says_what_was_found_about_it() -> None:
    assert progress.draft_text(DRAFT).plain == (
        " It leaves at nine.\nIt costs 9 euros. (not in the source: “9”, “12” is) "
        "It is \\x1b[31mred. And so"
    )


def test_off_a_terminal_no_draft_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "can_redraw", lambda: False)
    with progress.following() as show:
        show(DraftEvent(DRAFT))
    assert capsys.readouterr().err == ""


def test_a_draft_longer_than_the_terminal_shows_its_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "can_redraw", lambda: True)
    small = Console(stderr=True, force_terminal=True, width=40, height=5, markup=False)
    monkeypatch.setattr(progress, "console", lambda **_: small)
    many = tuple(AnswerSentence(f"Line {n}.", (), before="\n") for n in range(30))
    with progress.following() as show:
        show(DraftEvent(Draft(many, "And the last")))
    shown = capsys.readouterr().err
    assert "And the last" in shown
    assert "Line 29." in shown
    assert "Line 3." not in shown


def nothing_done(tell: Callable[[Progress], None]) -> AddReport:
    for done in range(1, 4):
        tell(Progress(done, 1_200, f"papers/{done}\x1b.md"))
    return AddReport(())


def test_off_a_terminal_a_line_is_written_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = count(step=6)
    monkeypatch.setattr("chapterhouse.interfaces.cli.progress.time.monotonic", lambda: next(clock))
    progress.run_with_progress(nothing_done)
    told = capsys.readouterr()
    assert told.err == "2 of 1,200 files: papers/2\\x1b.md\n"
    assert told.out == ""


def test_quiet_work_writes_no_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = count(step=6)
    monkeypatch.setattr("chapterhouse.interfaces.cli.progress.time.monotonic", lambda: next(clock))
    before = COMMON.set(Common(quiet=True))
    progress.run_with_progress(nothing_done)
    COMMON.reset(before)
    assert capsys.readouterr().err == ""


def test_a_long_path_leaves_the_count_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "can_redraw", lambda: True)
    narrow = Console(stderr=True, force_terminal=True, width=70, markup=False)
    monkeypatch.setattr(progress, "console", lambda **_: narrow)

    def work(tell: Callable[[Progress], None]) -> AddReport:
        tell(Progress(1_234, 5_678, "a" * 300 + ".pdf"))
        return AddReport(())

    progress.run_with_progress(work)
    shown = capsys.readouterr().err
    assert "1,234/5,678" in shown
    assert "0/?" not in shown


def test_what_was_done_before_an_unexpected_error_is_shown(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Documents.add

    def failing(
        self: Documents, *paths: Path, on_progress: Callable[[Progress], None], **options: Any
    ) -> AddReport:
        def follow(progress: Progress) -> None:
            on_progress(progress)
            raise AssertionError

        return add(self, *paths, on_progress=follow, **options)

    monkeypatch.setattr(Documents, "add", failing)
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    result = chapterhouse("add", tmp_path / "torn.pdf")
    assert result.code == 1
    assert result.out.startswith(f"1 file: 1 rejected\nrejected  {tmp_path.name}/torn.pdf\n   ")
    assert "AssertionError" in result.err
