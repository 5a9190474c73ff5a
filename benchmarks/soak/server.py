"""A real server in a process, its workers, and what kills them."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

import httpx2

from chapterhouse.interfaces.admission import read_owner_key

_READY: Final = re.compile(r"Serving (http://\S+)/api")


class Server:
    """``chapterhouse serve`` over a home.

    Its log is a file beside it: a pipe that nobody reads is full after some hundred lines.

    Args:
        home: The home folder.
        number: Tells logs of several servers apart.
        options: Further ones of the command.
    """

    def __init__(self, home: Path, number: int = 0, options: Sequence[str] = ()) -> None:
        self._log = home.parent / f"serve-{number}.log"
        command = [sys.executable, "-m", "chapterhouse", "serve", "--port", "0", "--home"]
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [*command, str(home), *options],
                stdin=subprocess.DEVNULL,
                stderr=output,
                env={**os.environ, "CHAPTERHOUSE_BACKGROUND": "0"},
            )
        self.url, self.key = self._address(), read_owner_key(home)
        self.client = httpx2.Client(
            base_url=self.url, headers={"X-API-Key": self.key}, timeout=60.0
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _address(self) -> str:
        until = time.monotonic() + 240  # on a busy machine
        while self.process.poll() is None and time.monotonic() < until:
            if found := _READY.search(self._log.read_text("utf-8")):
                return found[1]
            time.sleep(0.05)
        raise SystemExit(f"The server did not start: {self._log.read_text('utf-8')}")

    def send(self, name: str, text: str) -> str:
        """Send a file; return its job, or nothing where it was not accepted."""
        files = {"file": (f"{name}.md", text.encode())}
        answer = self.client.post("/api/documents/upload", files=files)
        return str(answer.json()["id"]) if answer.status_code == 202 else ""

    def state(self, job: str) -> str:
        """Return the state of a job."""
        return str(self.client.get(f"/api/jobs/{job}").json()["state"])

    def documents(self, word: str) -> list[str]:
        """Return the ids of documents with a word in title or source."""
        found = self.client.get("/api/documents/", params={"text": word}).json()["documents"]
        return [one["id"] for one in found]

    def kill(self) -> None:
        """End it at once; its workers go on by themselves."""
        self.process.kill()
        self.process.wait()
        self.client.close()

    def stop(self) -> None:
        """End it in order, and its workers."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.client.close()


def workers_of(home: Path) -> list[int]:
    """Return the worker processes of a home, whichever server started them."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if b"worker" in words and str(home).encode() in words:
            found.append(int(path.name))
    return found


def signalled(processes: list[int], number: int) -> int:
    """Send a signal to processes; return how many were still there."""
    sent = 0
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue
        sent += 1
    return sent
