"""A library on a disk that takes nothing is asked all the same, and says what it could not do."""

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
        library.add_text("# Prices\n\nThe fish costs 4 euros.\n")
        library.personas.create("maria")
        (home / "personas" / "maria" / "RAG" / "fog.md").write_text("# Fog\n\nFog comes at dawn.\n")
        library.ask("How much is the fish?", persona="maria")
    return home


@pytest.mark.parametrize("mounted", [READ_ONLY, FULL], ids=["read-only", "full"])
def test_questions_are_answered(home: Path, mounted: str) -> None:
    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "chapterhouse", *arguments, "--home", str(home)]
        script = f"{mounted.format(home=home)} && exec {shlex.join(command)}"
        done = subprocess.run(_apart(script), capture_output=True, text=True, check=False)
        if (home.parent / "home.old").exists():  # the mount went with the process
            shutil.rmtree(home)
            (home.parent / "home.old").rename(home)
        return done

    asked = run("ask", "How much is the fish?")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "4 euros" in asked.stdout
    assert asked.stdout.count("can only be read") == 1  # one notice, of what is not remembered
    assert "Fog comes" in run("ask", "When does fog come?", "--persona", "maria").stdout
    assert "4 euros" in run("search", "fish").stdout
    assert run("status").returncode == 0
    for command in (f"add {__file__}", "reindex", "docs remove prices --yes"):
        refused = run(*command.split())
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "can only be read" in refused.stderr


def test_what_the_index_lacks_is_told(home: Path) -> None:
    shutil.rmtree(home / "workspaces" / "default" / "index")
    command = [sys.executable, "-m", "chapterhouse", "search", "fish", "--home", str(home)]
    script = f"{READ_ONLY.format(home=home)} && exec {shlex.join(command)}"
    done = subprocess.run(_apart(script), capture_output=True, text=True, check=False)
    assert done.returncode == 6, done.stderr
    assert "changes of the library are not searched yet" in done.stdout
