"""Two processes that answer at one address, as a user starts them."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.interfaces.api.test_councils import events
from tests.served import QUESTION, make_board, process

from chapterhouse.interfaces.admission import read_owner_key
from chapterhouse.interfaces.client import Client

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux names them")


def children(parent: int, word: bytes = b"spawn_main") -> list[int]:
    """Return the processes that another one has started, those that answer by default."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            status, started_by = path.read_text().rpartition(")")[2].split()[:2]
            command = path.with_name("cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        if int(started_by) == parent and word in command and status != "Z":
            found.append(int(path.parent.name))
    return sorted(found)


def wait_until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextmanager
def stopped(number: int) -> Iterator[None]:
    """Stop a process for some time, so that the other one answers."""
    os.kill(number, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(number, signal.SIGCONT)


def test_two_processes_answer_as_one(tmp_path: Path) -> None:
    home = tmp_path / "home"
    make_board(home)
    with process(home, "--workers", "2", "--quiet") as (running, url):
        wait_until(lambda: len(children(running.pid)) == 2)
        owner = {"X-API-Key": read_owner_key(home)}
        with httpx2.Client(base_url=url, headers=owner, timeout=60.0) as client:
            made = client.post("/api/keys", json={"label": "trial"}).json()
        key = {"X-API-Key": made["secret"]}

        def ask(
            method: str, path: str, headers: dict[str, str] = owner, json: Any = None
        ) -> httpx2.Response:
            """Return the answer to a request by a connection of its own."""
            return httpx2.request(method, f"{url}{path}", headers=headers, timeout=60.0, json=json)

        first, second = children(running.pid)
        limit = "/api/settings/search.limit"
        search = {"query": "stranded passengers lodging"}
        with stopped(second):  # the first alone
            assert ask("GET", "/api/me", key).status_code == 200
            assert ask("PUT", limit, json={"value": 1}).json()["value"] == 1
            meeting = ask("POST", "/api/councils/storm-board/meetings", json={"question": QUESTION})
            meeting_id = meeting.json()["id"]
        with stopped(first):
            assert ask("GET", "/api/me", key).status_code == 200
            found = ask("POST", "/api/documents/search", json=search).json()["passages"]
            assert len(found) == 1  # as the setting says from now on
            assert ask("DELETE", f"/api/keys/{made['key']['id']}").status_code == 200
        with httpx2.Client(base_url=url, headers=owner, timeout=60.0) as client:
            assert events(client, meeting_id)[-1]["event"] == "minutes"
            shown = {client.get("/api/meetings").text for _ in range(2)}
        for one in (first, second):
            with stopped(one):
                assert ask("GET", "/api/me", key).status_code == 401
                shown.add(ask("GET", "/api/meetings").text)
        assert len(shown) == 1

        os.kill(first, signal.SIGKILL)
        wait_until(lambda: len(set(children(running.pid)) - {first}) == 2)
        (third,) = set(children(running.pid)) - {second}
        with stopped(second):
            assert ask("GET", "/api/me").status_code == 200
            text = ask("GET", "/api/metrics").text  # of all processes, the dead one's, too
        assert 'route="/api/settings/{name}",status="200"} 1\n' in text

        (tmp_path / "kites.md").write_text("# Kites\n\nKites need four metres of wind.\n")
        with Client(url, key=owner["X-API-Key"]) as by_job, ThreadPoolExecutor() as pool:
            jobs = pool.map(lambda _: by_job.upload(tmp_path / "kites.md"), range(4))
            assert {by_job.wait(job).state for job in jobs} == {"done"}
        workers = children(running.pid, b"--uploads")
        assert len(workers) == 1
        assert not children(third, b"--uploads") + children(second, b"--uploads")
        following = children(running.pid)
    assert running.returncode == 130
    assert not [one for one in (*following, *workers) if Path(f"/proc/{one}").exists()]


def test_a_killed_server_takes_its_processes_with_it(tmp_path: Path) -> None:
    with process(tmp_path / "home", "--workers", "2") as (running, _):
        wait_until(lambda: len(children(running.pid)) == 2)
        left = children(running.pid)
        running.kill()
        wait_until(lambda: not [one for one in left if Path(f"/proc/{one}").exists()])
