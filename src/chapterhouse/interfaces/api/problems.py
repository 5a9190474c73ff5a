"""Errors as clients get them: problem details (RFC 9457), in one form for every route."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from chapterhouse import errors
from chapterhouse.interfaces.service import explain, without_paths
from chapterhouse.text.sanitise import sanitise_line

MEDIA_TYPE: Final = "application/problem+json"
_LONGEST: Final = 1_000
_BY_ERROR: Final[Mapping[type[BaseException], int]] = {
    errors.UsageError: 400,
    errors.NotFoundError: 404,
    errors.RejectedError: 422,
    errors.RefusedError: 409,
    errors.ReadOnlyError: 503,
    errors.MissingExtraError: 501,
    errors.BusyError: 503,
    errors.EngineError: 502,
    errors.CorruptLibraryError: 500,
    errors.ChapterhouseError: 503,  # a full disk, another process that writes: try again
}
_BY_CODE: Final = {"too-large": 413}
_RETRY_SECONDS: Final = 5
_PROBLEM: Final = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
# Problems that every route may answer with, as OpenAPI lists them.
_STATUSES: Final = (400, 401, 403, 404, 408, 409, 413, 421, 422, 429, 500, 501, 502, 503)
_RETRIED_LATER: Final = frozenset({429, 503})
_NO_BODY: Final = frozenset({204, 304})


class Place(BaseModel):
    """A part of a request that does not fit, and why."""

    place: str
    problem: str


class Problem(BaseModel):
    """What was wrong, and what to do (RFC 9457)."""

    type: str = Field(description="Names what went wrong, for programs.")
    title: str
    status: int
    detail: str = Field(description="What was wrong, in a sentence.")
    hint: str = Field(default="", description="What to do.")
    code: str = Field(default="", description="Why a file was rejected, for programs.")
    errors: tuple[Place, ...] = Field(default=(), description="Where the request does not fit.")


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems of some statuses as OpenAPI lists them."""
    return {status: _described(status) for status in statuses}


def _described(status: int) -> dict[str, Any]:
    found: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if status not in _NO_BODY:
        found["content"] = _PROBLEM
    if status in _RETRIED_LATER:
        schema = {"type": "integer", "minimum": 1}
        found["headers"] = {"Retry-After": {"schema": schema, "description": "Seconds."}}
    return found


COMMON_PROBLEMS: Final = problem_responses(*_STATUSES)


class Refusal(Exception):  # noqa: N818 - it is an answer, and says why
    """A request that is answered with a status and nothing else.

    Args:
        status: Of HTTP.
        detail: Why, in a sentence.
        hint: What to do.
        headers: That the answer has, such as ``Retry-After``.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.hint = hint
        self.headers = dict(headers or {})


def status_of(error: BaseException) -> int:
    """Return the status by which a client learns of an error."""
    if isinstance(error, errors.RejectedError) and error.code in _BY_CODE:
        return _BY_CODE[error.code]
    found = (_BY_ERROR[kind] for kind in type(error).__mro__ if kind in _BY_ERROR)
    return next(found, 500)


def problem(error: Exception) -> Response:
    """Return what a client gets for an error; nothing in it names a path of this machine."""
    match error:
        case Refusal() if error.status in _NO_BODY:
            return Response(status_code=error.status, headers=error.headers)
        case Refusal():
            return details(error.status, error.detail, error.hint, headers=error.headers)
        case RequestValidationError():
            return details(422, "The request does not fit.", errors=_places(error))
        case HTTPException():
            return details(error.status_code, _http_detail(error), headers=error.headers)
        case errors.ChapterhouseError():
            return _known(error)
        case _:
            return details(500, explain(error))


def _known(error: errors.ChapterhouseError) -> JSONResponse:
    status = status_of(error)
    headers = {}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        seconds = error.seconds if isinstance(error, errors.BusyError) else _RETRY_SECONDS
        headers["Retry-After"] = str(seconds)
    code = {"code": error.code} if isinstance(error, errors.RejectedError) else {}
    kind = _kind(type(error).__name__.removesuffix("Error"))
    return details(status, error.message, error.hint, kind=kind, headers=headers, **code)


def details(
    status: int,
    detail: str,
    hint: str = "",
    *,
    kind: str = "",
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> JSONResponse:
    """Return a problem.

    Args:
        status: Of HTTP.
        detail: What was wrong, in a sentence.
        hint: What to do.
        kind: Names what went wrong, for programs; the status alone when empty.
        headers: Of the answer.
        more: Further members.
    """
    title = HTTPStatus(status).phrase
    body = {
        "type": f"urn:chapterhouse:problem:{kind or _kind(title.replace(' ', ''))}",
        "title": title,
        "status": status,
        "detail": _public(detail),
        **({"hint": _public(hint)} if hint else {}),
        **more,
    }
    return JSONResponse(body, status, dict(headers or {}), MEDIA_TYPE)


def _public(text: str) -> str:
    return sanitise_line(without_paths(text))[:_LONGEST]


def _kind(name: str) -> str:
    """Return ``NotFound`` as ``not-found``."""
    parts = [f"-{letter.lower()}" if letter.isupper() else letter for letter in name]
    return "".join(parts).strip("-").replace("---", "-")


def _http_detail(error: HTTPException) -> str:
    if error.status_code == HTTPStatus.NOT_FOUND:
        return "There is nothing at this address."
    return str(error.detail)


def _places(error: RequestValidationError | ValidationError) -> list[dict[str, str]]:
    return [
        {
            "place": _public(".".join(str(part) for part in one["loc"])),
            "problem": sanitise_line(str(one["msg"]))[:_LONGEST],
        }
        for one in error.errors()
    ]
