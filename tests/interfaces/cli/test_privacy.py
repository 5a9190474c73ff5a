import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

QUESTION = "When does the ferry leave Varnholm?"
RUN = """
import io, json, os, sys
from chapterhouse.interfaces.cli import main

os.umask(0)  # takes nothing away
for arguments, typed in json.load(sys.stdin):
    sys.stdin = io.TextIOWrapper(io.BytesIO(typed.encode()))
    code = main(arguments)
    if code not in {0, 4, 6}:
        sys.exit(f"{arguments} ended with {code}")
"""


def _commands(home: Path, out: Path, folder: Path) -> list[tuple[list[str], str]]:
    answer = str(out / "answer.json")
    told: list[tuple[list[str], str]] = [
        (["init"], ""),
        (["add", str(folder)], ""),
        (["add", "-", "--title", "A note"], "The ferry does not run in storms."),
        (["search", "ferry"], ""),
        (["ask", QUESTION, "--bundle", answer], ""),
        (["more"], ""),
        (["chat"], f"{QUESTION}\n/save {out / 'chat.md'}\n"),
        (["feedback", "good", "--question", QUESTION], ""),
        (["eval"], ""),
        (["persona", "new", "mia", "--name", "Mia"], ""),
        (["persona", "new", "noa", "--name", "Noa"], ""),
        (["persona", "update", "mia", "--file", str(folder / "a.md"), "--yes"], ""),
        (["persona", "update", "noa", "--file", str(folder / "b.md"), "--yes"], ""),
        (["ask", QUESTION, "--persona", "mia"], ""),
        (["council", "new", "board", "--member", "mia", "--member", "noa"], ""),
        (["source", "add", str(folder), "--council", "board"], ""),
        (["model", "embed"], ""),
        (["docs", "reprocess"], ""),
        (["docs", "remove", "a-note", "--yes"], ""),
        (["reindex"], ""),
    ]
    places = [["--output", str(out / f"minutes.{suffix}")] for suffix in ("md", "html", "json")]
    places[0] += ["--bundle", str(out / "bundle.json")]
    places[1] += ["--fresh", "--transcript", str(out / "new" / "said.jsonl")]
    told += [(["convene", "board", QUESTION, *place], "") for place in places]
    return [([*arguments, "--home", str(home)], typed) for arguments, typed in told]


def _open_to_others(folder: Path) -> list[str]:
    paths = [folder, *folder.rglob("*")]
    return [f"{path} {path.stat().st_mode:o}" for path in paths if path.stat().st_mode & 0o077]


def test_what_commands_write_is_their_owners_alone(tmp_path: Path) -> None:
    home, out, folder = tmp_path / "deep" / "home", tmp_path / "out", tmp_path / "folder"
    for made in (out, folder):
        made.mkdir(mode=0o700)
    (folder / "a.md").write_text("# Timetable\n\nThe ferry leaves Varnholm at 7:10.\n")
    rules = [f"Rule {number}: bicycles travel on deck {number} alone." for number in range(100)]
    (folder / "b.md").write_text("# Rules\n\n" + "\n\n".join(rules))
    padding = "<!--" + "x" * 2**17 + "-->"  # large enough for a blob
    (folder / "c.html").write_text(f"<h1>Fees</h1>{padding}<p>A berth costs 80 euros.</p>")
    for path in folder.iterdir():
        path.chmod(0o600)
    typed = json.dumps(_commands(home, out, folder))
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=typed, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    assert (home / "workspaces" / "default" / "blobs").is_dir()  # there was a blob to write
    assert _open_to_others(home.parent) == []
    assert _open_to_others(out) == []
    assert len(list(out.iterdir())) == 7


def test_the_doctor_says_what_others_can_read_and_what_to_do(
    tmp_path: Path, chapterhouse: Any
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)  # of which others see names alone
    assert chapterhouse("init", "--home", home).code == 0
    assert chapterhouse("doctor", "--home", home).code == 0
    home.chmod(0o775)  # whose files others could exchange
    assert chapterhouse("doctor", "--home", home).code == 1
    home.chmod(0o755)
    (home / "chapterhouse.toml").touch()
    (home / "chapterhouse.toml").chmod(0o644)
    looked = chapterhouse("doctor", "--home", home)
    assert looked.code == 1
    assert f"look into {home / 'chapterhouse.toml'}" in looked.out
    assert f"Run: chmod -R go= {home}" in looked.out
    subprocess.run(["chmod", "-R", "go=", home], check=True)
    assert _open_to_others(home) == []
    assert chapterhouse("doctor", "--home", home).code == 0
