"""Scripted services of language models on loopback, which speak OpenAI's protocol.

::

    with chat_server(["At nine."]) as server:
        ...  # base_url = server.url
    assert server.requests[0].body["messages"]

A script is a list of steps, one a request and the last one for ever, or a function of the request.
A step is a text, a list of ``ToolCall``s, a ``Reply``, or a function that speaks for itself to the
connection. Whether an answer is streamed is for the request to say.
"""

import json
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.models.chat_script import Reply, Request, ToolCall, answer_of, stream_of

__all__ = ["ChatServer", "Reply", "Request", "Script", "ToolCall", "chat_server"]

Step = str | Sequence[ToolCall] | Reply
Script = Sequence[Step] | Callable[[Request], Step]


class ChatServer:
    """An HTTP server that answers as its script says, and remembers what it was asked.

    Attributes:
        requests: In the order in which they came.
        pages: What is answered to other paths: a Reply, or what is sent as JSON.
        slots: Requests that are worked on at once; others wait. 0: all.
        gone: Set once a client has closed its connection before the end of a response.
    """

    def __init__(
        self, script: Script, pages: Mapping[str, Any] | None = None, slots: int = 0
    ) -> None:
        self.requests: list[Request] = []
        self.pages = pages or {}
        self.asked: list[str] = []  # pages
        self.slots = threading.Semaphore(slots or 1_000)
        self.gone = threading.Event()
        self.open = 0  # requests that are being answered
        self.most_open = 0
        self._scheme = "http"
        self._script = script
        self._lock = threading.Lock()
        self._closing = threading.Event()
        handler = type("Handler", (_Handler,), {"served": self})
        self._server = _QuietServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "https"

    @property
    def origin(self) -> str:
        """Its address without a path."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """What belongs into ``base_url``."""
        return f"{self.origin}/v1"

    def take(self, request: Request) -> Reply:
        """Remember a request; return the answer to it."""
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        if callable(self._script):
            step = self._script(request)
        else:
            step = self._script[min(number, len(self._script) - 1)]
        if isinstance(step, str):
            return Reply(step)
        return step if isinstance(step, Reply) else Reply(calls=step)

    def wait(self, seconds: float, connection: socket.socket) -> None:
        """Wait, but not for a client that has gone, nor beyond the end of the server."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self._closing.is_set():
            if _is_closed(connection):
                raise BrokenPipeError
            time.sleep(min(0.01, max(0.0, until - time.monotonic())))

    def enter(self) -> None:
        with self._lock:
            self.open += 1
            self.most_open = max(self.most_open, self.open)

    def leave(self) -> None:
        with self._lock:
            self.open -= 1

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def chat_server(
    script: Script, pages: Mapping[str, Any] | None = None, slots: int = 0
) -> Iterator[ChatServer]:
    """Run a scripted service for as long as the block lasts."""
    server = ChatServer(script, pages, slots)
    try:
        yield server
    finally:
        server.close()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: ClassVar[ChatServer]

    def do_GET(self) -> None:
        self._send_page({})

    def _send_page(self, body: Any) -> None:
        self.served.asked.append(self.path)
        page = self.served.pages.get(self.path, Reply(status=404, body={"error": "no such page"}))
        page = page(body) if callable(page) else page
        reply = page if isinstance(page, Reply) else Reply(body=page)
        try:
            self.served.wait(reply.seconds, self.connection)
            self._send_body(reply)
        except OSError:
            self.close_connection = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path in self.served.pages:
            self._send_page(body)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, body)
        reply = self.served.take(request)
        self.served.enter()
        self.served.slots.acquire()
        try:
            self.served.wait(reply.seconds, self.connection)
            if reply.body is not None or reply.status != 200:
                self._send_body(reply)
            elif request.body.get("stream"):
                self._send_stream(reply, stream_of(reply, request))
            else:
                self._send_body(replace(reply, body=answer_of(reply, request)))
        except OSError:  # the client has gone, as some tests make it
            self.close_connection = True
            self.served.gone.set()
        finally:
            self.served.slots.release()
            self.served.leave()

    def _send_body(self, reply: Reply) -> None:
        body = b"" if reply.body is None else reply.body
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._send_head(reply, {"Content-Type": "application/json", "Content-Length": len(data)})
        sent = data if reply.cut is None else data[: reply.cut]
        size = 4_096 if not reply.drip else 1
        for start in range(0, len(sent), size):
            self.wfile.write(sent[start : start + size])
            self.served.wait(reply.drip, self.connection)
        if reply.cut is not None:
            self.close_connection = True

    def _send_stream(self, reply: Reply, events: Iterator[str]) -> None:
        kind = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
        self._send_head(reply, kind)
        for number, event in enumerate(events):
            if number == reply.cut:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            data = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
            self.served.wait(reply.drip, self.connection)
        self.wfile.write(b"0\r\n\r\n")

    def _send_head(self, reply: Reply, headers: Mapping[str, object]) -> None:
        self.send_response(reply.status)
        for name, value in {**headers, **reply.headers}.items():
            self.send_header(name, str(value))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _is_closed(connection: socket.socket) -> bool:
    if isinstance(connection, ssl.SSLSocket):  # which cannot be looked into
        return False
    try:
        connection.settimeout(0.0)
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        connection.settimeout(None)
