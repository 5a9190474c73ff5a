"""The door: every request passes it before any of its body is read.

It looks at Host and Origin, at how often the caller came, and at the credentials; it names the
request, writes one line about it to the log and records what was refused.
"""

import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import ChapterhouseError
from chapterhouse.interfaces.admission import Admission, refusal
from chapterhouse.interfaces.api import problems
from chapterhouse.interfaces.api.caller import (
    OWNER,
    Caller,
    Credentials,
    credentials,
    is_owner,
    is_safe,
    workspace_of,
)
from chapterhouse.interfaces.api.limits import bounded
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.interfaces.api.routing import without_slash
from chapterhouse.interfaces.api.state import ServerState
from chapterhouse.types.access import AuditEntry, AuditOutcome, Grant

# What anyone may call: whether the server lives, and the way in.
OPEN: Final = frozenset({
    ("GET", "/"), ("GET", "/api/health"), ("GET", "/api/ready"), ("POST", "/api/session")
})  # fmt: skip
UPLOAD: Final = "/api/documents/upload"

_BODY_BYTES: Final = 4 * 2**20  # of any request but an upload
_FORM_BYTES: Final = 2**20  # around the file of an upload
_REFUSED: Final = frozenset({401, 403})
_CHECK_SECONDS: Final = 2.0  # of a long answer, after which its key may be revoked by now
_HEADERS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_log: Final = logging.getLogger("chapterhouse.access")


class Door:
    """An ASGI application in front of another one.

    Args:
        application: What is behind it.
        state: What the server works with.
        admitted: What Host and Origin may say.
        upload_bytes: What an upload may have.
    """

    def __init__(
        self, application: ASGIApp, state: ServerState, admitted: Admission, upload_bytes: int
    ) -> None:
        self._application = application
        self._state = state
        self._admitted = admitted
        self._upload_bytes = upload_bytes
        self._limit = state.rate_limit()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        scope = without_slash(scope)
        visit = _Visit(scope, send, self._record)
        self._state.metrics.in_progress += 1
        try:
            self._require_admitted(visit.headers)
            self._limit.take(f"address {visit.address}")
            caller = await self._caller(scope, visit)
            scope.setdefault("state", {})["caller"] = caller
            body = bounded(receive, self._most_bytes(scope), self._state.options.body_seconds)
            await self._application(scope, body, visit.send)
        except Exception as error:  # noqa: BLE001 - the process boundary: it was logged or is here
            if not visit.status:
                await problems.problem(error, scope["path"])(scope, receive, visit.send)
            elif not visit.is_complete:  # the connection is all that can still be ended
                raise ConnectionAbortedError("The answer could not be sent whole.") from None
        finally:
            self._state.metrics.in_progress -= 1
            self._conclude(scope, visit)

    def _require_admitted(self, headers: Headers) -> None:
        status = refusal(headers.getlist("host"), headers.getlist("origin"), self._admitted)
        if status is not None:
            raise Refusal(status, "This server does not answer to that name or page.")

    def _most_bytes(self, scope: Scope) -> int:
        is_upload = scope["path"] == UPLOAD
        return self._upload_bytes + _FORM_BYTES if is_upload else _BODY_BYTES

    async def _caller(self, scope: Scope, visit: "_Visit") -> Caller | None:
        if (scope["method"], scope["path"]) in OPEN:
            visit.actor = "anyone"
            return None
        given = credentials(visit.headers)
        grant = await run_in_thread(lambda: self._grant(given, scope["method"]))
        visit.actor = grant.name
        self._limit.take(grant.name)
        workspace = workspace_of(visit.headers, grant)
        visit.workspace = workspace
        visit.require_valid = lambda: run_in_thread(lambda: self._grant(given, scope["method"]))
        return Caller(grant, workspace, visit.address, visit.id)

    def _grant(self, given: Credentials, method: str) -> Grant:
        """Return what credentials permit.

        Raises:
            Refusal: they permit nothing, or a page of others may have sent them.
        """
        access = self._state.access
        if given.key:
            if is_owner(given.key, self._state.owner_key):
                return OWNER
            grant = access.authenticate(given.key)
            if grant is None:
                raise _unknown("The key is not known, expired or revoked.")
            return grant
        if given.session:
            found = access.authenticate_session(given.session)
            if found is None:
                raise _unknown("The session has ended.")
            grant, csrf = found
            if not is_safe(method) and not secrets.compare_digest(
                csrf.encode(), given.csrf.encode("utf-8", "replace")
            ):
                raise Refusal(403, "The request lacks the session's token.")
            return grant
        own = " The owner's is in the home: owner.key." if self._state.owner_key else ""
        raise _unknown("A key is needed.", own)

    def _conclude(self, scope: Scope, visit: "_Visit") -> None:
        """Count a request and write its line of the log."""
        seconds = time.perf_counter() - visit.began
        self._state.metrics.count(scope["method"], visit.route, visit.status, seconds)
        _log.info(
            "request=%s method=%s route=%s status=%s caller=%r workspace=%s milliseconds=%d",
            visit.id, scope["method"], visit.route, visit.status, visit.actor or "-",
            visit.workspace or "-", round(1_000 * seconds),
        )  # fmt: skip

    async def _record(self, visit: "_Visit") -> None:
        """Record a request that is refused, before its caller learns of it."""
        if visit.status not in _REFUSED:
            return
        entry = AuditEntry(
            at=0,
            actor=visit.actor,
            action=f"{visit.method} {visit.route}",
            outcome=AuditOutcome.REFUSED,
            workspace=visit.workspace,
            address=visit.address,
        )
        try:
            await run_in_thread(lambda: self._state.access.record(entry))
        except ChapterhouseError as error:  # it is refused all the same; the log has the line
            _log.warning("A refused request could not be recorded: %s", error.message)


class _Visit:
    """What is learned of a request on its way."""

    def __init__(
        self, scope: Scope, send: Send, answered: Callable[["_Visit"], Awaitable[None]]
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
        # Asked again in the middle of an answer that takes long, as a stream does.
        self.require_valid: Callable[[], Awaitable[Grant]] | None = None
        self._checked = time.monotonic()
        self._scope = scope
        self._send = send
        self._answered = answered

    @property
    def route(self) -> str:
        """The path as a template; never the address itself, which may say much."""
        return getattr(self._scope.get("route"), "path", "-")

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with the headers that every answer has.

        Raises:
            Refusal: meanwhile the credentials have ended.
        """
        await self._check()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self.id
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            if headers["Cache-Control"] == "no-cache":  # as streams say by themselves
                headers["Cache-Control"] = _HEADERS["Cache-Control"]
            await self._answered(self)
        elif message["type"] == "http.response.body":
            self.is_complete = not message.get("more_body", False)
        await self._send(message)

    async def _check(self) -> None:
        now = time.monotonic()
        if self.require_valid is not None and now - self._checked > _CHECK_SECONDS:
            self._checked = now
            await self.require_valid()


def _unknown(detail: str, more: str = "") -> Refusal:
    return Refusal(
        HTTPStatus.UNAUTHORIZED,
        detail,
        hint=f"Send a key: Authorization: Bearer ch_….{more}",
        headers={"WWW-Authenticate": 'Bearer realm="chapterhouse"'},
    )
