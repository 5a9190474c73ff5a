import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import uvicorn
from tests.served import Served, serving

from chapterhouse.interfaces import serving as serving_module
from chapterhouse.interfaces.admission import OWNER_KEY, make_owner_key, read_owner_key
from chapterhouse.interfaces.api.state import ServerOptions
from chapterhouse.interfaces.serving import Address
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
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
    path.chmod(0o644)  # others may have read it
    assert read_owner_key(tmp_path) == ""
    assert make_owner_key(tmp_path) not in made
    path.write_text("secret\n")
    assert make_owner_key(tmp_path).startswith("ch_owner_")


def test_a_server_takes_the_key_of_its_home_where_no_other_machine_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    monkeypatch.setattr(serving_module, "tune_process", lambda: None)
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda server, _: taken.append(server.config.app().state.owner_key)
    )

    def start(*hosts: str) -> str:
        options = ServerOptions(starts_workers=False)
        with pytest.raises(KeyboardInterrupt):  # nothing else ends it
            serving_module.serve(tmp_path, Address("127.0.0.1", 0, hosts), options, lambda _: None)
        return taken.pop()

    Library.open(tmp_path).close()
    first = start()
    assert first == start() == read_owner_key(tmp_path)
    (tmp_path / OWNER_KEY).unlink()
    second = start()
    assert second == read_owner_key(tmp_path) != first
    access = open_access(tmp_path)
    access.create_key("one", AccessLevel.READ, None, by="test")
    access.close()
    assert start() == second  # other keys do not take it away
    assert start("library.example.org") == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="another user can only be had by root")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_another_user_of_the_machine_gets_nothing(tmp_path: Path) -> None:
    """They can reach the server, and neither read the key nor have it read a folder for them."""
    home, private = tmp_path / "home", tmp_path / "private"
    private.mkdir(mode=0o700)
    Library.open(home).close()

    def attack(served: Served) -> str:
        found = ""
        for path in ("sources", "keys"):
            with socket.socket() as connection:
                connection.connect(("127.0.0.1", int(served.host.rpartition(":")[2])))
                head = f"POST /api/{path} HTTP/1.1\r\nHost: {served.host}\r\nContent-Length: 2"
                connection.sendall(f"{head}\r\n\r\n{{}}".encode())
                found += connection.recv(100).decode().split()[1] + " "
        with suppress(PermissionError):
            found += (home / OWNER_KEY).read_text()
        return found

    with serving(home) as served:
        for folder in (tmp_path, *tmp_path.parents):
            folder.chmod(folder.stat().st_mode | 0o011)  # so that they come as far as the home
        assert _as_nobody(lambda: attack(served)) == "401 401 "


def _as_nobody(work: Callable[[], str]) -> str:
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
