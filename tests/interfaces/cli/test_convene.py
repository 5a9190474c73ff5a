"""The command convene: over a scripted library, on a terminal, and over a real one."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from chapterhouse.agents.problems import Code, CouncilConfigError, Problem
from chapterhouse.council.minutes.bundle import read_minutes, read_minutes_bundle
from chapterhouse.errors import NotFoundError, RefusedError
from chapterhouse.interfaces.cli import live, render_minutes
from chapterhouse.interfaces.cli.output_files import is_marked, marked
from chapterhouse.types import (
    Absence,
    Aspect,
    AspectKind,
    Cell,
    Claim,
    DisagreementMap,
    Dispute,
    DisputeSide,
    MeetingEvent,
    MeetingEventKind,
    Minutes,
    ParticipantRecord,
    Point,
    Position,
    PositionComparison,
    PositionKind,
    PositionRelation,
    PositionTable,
    Stance,
    Statement,
)

QUESTION = "What shall a berth cost?"
ROUND = "independent_analysis"
SAID = Statement("maria", ROUND, claims=(Claim("", "maria", ROUND, "x"),))
Kind = MeetingEventKind
EVENTS = (
    MeetingEvent(Kind.ROUND_BEGAN, ROUND, 1),
    MeetingEvent(Kind.RESUMED, ROUND, 1, "tom", statement=replace(SAID, claims=())),
    MeetingEvent(Kind.MEMBER_BEGAN, ROUND, 1, "maria"),
    MeetingEvent(Kind.TEXT, ROUND, 1, "maria", "A draft \x1b[2J of it."),
    MeetingEvent(Kind.SPOKE, ROUND, 1, "maria", statement=SAID),
    MeetingEvent(Kind.ABSENT, ROUND, 1, "eve\x1b[2J", "no answer within 30 s\x07"),
    MeetingEvent(Kind.ROUND_ENDED, ROUND, 1),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# --- what is asked -----------------------------------------------------------------------------


def test_choices_reach_the_library(chapterhouse: Any, script: Any, folder: Path) -> None:
    library = script()
    assert chapterhouse("convene", "berths", QUESTION).code == 0
    options = ("--model", "none", "--fresh", "--no-memory", "--transcript", "said.ndjson")
    assert chapterhouse("convene", "berths", QUESTION, *options).code == 0
    (council, question, usual), (_, _, chosen) = library.convened
    assert (council, question) == ("berths", QUESTION)
    assert (usual.model, usual.remember, usual.fresh, usual.transcript) == (None, True, False, None)
    assert (chosen.model, chosen.remember, chosen.fresh) == ("none", False, True)
    assert chosen.transcript == Path("said.ndjson")
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        ("--markdown", "--json"),
        ("--markdown", "--html"),
        ("--dry-run", "--output", "x.md"),
        ("--dry-run", "--html"),
        ("--output", "x.docx"),
        ("--output", "x"),
        ("--output", ""),
        ("--transcript", ""),
        ("--output", "no/such/x.md"),
        ("--output", "x.md", "--record", "./x.md"),
        ("--bundle", "-"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anyone_speaks(
    chapterhouse: Any, script: Any, folder: Path, options: tuple[str, ...]
) -> None:
    library = script()
    result = chapterhouse("convene", "berths", QUESTION, *options)
    assert (result.code, library.convened) == (2, [])
    assert not list(folder.iterdir())


def test_a_dry_run_shows_what_everybody_would_be_told(chapterhouse: Any, script: Any) -> None:
    library = script()
    result = chapterhouse("convene", "berths", QUESTION, "--dry-run")
    assert (result.code, library.convened) == (0, [])
    for told in ("independent_analysis: maria", "grounding inject", "tools search_knowledge"):
        assert told in result.out
    assert "Be brief." in result.out
    assert "1 turn planned; no model was asked." in result.out
    data = chapterhouse("convene", "berths", QUESTION, "--dry-run", "--json").data
    assert data["turns"][0]["tools"] == ["search_knowledge"]
    assert data["turns"][0]["prompt"].startswith("What shall a berth cost?")
    assert data["dry_run"] is True


# --- what is printed ---------------------------------------------------------------------------


def test_minutes_are_told_in_every_form(chapterhouse: Any, script: Any) -> None:
    library = script()
    text = chapterhouse("convene", "berths", QUESTION, "--full")
    assert text.out.index("Decided: 80 euros") < text.out.index("Where members agree")
    assert text.out.index("Where members agree") < text.out.index("Missing evidence")
    assert "docs show tariffs-1a2b3c4d --span 11:42" in text.out
    markdown = chapterhouse("convene", "berths", QUESTION, "--markdown")
    assert "| c1 A berth costs 80 euros a metre. | ✓ supports[^1] | · silent |" in markdown.out
    page = chapterhouse("convene", "berths", QUESTION, "--html")
    assert page.out.startswith("<!DOCTYPE html>\n")
    for result in (text, markdown, page):
        assert result.code == 0
        assert not set(result.out) & set("\x1b\x07\u202e")
    printed = chapterhouse("convene", "berths", QUESTION, "--json")
    assert read_minutes(printed.out) == library.minutes
    assert printed.err == ""


def test_the_first_screen_of_a_debate_holds_what_came_of_it(chapterhouse: Any, script: Any) -> None:
    library = script()
    told = chapterhouse("convene", "berths", QUESTION).out
    assert "Decided: 80 euros" in told
    assert "Where members agree" not in told
    assert "--full" in told
    many = tuple(Point(f"Ground number {n}.", (1,)) for n in range(30))
    library.minutes = replace(library.minutes, grounds=many)
    told = chapterhouse("convene", "berths", QUESTION).out
    assert told.count("Ground number") == 4
    assert "and 26 more: --full" in told
    assert chapterhouse("convene", "berths", QUESTION, "--full").out.count("Ground number") == 30


def read_alone(minutes: Minutes, sentence: str) -> Minutes:
    """Return minutes of documents that were only read, with the sentence in a cell."""
    members = tuple(replace(one, model="") for one in minutes.members)
    maria, tom = (one.key for one in members)
    return replace(
        minutes,
        members=members,
        options=(),
        decided="",
        decision=(),
        matrix=(),
        map=DisagreementMap(),
        reading=PositionTable(
            (Aspect("a1", "what does a berth cost", AspectKind.VALUE),),
            (
                Position(
                    maria,
                    "a1",
                    PositionKind.VALUE,
                    ("80 euros",),
                    text=sentence,
                    date="2025",
                    citations=(1,),
                ),
                Position(tom, "a1", PositionKind.SILENT),
            ),
            (PositionComparison("a1", PositionRelation.ONE_ONLY, ((maria,),)),),
        ),
    )


def test_documents_that_were_only_read_are_shown_on_one_screen(
    chapterhouse: Any, script: Any
) -> None:
    library = script()
    library.minutes = read_alone(library.minutes, "word " * 200)
    told = chapterhouse("convene", "berths", QUESTION)
    assert told.code == 0
    assert "What does a berth cost? Only the documents of" in told.out
    assert "80 euros" in told.out
    assert "Tom: silent" in told.out
    assert "(2025)" in told.out
    assert told.out.count("word") < 40  # a long sentence is cut
    for title in ("Decided", "Where members agree", "Disputes", "Dissent", "matrix"):
        assert title not in told.out
    assert len(told.out.splitlines()) <= 24
    assert chapterhouse("convene", "berths", QUESTION, "--full").out.count("word") == 200


def test_a_member_who_was_absent_ends_with_4(chapterhouse: Any, script: Any) -> None:
    library = script()
    absence = Absence("tom", ROUND, "no answer within 30 s")
    library.minutes = replace(library.minutes, absences=(absence,))
    result = chapterhouse("convene", "berths", QUESTION)
    assert result.code == 4
    assert "Tom, Independent analysis: no answer within 30 s" in result.out
    assert chapterhouse("convene", "berths", QUESTION, "--json").code == 4
    inner = library.minutes
    said = replace(inner.statements[0], inner=inner)
    library.minutes = replace(inner, absences=(), statements=(said,))
    assert chapterhouse("convene", "berths", QUESTION).code == 4


def test_all_problems_of_a_council_are_told(chapterhouse: Any, script: Any) -> None:
    problems = tuple(
        Problem(("tools", place), Code.UNKNOWN, f"There is no tool {place}.", "Look.")
        for place in range(3)
    )
    script(failure=CouncilConfigError(problems))
    for options in ((), ("--dry-run",)):
        result = chapterhouse("convene", "berths", QUESTION, *options)
        assert (result.code, result.out) == (2, "")
        for place in range(3):
            assert f"tools[{place}]  (unknown)" in result.err
            assert f"There is no tool {place}." in result.err
        assert "chapterhouse: The council cannot meet." in result.err
    error = chapterhouse("convene", "berths", QUESTION, "--json").envelope["error"]
    assert error["type"] == "UsageError"
    assert "tools[2]: There is no tool 2." in error["message"]


def test_a_council_that_is_not_there_ends_with_3(chapterhouse: Any, script: Any) -> None:
    script(failure=NotFoundError("There is no council 'x'."))
    assert chapterhouse("convene", "x", QUESTION).code == 3


def test_the_lines_of_a_meeting_stand_on_standard_error(chapterhouse: Any, script: Any) -> None:
    script(events=EVENTS)
    result = chapterhouse("convene", "berths", QUESTION)
    assert result.err.splitlines() == [
        "Round 1: independent_analysis",
        "  tom: spoke before: nothing to state",
        "  maria: 1 claim",
        "  eve\\x1b[2J: is absent: no answer within 30 s\\x07",
    ]
    assert "draft" not in result.out
    assert chapterhouse("convene", "berths", QUESTION, "--json").err == ""


@pytest.mark.parametrize("fresh", [False, True])
def test_an_interrupted_meeting_says_how_to_go_on(
    chapterhouse: Any,
    script: Any,
    fresh: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    script(events=EVENTS, failure=KeyboardInterrupt())
    options = ("--fresh",) if fresh else ()
    result = chapterhouse("convene", "berths", QUESTION, *options)
    assert (result.code, result.out) == (130, "")
    assert "Stopped in round 1, independent_analysis, after 2 statements." in result.err
    assert "goes on where it stopped" in result.err
    assert ("without --fresh" in result.err) == fresh
    script(failure=KeyboardInterrupt())
    early = chapterhouse("convene", "berths", QUESTION)
    assert (early.code, "before the first round" in early.err) == (130, True)


# --- files -------------------------------------------------------------------------------------


def test_every_file_is_written(chapterhouse: Any, script: Any, folder: Path) -> None:
    library = script()
    for name in ("minutes.md", "minutes.HTML", "minutes.json"):
        options = ("--output", name, "--record", "0012-berths.md", "--bundle", "b.json")
        assert chapterhouse("convene", "berths", QUESTION, *options).code == 0
    markdown = (folder / "minutes.md").read_text("utf-8")
    assert markdown.startswith("# ")
    assert markdown.splitlines()[-1].startswith("<!-- written by Chapterhouse, SHA-256 ")
    assert (folder / "minutes.HTML").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert read_minutes((folder / "minutes.json").read_bytes()) == library.minutes
    assert (folder / "0012-berths.md").read_text("utf-8").startswith("# 12. What shall")
    assert read_minutes_bundle((folder / "b.json").read_bytes()).minutes == library.minutes
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name in ("minutes.md", "minutes.HTML", "minutes.json"):  # what is ours is replaced
        options = ("--output", name, "--record", "0012-berths.md", "--bundle", "b.json")
        assert chapterhouse("convene", "berths", QUESTION, *options).code == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--output", "mine.md"),
        ("--output", "mine.html"),
        ("--output", "mine.json"),
        ("--record", "mine.md"),
        ("--bundle", "mine.json"),
    ],
)
@pytest.mark.parametrize("content", ["", "# Mine\n", '{"mine": 1}\n'])
def test_no_file_of_something_else_is_lost(
    chapterhouse: Any, script: Any, folder: Path, option: str, name: str, content: str
) -> None:
    library = script()
    (folder / name).write_text(content)
    result = chapterhouse("convene", "berths", QUESTION, option, name)
    assert (result.code, library.convened) == (5, [])
    assert (folder / name).read_text() == content


@pytest.mark.parametrize("name", ["minutes.md", "minutes.html", "minutes.json"])
def test_what_somebody_edited_is_theirs(
    chapterhouse: Any, script: Any, folder: Path, name: str
) -> None:
    script()
    assert chapterhouse("convene", "berths", QUESTION, "--output", name).code == 0
    edited = (folder / name).read_text("utf-8").replace("80 euros", "90 euros", 1) + " "
    (folder / name).write_text(edited, "utf-8")
    assert chapterhouse("convene", "berths", QUESTION, "--output", name).code == 5
    assert (folder / name).read_text("utf-8") == edited


def test_a_mark_holds_for_the_whole_file_alone() -> None:
    text = marked("# Minutes\n")
    assert is_marked(text.encode())
    for other in ("", "# Minutes\n", f" {text}", f"{text}\n", text.replace("M", "m", 1)):
        assert not is_marked(other.encode())
    twice = marked(text)
    assert is_marked(twice.encode())


def test_a_failed_meeting_writes_nothing(chapterhouse: Any, script: Any, folder: Path) -> None:
    script(failure=RefusedError("No."))
    options = ("--output", "x.md", "--record", "y.md", "--bundle", "z.json")
    assert chapterhouse("convene", "berths", QUESTION, *options).code == 5
    assert not list(folder.iterdir())


# --- bundles -----------------------------------------------------------------------------------


def test_minutes_are_checked_and_verified(chapterhouse: Any, script: Any, folder: Path) -> None:
    script()
    script.write(folder)
    for file in ("MINUTES", "MINUTES-BUNDLE"):
        result = chapterhouse("verify", file)
        assert (result.code, "the quotation stands" in result.out) == (0, True)
    alone = chapterhouse("verify", "MINUTES-BUNDLE", "--alone")
    assert alone.code == 0
    assert alone.out.count("ok  ") == 5
    data = chapterhouse("verify", "MINUTES-BUNDLE", "--json").data
    assert (data["question"], data["trusted"]) == (QUESTION, True)
    assert chapterhouse("verify", "MINUTES", "--alone").code == 2
    text = (folder / "MINUTES-BUNDLE").read_text("utf-8")
    (folder / "MINUTES-BUNDLE").write_text(text.replace("80 euros a metre", "90 euros a metre"))
    forged = chapterhouse("verify", "MINUTES-BUNDLE")
    assert (forged.code, "BAD " in forged.out) == (1, True)


def test_a_bundle_of_an_answer_may_be_replaced_by_one_of_minutes(
    chapterhouse: Any, script: Any, folder: Path
) -> None:
    script()
    script.write(folder)
    assert chapterhouse("convene", "berths", QUESTION, "--bundle", "BUNDLE").code == 0
    assert chapterhouse("ask", QUESTION, "--bundle", "MINUTES-BUNDLE").code == 0


# --- the view of a terminal --------------------------------------------------------------------


def crowded(minutes: Minutes, members: int) -> Minutes:
    """Return minutes of many members with long names, who all speak on one long claim."""
    seats = tuple(
        ParticipantRecord(f"m{n}", f"Membership number {n} 会员", "role", model="modest")
        for n in range(members)
    )
    keys = tuple(seat.key for seat in seats)
    row = minutes.map.rows[0]
    cells = tuple(Cell(key, Stance.SUPPORTS, (), (1,)) for key in keys)
    long = replace(row, text="北" * 200 + "w" * 300, cells=cells)
    side = DisputeSide(keys, "z" * 200, (1,), "c1", "80", "2025")
    dispute = Dispute(row.kinds[0], "x" * 200, (side, side))
    chart = replace(minutes.map, members=keys, rows=(long, long), disputes=(dispute,))
    return replace(minutes, members=seats, map=chart, absences=(Absence("m0", ROUND, "y" * 200),))


@pytest.mark.parametrize("members", [1, 2, 5, 9, 30])
@pytest.mark.parametrize("width", [24, 40, 60, 80, 200])
def test_the_view_fits_any_terminal(
    script: Any, capsys: pytest.CaptureFixture[str], members: int, width: int
) -> None:
    minutes = crowded(script().minutes, members)
    target = Console(width=width, force_terminal=True, markup=False, highlight=False, emoji=False)
    render_minutes.minutes(target, minutes)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert "".join(lines).count("✓") >= 2 * members


# --- live --------------------------------------------------------------------------------------


def test_a_meeting_is_followed() -> None:
    meeting = live.Meeting()
    for event in EVENTS[:4]:
        meeting.follow(event)
    drawn = live.draw(meeting, 60).plain
    assert drawn.splitlines() == [
        "Round 1: independent_analysis",
        "  tom    spoke before: nothing to state",
        "  maria  … A draft \\x1b[2J of it.",
    ]
    for event in EVENTS[4:]:
        meeting.follow(event)
    assert (meeting.statements, meeting.claims) == (2, 1)
    for width in (1, 10, 20, 40):
        drawn = live.draw(meeting, width).plain
        assert "\x1b" not in drawn
        assert all(cell_len(line) <= max(width, 32) for line in drawn.splitlines())


DRIVER = """
import sys, time
from chapterhouse.interfaces.cli import live
from chapterhouse.types import *
K = MeetingEventKind
def work(on_event):
    on_event(ReadingEvent(Progress(1, 2, "tariffs.md")))
    on_event(MeetingEvent(K.ROUND_BEGAN, "opening", 1))
    on_event(MeetingEvent(K.MEMBER_BEGAN, "opening", 1, "maria"))
    on_event(MeetingEvent(K.TEXT, "opening", 1, "maria", "a draft of hers"))
    time.sleep(.5)
    on_event(MeetingEvent(K.ABSENT, "opening", 1, "tom", "no answer"))
    on_event(MeetingEvent(K.SPOKE, "opening", 1, "maria", statement=Statement("maria", "opening")))
    on_event(MeetingEvent(K.ROUND_ENDED, "opening", 1))
    return Minutes("a", "b", "c")
assert live.attend(work, quiet=True, is_saved=True).council == "a"
print("printed")
"""


@pytest.mark.parametrize("color", [True, False])
def test_progress_is_drawn_on_a_terminal_and_wiped_away(*, color: bool) -> None:
    import pty  # noqa: PLC0415 - where there are terminals

    terminal, other_end = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdout=subprocess.PIPE,
        stderr=other_end,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "" if color else "1"},
    )
    os.close(other_end)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
    out, _ = started.communicate(timeout=60)
    os.close(terminal)
    assert (started.returncode, out) == (0, b"printed\n")
    text = shown.decode()
    if not color:
        assert "\x1b" not in text
        assert text.splitlines()[0] == "Round 1: opening"
        assert "  tom: is absent: no answer" in text.splitlines()
        return
    assert "reads 1 of 2: tariffs.md" in text or "Round 1: opening" in text
    assert "a draft of hers" in text
    assert "tom is absent: no answer" in text
    assert "Round 1, opening: 1 spoke" in text


def test_a_round_of_the_chair_alone_is_no_round_of_nobody() -> None:
    kind = MeetingEventKind
    rounds = {"opening": ["maria", "chair"], "synthesis": ["chair"], "summary": []}
    meeting, out = live.Meeting(), io.StringIO()
    target = Console(file=out, width=80)
    for number, (name, speakers) in enumerate(rounds.items(), start=1):
        meeting.follow(MeetingEvent(kind.ROUND_BEGAN, name, number))
        for member in speakers:
            meeting.follow(MeetingEvent(kind.MEMBER_BEGAN, name, number, member))
        if "maria" in speakers:
            meeting.follow(MeetingEvent(kind.SPOKE, name, number, "maria"))
        ended = MeetingEvent(kind.ROUND_ENDED, name, number)
        meeting.follow(ended)
        live._lasting(target, meeting, ended)
    assert out.getvalue().splitlines() == [
        "Round 1, opening: 1 spoke, 0 claims so far",
        "Round 2, synthesis: summed up, 0 claims so far",
        "Round 3, summary: summed up, 0 claims so far",
    ]


# --- a real library ----------------------------------------------------------------------------

TARIFFS = {
    shelf: f"---\ndate: {day}\n---\n# Tariffs {day[:4]}\n\n"
    f"A guest berth costs {fee} euros a night.\n"
    for shelf, day, fee in (("alpha", "2021-01-15", 60), ("beta", "2025-03-01", 80))
}
COUNCIL = {
    "slug": "berths",
    "members": [
        {"name": "Maria", "instructions": "Speak for the guests.", "shelves": ["alpha"]},
        {"name": "Tom", "instructions": "Speak for the harbour.", "shelves": ["beta"]},
    ],
    "rounds": ["independent_analysis", "cross_examination", "synthesis"],
    "chair": {"name": "Chair"},
}
ASKED = "What does a guest berth cost a night?"


@pytest.fixture
def home(chapterhouse: Any, tmp_path: Path) -> Path:
    """A home with two members who have read lists of different years."""
    home = tmp_path / "home"
    for shelf, text in TARIFFS.items():
        papers = tmp_path / shelf
        papers.mkdir()
        (papers / f"tariffs-{shelf}.md").write_text(text)
        assert chapterhouse("add", papers, "--shelf", shelf, "--home", home).code == 0
    (home / "councils" / "berths").mkdir(parents=True)
    (home / "councils" / "berths" / "council.json").write_text(json.dumps(COUNCIL))
    return home


def test_a_real_council_meets_and_its_minutes_are_verified(
    chapterhouse: Any, home: Path, folder: Path
) -> None:
    options = ("--home", home, "--no-memory", "--fresh", "--bundle", "b.json")
    first = chapterhouse("convene", "berths", ASKED, *options, "--json")
    assert first.code == 0, first
    bytes_of_first = (folder / "b.json").read_bytes()
    again = chapterhouse("convene", "berths", ASKED, *options, "--json")
    assert again.data == first.data
    assert (folder / "b.json").read_bytes() == bytes_of_first
    cells = first.data["reading"]["positions"]
    assert [(cell["member"], cell["values"], cell["date"]) for cell in cells] == [
        ("maria", ["60 euros"], "2021-01-15"),
        ("tom", ["80 euros"], "2025-03-01"),
    ]
    assert first.data["reading"]["comparisons"][0]["relation"] == "differ"
    assert (first.data["map"]["rows"], first.data["decision"]) == ([], [])
    told = chapterhouse("verify", "b.json", "--home", home)
    assert told.code == 0, told
    assert told.out.count("ok  ") == 5
    assert chapterhouse("verify", "b.json", "--alone").code == 0
    (folder / "printed.json").write_text(first.out, "utf-8")
    assert chapterhouse("verify", "printed.json", "--home", home).code == 0
    shown = chapterhouse("convene", "berths", ASKED, "--home", home, "--no-memory", "--markdown")
    assert "A guest berth costs 80 euros a night.[^" in shown.out
    changed = folder / "beta" / "tariffs-beta.md"
    changed.write_text(changed.read_text().replace("80", "90"))
    assert chapterhouse("add", changed.parent, "--shelf", "beta", "--home", home).code == 0
    assert chapterhouse("verify", "b.json", "--home", home).code == 4


def test_a_real_dry_run_asks_nobody(chapterhouse: Any, home: Path) -> None:
    data = chapterhouse("convene", "berths", ASKED, "--dry-run", "--home", home, "--json").data
    assert {turn["member"] for turn in data["turns"]} >= {"maria", "tom"}
    assert all(turn["prompt"] for turn in data["turns"])
    assert not (home / "councils" / "berths" / "meetings").exists()


@pytest.mark.parametrize("there", ["councils", "personas", ""])
def test_a_council_meets_in_a_home_that_has_no_library_yet(
    chapterhouse: Any, tmp_path: Path, there: str
) -> None:
    home = tmp_path / "home"
    (home / there).mkdir(parents=True)
    if there == "councils":
        (home / there / "berths").mkdir()
        (home / there / "berths" / "council.json").write_text(json.dumps(COUNCIL))
    result = chapterhouse("convene", "berths", ASKED, "--home", home, "--no-memory")
    assert ("There is no library" in result.err) is (not there)
    if there == "councils":
        assert "There is no shelf 'alpha'" in result.err
        listed = chapterhouse("council", "list", "--home", home)
        assert (listed.code, "berths" in listed.out) == (0, True)


def test_a_real_council_with_problems_tells_all(chapterhouse: Any, home: Path) -> None:
    broken = {**COUNCIL, "tools": ["nothing"], "members": [{"persona": "eve"}, {"persona": "bob"}]}
    (home / "councils" / "berths" / "council.json").write_text(json.dumps(broken))
    result = chapterhouse("convene", "berths", ASKED, "--home", home)
    assert (result.code, result.out) == (2, "")
    for place in ("members[0].persona", "members[1].persona", "tools[0]"):
        assert place in result.err


def test_ctrl_c_ends_at_once(home: Path, tmp_path: Path) -> None:
    """A model that never answers is not waited for."""
    import socket  # noqa: PLC0415 - a service that hangs, on loopback

    with socket.create_server(("127.0.0.1", 0)) as service:
        port = service.getsockname()[1]
        (home / "chapterhouse.toml").write_text(
            f'[models.slow]\nengine = "openai"\nmodel = "slow"\n'
            f'base_url = "http://127.0.0.1:{port}/v1"\n'
        )
        command = [sys.executable, "-m", "chapterhouse", "convene", "berths", ASKED]
        options = ["--model", "slow", "--home", str(home), "--no-memory"]
        started = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        service.settimeout(60)
        connection, _ = service.accept()
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=30)
        connection.close()
    assert (started.returncode, out) == (130, b""), err
    assert b"goes on where it stopped" in err
