"""The door: every request passes it before any of its body is read.

It checks Host and Origin, the credentials, and how often the caller came; it names the request,
writes one line about it to the log and records what was refused.
"""

import asyncio
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces.admission import Admission, refusal
from chapterhouse.interfaces.api.limits import InProgress, RateLimit, bounded
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import (
    OWNER,
    Caller,
    Credentials,
    credentials,
    is_page,
    workspace_of,
)
from chapterhouse.interfaces.api.state import ServerState
from chapterhouse.types.access import AuditOutcome, Grant

# What anyone may call: whether the server lives, and the way in.
OPEN: Final = frozenset({
    ("GET", "/api/health"), ("GET", "/api/ready"), ("POST", "/api/session"),
    ("GET", "/login"), ("POST", "/login"), ("GET", "/enter"), ("GET", "/assets"),
})  # fmt: skip
UPLOADS: Final = frozenset({"/api/documents/upload", "/documents/upload"})

_BODY_BYTES: Final = 4 * 2**20  # of any request but an upload
_OPEN_BYTES: Final = 64 * 2**10  # of what anyone may send
HEADER_BYTES: Final = 16 * 2**10
_HEADERS_IN_ALL: Final = 100
_PIECE_BYTES: Final = 64 * 2**10  # of an answer that are sent at a time
_LARGE_BYTES: Final = 256 * 2**10  # an answer is counted from here on
_UNREAD_BYTES: Final = 32 * 2**20  # of large answers that one caller may have under way
_REFUSED: Final = frozenset({401, 403})
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})  # they change nothing
_OWN_SITES: Final = frozenset({"same-origin", "none"})  # none: typed, or from a bookmark
_CHECK_SECONDS: Final = 2.0  # of a long answer, after which its key may be revoked by now
_PAUSE_SECONDS: Final = 1.0
_SHARE_OF_REFUSALS: Final = 0.1  # of the requests of a caller, for those of an address
_HEADERS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_log: Final = logging.getLogger("chapterhouse.access")


class Door:
    """An ASGI application in front of another one."""

    def __init__(
        self,
        application: ASGIApp,
        state: ServerState,
        admitted: Admission,
        problem_of: Callable[[Exception, Scope], Response],
    ) -> None:
        self._application = application
        self._problem_of = problem_of
        self.state = state
        self._admitted = admitted
        self._limit = state.rate_limit("requests")
        self._refusals = state.rate_limit("refusals", _SHARE_OF_REFUSALS)
        self._unread = InProgress(_UNREAD_BYTES, "Read the answers to your other requests first.")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        scope = _without_slash(scope)
        visit = _Visit(scope, send, self._begin_answer)
        self.state.metrics.begin()
        try:
            _require_few(visit.headers)
            await self._require_admitted(visit)
            caller = await self._caller(scope, visit)
            scope.setdefault("state", {})["caller"] = caller
            body = bounded(receive, _most_bytes(scope), self.state.options.body_seconds)
            await self._answer(scope, body, visit)
        except Exception as error:  # noqa: BLE001 - the process boundary: it was logged or is here
            if not visit.status:
                await self._problem_of(error, scope)(scope, receive, visit.send)
            elif not visit.is_complete:  # the connection is all that can still be ended
                raise ConnectionAbortedError("The answer could not be sent whole.") from None
        finally:
            self._conclude(scope, visit)

    def stop(self) -> None:
        """Let streams end with an event that says that the server stops."""
        self.state.stopping.set()

    async def _require_admitted(self, visit: "_Visit") -> None:
        headers = visit.headers
        site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        status = refusal(hosts, origins, self._admitted, site, mode)
        if status is not None:
            # Not the limit of the address: a page could use up that of its reader.
            await _take(self._refusals, f"page {visit.address}")
            raise Refusal(status, "This server does not answer to that name or page.")

    async def _caller(self, scope: Scope, visit: "_Visit") -> Caller | None:
        if is_open(scope["method"], scope["path"]):
            await _take(self._limit, f"address {visit.address}")
            visit.actor = "anyone"
            return None
        try:
            shown = credentials(visit.headers)
            grant = await run_in_thread(lambda: self._grant(shown))
            if not shown.key and scope["method"] not in _SAFE:
                _require_own_page(visit.headers)
        except Refusal:
            await _take(self._refusals, f"address {visit.address}")
            raise
        visit.actor = grant.name
        self._limit.take(grant.name)
        workspace = workspace_of(visit.headers, grant)
        visit.workspace = workspace
        visit.require_valid = lambda: run_in_thread(lambda: self._grant(shown))
        return Caller(
            grant, workspace, visit.address, visit.id, not shown.key,
            lambda size: self._expect(visit, size),
        )  # fmt: skip

    async def _answer(self, scope: Scope, receive: Receive, visit: "_Visit") -> None:
        """Let the application answer, as long as the credentials are valid."""
        answering = asyncio.ensure_future(self._application(scope, receive, visit.send))
        try:
            while not (await asyncio.wait((answering,), timeout=_CHECK_SECONDS))[0]:
                if visit.require_valid is not None:
                    await visit.require_valid()
        finally:
            if not answering.done():
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)
        answering.result()

    def _grant(self, given: Credentials) -> Grant:
        """Return what credentials permit."""
        access = self.state.access
        if given.key:
            if self.state.is_owner(given.key):
                return OWNER
            grant = access.authenticate(given.key)
            if grant is None:
                raise _unknown("The key is not known, expired or revoked.")
            return grant
        if given.session:
            if self.state.is_owner_session(given.session):
                return OWNER
            found = access.authenticate_session(given.session)
            if found is None:
                raise _unknown("The session has ended.")
            return found
        own = " The owner's is in the home: owner.key." if self.state.owner_key else ""
        raise _unknown("A key is needed.", own)

    def _conclude(self, scope: Scope, visit: "_Visit") -> None:
        """Count a request and write its line of the log."""
        if visit.unread:
            self._unread.end(visit.payer, visit.unread)
        seconds = time.perf_counter() - visit.began
        self.state.metrics.count(scope["method"], visit.route, visit.status, seconds)
        _log.info(
            "request=%s method=%s route=%s status=%s caller=%r workspace=%s milliseconds=%d",
            visit.id, scope["method"], visit.route, visit.status, visit.actor or "-",
            visit.workspace or "-", round(1_000 * seconds),
        )  # fmt: skip

    def _expect(self, visit: "_Visit", size: int) -> None:
        """Count the bytes of an answer that is large, once."""
        if size > _LARGE_BYTES and not visit.unread:
            self._unread.add(visit.payer, size)
            visit.unread = size

    async def _begin_answer(self, visit: "_Visit", status: int, size: int) -> None:
        """Count what is to be sent, and record a refusal before its caller learns of it."""
        self._expect(visit, size)
        if status not in _REFUSED:
            return
        action = f"{visit.method} {visit.route}"
        where = {"workspace": visit.workspace, "address": visit.address}
        try:
            await run_in_thread(
                lambda: self.state.access.record(
                    visit.actor, action, outcome=AuditOutcome.REFUSED, **where
                )
            )
        except ChapterhouseError as error:  # it is refused all the same; the log has the line
            _log.warning("A refused request could not be recorded: %s", error.message)


async def _take(limit: RateLimit, name: str) -> None:
    """Take a token for somebody unknown; where there is none, the answer takes a while."""
    try:
        limit.take(name)
    except Refusal:
        await asyncio.sleep(_PAUSE_SECONDS)
        raise


def is_open(method: str, path: str) -> bool:
    """Whether anyone may call an address; the parts of all pages lie below ``/assets``."""
    return (method, f"/{path.split('/', 2)[1]}" if is_page(path) else path) in OPEN


def _require_own_page(headers: Headers) -> None:
    """See that what a session is to change was sent by a page of this server.

    A browser says so by headers that no page can choose. It also sends the session's cookie with
    requests of other pages of this machine or domain.
    """
    site = headers.get("sec-fetch-site", "").lower()
    if not site:  # as over plain HTTP from another machine
        sender = headers.get("origin", "").partition("://")[2].lower()
        site = "same-origin" if sender == headers["host"].strip().lower() else "cross-site"
    if site not in _OWN_SITES:
        raise Refusal(403, "No page of this server sent this request.")


def _without_slash(scope: Scope) -> Scope:
    """Return a request as if its address did not end with a slash: each route answers to both.

    To be sent to the other address, as is usual, clients would lose what they have in the body.
    """
    path = scope["path"]
    return {**scope, "path": path[:-1]} if path.endswith("/") and path != "/" else scope


def _most_bytes(scope: Scope) -> float:
    if is_open(scope["method"], scope["path"]):
        return _OPEN_BYTES
    # What an upload may have is a setting of its workspace, which its route looks at.
    return math.inf if scope["path"] in UPLOADS else _BODY_BYTES


def _require_few(headers: Headers) -> None:
    """See that the headers of a request are not too many or too long."""
    size = sum(len(name) + len(value) for name, value in headers.raw)
    if size > HEADER_BYTES or len(headers.raw) > _HEADERS_IN_ALL:
        raise Refusal(431, f"A request has at most {_HEADERS_IN_ALL} headers of 16 KB together.")


class _Visit:
    """What is learned of a request on its way."""

    def __init__(
        self, scope: Scope, send: Send, begin: Callable[["_Visit", int, int], Awaitable[None]]
    ) -> None:
        self.headers = Headers(scope=scope)
        self.method = scope["method"]
        client = scope.get("client")
        self.address = client[0] if client else ""
        self.id = secrets.token_hex(8)
        self.began = time.perf_counter()
        self.status = 0
        self.is_complete = False
        self.actor = ""
        self.workspace = ""
        self.unread = 0  # bytes of the answer, where they are many
        # Asked again in the middle of an answer that takes long, as a stream does.
        self.require_valid: Callable[[], Awaitable[object]] | None = None
        self._scope = scope
        self._send = send
        self._begin = begin

    @property
    def route(self) -> str:
        """The path as a template; never the address itself, which may say much."""
        return getattr(self._scope.get("route"), "path", "-")

    @property
    def payer(self) -> str:
        """Who pays for what is sent."""
        return self.actor or self.address

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            await self._start(message)
        elif message["type"] == "http.response.body":
            body = message.get("body", b"")
            # Each piece waits until there is room: what is not read does not fill the memory.
            for start in range(0, len(body) - _PIECE_BYTES, _PIECE_BYTES):
                piece = bytes(body[start : start + _PIECE_BYTES])
                await self._send({"type": message["type"], "body": piece, "more_body": True})
                await asyncio.sleep(0)  # others have their turn, too
            rest = (len(body) - 1) // _PIECE_BYTES * _PIECE_BYTES if body else 0
            message = {**message, "body": bytes(body[rest:])}
            self.is_complete = not message.get("more_body", False)
        await self._send(message)

    async def _start(self, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        await self._begin(self, message["status"], int(headers.get("Content-Length", "0")))
        self.status = message["status"]
        headers["X-Request-Id"] = self.id
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        if headers["Cache-Control"] == "no-cache":  # as streams say by themselves
            headers["Cache-Control"] = _HEADERS["Cache-Control"]
        if self.status == HTTPStatus.NO_CONTENT:  # there is nothing that could have a type
            del headers["Content-Type"]


def _unknown(detail: str, more: str = "") -> Refusal:
    return Refusal(
        HTTPStatus.UNAUTHORIZED,
        detail,
        hint=f"Send a key: Authorization: Bearer ch_….{more}",
        headers={"WWW-Authenticate": 'Bearer realm="chapterhouse"'},
    )
