import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FAST = ("tests/test_errors.py", "tests/test_files.py", "tests/text/test_sentences.py")


def _tracked() -> set[str]:
    found = subprocess.run(
        ["git", "ls-files", "src", "tests", "benchmarks", "deploy", "docs", "examples", "scripts"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if found.returncode or not found.stdout:
        pytest.skip("this is no clone: what is tracked is not known")
    return {name for name in found.stdout.splitlines() if not name.startswith('"')}


@pytest.mark.large
@pytest.mark.skipif("CHAPTERHOUSE_LARGE" not in os.environ, reason="make soak does it")
def test_it_has_every_tracked_file_and_its_tests_pass(tmp_path: Path) -> None:
    wanted = _tracked()
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
        opened.extractall(tmp_path, filter="data")
    assert {name for name in wanted if (ROOT / name).exists()} - names == set()
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *FAST],
        cwd=unpacked, env={**os.environ, "PYTHONPATH": str(unpacked / "src")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2_000:]
