import json
from pathlib import Path
from typing import Any

import pytest

from chapterhouse.library.councils import LibraryCouncils


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
    again = council("new", "berths")
    assert (again.code, "already" in again.err) == (5, True)
    assert council("show", "berths", "--json").data["rounds"][1] == {
        "name": "cross_examination", "kind": "cross_examination", "shows_statements": True,
    }  # fmt: skip
    assert "new   " in council("docs", "list", "berths").out
    assert chapterhouse("sync", "council/berths", "--home", home).out == "council/berths: 1 read\n"
    assert "indexed   papers/tariffs.md" in council("docs", "list", "berths").out
    assert "1, 1 chunk\n" in council("show", "berths").out
    found = chapterhouse("search", "berth", "--shelf", "council_berths", "--home", home, "--json")
    assert len(found.data["hits"]) == 1
    (tmp_path / "more").mkdir()
    give = ("source", "add", "more", "--council", "ber", "--home", home)
    assert "chapterhouse sync council/berths\n" in chapterhouse(*give).out
    linked = council("docs", "list", "berths", "--json").data["folders"]
    assert linked == [str(papers), str(tmp_path / "more")]
    file = home / "councils" / "berths" / "council.json"
    assert json.loads(file.read_text()) == {**made["config"], "folders": linked}
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
    assert "2 members:\n  The boat\n  The lease\n2 files: 2 ready; 2 chunks\nNext:\n" in made.out
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
    assert len(again.data["config"]["members"]) == 1
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


def test_a_stopped_council_is_there_and_reads_the_rest(
    chapterhouse: Any, tmp_path: Path, contracts: Path
) -> None:
    home = ("--home", tmp_path / "own")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LibraryCouncils, "refresh", stopped)
        result = chapterhouse("council", "new", "rents", "--each", contracts, *home)
    assert result.code == 130
    assert f"chapterhouse sync council/rents --home {tmp_path}/own" in result.err
    assert "council/rents: 2 read\n" in chapterhouse("sync", "council/rents", *home).out


def stopped(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
