"""The commands about councils."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from chapterhouse.facets.councils import CouncilFacet


def test_a_new_user_is_told_what_to_do_next(chapterhouse: Any, tmp_path: Path) -> None:
    home = tmp_path / "my home"
    result = chapterhouse("council", "new", "berths", "--name", "The Berths", "--home", home)
    assert result.code == 0
    assert result.out.startswith(f"Made The Berths in {home}/councils/berths\nNext:\n")
    assert f"{home}/councils/berths/council.json\n" in result.out
    for step in ("docs link berths PATH", "validate berths"):
        assert f"chapterhouse council {step} --home '{home}'\n" in result.out
    assert "error" not in result.out
    again = chapterhouse("council", "new", "berths", "--home", home)
    assert (again.code, "already" in again.err) == (5, True)
    data = chapterhouse("council", "show", "berths", "--home", home, "--json").data
    assert (data["display_name"], data["shelf"]) == ("The Berths", "council_berths")
    assert data["config"] == json.loads((home / "councils/berths/council.json").read_text())
    assert [member["kind"] for member in data["members"]] == ["role", "role"]
    assert data["rounds"][1] == {
        "name": "cross_examination",
        "kind": "cross_examination",
        "shows_claims": True,
    }


def test_the_whole_way(chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, papers = tmp_path / "own", tmp_path / "papers"
    papers.mkdir()
    (papers / "tariffs.md").write_text("# Tariffs\n\nA berth costs 80 euros a metre.\n")
    monkeypatch.chdir(tmp_path)

    def council(*arguments: object) -> Any:
        return chapterhouse("council", *arguments, "--home", home)

    assert council("list").code == 3  # there is no library yet
    assert chapterhouse("persona", "new", "maria", "--home", home).code == 0
    assert "No councils" in council("list").out
    made = council("new", "berths", "--member", "mar", "--folder", "papers", "--json").data
    assert made["config"]["members"] == [{"persona": "maria"}]
    assert made["config"]["folders"] == [str(papers)]
    assert made["problems"]["counts"] == {"error": 0, "warning": 0}
    assert "new   " in council("docs", "list", "berths").out
    linked = council("docs", "link", "ber", "papers")
    assert (linked.code, linked.err) == (0, "")
    assert linked.out == f"{papers} is linked to Berths already.\n1 file: 1 ready\n"
    assert "indexed   papers/tariffs.md" in council("docs", "list", "berths").out
    assert "1, 1 chunk\n" in council("show", "berths").out
    found = chapterhouse("search", "berth", "--shelf", "council_berths", "--home", home, "--json")
    assert len(found.data["hits"]) == 1
    (papers / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    assert council("docs", "link", "berths", papers).code == 4
    assert council("docs", "unlink", "berths", "papers").code == 10
    assert council("docs", "unlink", "berths", "./own", "--dry-run").code == 3
    planned = council("docs", "unlink", "berths", "./papers", "--dry-run")
    assert (planned.code, "removed   papers/tariffs.md" in planned.out) == (0, True)
    gone = council("docs", "unlink", "berths", "papers", "--yes")
    assert gone.code == 0
    assert f"chapterhouse council docs link berths {papers} --home {home}\n" in gone.out
    assert "No documents. Drop some into docs/" in council("docs", "list", "berths").out
    assert council("docs", "unlink", "berths", "papers", "--yes").code == 3
    file = home / "councils" / "berths" / "council.json"
    file.write_text('{"slug": "berths", "tools": ["search_knowledge", "search_graf"]}')
    wrong = council("validate", "berths")
    assert wrong.code == 1
    assert "error   berths/council.json: tools[1]  (unknown)\n        There is no tool" in wrong.out
    assert "3 errors, 0 warnings\n" in wrong.out
    problems = council("validate", "--json").data["problems"]
    assert problems[0]["path"] == ["tools", 1]
    assert problems[0]["file"] == "berths/council.json"
    assert [problem["code"] for problem in problems] == ["unknown", "no-members", "no-rounds"]
    file.write_text('{"slug": "berths",}')
    assert "(cannot be used)" in council("list").out
    assert "line 1, column 19" in council("show", "berths").err


def folders(chapterhouse: Any) -> int:
    return len(chapterhouse("council", "docs", "list", "berths", "--json").data["folders"])


def test_unlinking_needs_a_yes_off_a_terminal(chapterhouse: Any, home: Path) -> None:
    unlink = ("council", "docs", "unlink", "berths", "papers")
    assert chapterhouse(*unlink).code == 10
    assert chapterhouse(*unlink, "--json").code == 10
    assert chapterhouse(*unlink, "--dry-run").out.startswith("Would unlink")
    assert folders(chapterhouse) == 1
    assert chapterhouse(*unlink, "--yes", "--json").data["dry_run"] is False
    assert folders(chapterhouse) == 0


def test_on_a_terminal_somebody_is_asked(
    chapterhouse: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [False, True]
    monkeypatch.setattr(typer, "confirm", lambda *_, **__: said.pop(0))
    for left, code in ((1, 10), (0, 0)):
        with monkeypatch.context() as terminal:
            for stream in (sys.stdin, sys.stdout, sys.stderr):
                terminal.setattr(stream, "isatty", lambda: True)
            result = chapterhouse("council", "docs", "unlink", "berths", "papers")
        assert (result.code, folders(chapterhouse)) == (code, left)


def test_ctrl_c_while_reading_ends_with_130(chapterhouse: Any, home: Path, fails: Any) -> None:
    fails(CouncilFacet, "link", KeyboardInterrupt())
    assert chapterhouse("council", "docs", "link", "berths", "papers").code == 130
