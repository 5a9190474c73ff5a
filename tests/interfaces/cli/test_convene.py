"""The command convene: what it is asked, prints and writes, and how it is followed."""

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from chapterhouse import Library
from chapterhouse.answering.bundle import read_bundle, read_held
from chapterhouse.council.minutes.bundle import MINUTES
from chapterhouse.council.minutes.contents import find_agreement
from chapterhouse.errors import RefusedError
from chapterhouse.interfaces.cli.convene import show_minutes
from chapterhouse.library.councils import LibraryCouncils
from chapterhouse.types import (
    Absence,
    CouncilEvent,
    MeetingEvent,
    MeetingEventKind,
    MemberTurn,
    Minutes,
    ParticipantRecord,
    Point,
    Reply,
    Stance,
    Statement,
    TableCell,
    TableRow,
)

QUESTION = "What shall a berth cost?"
Kind = MeetingEventKind


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to write to, beside the home of the council of berths."""
    made = tmp_path / "written"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def add_silent_model(home: Path) -> None:
    """Name a model, "down", whose address nobody answers at."""
    address = 'engine = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\nattempts = 1\n'
    with (home / "chapterhouse.toml").open("a") as settings:
        settings.write(f"[models.down]\n{address}")


def meetings(home: Path) -> dict[str, bytes]:
    """Return the transcripts of the council."""
    folder = home / "councils" / "berths" / "meetings"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# --- what is asked -----------------------------------------------------------------------------


def test_a_meeting_is_held_as_the_options_say(chapterhouse: Any, home: Path, folder: Path) -> None:
    def memories() -> int:
        return len(chapterhouse("memory", "list", "--json").data)

    before = memories()
    asked = ("convene", "berths", "What does a guest pay for a berth?")
    assert (chapterhouse(*asked, "--no-memory").code, memories()) == (0, before)
    held = meetings(home)
    assert chapterhouse(*asked, "--model", "none", "--fresh").code == 0
    assert (len(meetings(home)), memories()) == (len(held) + 1, before)  # nobody held anything
    said = chapterhouse("convene", "berths", QUESTION, "--transcript", "said.ndjson")
    assert said.code == 0
    assert [path.name for path in folder.iterdir()] == ["said.ndjson"]


def test_what_makes_no_sense_is_refused_before_anyone_speaks(
    chapterhouse: Any, home: Path, folder: Path
) -> None:
    before = meetings(home)
    for options in (
        ("--markdown", "--json"),
        ("--markdown", "--html"),
        ("--dry-run", "--output", "x.md"),
        ("--dry-run", "--html"),
        ("--output", "x.docx"),
        ("--output", "x"),
        ("--output", ""),
        ("--transcript", ""),
        ("--output", "no/such/x.md"),
        ("--output", "x.json", "--bundle", "./x.json"),
        ("--bundle", "-"),
    ):
        result = chapterhouse("convene", "berths", "What else?", *options)
        assert (result.code, meetings(home)) == (2, before), options
    assert not list(folder.iterdir())


def test_a_dry_run_shows_what_everybody_would_be_told(chapterhouse: Any, home: Path) -> None:
    before = meetings(home)
    result = chapterhouse("convene", "berths", "What else?", "--dry-run")
    assert result.code == 0
    for told in ("independent_analysis: maria", "grounding inject", "Be brief."):
        assert told in result.out
    assert "3 turns planned; no model was asked." in result.out
    data = chapterhouse("convene", "berths", "What else?", "--dry-run", "--json").data
    assert {turn["member"] for turn in data["turns"]} == {"maria", "tom", "chair"}
    assert all("What else?" in turn["prompt"] for turn in data["turns"])
    assert data["dry_run"] is True
    assert meetings(home) == before


# --- what is printed ---------------------------------------------------------------------------


def test_minutes_are_told_in_every_form(
    chapterhouse: Any, harbour: Path, home: Path, hostile: str
) -> None:
    text = chapterhouse("convene", "berths", QUESTION, "--full")
    assert text.out.index("What each member's documents say") < text.out.index("docs show tariffs-")
    assert "Where members agree" not in text.out  # nobody argues without a model
    markdown = chapterhouse("convene", "berths", QUESTION, "--markdown")
    cell = "A berth costs 80 euros a metre. Guests pay less \\[bold\\]here\\[/bold\\].[^1]"
    assert f"| **What shall a berth cost?** | {cell} | {cell} |" in markdown.out
    page = chapterhouse("convene", "berths", QUESTION, "--html")
    assert page.out.startswith("<!DOCTYPE html>\n")
    for result in (text, markdown, page):
        assert result.code == 0
        assert not set(result.out) & set("\x1b\x07\u202e")
    printed = chapterhouse("convene", "berths", QUESTION, "--json")
    before = read_held((harbour / "MINUTES").read_bytes(), MINUTES)
    assert read_held(printed.out, MINUTES).turns == before.turns
    assert printed.err == ""


def test_a_member_who_was_absent_ends_with_4(chapterhouse: Any, home: Path) -> None:
    council = home / "councils" / "berths" / "council.json"
    asked = json.loads(council.read_text())
    add_silent_model(home)
    asked["members"][1]["model"] = "down"
    council.write_text(json.dumps(asked))
    above = home / "councils" / "above"
    above.mkdir()
    members = [{"persona": "maria"}, {"council": "berths"}]
    above.joinpath("council.json").write_text(
        json.dumps({**asked, "slug": "above", "members": members, "folders": []})
    )
    result = chapterhouse("convene", "berths", QUESTION)
    assert result.code == 4
    assert "Tom, Independent analysis: " in result.out
    assert chapterhouse("convene", "berths", QUESTION, "--json").code == 4
    assert chapterhouse("convene", "above", QUESTION).code == 4  # in the council within


def test_all_problems_of_a_council_are_told(chapterhouse: Any, home: Path) -> None:
    council = home / "councils" / "berths" / "council.json"
    broken = {**json.loads(council.read_text()), "tools": ["nothing"]}
    broken["members"] = [{"persona": "eve"}, {"persona": "bob"}]
    council.write_text(json.dumps(broken))
    for options in ((), ("--dry-run",)):
        result = chapterhouse("convene", "berths", QUESTION, *options)
        assert (result.code, result.out) == (2, "")
        for place in ("members[0].persona", "members[1].persona", "tools[0]"):
            assert f"{place}  (unknown)" in result.err
        assert "chapterhouse: The council cannot meet." in result.err
    error = chapterhouse("convene", "berths", QUESTION, "--json").envelope["error"]
    assert error["type"] == "UsageError"
    assert "tools[0]: There is no tool 'nothing'" in error["message"]


@pytest.mark.parametrize("fresh", [False, True])
def test_an_interrupted_meeting_says_how_to_go_on(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch, *, fresh: bool
) -> None:
    convene = LibraryCouncils.convene

    def interrupted(
        self: LibraryCouncils, *asked: Any, on_event: Callable[[CouncilEvent], None], **options: Any
    ) -> Minutes:
        def follow(event: CouncilEvent) -> None:
            on_event(event)
            if isinstance(event, MeetingEvent) and event.kind is Kind.ROUND_ENDED:
                raise KeyboardInterrupt

        return convene(self, *asked, on_event=follow, **options)

    monkeypatch.setattr(LibraryCouncils, "convene", interrupted)
    add_silent_model(home)
    options = ("--model", "down", *(("--fresh",) if fresh else ()))
    result = chapterhouse("convene", "berths", QUESTION, *options)
    assert (result.code, result.out) == (130, "")
    assert "Stopped in round 1, independent_analysis, after 0 turns." in result.err
    assert "goes on where it stopped" in result.err
    assert ("without --fresh" in result.err) == fresh


# --- files -------------------------------------------------------------------------------------


def test_every_file_is_written(chapterhouse: Any, folder: Path) -> None:
    def write() -> dict[str, bytes]:
        for name in ("minutes.md", "minutes.HTML", "minutes.json"):
            options = ("--output", name, "--bundle", "b.json")
            assert chapterhouse("convene", "berths", QUESTION, *options).code == 0
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    written = write()
    markdown = written["minutes.md"].decode()
    assert markdown.startswith("# ")
    assert markdown.splitlines()[-1].startswith("<!-- written by Chapterhouse, SHA-256 ")
    assert written["minutes.HTML"].startswith(b"<!DOCTYPE html>")
    minutes = read_held(written["minutes.json"], MINUTES)
    assert minutes.question == QUESTION
    assert read_bundle(written["b.json"], MINUTES).held == minutes
    assert write() == written  # what is ours is replaced


def test_no_file_of_something_else_is_lost(chapterhouse: Any, home: Path, folder: Path) -> None:
    before = meetings(home)
    for content in ("", "# Mine\n", '{"mine": 1}\n'):
        for option, name in (
            ("--output", "mine.md"),
            ("--output", "mine.html"),
            ("--output", "mine.json"),
            ("--bundle", "mine.json"),
        ):
            (folder / name).write_text(content)
            result = chapterhouse("convene", "berths", "What else?", option, name)
            assert (result.code, meetings(home)) == (5, before)
            assert (folder / name).read_text() == content


@pytest.mark.parametrize("name", ["minutes.md", "minutes.json"])
def test_what_somebody_edited_is_theirs(chapterhouse: Any, folder: Path, name: str) -> None:
    assert chapterhouse("convene", "berths", QUESTION, "--output", name).code == 0
    edited = (folder / name).read_text("utf-8").replace("80 euros", "90 euros", 1) + " "
    (folder / name).write_text(edited, "utf-8")
    assert chapterhouse("convene", "berths", QUESTION, "--output", name).code == 5
    assert (folder / name).read_text("utf-8") == edited


def test_a_failed_meeting_writes_nothing(chapterhouse: Any, folder: Path, fails: Any) -> None:
    fails(LibraryCouncils, "convene", RefusedError("No."))
    options = ("--output", "x.md", "--bundle", "z.json")
    assert chapterhouse("convene", "berths", QUESTION, *options).code == 5
    assert not list(folder.iterdir())


# --- bundles -----------------------------------------------------------------------------------


def test_a_bundle_of_an_answer_may_be_replaced_by_one_of_minutes(
    chapterhouse: Any, harbour: Path, folder: Path
) -> None:
    for name in ("BUNDLE", "MINUTES-BUNDLE"):
        shutil.copy(harbour / name, folder)
    assert chapterhouse("convene", "berths", QUESTION, "--bundle", "BUNDLE").code == 0
    asked = chapterhouse("ask", "What does a berth cost?", "--bundle", "MINUTES-BUNDLE")
    assert asked.code == 0


# --- members who disagree ----------------------------------------------------------------------

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
def divided(tmp_path: Path) -> Path:
    """A home with two members who have read lists of different years."""
    home = tmp_path / "divided"
    with Library.open(home) as library:
        for shelf, text in TARIFFS.items():
            library.documents.add_text(text, shelf=shelf)
    (home / "councils" / "berths").mkdir(parents=True)
    (home / "councils" / "berths" / "council.json").write_text(json.dumps(COUNCIL))
    return home


def test_members_disagree_and_their_minutes_are_verified(
    chapterhouse: Any, divided: Path, folder: Path
) -> None:
    options = ("--home", divided, "--no-memory", "--fresh", "--bundle", "b.json")
    first = chapterhouse("convene", "berths", ASKED, *options, "--json")
    assert first.code == 0, first
    bytes_of_first = (folder / "b.json").read_bytes()
    again = chapterhouse("convene", "berths", ASKED, *options, "--json")
    assert again.data == first.data
    assert (folder / "b.json").read_bytes() == bytes_of_first
    (row,) = first.data["table"]
    cells = [(cell["member"], cell["citations"]) for cell in row["cells"]]
    assert cells == [("maria", [1]), ("tom", [2])]
    assert ["60 euros" in row["cells"][0]["text"], "80 euros" in row["cells"][1]["text"]] == [
        True,
        True,
    ]
    assert (first.data["agreement"], first.data["decision"]) == ([], [])
    told = chapterhouse("verify", "b.json", "--home", divided)
    assert told.code == 0, told
    assert told.out.count("ok  ") == 6
    assert chapterhouse("verify", "b.json", "--alone").code == 0
    (folder / "printed.json").write_text(first.out, "utf-8")
    assert chapterhouse("verify", "printed.json", "--home", divided).code == 0
    (cited,) = chapterhouse("docs", "list", "--shelf", "beta", "--home", divided, "--json").data
    assert chapterhouse("docs", "remove", cited["id"], "--yes", "--home", divided).code == 0
    assert chapterhouse("verify", "b.json", "--home", divided).code == 4


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


def test_ctrl_c_ends_at_once(divided: Path) -> None:
    """A model that never answers is not waited for."""
    import socket  # noqa: PLC0415 - a service that hangs, on loopback

    with socket.create_server(("127.0.0.1", 0)) as service:
        port = service.getsockname()[1]
        (divided / "chapterhouse.toml").write_text(
            f'[models.slow]\nengine = "openai"\nmodel = "slow"\n'
            f'base_url = "http://127.0.0.1:{port}/v1"\nattempts = 1\n'
        )
        command = [sys.executable, "-m", "chapterhouse", "convene", "berths", ASKED]
        options = ["--model", "slow", "--home", str(divided), "--no-memory"]
        started = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        service.settimeout(60)
        service.accept()[0].close()  # what asks for its pace
        connection, _ = service.accept()
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=30)
        connection.close()
    assert (started.returncode, out) == (130, b""), err
    assert b"goes on where it stopped" in err


ROUND = "independent_analysis"


def crowded(minutes: Minutes, members: int) -> Minutes:
    """Return minutes of many members with long names, who all stand by one long statement."""
    seats = tuple(
        ParticipantRecord(f"m{n}", f"Membership number {n} 会员", "role", model="modest")
        for n in range(members)
    )
    keys = tuple(seat.key for seat in seats)
    long = Statement("s1", "m0", ROUND, "北" * 200 + "w" * 300, "z" * 200, "x" * 200, (1,))
    replies = tuple(Reply(key, ROUND, "s1", Stance.STAND, "y", (1,)) for key in keys[1:])
    turns = (
        MemberTurn("m0", ROUND, (long,)),
        *(MemberTurn(one.member, ROUND, replies=(one,)) for one in replies),
    )
    return replace(
        minutes,
        members=seats,
        rounds=(ROUND,),
        turns=turns,
        table=(),
        agreement=find_agreement(turns, keys),
        absences=(Absence("m0", ROUND, "y" * 200),),
    )


@pytest.mark.parametrize("members", [1, 30])
def test_minutes_fit_any_terminal(
    harbour: Path, capsys: pytest.CaptureFixture[str], members: int
) -> None:
    held = read_held((harbour / "MINUTES").read_bytes(), MINUTES)
    debate = crowded(held, members)
    cells = tuple(TableCell(f"m{n}", "北" * 200 + "w" * 300, (1,)) for n in range(members))
    read = replace(held, members=debate.members, table=(TableRow("x" * 200, cells),))
    for minutes, sign in ((debate, "✓"), (read, "会员")):
        for width, full in product((24, 60, 200), (True, False)):
            target = Console(
                width=width, force_terminal=True, markup=False, highlight=False, emoji=False
            )
            show_minutes(target, minutes, full=full)
            lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
            assert max(map(cell_len, lines)) <= width
            assert "".join(lines).count(sign) >= (members if full or sign == "会员" else 0)


def test_the_first_screen_of_a_debate_holds_what_came_of_it(
    harbour: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = crowded(read_held((harbour / "MINUTES").read_bytes(), MINUTES), 2)
    many = tuple(Point(f"Ground number {n}.", (1,)) for n in range(30))
    target = Console(width=80)
    shown = {}
    for full in (False, True):
        show_minutes(target, replace(held, grounds=many), full=full)
        shown[full] = capsys.readouterr().out
    assert shown[False].count("Ground number") == 4
    assert "and 26 more: --full" in shown[False]
    assert "What was said" not in shown[False]
    assert shown[True].count("Ground number") == 30
    assert "What was said" in shown[True]
