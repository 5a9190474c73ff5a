from collections.abc import Iterable
from dataclasses import replace
from io import StringIO

from rich.console import Console

from chapterhouse.agents.listing import FileListing, IndexState
from chapterhouse.interfaces.cli import jobs, models, registries, settings
from chapterhouse.interfaces.cli.render import (
    is_partial,
    report,
    report_code,
    sync_changes,
    sync_reports,
)
from chapterhouse.presenting.blocks import TerminalBlock
from chapterhouse.presenting.terminal import draw
from chapterhouse.types import (
    AddReport,
    EncoderStatus,
    FileInFlight,
    FileOutcome,
    FileRecord,
    Job,
    JobState,
    Move,
    Notice,
    Origin,
    SettingValue,
    Status,
    StayingDocuments,
    StayReason,
    Step,
    SyncReport,
)


def printed(blocks: Iterable[TerminalBlock]) -> str:
    out = StringIO()
    draw(Console(file=out, width=200, markup=False, highlight=False, emoji=False), blocks)
    assert not set(out.getvalue()) & set("\x1b\u202e")
    return out.getvalue()


def ended(status: Status, name: str, code: str = "", sentence: str = "") -> FileOutcome:
    record = FileRecord(f"/papers/{name}", name, 10, 1, "ef" * 32, status, code, sentence)
    return FileOutcome(record, changed=status is Status.READY, seconds=0.5)


def test_each_file_that_is_not_wholly_read_is_explained_once() -> None:
    notice, guessed = Notice("no-text", "Page 2 is empty."), Notice("guessed", "It may be Latin-1.")
    partly = ended(Status.PARTIAL, "scan.pdf", notice.code, notice.sentence)
    added = AddReport(
        (
            ended(Status.READY, "a.md"),
            replace(partly, notices=(notice, guessed)),
            ended(Status.SKIPPED, "link.txt", "symbolic-link", "A link."),
            ended(Status.SKIPPED, "same.txt", "unchanged"),
        ),
        missing=("gone.md",),
    )
    assert report_code(added) == 4
    assert printed(report(added)).splitlines() == [
        "4 files: 1 ready, 1 partial, 1 unchanged, 1 skipped",
        "partial   scan.pdf: Page 2 is empty. (no-text) And 1 more notice.",
        "skipped   link.txt: A link. (symbolic-link)",
        "missing   gone.md",
        "Their documents are still here: chapterhouse docs remove --missing",
    ]


def test_a_sync_names_moves_and_problems_and_cuts_many_names() -> None:
    moves = (Move("a/1.md", ("maria",), ()), Move("a/2.md", (), ("library",)))
    away = (StayingDocuments("/x", 2, StayReason.AWAY),)
    synced = SyncReport(AddReport(()), moves=moves, source="a", staying=away, problem="No.")
    shown = printed(sync_reports([synced], dry_run=False))
    for line in ("Joined: maria.", "Left: library.", "its disk is away: 2 documents stay.", "No."):
        assert line in shown
    assert is_partial(synced)
    still = SyncReport(AddReport(()), source="b")
    many = replace(still, removed=tuple(f"a/{n}.md" for n in range(30)), source="c")
    shown = printed(sync_changes([still, many]))
    assert "c: 30 removed\n" in shown
    assert "... and 10 more" in shown
    assert "b:" not in shown  # a watch shows only what changed


def test_a_file_of_a_persona_that_is_not_indexed_says_why() -> None:
    assert tuple(registries._STANDINGS) == tuple(standing.value for standing in IndexState)
    assert printed(registries.show_documents((), "papers/")).startswith("No documents.")
    listed = (
        FileListing(
            "a.pdf", "/a.pdf", status=IndexState.REJECTED, reason="No\ntext.", code="no-text"
        ),
        FileListing(
            "b.md", "/b.md", "b-1", status=IndexState.INDEXED, chunks=1, shared_with=("mia",)
        ),
        FileListing("c.md", "/c.md", "c-1", status=IndexState.INDEXED, chunks=2),
    )
    lines = printed(registries.show_documents(listed, "papers/")).splitlines()
    assert lines[1].endswith("No text. (no-text)")
    assert lines[2].split() == ["indexed", "b.md", *["b-1", "1", "chunk", "shared", "with", "mia"]]
    assert lines[-1] == "3 files: 2 indexed, 1 rejected"


JOB = Job(
    "j3",
    "add",
    {"paths": ["/papers"], "shelf": "library"},
    "/papers",
    JobState.RUNNING,
    attempts=1,
    created=1_700_000_000,
    started=1_700_000_005,
    done=40,
    total=120,
    in_flight=(FileInFlight("/papers/b.pdf", "papers/b.pdf", Step.READING),),
)


def test_a_job_says_how_far_it_is_and_why_it_waits() -> None:
    running = printed(jobs._record(JOB))
    for line in ("40 of 120 files", "reading  papers/b.pdf", "2023-11-14 22:13:25 UTC"):
        assert line in running
    assert "finished" not in running
    assert "being stopped" in printed(jobs._table([replace(JOB, cancelling=True)]))
    late = 1_700_000_065
    waits = replace(JOB, state=JobState.PENDING, error="No\nspace.", waits=1, waits_until=late)
    assert "waits until  2023-11-14 22:14:25 UTC" in printed(jobs._record(waits))
    listed = printed(jobs._table([waits])).splitlines()
    assert ("waiting" in listed[1], listed[2].strip()) == (True, "No space.")
    failed = printed(jobs._record(replace(JOB, state=JobState.FAILED, hint="Free some.")))
    assert ("Free some." in failed, "b.pdf" in failed) == (True, False)


def test_a_setting_that_does_not_hold_says_why() -> None:
    ignored = SettingValue("search.limit", 10, Origin.DEFAULT, 10, ignored="not\na number")
    assert "ignored: not a number" in printed(settings._table([ignored]))
    shown = printed(settings._record(ignored))
    assert ("ignored: not a number" in shown, "in a settings file" in shown) == (True, True)


def test_an_encoder_says_how_far_it_is_and_why_it_is_not_used() -> None:
    def rows(role: str, done: int, problem: str = "", documents: int = 7) -> list[str]:
        found = models.vector_rows(
            [EncoderStatus(role, "small", "small@1", done, 7, problem)], documents
        )
        return [text for _, text in found]

    assert rows("active", 7) == rows("previous", 2) == []
    count, promise, others = rows("building", 3, documents=9)
    assert (count, "in the background" in promise) == ("3 of 7 documents", True)
    assert others.startswith("2 documents are in languages")
    failed = rows("active", 3, "The disk is full.")
    assert failed == ["3 of 7 documents", "They could not be made: The disk is full."]
    wanted = [EncoderStatus("building", "small", "small@1", 0, 7, "")]
    assert "1,200 to go: about 2 minutes." in printed(models._show_encoder(wanted, 1_200, 10.0, ""))
    for seconds, told in ((59.9, "less than a minute"), (60, "about 1 minute"), (7_200, "2 hours")):
        assert told in models._duration(seconds)
