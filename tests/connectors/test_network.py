"""Connections: only to addresses that were checked, and with an end."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.connectors.network import Deadline, PinnedNetwork
from chapterhouse.errors import RejectedError

HERE = "127.0.0.1"
PUBLIC, PRIVATE = ["93.184.216.34", "2606:2800:220:1::1"], ["127.0.0.1", "10.0.0.8", "::1"]


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server((HERE, 0)) as listening:
        listening.settimeout(5)
        yield listening


def port_of(server: socket.socket) -> int:
    return int(server.getsockname()[1])


def network(
    *answers: str,
    resolve: Callable[[str, int], Sequence[str]] | None = None,
    permits: Callable[[str], bool] = lambda _: True,
    seconds: float = 10.0,
    connect_seconds: float = 2.0,
) -> PinnedNetwork:
    """Return a network whose resolver gives these addresses for every name."""
    deadline = Deadline(time.monotonic() + seconds)
    return PinnedNetwork(resolve or (lambda *_: answers), permits, deadline, connect_seconds)


def refusal(work: Callable[[], object], code: str) -> str:
    with pytest.raises(RejectedError) as caught:
        work()
    assert caught.value.code == code
    return caught.value.message


def accepted(server: socket.socket) -> bool:
    """Whether somebody connected."""
    server.settimeout(0.05)
    try:
        server.accept()[0].close()
    except TimeoutError:
        return False
    return True


# Where to --------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(PUBLIC), max_size=3),
    st.sampled_from([*PRIVATE, "not an address", "127.1", ""]),
    st.integers(0, 3),
)
def test_one_bad_address_refuses_the_host_wherever_it_stands(
    good: list[str], bad: str, place: int
) -> None:
    answers = [*good[:place], bad, *good[place:]]
    checked = network(*answers, permits=PUBLIC.__contains__)
    # No socket is opened: an address that is tried ends the test, for it is not of this machine.
    message = refusal(lambda: checked.connect_tcp("ferry.example", 80), "url-refused")
    assert not bad or bad not in message


def test_the_peer_of_the_open_socket_is_checked_before_a_byte_is_sent(
    server: socket.socket,
) -> None:
    said = iter([True, False])
    pinned = network(HERE, permits=lambda _: next(said))
    refusal(lambda: pinned.connect_tcp("ferry.example", port_of(server)), "url-refused")
    peer, _ = server.accept()
    with peer:
        assert peer.recv(100) == b""  # it was closed again


def test_the_next_address_is_tried_where_one_does_not_answer(server: socket.socket) -> None:
    pinned = network("127.0.0.2", HERE)  # nobody listens at the first
    pinned.connect_tcp("ferry.example", port_of(server)).close()
    assert accepted(server)


def test_a_host_that_nobody_knows_or_listens_at_is_unreachable() -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    unknown = network(resolve=resolve)
    assert "not known" in refusal(lambda: unknown.connect_tcp("x", 80), "url-unreachable")
    assert "no address" in refusal(lambda: network().connect_tcp("x", 80), "url-unreachable")
    with socket.create_server((HERE, 0)) as gone:
        port = port_of(gone)
    message = refusal(lambda: network(HERE).connect_tcp("x", port), "url-unreachable")
    assert message == "The host could not be reached: Connection refused."


# Until when ------------------------------------------------------------------------------------


def test_a_resolver_that_does_not_answer_is_given_up() -> None:
    answers = threading.Event()

    def resolve(host: str, port: int) -> Sequence[str]:
        answers.wait(10)
        return ()

    late = network(resolve=resolve, seconds=0.1)
    refusal(lambda: late.connect_tcp("ferry.example", 80), "url-timeout")
    answers.set()


def test_neither_reading_nor_writing_outlasts_the_deadline(server: socket.socket) -> None:
    began = time.monotonic()
    for work in (lambda stream: stream.read(1), lambda stream: stream.write(bytes(50_000_000))):
        stream = network(HERE, seconds=0.1).connect_tcp("ferry.example", port_of(server))
        with closing(stream):
            refusal(partial(work, stream), "url-timeout")  # more than is buffered
    assert time.monotonic() - began < 5
