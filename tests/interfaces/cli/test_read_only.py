import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chapterhouse import Library

READ_ONLY = "mount --bind {home} {home} && mount -o remount,ro,bind {home}"
FULL = (
    "mv {home} {home}.old && mkdir {home} && mount -t tmpfs -o size=8m tmpfs {home}"
    " && cp -a {home}.old/. {home} && {{ dd if=/dev/zero of={home}/fill bs=4k 2>/dev/null || :; }}"
)


def _apart(script: str) -> list[str]:
    """Return a command that sees what the script mounts; nobody else does."""
    root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *root, "--mount", "sh", "-c", script]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tried = f"mount --bind {tmp_path} {tmp_path}"
    if not shutil.which("unshare") or subprocess.run(_apart(tried), check=False).returncode:
        pytest.skip("nothing can be mounted here")
    home = tmp_path / "home"
    with Library.open(home) as library:
        library.documents.add_text("# Prices\n\nThe fish costs 4 euros.\n")
        library.personas.create("maria")
        (home / "personas" / "maria" / "RAG" / "fog.md").write_text("# Fog\n\nFog comes at dawn.\n")
        library.answers.ask("How much is the fish?", persona="maria")
    return home


# One process for all commands: loading everything for each would take most of the time.
RUN = """
import contextlib, io, json, sys
from chapterhouse.interfaces.cli import main

told = []
for arguments in json.load(sys.stdin):
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    told.append((code, *(stream.buffer.getvalue().decode() for stream in (out, err))))
print(json.dumps(told))
"""
COMMANDS = (
    ("ask", "How much is the fish?"),
    ("ask", "When does fog come?", "--persona", "maria"),
    ("search", "fish"),
    ("status",),
    ("add", __file__),
    ("reindex",),
    ("docs", "remove", "prices", "--yes"),
)


@pytest.mark.parametrize("mounted", [READ_ONLY, FULL], ids=["read-only", "full"])
def test_questions_are_answered(home: Path, mounted: str) -> None:
    command = shlex.join([sys.executable, "-c", RUN])
    done = subprocess.run(
        _apart(f"{mounted.format(home=home)} && exec {command}"),
        input=json.dumps([[*arguments, "--home", str(home)] for arguments in COMMANDS]),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    asked, persona, searched, status, *refused = json.loads(done.stdout)
    code, out, err = asked
    assert (code, err) == (0, "")
    assert "4 euros" in out
    assert out.count("can only be read") == 1  # one notice, of what is not remembered
    assert "Fog comes" in persona[1]
    assert "4 euros" in searched[1]
    assert status[0] == 0
    assert len(refused) == 3
    for code, out, err in refused:
        assert (code, out) == (1, "")
        assert "can only be read" in err


def test_what_the_index_lacks_is_told(home: Path) -> None:
    shutil.rmtree(home / "workspaces" / "default" / "index")
    command = [sys.executable, "-m", "chapterhouse", "search", "fish", "--home", str(home)]
    script = f"{READ_ONLY.format(home=home)} && exec {shlex.join(command)}"
    done = subprocess.run(_apart(script), capture_output=True, text=True, check=False)
    assert done.returncode == 6, done.stderr
    assert "changes of the library are not searched yet" in done.stdout
