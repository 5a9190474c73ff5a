import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.interfaces.cli.conftest import on_a_terminal

from chapterhouse import Library
from chapterhouse.interfaces.cli.ask import explain_follow_up
from chapterhouse.library.answers import Answers
from chapterhouse.types import FollowUp, Memory

FERRY = "# Fares\n\nA ticket to Osk costs 9 euros in summer.\n\nIn winter it costs 7 euros.\n"
ASKED = "What does a ticket to Osk cost?"


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file and a home that holds it; each test has a copy of the home."""
    made = tmp_path_factory.mktemp("ferry")
    (made / "fares.md").write_text(FERRY, "utf-8")
    with Library.open(made / "home") as library:
        library.documents.add(made / "fares.md")
    return made


@pytest.fixture
def home(ferry: Path, tmp_path: Path) -> Path:
    return shutil.copytree(ferry / "home", tmp_path / "home")


def objects(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


def test_answers_are_one_object_a_line(say: Any, home: Path) -> None:
    done = say(f"{ASKED}\nand in winter?\n/foo\n/open 1\n/quit\n{ASKED}\n", "chat", "--json",
               "--home", home)  # fmt: skip
    first, second, failed, opened = objects(done.out)
    assert (first["data"]["asked"], first["data"]["completed_by"]) == (ASKED, "")
    assert second["data"]["asked"] == "and in winter?"
    assert second["data"]["completed_by"] == "rules"
    assert second["data"]["question"].startswith("and in winter? (")
    assert failed["ok"] is False
    assert opened["data"]["place"]["text"] in FERRY
    assert done.code == 0


def test_a_conversation_goes_on_and_is_saved_with_its_sources(
    say: Any, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "talk.md"
    lines = f"/save {file}\n{ASKED}\nand in winter?\n/save '{file}'\n/save {file}\n/save\n"
    done = say(lines, "chat", "--home", home)
    assert "No question is kept here" in done.err
    first, second, *_ = done.out.split("> and in winter?\n")
    assert f"> {ASKED}\n" in first
    assert ("9 euros in summer" in first, "Taken as" in first) == (True, False)
    assert "Taken as: and in winter? (" in second
    assert "7 euros" in second
    text = file.read_text("utf-8")
    assert "## What does a ticket to Osk cost?" in text
    assert "## and in winter?" in text
    assert "Taken as: and in winter?" in text
    notes = [line for line in text.splitlines() if line.startswith("[^")]
    assert [note.partition("]")[0] for note in notes] == [f"[^{n + 1}" for n in range(len(notes))]
    assert len(notes) >= 2
    file.write_text("mine", "utf-8")
    assert "would be lost" in say(f"{ASKED}\n/save {file}\n", "chat", "--home", home).err


def test_commands_within(say: Any, home: Path) -> None:
    lines = f"{ASKED}\n/sources\n/open 9\n/open x\n/persona nobody\n/persona\n/model\n/model x\n"
    done = say(f"{lines}/model none\n/forget\nand in winter?\n/forget m1\n/help\n", "chat",
               "--home", home)  # fmt: skip
    assert "verified" in done.out
    assert "There is no source 9" in done.err
    assert "'x' is no number" in done.err
    assert "There is no persona 'nobody'" in done.err
    assert "The settings have no model 'x'" in done.err
    assert "Asking the library." in done.out
    assert "Model: none" in done.out
    assert "Taken as" not in done.out
    assert "Forgot m1." in done.out
    for name in ("/sources", "/open", "/persona", "/model", "/save", "/forget", "/help", "/quit"):
        assert name in done.out.partition("> /help")[2]


def test_nothing_that_is_said_steers_the_terminal(say: Any, hostile: str) -> None:
    done = say(b"ticket\x1b[2J\xff to Osk?\nand in winter?\n/sources\n", "chat")
    assert done.code == 0
    assert "7 euros" in done.out
    assert "\x1b" not in done.out + done.err


def test_ctrl_c_ends_an_answer_and_a_signal_the_conversation(
    say: Any, home: Path, fails: Any
) -> None:
    fails(Answers, "ask", KeyboardInterrupt())
    done = say("one\n/help\n", "chat", "--home", home)
    assert (done.code, "Stopped." in done.err, "/quit" in done.out) == (0, True, True)
    fails(Answers, "ask", KeyboardInterrupt(signal.SIGTERM))
    done = say("one\n/help\n", "chat", "--home", home)
    assert (done.code, "/quit" in done.out) == (130, False)


def test_files_are_asked_alone_and_leave_nothing(
    chapterhouse: Any, ferry: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "tmp"
    own.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(own))
    (tmp_path / "mill.md").write_text("# Mill\n\nThe mill grinds 4 tonnes of rye a day.\n")
    before = sorted(path for path in home.rglob("*") if path.is_file())
    asked = ("ask", "How much rye does the mill grind?", "--file", tmp_path / "mill.md")
    done = chapterhouse(*asked, "--home", home)
    assert done.code == 0, done.err
    assert "4 tonnes of rye a day. [1]" in done.out
    assert "chapterhouse open" not in done.out
    assert "docs show" not in chapterhouse(*asked, "--sources", "--home", home).out
    assert chapterhouse(*asked, "--json", "--home", home).data["citations"][0]["verified"]
    fares = ("--file", ferry / "fares.md")
    assert "7 euros" in chapterhouse(*asked[:1], "Osk winter cost?", *asked[2:], *fares).out
    assert sorted(path for path in home.rglob("*") if path.is_file()) == before
    assert list(own.iterdir()) == []
    assert len(chapterhouse("docs", "list", "--json", "--home", home).data) == 1


def test_files_that_cannot_be_asked(chapterhouse: Any, tmp_path: Path) -> None:
    torn = tmp_path / "torn.pdf"
    torn.write_bytes(b"%PDF-1.7\n" + bytes(200))
    home = tmp_path / "nowhere"
    done = chapterhouse("ask", "What?", "--file", torn, "--home", home)
    assert done.code == 1
    assert "torn.pdf" in done.err
    assert chapterhouse("ask", "What?", "--file", tmp_path / "x.md", "--home", home).code == 3
    assert chapterhouse("ask", "What?", "--file", torn, "--continue").code == 2
    assert not home.exists()


def test_lines_are_typed_and_called_up_again(home: Path) -> None:
    history = home / "workspaces" / "default" / "chat_history"
    history.write_text(f"{ASKED}\n", "utf-8")
    code, shown = on_a_terminal(
        ("-m", "chapterhouse", "chat", "--home", home),
        (b"\n> ", b"\x1b[A\n"), (b"searched", b""), (b"\n> ", b"/help\n"), (b"\n> ", b"\x04"),
    )  # fmt: skip
    assert code == 0, shown
    assert "/help shows what else there is" in shown
    assert "9 euros" in shown
    assert history.read_text("utf-8").splitlines()[-1] == "/help"
    assert history.stat().st_mode & 0o077 == 0


def test_how_a_question_was_taken_is_told_line_by_line() -> None:
    full = "and in winter? (a ticket to Osk)"
    memory = Memory("m1", "", 1_700_000_000, 0, "How deep?", "9 m.", found=True, method="quoted")
    taken = FollowUp("and in winter?", full, method="rules", recalled=(memory,))
    assert explain_follow_up(taken) == [
        f"Taken as: {full}",
        "Reminded of m1, 2023-11-14: How deep?",
    ]
    failed = FollowUp("and in winter?", "and in winter?", warning="It is busy.")
    assert explain_follow_up(failed) == [
        "The model did not say how the question is meant: It is busy."
    ]
    assert explain_follow_up(FollowUp("How deep?", "How deep?")) == []


def test_ask_goes_on_from_the_last_question(say: Any, chapterhouse: Any, home: Path) -> None:
    refused = chapterhouse("ask", "and in winter?", "--continue", "--home", home)
    assert (refused.code, "No question is kept" in refused.err) == (3, True)
    chapterhouse("ask", ASKED, "--home", home)
    done = chapterhouse("ask", "and in winter?", "--continue", "--home", home)
    assert done.out.startswith("Taken as: and in winter? (")
    assert "7 euros" in done.out
    say("and why?\n", "chat", "--home", home)
    again = chapterhouse("ask", "in winter?", "--continue", "--json", "--home", home).data
    assert (again["asked"], again["completed_by"]) == ("in winter?", "rules")


def test_a_persona_is_spoken_to(say: Any, chapterhouse: Any, home: Path) -> None:
    chapterhouse("persona", "new", "maria", "--home", home)
    (home / "personas" / "maria" / "RAG" / "rules.md").write_text("# Rules\n\nAt most 4 knots.\n")
    done = say("How many knots at most?\n", "chat", "--persona", "maria", "--home", home)
    assert "maria> How many knots at most?" in done.out
    assert "At most 4 knots. [1]" in done.out
    assert say("", "chat", "--persona", "nobody", "--home", home).code == 3
    for limit in (("--shelf", "library"), ("--document", "rules.md")):
        refused = say("Knots?\n", "chat", "--persona", "maria", *limit, "--home", home)
        assert refused.code == 2
