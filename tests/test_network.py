"""The guard of the other tests."""

import socket

import pytest


def test_a_test_cannot_connect_beyond_loopback() -> None:
    with socket.socket() as plug, pytest.raises(pytest.fail.Exception, match="connect"):
        plug.connect(("192.0.2.1", 80))


def test_a_test_cannot_look_a_name_up() -> None:
    with pytest.raises(pytest.fail.Exception, match="look up"):
        socket.getaddrinfo("example.org", 80)


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
