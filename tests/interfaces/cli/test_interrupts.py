"""Ctrl-C at any moment of the first second ends a command quietly."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.interfaces.cli.interrupts import end_at_once, exchange, loading, working

STEP = 40 if "CHAPTERHOUSE_LARGE" in os.environ else 150  # milliseconds


@pytest.mark.large
@pytest.mark.parametrize("arguments", [("ask", "When", "does", "it", "rain?"), ("--help",)])
def test_ctrl_c_ends_without_a_traceback(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Library.open(tmp_path / "home") as library:
        library.documents.add_text("It rains in the morning.")
    command = [sys.executable, "-m", "chapterhouse", *arguments]
    codes = set[int]()
    for delay in range(0, 600, STEP):
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as process:
            time.sleep(delay / 1_000)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate()
        if b"Traceback" in told:  # Python itself was still starting: nothing of ours was loaded
            ours = set(re.findall(rb'File "[^"]*/chapterhouse/(?:[^"]*/)?([^"/]+)"', told))
            assert ours <= {b"__main__.py", b"__init__.py", b"interrupts.py"}, told
        else:
            codes.add(process.returncode)
    # What was over before, and what died before there was any Python.
    assert codes <= {0, 6, 130, -signal.SIGINT}


def test_whoever_runs_us_keeps_their_handler() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with loading(), working():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_while_a_command_works_ctrl_c_is_an_exception() -> None:
    default = signal.default_int_handler
    before = signal.signal(signal.SIGINT, default)
    try:
        with loading():
            assert signal.getsignal(signal.SIGINT) is end_at_once
            with working():
                assert signal.getsignal(signal.SIGINT) is default
            assert signal.getsignal(signal.SIGINT) is end_at_once
        assert signal.getsignal(signal.SIGINT) is default
        assert not exchange(end_at_once, default)
    finally:
        signal.signal(signal.SIGINT, before)
