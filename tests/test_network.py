import socket

import pytest


def test_a_test_cannot_reach_or_look_up_what_is_beyond_loopback() -> None:
    with socket.socket() as plug, pytest.raises(pytest.fail.Exception, match="connect"):
        plug.connect(("192.0.2.1", 80))
    with pytest.raises(pytest.fail.Exception, match="look up"):
        socket.getaddrinfo("example.org", 80)
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
