"""The rclone program: runs, failures, places and remotes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clouds import HASTE, OLD

from chapterhouse.connectors.rclone_listing import (
    Place,
    Provider,
    Remote,
    connect,
    connect_command,
    find_provider,
    list_place,
    providers,
    remotes,
    require_free,
)
from chapterhouse.connectors.rclone_program import (
    Failure,
    Patience,
    ProcessResult,
    Rclone,
    environment,
    error_of,
    find_rclone,
    kind_of,
    reason_of,
    redacted,
)
from chapterhouse.errors import (
    EngineError,
    MissingExtraError,
    NotFoundError,
    RefusedError,
    UsageError,
)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Give a program that does what its first argument says, in Python."""
    path = tmp_path / "rclone"
    path.write_text(f"#!{sys.executable}\nimport sys\nexec(sys.argv[1])\n")
    path.chmod(0o755)
    return path


def test_the_program_is_the_one_of_the_settings(script: Path) -> None:
    assert find_rclone(str(script)) == script
    with pytest.raises(NotFoundError, match=r"cloud\.rclone"):
        find_rclone("/not/there/rclone")


def test_the_program_on_path_comes_before_the_one_of_the_extra(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = find_rclone()
    assert found.is_file()
    monkeypatch.setenv("PATH", str(script.parent))
    assert find_rclone() == script


def test_without_a_program_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(MissingExtraError, match="'cloud'"):
        find_rclone()


def test_a_run_gives_its_output_and_its_errors(script: Path) -> None:
    run = Rclone(script).run(["print('out'); sys.exit('went wrong')"])
    assert run == ProcessResult(1, "went wrong\n", output=b"out\n")


def test_a_run_that_takes_too_long_is_ended(script: Path, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    code = f"import os, time; open({str(noted)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    run = Rclone(script).run([code], limit=1.0)
    assert run.timed_out
    assert run.code < 0
    assert not Path(f"/proc/{noted.read_text()}").exists()


def test_the_environment_has_no_keys_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("CHAPTERHOUSE_SEARCH__LIMIT", "5")
    monkeypatch.setenv("RCLONE_CONFIG", "/a/b.conf")
    monkeypatch.setenv("AWS_PROFILE", "work")
    given = environment()
    assert "OPENAI_API_KEY" not in given
    assert not any(name.startswith("CHAPTERHOUSE") for name in given)
    assert (given["RCLONE_CONFIG"], given["AWS_PROFILE"]) == ("/a/b.conf", "work")
    assert given["PATH"] == os.environ["PATH"]


def test_a_run_is_asked_nothing_and_has_a_time_for_every_wait(script: Path) -> None:
    patience = Patience(stall_seconds=7.0, connect_seconds=3.0)
    code = "print(sys.argv[2:], sys.stdin.read() == '')"
    shown = Rclone(script, patience).run([code]).output.decode()
    assert "'--ask-password=false'" in shown
    assert "'--timeout=7.0s'" in shown
    assert "'--contimeout=3.0s'" in shown
    assert shown.endswith("True\n")


# --- failures -----------------------------------------------------------------------------------

# As rclone 1.75 writes them.
UNKNOWN = (
    '2026/11/28 05:30:21 CRITICAL: Failed to create file system for "nope:": '
    'didn\'t find section in config file ("nope")\n'
)
NO_FOLDER = (
    "2026/11/28 05:30:21 ERROR : error listing: directory not found\n"
    "2026/11/28 05:30:21 NOTICE: Failed to lsjson with 2 errors: last error was: "
    "error in ListJSON: directory not found\n"
)
KEY = (
    "2026/11/28 05:30:21 NOTICE: Failed to lsjson: error in ListJSON: operation error S3: "
    "ListObjectsV2, https response error StatusCode: 403, RequestID: , HostID: , api error "
    "InvalidAccessKeyId: The Access Key Id you provided does not exist in our records.\n"
)
REFUSED = (
    "2026/11/28 05:33:12 NOTICE: Failed to lsjson with 2 errors: last error was: error in ListJSON:"
    ' couldn\'t list files: Propfind "http://user:pass@127.0.0.1:1/a?sig=5": '
    "dial tcp 127.0.0.1:1: connect: connection refused\n"
)
RATE = "2026/11/28 05:33:12 ERROR : googleapi: Error 403: User Rate Limit Exceeded., userRate\n"
EXPIRED = (
    '2026/11/28 05:33:12 CRITICAL: Failed to create file system for "gdrive:": couldn\'t find root '
    'directory ID: Get "https://www.googleapis.com/drive/v3/files/root?alt=json": couldn\'t fetch '
    'token: invalid_grant: maybe token expired? - try refreshing with "rclone config reconnect '
    'gdrive:"\n'
)
ENCRYPTED = "CRITICAL: unable to decrypt configuration and not allowed to ask for password\n"


@pytest.mark.parametrize(
    ("code", "errors", "kind", "raised", "says"),
    [
        (1, UNKNOWN, Failure.UNKNOWN_REMOTE, NotFoundError, "no remote 'gdrive'"),
        (3, NO_FOLDER, Failure.NOT_FOUND, NotFoundError, "no folder 'gdrive:a/b'"),
        (1, KEY, Failure.LOGIN, RefusedError, "refuses access"),
        (1, EXPIRED, Failure.LOGIN, RefusedError, "refuses access"),
        (5, REFUSED, Failure.NETWORK, EngineError, "cannot be reached"),
        (1, RATE, Failure.BUSY, EngineError, "no more requests"),
        (1, ENCRYPTED, Failure.ENCRYPTED, RefusedError, "encrypted"),
        (5, "", Failure.NETWORK, EngineError, "cannot be reached"),
        (7, "2026/11/28 05:33:12 ERROR : odd\n", Failure.OTHER, EngineError, "'gdrive:a/b': odd."),
    ],
)
def test_a_failure_says_what_it_was_and_what_to_do(
    code: int, errors: str, kind: Failure, raised: type[Exception], says: str
) -> None:
    run = ProcessResult(code, errors)
    assert kind_of(run) is kind
    error = error_of(run, "gdrive:a/b")
    assert type(error) is raised
    assert says in error.message
    assert error.hint


def test_a_reason_has_no_address_in_whole_and_steers_no_terminal() -> None:
    assert reason_of(ProcessResult(5, REFUSED)) == (
        'error in ListJSON: couldn\'t list files: Propfind "http://127.0.0.1:1/…": '
        "dial tcp 127.0.0.1:1: connect: connection refused."
    )
    assert "\x1b" not in reason_of(ProcessResult(1, "odd \x1b[2J\u202e thing\n"))
    assert "took too long" in error_of(ProcessResult(-15, "", timed_out=True), "a:").message


@given(
    secret=st.text("abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789", min_size=8, max_size=80),
    form=st.sampled_from(
        [
            "https://user:{}@example.org/dav failed",
            "https://example.org/x?sig={}&b=2",
            "the password = {} is wrong",
            'token: "{}"',
            "Authorization: Bearer {}",
            "secret_access_key={}",
        ]
    ),
)
def test_no_secret_is_repeated(secret: str, form: str) -> None:
    assert secret not in redacted(form.format(f"Zq9{secret}"))


def canned(tmp_path: Path, listing: object) -> Rclone:
    """Return a program that prints what a service lists."""
    path = tmp_path / "rclone"
    path.write_text(f"#!{sys.executable}\nprint({json.dumps(listing)!r})\n")
    path.chmod(0o755)
    return Rclone(path, HASTE)


def item(path: str, size: int = 1, when: str = "2020-09-13T12:26:40Z", **more: object) -> object:
    return {"Path": path, "Size": size, "ModTime": when, "IsDir": False, **more}


NO_PLACES = "|gdrive|:s3,secret=x:b|s3,secret=x:b|-v:| a:|a:b/../c|a:./b|a:\0|/x"


def test_a_place_is_a_remote_and_a_path() -> None:
    for text, remote, path in (
        ("gdrive:", "gdrive", ""),
        ("gdrive:Papers/2026/", "gdrive", "Papers/2026"),
        ("my drive:/a//b", "my drive", "a/b"),
        ("s3:bucket/key: with colon", "s3", "bucket/key: with colon"),
    ):
        assert Place.parse(text) == Place(remote, path)
    for text in NO_PLACES.split("|"):
        with pytest.raises(UsageError, match="REMOTE:PATH") as raised:
            Place.parse(text)
        assert "secret" not in raised.value.message


def test_locations_begin_with_the_prefix_of_their_place() -> None:
    assert Place("a", "b").location("c/d") == "rclone:a:b/c/d"
    assert Place("a").location("c/d") == "rclone:a:c/d"
    assert (Place("a", "b").prefix, Place("a").prefix) == ("rclone:a:b/", "rclone:a:")
    assert (Place("a", "b/c").name, Place("a").name) == ("c", "a")


def test_times_are_read_to_the_nanosecond(tmp_path: Path) -> None:
    listing = [
        item("a", when="2020-09-13T14:26:40.123456789+02:00"),
        item("b", when="2020-09-13T12:26:40.5Z"),
        item("c", when=""),
    ]
    found = list_place(canned(tmp_path, listing), Place("x"), recursive=True)
    assert [entry.mtime_ns - OLD * 10**9 for entry in found] == [
        123_456_789,
        5 * 10**8,
        -OLD * 10**9,
    ]


def test_of_two_files_of_one_name_the_newer_counts(tmp_path: Path) -> None:
    newer = item("a", 2, "2021-01-01T00:00:00Z")
    for listing in ([item("a"), newer], [newer, item("a")]):
        (found,) = list_place(canned(tmp_path, listing), Place("x"), recursive=True)
        assert found.size == 2


def test_what_is_no_listing_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rclone"
    path.write_text("#!/bin/sh\necho '[{'\n")
    path.chmod(0o755)
    with pytest.raises(EngineError, match="no listing"):
        list_place(Rclone(path, HASTE), Place("x"), recursive=False)


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


def test_providers_have_the_names_that_people_use() -> None:
    asked = ("drive", "Google Drive", "gdrive", "Nextcloud")
    found = [find_provider(name, PROVIDERS).name for name in asked]
    assert found == ["drive", "drive", "drive", "webdav"]
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
