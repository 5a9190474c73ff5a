"""Ctrl-C within the first 600 milliseconds of a command: how often it ends without a traceback.

    python benchmarks/early_interrupts.py [--write]

Builds the wheel of this checkout, installs it into an environment of its own and sends 100 signals
to the installed command ``chapterhouse ask``, one to each fresh process, 6 ms further on each time.
What it depends on is this environment's. Where no wheel can be built, the command of this
environment is measured, and the result says so. A run depends on the machine's load, so the result
is only kept with ``--write``.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import venv
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import Bar, Machine, Table, finish
from weight import build_wheel, call

SIGNALS = 100
STEP = 0.006  # seconds
# Python starts before anything of ours; what it says then, nobody but itself can change.
QUIET = 90
QUESTION = "Until when is the night ferry running?"
NOTE = "The night ferry runs until four in the morning."


def install(folder: Path) -> tuple[Path, str]:
    """Return the command to measure, and what it is."""
    own = Path(sys.executable).parent / "chapterhouse"
    try:
        wheel = build_wheel(folder)
    except SystemExit as error:
        print(f"No wheel was built, so this environment's command is measured: {error}")
        return own, "the command of this environment"
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    call([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], folder)
    site = call([python, "-c", "import sysconfig as s; print(s.get_path('purelib'))"], folder)
    (Path(site.strip()) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment / "bin" / "chapterhouse", "the wheel in an environment of its own"


def outcome(command: list[str | Path], environment: dict[str, str], delay: float) -> str:
    """Interrupt one process after ``delay`` seconds and say how it ended."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    if "Traceback" in told or "Fatal Python error" in told:
        return f"noisy: {_place(told)}"
    return {0: "had finished", 130: "quiet", -signal.SIGINT: "quiet"}.get(
        process.returncode, f"noisy: exit code {process.returncode}"
    )


def _place(told: str) -> str:
    """Say what was being loaded when a traceback began."""
    files = re.findall(r'File "([^"]+)"', told)
    if "init_import_site" in told:
        return "Python loads site"
    if any("/chapterhouse/" in file for file in files):
        return "the first modules of Chapterhouse"
    return "the script of the command" if files else "Python starts"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the result in results/")
    write = parser.parse_args().write
    machine = Machine()
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        chapterhouse, what = install(folder)
        (folder / "note.md").write_text(NOTE)
        call([chapterhouse, "add", folder / "note.md", "--home", folder / "home"], folder)
        ask: list[str | Path] = [chapterhouse, "ask", "--home", folder / "home", QUESTION]
        call(ask, folder)  # bytecode is there from now on
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        counts = Counter(outcome(ask, kept, place * STEP) for place in range(SIGNALS))
    ended = SIGNALS - counts["had finished"]
    bars = [
        Bar("quiet, % of those interrupted", 100 * counts["quiet"] / max(ended, 1), least=QUIET)
    ]
    tables = [Table("How they ended", ("end", "processes"), tuple(counts.most_common()))]
    notes = [f"Measured: {what}, one signal after 0, 6, 12, … {SIGNALS * 6 - 6} ms."]
    return finish(
        "early_interrupts", "Early Ctrl-C", bars, tables, machine.setting(), notes, write=write
    )


if __name__ == "__main__":
    sys.exit(main())
