from typing import Any

from tests.clouds import Drive


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
    (file, _) = chapterhouse("cloud", "files", "webdav:Papers", "--json").data["files"]
    assert (file["path"], file["status"], file["size"]) == ("fog.md", "current", 26)
    shown = chapterhouse("cloud", "files", "webdav:Papers")
    assert "current    fog.md\n" in shown.out
    assert "Files that end in .ttf are not read" in shown.out
    assert shown.out.endswith("2 files: 1 current, 1 skipped\n")
    assert "rclone:webdav:Papers/fog.md" in chapterhouse("docs", "show", "fog.md").out
    answered = chapterhouse("ask", "When does fog come?", "--shelf", "weather")
    assert "at dawn" in answered.out
    assert chapterhouse("open").out.startswith("rclone:webdav:Papers/fog.md")


def test_wrong_input_says_what_to_do(chapterhouse: Any, drive: Drive) -> None:
    for arguments, code, sentence in (
        (("files", "Papers"), 2, "REMOTE:PATH"),
        (("files", "other:Papers"), 3, "chapterhouse cloud connect PROVIDER other"),
        (("sync", "webdav:not/there"), 3, "no folder 'webdav:not/there'"),
        (("sync", "webdav:", "--shelf", "no shelf"), 2, "'no shelf' cannot be"),
        (("connect", "floppy"), 3, "floppy"),
        (("connect", "webdav"), 2, "webdav"),
    ):
        result = chapterhouse("cloud", *arguments)
        assert (result.code, sentence in result.err) == (code, True), result
    secret = chapterhouse("cloud", "files", ":webdav,pass=geheim:")
    assert (secret.code, "geheim" in secret.err) == (2, False)


def test_off_a_terminal_the_command_to_connect_is_named(chapterhouse: Any, drive: Drive) -> None:
    result = chapterhouse("cloud", "connect", "dropbox", "papers", "--json")
    assert result.code == 2
    assert result.envelope["error"]["hint"].endswith("config create papers dropbox")
    found = chapterhouse("cloud", "providers", "--json").data["providers"]
    assert found[0] == {"by_browser": True, "description": "Google Drive", "name": "drive"}
    lines = chapterhouse("cloud", "providers").out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["drive", "dropbox", "onedrive"]
    drive.config.write_text("")
    assert "chapterhouse cloud connect" in chapterhouse("cloud", "list").out
