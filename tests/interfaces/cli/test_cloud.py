"""Commands about cloud drives, over a real server."""

import json
from typing import Any

from tests.clouds import Drive

NEW = 1_700_000_000


def test_a_drive_is_browsed_synced_and_shown(chapterhouse: Any, drive: Drive) -> None:
    drive.write("Papers/fog.md", "# Fog\n\nFog comes at dawn.\n")
    drive.write("Papers/font.ttf", b"\0\1")
    assert chapterhouse("cloud", "list").out.split() == ["REMOTE", "PROVIDER", "webdav", "webdav"]
    planned = chapterhouse("cloud", "sync", "webdav:Papers", "--dry-run")
    assert planned.out.startswith("Papers: 1 to be read")
    assert chapterhouse("status").code == 3  # there is no library yet
    assert chapterhouse("cloud", "folders", "webdav:").out == "Papers/\n"
    calls = drive.proxy.calls
    assert chapterhouse("cloud", "folders", "webdav:").out == "Papers/\n"
    assert drive.proxy.calls == calls
    assert chapterhouse("cloud", "folders", "webdav:Papers").out == "There are no folders in it.\n"
    result = chapterhouse("cloud", "sync", "webdav:Papers", "--shelf", "weather")
    assert result.code == 0
    assert result.out.startswith("Papers: 1 read")
    shown = chapterhouse("cloud", "files", "webdav:Papers")
    assert "current    fog.md\n" in shown.out
    assert "Files that end in .ttf are not read" in shown.out
    assert shown.out.endswith("2 files: 1 current, 1 skipped\n")
    assert "rclone:webdav:Papers/fog.md" in chapterhouse("docs", "show", "fog.md").out
    answered = chapterhouse("ask", "When does fog come?", "--shelf", "weather")
    assert "at dawn" in answered.out
    assert chapterhouse("open").out.startswith("rclone:webdav:Papers/fog.md")


def test_files_that_are_gone_leave_the_library_unless_not_wanted(
    chapterhouse: Any, drive: Drive
) -> None:
    drive.write("a.md", "# A\n\nThe first text.\n")
    drive.write("b.md", "# B\n\nThe second text.\n")
    chapterhouse("cloud", "sync", "webdav:")
    (drive.folder / "b.md").unlink()
    left = chapterhouse("cloud", "sync", "webdav:", "--no-delete", "--json")
    assert left.data["sources"][0]["removed"] == []
    would = chapterhouse("cloud", "sync", "webdav:", "--dry-run")
    assert "1 to be removed" in would.out
    removed = chapterhouse("cloud", "sync", "webdav:")
    assert "removed   webdav/b.md" in removed.out
    (drive.folder / "a.md").unlink()
    refused = chapterhouse("cloud", "sync", "webdav:")
    assert refused.code == 4
    assert "1 of 1 document in webdav: would go at once, so none does" in refused.out


def test_data_for_programs(chapterhouse: Any, drive: Drive) -> None:
    drive.write("a.md", "# A\n")
    assert chapterhouse("cloud", "folders", "webdav:", "--json").data == {
        "folders": [],
        "place": "webdav:",
    }
    (file,) = chapterhouse("cloud", "files", "webdav:", "--json").data["files"]
    assert (file["path"], file["status"], file["size"]) == ("a.md", "not-synced", 4)
    found = chapterhouse("cloud", "providers", "--json").data["providers"]
    assert found[0] == {"by_browser": True, "description": "Google Drive", "name": "drive"}


def test_wrong_input_says_what_to_do(chapterhouse: Any, drive: Drive) -> None:
    unnamed = chapterhouse("cloud", "files", "Papers")
    assert (unnamed.code, "REMOTE:PATH" in unnamed.err) == (2, True)
    unknown = chapterhouse("cloud", "files", "other:Papers")
    assert unknown.code == 3
    assert "chapterhouse cloud connect PROVIDER other" in unknown.err
    missing = chapterhouse("cloud", "sync", "webdav:not/there")
    assert (missing.code, "no folder 'webdav:not/there'" in missing.err) == (3, True)
    shelf = chapterhouse("cloud", "sync", "webdav:", "--shelf", "no shelf")
    assert (shelf.code, "'no shelf' cannot be" in shelf.err) == (2, True)
    secret = chapterhouse("cloud", "files", ":webdav,pass=geheim:")
    assert secret.code == 2
    assert "geheim" not in secret.err


def test_off_a_terminal_the_command_to_connect_is_named(chapterhouse: Any, drive: Drive) -> None:
    result = chapterhouse("cloud", "connect", "dropbox", "papers", "--json")
    assert result.code == 2
    error = json.loads(result.out)["error"]
    assert error["hint"].endswith("config create papers dropbox")
    assert chapterhouse("cloud", "connect", "floppy").code == 3
    assert chapterhouse("cloud", "connect", "webdav").code == 2


def test_no_drive_and_many_providers(chapterhouse: Any, drive: Drive) -> None:
    drive.config.write_text("")
    assert "chapterhouse cloud connect" in chapterhouse("cloud", "list").out
    lines = chapterhouse("cloud", "providers").out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["drive", "dropbox", "onedrive"]
