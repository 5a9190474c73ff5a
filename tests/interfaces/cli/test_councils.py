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
        "shows_statements": True,
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


@pytest.fixture
def contracts(tmp_path: Path) -> Path:
    folder = tmp_path / "contracts"
    folder.mkdir()
    for name, price in (("lease", 10), ("boat", 20)):
        (folder / f"{name}.md").write_text(f"# The {name}\n\nThe rent is {price} euros a day.\n")
    return folder


def test_a_folder_of_contracts_is_compared(
    chapterhouse: Any, tmp_path: Path, contracts: Path
) -> None:
    home = ("--home", tmp_path / "home")
    made = chapterhouse("council", "new", "rents", "--each", contracts, *home)
    assert (made.code, made.err) == (0, "")
    assert "2 members:\n  The boat\n  The lease\n2 files: 2 ready\nNext:\n" in made.out
    asked = chapterhouse("convene", "rents", "How much is the rent a day?", *home)
    assert "The boat: The rent is 20 euros a day. [1]" in asked.out
    assert "The lease: The rent is 10 euros a day. [2]" in asked.out
    (contracts / "boat.md").write_bytes(b"\x00\x01")
    (report,) = chapterhouse("sync", "council/rents", "--json", *home).data["sources"]
    assert report["files"]["counts"]["skipped"] == 1
    later = chapterhouse("convene", "rents", "How much is the rent a day?", *home)
    assert "Nothing can be read of what The boat is to read." in later.out + later.err
    assert f"reads {contracts}/boat.md" in chapterhouse("council", "show", "rents", *home).out
    again = chapterhouse("council", "new", "torn", "--each", contracts, "--json", *home)
    assert [member["key"] for member in again.data["members"]] == ["the-lease"]
    (warning,) = again.data["refresh"]["warnings"]
    assert warning == f"No member was made of {contracts}/boat.md: it is no document."


def test_what_no_council_can_be_made_of_is_told(
    chapterhouse: Any, tmp_path: Path, contracts: Path
) -> None:
    home = ("--home", tmp_path / "home")
    (tmp_path / "empty").mkdir()
    for each, code in ((tmp_path / "empty", 3), (contracts / "2024*", 3), ("", 2)):
        assert chapterhouse("council", "new", "rents", "--each", each, *home).code == code
    assert not (tmp_path / "home" / "councils").exists()
    warned = chapterhouse("council", "new", "risks", "--template", "red-team", *home)
    assert (warned.code, "without a model all say the same" in warned.out) == (0, True)
    (tmp_path / "home" / "chapterhouse.toml").write_text(
        '[language_model]\nengine = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
    )
    checked = chapterhouse("council", "validate", "risks", *home)
    assert "without a model" not in checked.out


def test_each_may_be_named_again(chapterhouse: Any, tmp_path: Path, contracts: Path) -> None:
    home = ("--home", tmp_path / "home")
    other = tmp_path / "other"
    other.mkdir()
    (other / "mooring.md").write_text("# Mooring\n\nA mooring costs 3 crowns.\n")
    each = ("--each", contracts, "--each", other)
    made = chapterhouse("council", "new", "rents", *each, "--json", *home)
    keys = {member["key"] for member in made.data["members"]}
    alone = chapterhouse("council", "new", "alone", "--each", contracts, "--json", *home)
    assert keys == {member["key"] for member in alone.data["members"]} | {"mooring"}


def test_a_stopped_council_is_there_and_reads_the_rest(
    chapterhouse: Any, tmp_path: Path, contracts: Path
) -> None:
    home = ("--home", tmp_path / "own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CouncilFacet, "refresh", stopped)
        result = chapterhouse("council", "new", "rents", "--each", contracts, *home)
    assert result.code == 130
    assert f"chapterhouse sync council/rents --home {tmp_path}/own" in result.err
    assert "council/rents: 2 read\n" in chapterhouse("sync", "council/rents", *home).out


def stopped(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
