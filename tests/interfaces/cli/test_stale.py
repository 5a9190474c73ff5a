"""verify --answers."""

from pathlib import Path
from typing import Any

import apsw


def test_answers_whose_sources_changed_are_listed(chapterhouse: Any, tmp_path: Path) -> None:
    folder, home = tmp_path / "papers", ("--home", tmp_path / "home")
    folder.mkdir()
    (folder / "gate.md").write_text("# Gate\n\nThe harbour gate closes at nine every evening.\n")
    chapterhouse("add", folder, *home)
    chapterhouse("ask", "When does the harbour gate close?", *home)
    none = chapterhouse("verify", "--answers", *home)
    assert (none.code, none.out.strip()) == (0, "0 remembered answers with changed sources.")

    (folder / "gate.md").write_text("# Gate\n\nThe gate is never closed.\n")
    chapterhouse("add", folder, *home)
    found = chapterhouse("verify", "--answers", *home)
    assert found.code == 4
    assert "m1 When does the harbour gate close?" in found.out
    assert "papers/gate.md has changed; the quotation is not there any more" in found.out
    data = chapterhouse("verify", "--answers", "--json", *home).data
    (stale,) = data["stale"]
    assert (stale["id"], stale["citations"][0]["state"]) == ("m1", "changed")
    assert stale["citations"][0]["quotation"] == "lost"
    assert data["not_known"] == []


def test_a_bundle_tells_that_its_source_has_another_name(chapterhouse: Any, tmp_path: Path) -> None:
    folder, home = tmp_path / "papers", ("--home", tmp_path / "home")
    folder.mkdir()
    (folder / "gate.md").write_text("# Gate\n\nThe harbour gate closes at nine every evening.\n")
    chapterhouse("add", folder, *home)
    bundle = tmp_path / "answer.json"
    chapterhouse("ask", "When does the harbour gate close?", "--bundle", bundle, *home)
    _rename(tmp_path / "home", "papers/door.md")
    checked = chapterhouse("verify", bundle, *home)
    assert checked.code == 0
    assert "papers/gate.md has another name now (papers/door.md)" in checked.out
    assert chapterhouse("verify", bundle, "--json", *home).data["citations"][0]["source"] == "moved"


def _rename(home: Path, source: str) -> None:
    connection = apsw.Connection(str(home / "workspaces/default/library.db"))
    connection.execute("UPDATE document SET source = ?", (source,))
    connection.close()
