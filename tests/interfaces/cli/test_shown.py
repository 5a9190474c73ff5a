"""What people see of states that a command over a small library seldom meets."""

from collections.abc import Iterable
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from chapterhouse.agents.listing import FileListing, IndexState
from chapterhouse.evaluation.measures import Estimate
from chapterhouse.evaluation.measuring import Case, Evaluation, Gate, QuestionScore
from chapterhouse.evaluation.questions import Question
from chapterhouse.interfaces.cli import evaluate, jobs, models, registries, server, settings
from chapterhouse.interfaces.cli.render import (
    is_partial,
    report,
    report_code,
    sync_changes,
    sync_reports,
)
from chapterhouse.interfaces.cli.search import place_of, show_place
from chapterhouse.presenting.blocks import TerminalBlock
from chapterhouse.presenting.terminal import draw
from chapterhouse.types import (
    AccessLevel,
    AddReport,
    ApiKey,
    Body,
    Document,
    EncoderStatus,
    FileInFlight,
    FileOutcome,
    FileRecord,
    Job,
    JobState,
    Move,
    Notice,
    Origin,
    Page,
    Section,
    SettingValue,
    Status,
    StayingDocuments,
    StayReason,
    Step,
    SyncReport,
)

HOSTILE = "Ferry\x1b[2J\u202e\nnotes"


def printed(blocks: Iterable[TerminalBlock]) -> str:
    out = StringIO()
    draw(Console(file=out, width=200, markup=False, highlight=False, emoji=False), blocks)
    assert not set(out.getvalue()) & set("\x1b\u202e")
    return out.getvalue()


# --- files ---------------------------------------------------------------------------------------


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
        "partial   scan.pdf",
        "          Page 2 is empty. (no-text)",
        "          It may be Latin-1. (guessed)",
        "skipped   link.txt",
        "          A link. (symbolic-link)",
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


# --- jobs, settings, keys, encoders ---------------------------------------------------------------

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


def test_a_key_shows_its_limits_and_whether_it_lets_in() -> None:
    key = ApiKey("ch_00000000", "x", AccessLevel.READ, ("a", "b"), None, None, 1, "ada")
    keys = (
        replace(key, workspaces=None, shelves=(), personas=("maria",)),
        replace(key, expires=1_700_000_000),
        replace(key, expires=99),
        replace(key, revoked=60),
    )
    lines = printed(server._table_of_keys(keys, 100)).splitlines()[1:]
    for line, shown in zip(
        lines,
        (
            "all         shelves: none; personas: maria  active",
            "a, b",
            "expired",
            "revoked 1970-01-01 00:01:00 UTC",
        ),
        strict=True,
    ):
        assert shown in line
    assert "until 2023-11-14 22:13:20 UTC" in lines[1]


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


# --- evaluations ---------------------------------------------------------------------------------


def evaluated(*scored: QuestionScore, name: str = "harbour") -> Evaluation:
    measures = {"nDCG@10": Estimate(0.5, 0.25, 0.75, len(scored))}
    return Evaluation(name, 1_200, 3_400, measures, scored, ("It is\nslow.",))


def scored(
    name: str, figure: float, *failures: str, relevant: tuple[str, ...] = ("a.md",)
) -> QuestionScore:
    """Return a question that wants some documents; "a.md" comes second."""
    case = Case(Question(name, f"What of {name}?"), dict.fromkeys(relevant, 1))
    return QuestionScore(case, ("b.md", "a.md"), {"nDCG@10": figure}, failures, ("b.md",))


def test_an_evaluation_shows_figures_the_worst_five_and_gates() -> None:
    good = printed(evaluate._evaluation(evaluated(scored("q1", 1.0), scored("q2", 1.0)), ()))
    assert good.startswith("2 questions of harbour, asked of 1,200 documents, 3,400 chunks\n")
    for line in ("nDCG@10  0.500  0.250–0.750", "Every question got all it wants.", "It is slow."):
        assert line in good
    wanted = ("a.md", "c.md", "d.md", "e.md")
    failed = scored("q9", 1.0, "It quotes no “80 euros”.", relevant=wanted)
    many = [scored(f"q{n}", n / 10) for n in range(7)]
    gates = (Gate("R@5", 0.5, 0.5, passed=True), Gate("MAP", 0.9, 0.25, passed=False))
    shown = printed(evaluate._evaluation(evaluated(*many, failed, scored("good", 1.0)), gates))
    assert "Worst 5 of 8 not perfect" in shown
    named = [line.split()[1] for line in shown.splitlines() if "What of" in line]
    assert named == ["q9", "q0", "q1", "q2", "q3"]
    assert "wanted: a.md (place 2); c.md (not found); d.md (not found), and 1 more" in shown
    assert "passed   R@5 0.5000 ≥ 0.5\nFAILED   MAP 0.2500 < 0.9\n" in shown
    hostile = evaluated(scored(HOSTILE, 0.0, relevant=(HOSTILE,)), name=HOSTILE)
    assert "Ferry" in printed(evaluate._evaluation(hostile, ()))  # and nothing that steers
    data: dict[str, Any] = evaluate._evaluation_data(evaluated(scored("q1", 1 / 3)), ())
    assert data["questions"][0]["scores"] == {"nDCG@10": 0.333333}


# --- places --------------------------------------------------------------------------------------

DOCUMENT = Document(
    id="tariffs-1",
    source="papers/tariffs.pdf",
    location="/papers/tariffs.pdf",
    title="Tariffs",
    format="pdf",
    method="test",
    sha256="",
    text_sha256="0123456789abcdef",
    size=1,
    modified=0,
    page_kind="page",
)
BODY = Body(
    "a" * 300 + "b" * 300,
    (Section(0, 1, ("Tariffs",), 0, 300), Section(1, 2, ("Tariffs", "Guests"), 300, 600)),
    (Page(1, "", 0, 300), Page(2, "ii", 300, 600)),
)


@pytest.mark.parametrize(
    ("start", "end", "section", "page", "around"),
    [
        (0, 10, ("Tariffs",), 1, (0, 200)),
        (299, 309, ("Tariffs",), 1, (200, 200)),
        (300, 590, ("Tariffs", "Guests"), 2, (200, 10)),
    ],
)
def test_a_place_is_where_its_first_character_stands(
    start: int, end: int, section: tuple[str, ...], page: int, around: tuple[int, int]
) -> None:
    found = place_of(DOCUMENT, BODY, start, end)
    assert (found.section_path, found.page) == (section, page)
    assert found.text == BODY.text[start:end]
    assert (len(found.before), len(found.after)) == around


def test_a_text_without_sections_and_pages_has_a_place_too() -> None:
    found = place_of(replace(DOCUMENT, page_kind=""), Body("abc"), 1, 2)
    assert printed(show_place(found)).splitlines() == [
        "Tariffs",
        "papers/tariffs.pdf · characters 1–2 · sha256 0123456789ab",
        "",
        "a»b«c",
    ]
