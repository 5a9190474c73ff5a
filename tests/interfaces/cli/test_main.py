import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import chapterhouse as package
from chapterhouse import Library
from chapterhouse.interfaces.cli.interrupts import end_at_once, exchange, loading, working
from chapterhouse.interfaces.cli.main import ALIASES, COMMANDS, ELSEWHERE
from chapterhouse.interfaces.cli.main import command as loaded


def test_where_streams_are_closed_a_command_does_its_work(tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine.\n")
    add = [sys.executable, "-m", "chapterhouse", "add", "ferry.md", "--home", "home"]
    assert _shell(tmp_path, "exec <&- >&- 2>&-", *add) == (0, "")
    add[-3] = "nowhere.md"
    assert _shell(tmp_path, "exec 2>&-", *add) == (3, "")


def test_too_little_memory_is_said_and_no_abort(tmp_path: Path) -> None:
    status = [sys.executable, "-m", "chapterhouse", "status", "--home", "home"]
    code, said = _shell(tmp_path, "ulimit -v 900000", *status)
    assert (code, "ulimit -v unlimited" in said) == (5, True)


def _shell(folder: Path, limit: str, *command: str) -> tuple[int, str]:
    """Run a command under a limit; return its exit code and its standard error."""
    line = ["sh", "-c", f'{limit}; exec "$@"', "sh", *command]
    environment = {**os.environ, "CHAPTERHOUSE_BACKGROUND": "0"}
    done = subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_an_option_before_the_command_is_told_where_to_stand(chapterhouse: Any) -> None:
    shown = chapterhouse("--version")
    assert (shown.code, shown.out) == (0, f"chapterhouse {package.__version__}\n")
    result = chapterhouse("--home", "x", "status")
    assert result.code == 2
    assert "after the command" in result.err
    assert "after the command" not in chapterhouse("status", "--hom").err


def test_alone_it_says_what_to_do_next(chapterhouse: Any, tmp_path: Path) -> None:
    (tmp_path / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine.\n")
    before = chapterhouse()
    assert (before.code, "no documents yet" in before.out) == (0, True)
    assert "chapterhouse ask" not in before.out
    assert chapterhouse("add", str(tmp_path / "ferry.md")).code == 0
    assert "holds 1 document. Next:\n  chapterhouse ask" in chapterhouse().out


def test_words_of_other_systems_lead_to_those_of_today(chapterhouse: Any) -> None:
    chapterhouse("init")
    for word, today in ALIASES.items():
        shown = chapterhouse(word, "--help")
        assert shown.code == 0
        assert f"{word} is called {today} here" in shown.err
    assert chapterhouse("expert", "list").out == chapterhouse("persona", "list").out


def test_usage_errors(chapterhouse: Any) -> None:
    for arguments in (
        ("sreach", "x"),
        ("search",),
        ("search", "x", "--limit", "0"),
        ("ask", "x", "--words", "none"),
        ("docs", "remove"),
        ("docs", "show", "x", "--text", "--span", "1:2"),
        ("docs", "list", "--files", "--shelf", "x"),
    ):
        result = chapterhouse(*arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("chapterhouse: ")
        as_json = chapterhouse(*arguments, "--json")
        assert (as_json.code, as_json.err, as_json.envelope["ok"]) == (2, "", False)
        assert as_json.envelope["error"]["type"] == "UsageError"


def test_a_command_of_another_system_says_what_does_the_same(chapterhouse: Any) -> None:
    for name, hint in ELSEWHERE.items():
        result = chapterhouse(*name.split(), "x")
        assert (result.code, hint in result.err) == (2, True), name
        named = hint.partition("chapterhouse ")[2].split()
        assert "--help" in chapterhouse(*named[:2], "--help").out
        as_json = chapterhouse(*name.split(), "--json").envelope
        assert as_json["error"]["hint"] == hint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize(
    "arguments", [("--version",), ("init", "--home", "home"), ("sreach", "--json")], ids=" ".join
)
def test_a_full_output_is_told_in_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-m", "chapterhouse", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            check=False,
        )
    told = "chapterhouse: The output could not be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (1, told)


def modules_of(*commands: Sequence[str]) -> list[set[str]]:
    script = (
        "import sys\n"
        "from chapterhouse.interfaces.cli import main\n"
        f"for given in {[list(command) for command in commands]}:\n"
        "    main(given)\n"
        "    print('MODULES', *sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    return [set(line.split()[1:]) for line in lines if line.startswith("MODULES ")]


def test_help_loads_nothing_heavy() -> None:
    heavy = {"rich", "numpy", "apsw", "tantivy", "tokenizers", "asyncio", "httpx2"}
    packages = ("library", "models", "evaluation", "council", "answering", "claims", "reading")
    forbidden = heavy | {f"chapterhouse.{name}" for name in packages}
    commands = sorted(COMMANDS)
    found = modules_of(*([command, "--help"] for command in commands))
    loaded_by = dict(zip(commands, found, strict=True))
    assert {
        name: loaded & forbidden for name, loaded in loaded_by.items() if loaded & forbidden
    } == {}


def test_a_search_loads_nothing_that_answers_reads_or_meets(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path))
    *_, found = modules_of(["init", *home], ["search", "tide", *home], ["docs", "list", *home])
    assert "chapterhouse.retrieval.pipeline" in found
    others = ("agents", "claims", "connectors.fetched", "council", "evaluation", "reading.detect")
    assert not [name for name in others if f"chapterhouse.{name}" in found]
    assert not found & {"asyncio", "httpx2", "pydantic_ai", "pydantic_settings"}


def test_ctrl_c_while_the_program_loads_shows_no_traceback() -> None:
    program = """
import os, signal, sys

class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Impatient())
from chapterhouse.interfaces.cli import main
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_the_help_says_of_a_command_what_the_command_says_of_itself() -> None:
    for name, (_, line) in COMMANDS.items():
        assert loaded(name).help.splitlines()[0] == line


STEP = 40 if "CHAPTERHOUSE_LARGE" in os.environ else 300  # milliseconds


@pytest.mark.large
@pytest.mark.parametrize("arguments", [("ask", "When", "does", "it", "rain?"), ("--help",)])
def test_ctrl_c_ends_without_a_traceback(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Library.open(tmp_path / "home") as library:
        library.documents.add_text("It rains in the morning.")
    command = [sys.executable, "-m", "chapterhouse", *arguments]
    codes = set[int]()
    for delay in range(0, 600, STEP):
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as process:
            time.sleep(delay / 1_000)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate()
        if b"Traceback" in told:  # Python itself was still starting: nothing of ours was loaded
            ours = set(re.findall(rb'File "[^"]*/chapterhouse/(?:[^"]*/)?([^"/]+)"', told))
            assert ours <= {b"__main__.py", b"__init__.py", b"interrupts.py"}, told
        else:
            codes.add(process.returncode)
    # What was over before, and what died before there was any Python.
    assert codes <= {0, 6, 130, -signal.SIGINT}


def test_while_a_command_works_ctrl_c_is_an_exception() -> None:
    default = signal.default_int_handler
    before = signal.signal(signal.SIGINT, default)
    try:
        with loading():
            assert signal.getsignal(signal.SIGINT) is end_at_once
            with working():
                assert signal.getsignal(signal.SIGINT) is default
            assert signal.getsignal(signal.SIGINT) is end_at_once
        assert signal.getsignal(signal.SIGINT) is default
        assert not exchange(end_at_once, default)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_file_that_begins_with_a_hyphen_is_recognised(
    chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-dash.txt").write_text("A note.")
    result = chapterhouse("add", "-dash.txt")
    assert result.code == 2
    assert "./-dash.txt" in result.err
    assert "./" not in chapterhouse("add", "-other.txt").err
