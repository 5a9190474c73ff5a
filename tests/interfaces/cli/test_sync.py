from pathlib import Path
from typing import Any

import pytest

NOTE = "# Lamps\n\nThe lamp on the pier is lit at dusk.\n"


@pytest.fixture
def lamps(chapterhouse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHAPTERHOUSE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "lamps"
    folder.mkdir()
    (folder / "one.md").write_text(NOTE)
    (folder / "two.md").write_text(NOTE.replace("Lamps", "Piers"))
    assert chapterhouse("add", folder).code == 0
    return folder


def test_a_sync_says_what_it_did(chapterhouse: Any, lamps: Path) -> None:
    (lamps / "one.md").rename(lamps / "first.md")
    (lamps / "two.md").unlink()
    (lamps / "three.md").write_text(NOTE.replace("dusk", "dawn"))
    planned = chapterhouse("sync", "--dry-run")
    assert "lamps: 1 to be read, 1 renamed, 1 to be removed" in planned.out
    done = chapterhouse("sync")
    assert done.code == 0
    assert "lamps: 1 read, 1 renamed, 1 removed" in done.out
    assert "renamed   lamps/first.md" in done.out
    assert "removed   lamps/two.md" in done.out
    assert "2 unchanged" in chapterhouse("sync", "lamps").out


def test_a_source_is_added_with_patterns_and_shown(
    chapterhouse: Any, lamps: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text(NOTE)
    (other / "a.log").write_text("noise")
    added = chapterhouse("source", "add", other, "--exclude", "*.log", "--maximum", 5)
    assert "Next: chapterhouse sync other" in added.out
    assert "never" in chapterhouse("source", "list").out
    assert "Ignored: 1 excluded" in chapterhouse("sync", "other").out
    shown = chapterhouse("source", "show", "other").out
    assert all(word in shown for word in ("*.log", "5 MB", "1 ready", "current"))
    assert "1 changed" in shown  # the journal
    (job,) = chapterhouse("source", "show", "other", "--json").data["syncs"]
    assert (job["kind"], job["state"]) == ("sync", "done")


def test_a_source_is_removed_with_its_documents_only_when_confirmed(
    chapterhouse: Any, lamps: Path
) -> None:
    assert chapterhouse("source", "remove", "lamps", "--documents").code == 10
    assert (
        "2 documents would be"
        in chapterhouse("source", "remove", "lamps", "--documents", "--dry-run").out
    )
    done = chapterhouse("source", "remove", "lamps", "--documents", "--yes")
    assert (done.code, "2 documents were removed" in done.out) == (0, True)
    assert chapterhouse("status", "--json").data["documents"] == 0
    assert "No sources yet" in chapterhouse("source", "list").out


def test_many_at_once_are_removed_when_confirmed(chapterhouse: Any, lamps: Path) -> None:
    (lamps / "mail").mkdir()
    for number in range(30):
        (lamps / "mail" / f"{number}.md").write_text(NOTE.replace("lamp", f"lamp {number}"))
    chapterhouse("sync")
    for path in (lamps / "mail").iterdir():
        path.unlink()
    (lamps / "three.md").write_text(NOTE.replace("dusk", "dawn"))
    refused = chapterhouse("sync", "--json")
    (report,) = refused.data["sources"]
    assert (refused.code, len(report["removed"])) == (4, 0)
    assert report["staying"] == [
        {"folder": str(lamps), "documents": 30, "reason": "many", "total": 32}
    ]
    shown = chapterhouse("source", "show", "lamps").out
    assert f"30 of 32 documents in {lamps} would go at once" in " ".join(shown.split())
    done = chapterhouse("sync", "--yes")
    assert (done.code, "30 removed" in done.out) == (0, True)
    assert chapterhouse("sync", "--watch", "--yes").code == 2


def test_a_watch_ends_with_ctrl_c(
    chapterhouse: Any, lamps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("chapterhouse.connectors.volumes.changes", interrupted)
    result = chapterhouse("sync", "--watch")
    assert result.code == 0
    assert "2 unchanged" in result.out
    assert "Watching 1 source. Stop with Ctrl-C." in result.err
    assert "Stopped watching after 0 syncs." in result.err


def test_a_source_has_a_level_of_trust(chapterhouse: Any, lamps: Path) -> None:
    name = chapterhouse("source", "list", "--json").data["sources"][0]["source"]["name"]
    assert chapterhouse("source", "trust", name, "web").code == 0
    (row,) = [line for line in chapterhouse("source", "list").out.splitlines() if name in line][:1]
    assert " web " in row
    assert chapterhouse("source", "show", name, "--json").data["source"]["trust"] == "web"
    hit = chapterhouse("search", "lamp", "--json").data["hits"][0]
    assert hit["document"]["trust"] == "web"
    assert " · web · " in chapterhouse("search", "lamp").out
    added = chapterhouse("source", "add", lamps, "--trust", "external", "--json").data["source"]
    assert added["trust"] == "external"
    assert chapterhouse("source", "trust", name, "good").code == 2
    persona = chapterhouse("source", "add", lamps, "--trust", "web", "--persona", "a")
    assert persona.code == 2


def test_wrong_input_says_what_to_do(chapterhouse: Any, lamps: Path, tmp_path: Path) -> None:
    assert chapterhouse("sync", "nothing").code == 3
    assert chapterhouse("source", "add", tmp_path / "none").code == 3
    assert chapterhouse("source", "add", lamps, "--include", "").code == 2
    assert chapterhouse("sync", "--watch", "--dry-run").code == 2
    both = chapterhouse("source", "add", lamps, "--persona", "a", "--council", "b")
    assert both.code == 2
    assert chapterhouse("source", "remove", lamps, "--persona", "a", "--documents").code == 2
    assert chapterhouse("source", "remove", lamps, "--persona", "a").code == 3
