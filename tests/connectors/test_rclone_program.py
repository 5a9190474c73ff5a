import os
import sys
from pathlib import Path

import pytest

from chapterhouse.connectors.rclone_program import (
    Finished,
    Patience,
    Rclone,
    environment,
    find_rclone,
)
from chapterhouse.errors import MissingExtraError, NotFoundError


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
    assert run == Finished(1, "went wrong\n", output=b"out\n")


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
