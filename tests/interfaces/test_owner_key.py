"""A server without other keys is its owner's alone: who can read the home has the key to it."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from tests.served import process

from chapterhouse.interfaces.admission import OWNER_KEY, make_owner_key, read_owner_key
from chapterhouse.interfaces.client import Client
from chapterhouse.library import Library
from chapterhouse.library.opening import open_access
from chapterhouse.types.access import AccessLevel

NOBODY = 65_534


def test_the_key_is_a_file_that_its_owner_alone_may_read(tmp_path: Path) -> None:
    assert read_owner_key(tmp_path) == ""
    with ThreadPoolExecutor(8) as servers:  # that start at once
        made = set(servers.map(make_owner_key, [tmp_path] * 32))
    assert made == {read_owner_key(tmp_path)}
    path = tmp_path / OWNER_KEY
    assert (path.stat().st_mode & 0o777, [one.name for one in tmp_path.iterdir()]) == (
        0o600,
        [OWNER_KEY],
    )
    path.chmod(0o644)  # others may have read it
    assert read_owner_key(tmp_path) == ""
    assert make_owner_key(tmp_path) not in made
    path.write_text("secret\n")
    assert make_owner_key(tmp_path).startswith("ch_owner_")


def test_without_a_credential_nobody_is_the_owner_of_a_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with process(home) as (running, url):
        with httpx2.Client(base_url=url) as stranger:
            for path in ("/", "/api/health", "/api/ready"):
                assert stranger.get(path).status_code == 200
            assert stranger.get("/api/documents").status_code == 401
            assert stranger.post("/v1/embeddings", json={"input": "a"}).status_code == 401
            assert stranger.post("/mcp", json={}).status_code == 401
        with Client(url) as owner:  # it finds the key in the home
            assert list(owner.documents()) == []
        key = read_owner_key(home)
        running.terminate()
        out, err = running.communicate(timeout=60)
        assert key not in out + err
    (home / OWNER_KEY).unlink()
    with process(home) as (_, url):
        with httpx2.Client(base_url=url, headers={"X-API-Key": key}) as before:
            assert before.get("/api/me").status_code == 401
        with httpx2.Client(base_url=url, headers={"X-API-Key": read_owner_key(home)}) as now:
            assert now.get("/api/me").json()["name"] == "owner"


def test_other_keys_do_not_take_the_owners_away_and_networks_do_not_have_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    Library.open(home).close()
    access = open_access(home)
    access.create_key("one", AccessLevel.READ, None, by="test")
    access.close()
    with process(home) as (_, url), Client(url) as owner:
        assert list(owner.documents()) == []
    key = {"X-API-Key": read_owner_key(home)}
    with process(home, "--allow-host", "library.example.org") as (_, url):
        assert httpx2.get(f"{url}/api/me", headers=key).status_code == 401


@pytest.mark.skipif(os.geteuid() != 0, reason="another user can only be had by root")
def test_another_user_of_the_machine_gets_nothing(tmp_path: Path) -> None:
    """They can reach the server, and neither read the key nor have it read a folder for them."""
    home, private = tmp_path / "home", tmp_path / "private"
    private.mkdir(mode=0o700)
    (private / "letter.md").write_text("# Letter\n\nzqsecret\n")

    def attack(url: str) -> str:
        with httpx2.Client(base_url=url) as client:
            added = client.post("/api/sources", json={"location": str(private)})
            key = client.post("/api/keys", json={"label": "mine", "level": "admin"})
        try:
            found = (home / OWNER_KEY).read_text()
        except PermissionError:
            found = ""
        return f"{added.status_code} {key.status_code} {found}"

    with process(home) as (_, url):
        for folder in (tmp_path, *tmp_path.parents):
            folder.chmod(folder.stat().st_mode | 0o011)  # so that they come as far as the home
        assert _as_nobody(lambda: attack(url)) == "401 401 "


def _as_nobody(work: Callable[[], str]) -> str:
    """Return what some work gives in a process of another user."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writes, work().encode())
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as told:
        found = told.read()
    os.waitpid(child, 0)
    return found
