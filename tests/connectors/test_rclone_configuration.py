import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.clouds import HASTE

from chapterhouse.connectors.rclone_configuration import (
    Provider,
    Remote,
    connect,
    connect_command,
    find_provider,
    providers,
    remotes,
    require_free,
)
from chapterhouse.connectors.rclone_program import Rclone, find_rclone
from chapterhouse.errors import EngineError, NotFoundError, RefusedError, UsageError

PROVIDERS = (
    Provider("drive", "Google Drive", by_browser=True),
    Provider("webdav", "WebDAV", by_browser=False),
)


@pytest.fixture
def rclone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rclone:
    """Give the program with a configuration of one remote, which has a password."""
    config = tmp_path / "rclone.conf"
    config.write_text("[home]\ntype = webdav\nurl = http://127.0.0.1:1\npass = geheim\n")
    monkeypatch.setenv("RCLONE_CONFIG", str(config))
    return Rclone(find_rclone(), HASTE)


def test_the_well_known_providers_come_first(rclone: Rclone) -> None:
    found = providers(rclone)
    first = ["drive", "dropbox", "onedrive", "box", "s3", "webdav", "sftp"]
    assert [one.name for one in found][:7] == first
    rest = [one.name for one in found][7:]
    assert rest == sorted(rest)
    assert len(rest) > 30
    assert [one.by_browser for one in found][:7] == [True] * 4 + [False] * 3


def test_remotes_are_named_and_nothing_else_of_them(rclone: Rclone) -> None:
    assert remotes(rclone) == (Remote("home", "webdav"),)
    assert "geheim" not in repr(remotes(rclone))


def test_an_encrypted_configuration_is_not_asked_for_its_password(
    rclone: Rclone, tmp_path: Path
) -> None:
    encrypted = "# Encrypted\n\nRCLONE_ENCRYPT_V0:\n" + "A" * 200 + "\n"
    (tmp_path / "rclone.conf").write_text(encrypted)
    with pytest.raises(RefusedError, match="encrypted"):
        remotes(rclone)


@pytest.mark.parametrize(
    ("name", "found"),
    [("drive", "drive"), ("Google Drive", "drive"), ("gdrive", "drive"), ("Nextcloud", "webdav")],
)
def test_providers_have_the_names_that_people_use(name: str, found: str) -> None:
    assert find_provider(name, PROVIDERS).name == found


def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(NotFoundError, match="'floppy'"):
        find_provider("floppy", PROVIDERS)


def test_a_browser_is_enough_or_rclone_asks(rclone: Rclone) -> None:
    drive, webdav = PROVIDERS
    assert connect_command(rclone, drive, "g")[1:] == (
        *("config", "create", "g", "drive", "scope=drive.readonly"),
    )
    assert connect_command(rclone, webdav, "w")[1:] == ("config", "create", "w", "webdav", "--all")


def test_a_name_that_is_taken_or_impossible_is_refused() -> None:
    known = (Remote("home", "webdav"),)
    require_free("office", known)
    with pytest.raises(UsageError, match="'home' already"):
        require_free("home", known)
    with pytest.raises(UsageError):
        require_free("-v", known)


def test_rclone_asks_on_the_terminal_and_the_remote_is_there(
    rclone: Rclone, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Answers to what rclone asks of a memory remote, which needs nothing but a description.
    reading, writing = os.pipe()
    os.write(writing, b"\n" * 20 + b"n\n" + b"y\n" * 5)
    os.close(writing)
    before = os.dup(0)
    os.dup2(reading, 0)
    try:
        made = connect(rclone, Provider("memory", "", by_browser=False), "scratch")
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(reading)
    assert made == Remote("scratch", "memory")
    assert made in remotes(rclone)


def test_a_remote_that_is_not_finished_is_deleted_again(tmp_path: Path) -> None:
    noted = tmp_path / "asked"
    program = tmp_path / "rclone"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(noted)!r}, 'a').write(' '.join(sys.argv[1:4])"
        " + '\\n')\nif 'dump' in sys.argv: print('{}')\nsys.exit('create' in sys.argv)\n"
    )
    program.chmod(0o755)
    with pytest.raises(EngineError, match="was not made"):
        connect(Rclone(program, HASTE), PROVIDERS[0], "g")
    asked = noted.read_text().splitlines()
    assert asked[1].startswith("config create --help")
    assert asked[2] == "config create g"
    assert asked[3].startswith("config delete g")
    assert subprocess.run([program, "x"], check=False).returncode == 0
