"""Plant faults in a copy of Chapterhouse, one at a time, and see whether the tests notice.

``faults.toml`` holds the faults: each breaks one promise of README.md or docs/, and names the
tests that must fail because of it. Nothing is changed in the tree itself.

    python scripts/mutate.py                 every fault
    python scripts/mutate.py bundle shelf    those whose promise or file holds one of these words

It exits with 1 where a fault survives or cannot be planted.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
FAULTS = Path(__file__).with_name("faults.toml")
SECONDS = 900  # for the tests of one fault; more is taken for an endless loop
# https://docs.pytest.org/en/stable/reference/exit-codes.html
PASSED, FAILED = 0, 1


@dataclass(frozen=True, slots=True)
class Fault:
    """One change of the source that breaks a promise.

    Attributes:
        promise: What Chapterhouse says it does.
        file: Below ``src/chapterhouse``.
        text: What stands there exactly once.
        replacement: What is put there instead.
        tests: Files of tests, or tests in them, of which one must fail.
    """

    promise: str
    file: str
    text: str
    replacement: str
    tests: tuple[str, ...]


def load_faults(path: Path = FAULTS) -> tuple[Fault, ...]:
    """Return the faults of a file, in its order."""
    fields = tomllib.loads(path.read_text("utf-8"))["fault"]
    return tuple(Fault(**{**one, "tests": tuple(one["tests"])}) for one in fields)


def planted(fault: Fault, source: Path) -> str:
    """Return the file of a fault, with the fault in it.

    Args:
        fault: What is changed.
        source: The folder that holds the package.

    Raises:
        ValueError: the text does not stand there exactly once, or a file of tests is missing.
    """
    content = (source / "chapterhouse" / fault.file).read_text("utf-8")
    if (count := content.count(fault.text)) != 1:
        raise ValueError(f"{fault.file} holds the text {count} times, not once: {fault.text!r}")
    for name in fault.tests:
        if not _file(name).exists():
            raise ValueError(f"There are no tests {name}")
    return content.replace(fault.text, fault.replacement)


def _file(name: str) -> Path:
    """Return the file of a test, which may be named in it as pytest does."""
    return ROOT / name.partition("::")[0]


def run_tests(names: Iterable[str], source: Path) -> int:
    """Return the exit status of pytest over ``names``, with the package from ``source``."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "--timeout", "300"]
    command += ["-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", *names]
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return FAILED
    return done.returncode


def outcome(fault: Fault, source: Path) -> str:
    """Plant a fault in a copy of the source, run its tests, and say what became of it."""
    try:
        changed = planted(fault, source)
    except ValueError as error:
        return f"cannot be planted: {error}"
    path = source / "chapterhouse" / fault.file
    before = path.read_bytes()
    path.write_text(changed, "utf-8")
    try:
        status = run_tests(fault.tests, source)
    finally:
        path.write_bytes(before)
    return {PASSED: "survived", FAILED: "killed"}.get(status, f"not tried: pytest gave {status}")


def main(words: Sequence[str]) -> int:
    """Plant the faults that were asked for; return the exit status."""
    faults = [
        fault
        for fault in load_faults()
        if not words or any(word in f"{fault.promise} {fault.file}" for word in words)
    ]
    with tempfile.TemporaryDirectory(prefix="chapterhouse-mutate-") as folder:
        source = Path(shutil.copytree(SOURCE, Path(folder) / "src"))
        tests = dict.fromkeys(name for fault in faults for name in fault.tests)
        if faults and run_tests([name for name in tests if _file(name).exists()], source):
            print("The tests fail without any fault: make them pass first.")
            return 1
        alive = 0
        for number, fault in enumerate(faults, start=1):
            told = outcome(fault, source)
            alive += told != "killed"
            print(f"{number:3}/{len(faults)} {told}: {fault.file}: {fault.promise}", flush=True)
    print(f"{len(faults) - alive} of {len(faults)} faults were killed.")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
