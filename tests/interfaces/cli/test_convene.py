import json
import re
import signal
import socket
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

from chapterhouse.answering.bundle import read_bundle, read_held
from chapterhouse.council.minutes.bundle import MINUTES
from chapterhouse.council.minutes.contents import find_agreement
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
    made = tmp_path / "written"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def add_silent_model(home: Path, port: int = 9) -> None:
    address = f'engine = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:{port}"\n'
    with (home / "chapterhouse.toml").open("a") as settings:
        settings.write(f"[models.down]\n{address}attempts = 1\n")


def meetings(home: Path) -> dict[str, bytes]:
    folder = home / "councils" / "berths" / "meetings"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_meeting_is_held_as_the_options_say(chapterhouse: Any, home: Path, folder: Path) -> None:
    def memories() -> int:
        return len(chapterhouse("memory", "list", "--json").data)

    before = memories()
    asked = ("convene", "berths", "What does a guest pay for a berth?")
    assert (chapterhouse(*asked, "--no-memory").code, memories()) == (0, before)
    held = meetings(home)
    assert chapterhouse(*asked, "--model", "none", "--fresh").code == 0
    assert (len(meetings(home)), memories()) == (len(held) + 1, before + 1)  # the minutes
    said = chapterhouse("convene", "berths", QUESTION, "--transcript", "said.ndjson")
    assert said.code == 0
    assert [path.name for path in folder.iterdir()] == ["said.ndjson"]


def test_what_makes_no_sense_is_refused_before_anyone_speaks(
    chapterhouse: Any, home: Path, folder: Path
) -> None:
    before = meetings(home)
    for options in (
        ("--markdown", "--json"),
        ("--dry-run", "--output", "x.md"),
        ("--dry-run", "--markdown"),
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


def test_minutes_are_told_in_every_form(
    chapterhouse: Any, harbour: Path, home: Path, hostile: str
) -> None:
    text = chapterhouse("convene", "berths", QUESTION, "--full")
    assert text.out.index("What each member's documents say") < text.out.index("docs show tariffs-")
    assert "Where members agree" not in text.out  # nobody argues without a model
    markdown = chapterhouse("convene", "berths", QUESTION, "--markdown")
    cell = "A berth costs 80 euros a metre. Guests pay less \\[bold\\]here\\[/bold\\].[^1]"
    assert f"| **What shall a berth cost?** | {cell} | {cell} |" in markdown.out
    for result in (text, markdown):
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


def test_an_interrupted_meeting_says_how_to_go_on(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
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
    result = chapterhouse("convene", "berths", QUESTION, "--model", "down", "--fresh")
    assert (result.code, result.out) == (130, "")
    assert "Stopped in round 1, independent_analysis, after 0 turns." in result.err
    assert "goes on where it stopped" in result.err
    assert "without --fresh" in result.err


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
    assert write() == written  # what is ours is replaced, and not what somebody edited
    for name in ("minutes.md", "minutes.json"):
        edited = (folder / name).read_text("utf-8").replace("80 euros", "90 euros", 1) + " "
        (folder / name).write_text(edited, "utf-8")
        assert chapterhouse("convene", "berths", QUESTION, "--output", name).code == 5
        assert (folder / name).read_text("utf-8") == edited


def test_no_file_of_something_else_is_lost(chapterhouse: Any, home: Path, folder: Path) -> None:
    before = meetings(home)
    for content in ("", "# Mine\n", '{"mine": 1}\n'):
        for option in ("--output=mine.md", "--output=mine.html", "--bundle=mine.json"):
            path = folder / option.partition("=")[2]
            path.write_text(content)
            result = chapterhouse("convene", "berths", "What else?", option)
            assert (result.code, meetings(home)) == (5, before)
            assert path.read_text() == content


def test_a_council_meets_in_a_home_that_has_no_library_yet(
    chapterhouse: Any, tmp_path: Path
) -> None:
    asked = ("convene", "berths", QUESTION, "--no-memory", "--home")
    assert "There is no library" in chapterhouse(*asked, tmp_path).err
    council = tmp_path / "councils" / "berths"
    council.mkdir(parents=True)
    member = {"name": "Tom", "instructions": "Be brief.", "shelves": ["alpha"]}
    rounds = {"rounds": ["synthesis"], "chair": {"name": "Chair"}}
    written = {"slug": "berths", "members": [member], **rounds}
    (council / "council.json").write_text(json.dumps(written))
    assert "There is no shelf 'alpha'" in chapterhouse(*asked, tmp_path).err
    listed = chapterhouse("council", "list", "--home", tmp_path)
    assert (listed.code, "berths" in listed.out) == (0, True)


def test_ctrl_c_ends_at_once(home: Path) -> None:
    """A model that never answers is not waited for."""
    with socket.create_server(("127.0.0.1", 0)) as service:
        add_silent_model(home, service.getsockname()[1])
        command = [sys.executable, "-m", "chapterhouse", "convene", "berths", QUESTION]
        started = subprocess.Popen(
            [*command, "--model", "down", "--no-memory"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
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
