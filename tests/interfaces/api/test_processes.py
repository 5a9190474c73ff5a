import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.interfaces.api.test_councils import events
from tests.served import QUESTION, children_of, make_board, process, until

from chapterhouse.interfaces.admission import read_owner_key
from chapterhouse.interfaces.client import Client

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="Linux names them")


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
        until(lambda: len(children_of(running.pid, b"spawn_main")) == 2)
        owner = {"X-API-Key": read_owner_key(home)}
        with httpx2.Client(base_url=url, headers=owner, timeout=240.0) as client:
            made = client.post("/api/keys", json={"label": "trial"}).json()
        key = {"X-API-Key": made["secret"]}

        def ask(
            method: str, path: str, headers: dict[str, str] = owner, json: Any = None
        ) -> httpx2.Response:
            return httpx2.request(method, f"{url}{path}", headers=headers, timeout=240.0, json=json)

        first, second = children_of(running.pid, b"spawn_main")
        limit = "/api/settings/search.limit"
        search = {"query": "stranded passengers lodging"}
        with stopped(second):  # the first alone
            assert ask("GET", "/api/me", key).status_code == 200
            assert ask("PUT", limit, json={"value": 1}).json()["value"] == 1
            meeting = ask("POST", "/api/councils/storm-board/meetings", json={"question": QUESTION})
            meeting_id = meeting.json()["id"]
        with stopped(first):
            assert ask("GET", "/api/me", key).status_code == 200
            found = ask("POST", "/api/documents/search", json=search).json()["hits"]
            assert len(found) == 1  # as the setting says from now on
            assert ask("DELETE", f"/api/keys/{made['key']['id']}").status_code == 200
        with httpx2.Client(base_url=url, headers=owner, timeout=240.0) as client:
            assert events(client, meeting_id)[-1]["event"] == "minutes"
            shown = {client.get("/api/meetings").text for _ in range(2)}
        for one in (first, second):
            with stopped(one):
                assert ask("GET", "/api/me", key).status_code == 401
                shown.add(ask("GET", "/api/meetings").text)
        assert len(shown) == 1

        os.kill(first, signal.SIGKILL)
        until(lambda: len(set(children_of(running.pid, b"spawn_main")) - {first}) == 2)
        (third,) = set(children_of(running.pid, b"spawn_main")) - {second}
        with stopped(second):
            assert ask("GET", "/api/me").status_code == 200
            text = ask("GET", "/api/metrics").text  # of all processes, the dead one's, too
        assert 'route="/api/settings/{name}",status="200"} 1\n' in text

        (tmp_path / "kites.md").write_text("# Kites\n\nKites need four metres of wind.\n")
        with Client(url, key=owner["X-API-Key"]) as by_job, ThreadPoolExecutor() as pool:
            jobs = pool.map(lambda _: by_job.upload(tmp_path / "kites.md"), range(4))
            assert {by_job.wait(job).state for job in jobs} == {"done"}
        workers = children_of(running.pid, b"--uploads")
        assert len(workers) == 1
        assert not children_of(third, b"--uploads") + children_of(second, b"--uploads")
        following = children_of(running.pid, b"spawn_main")
        running.terminate()
        assert "chapterhouse.access" not in running.communicate(timeout=60)[1]  # it is quiet
    assert running.returncode == 130
    assert not [one for one in (*following, *workers) if Path(f"/proc/{one}").exists()]


KILLED = """
import multiprocessing, sys, time
from pathlib import Path

def answer(home):
    from chapterhouse.interfaces.serving import Address, Site
    Site(Path(home), Address())()
    print("answers", flush=True)
    time.sleep(600)

if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=answer, args=sys.argv[1:])
    process.start()
    print(process.pid, flush=True)
    process.join()
"""


def test_a_killed_server_takes_its_processes_with_it(tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(KILLED)
    command = [sys.executable, str(tmp_path / "killed.py"), str(tmp_path / "home")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        left = int(running.stdout.readline())
        assert running.stdout.readline() == "answers\n"
        running.kill()
        until(lambda: not Path(f"/proc/{left}").exists())
