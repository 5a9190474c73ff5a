import socket
from contextlib import closing
from pathlib import Path

import pytest

from chapterhouse.errors import RefusedError, UsageError
from chapterhouse.interfaces.api.serving import Address, Served, serve, url
from chapterhouse.wiring import open_access


@pytest.mark.parametrize(
    ("host", "address"), [("127.0.0.1", "http://127.0.0.1:80"), ("::1", "http://[::1]:80")]
)
def test_an_address_is_one_that_clients_can_use(host: str, address: str) -> None:
    assert url(host, 80) == address


def test_what_others_could_reach_without_a_key_is_not_served(tmp_path: Path) -> None:
    with closing(open_access(tmp_path)) as access:
        served = Served(tmp_path, access, None)
        with pytest.raises(RefusedError):
            serve(served, Address("0.0.0.0", 0, ("library.example.org",)), print)


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with (
        closing(open_access(tmp_path)) as access,
        socket.create_server(("127.0.0.1", 0)) as taken,
    ):
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port}"):
            serve(Served(tmp_path, access, None), Address(port=port), print)
