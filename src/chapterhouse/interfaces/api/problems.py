"""Errors as clients get them: problem details (RFC 9457), below ``/v1`` in the form of OpenAI."""

import errno
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, Literal

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from chapterhouse import errors
from chapterhouse.interfaces.service import explain, without_paths
from chapterhouse.text.sanitise import sanitise_line

MEDIA_TYPE: Final = "application/problem+json"
OPENAI: Final = "/v1"  # below it clients of OpenAI's protocol call
_LONGEST: Final = 1_000
_OPENAI_CODES: Final = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
_RETRY_SECONDS: Final = 5
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_JSON: Final = "Send an object of JSON, with the header Content-Type: application/json."
_PROBLEM: Final = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
_OPENAI_ERROR: Final = {
    "application/json": {"schema": {"$ref": "#/components/schemas/OpenAIError"}}
}
# Of the problems that every route may answer with.
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


class OpenAIErrorDetails(BaseModel):
    """What was wrong, as OpenAI's service says it."""

    message: str = Field(description="What was wrong, and what to do.")
    type: Literal["server_error", "invalid_request_error"]
    param: str | None = Field(description="The place of the request that does not fit.")
    code: str | None = Field(description="Names what went wrong, for programs.")


class OpenAIError(BaseModel):
    """An error in the form of OpenAI's service."""

    error: OpenAIErrorDetails


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems of some statuses as OpenAPI lists them."""
    return {status: _described(status, _PROBLEM) for status in statuses}


def common_problems(path: str) -> dict[int | str, dict[str, Any]]:
    """Return the problems that every route below a path may answer with, as OpenAPI lists them."""
    form = _OPENAI_ERROR if _is_of_openai(path) else _PROBLEM
    return {status: _described(status, form) for status in _STATUSES}


def _is_of_openai(path: str) -> bool:
    return path == OPENAI or path.startswith(f"{OPENAI}/")


def _described(status: int, form: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if status not in _NO_BODY:
        found["content"] = form
    if status in _RETRIED_LATER:
        schema = {"type": "integer", "minimum": 1}
        found["headers"] = {"Retry-After": {"schema": schema, "description": "Seconds."}}
    return found


class Refusal(Exception):  # noqa: N818 - it is an answer, and says why
    """A request that is answered with a status; ``kind`` ends the problem's type, else that."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        hint: str = "",
        code: str = "",
        headers: Mapping[str, str] | None = None,
        kind: str = "",
        places: tuple[Place, ...] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.hint = hint
        self.code = code
        self.headers = dict(headers or {})
        self.kind = kind
        self.places = places


def name_of_kind(kind: type[BaseException]) -> str:
    """Return how programs know errors of a class: ``not-found``."""
    return _kind(kind.__name__.removesuffix("Error"))


def problem(error: Exception, path: str = "") -> Response:
    """Return what a client gets for an error; nothing in it names a path of this machine.

    The path of the request decides the form.
    """
    found = refusal_of(error)
    if found.status in _NO_BODY:
        return Response(status_code=found.status, headers=found.headers)
    if _is_of_openai(path):
        return _openai_error(found, is_invalid=isinstance(error, RequestValidationError))
    return _details(found)


def api_problem(error: Exception, scope: Scope) -> Response:
    """Return what the client of a request gets for an error."""
    return problem(error, scope["path"])


def refusal_of(error: Exception) -> Refusal:
    """Return an error as the refusal that a client gets."""
    match error:
        case Refusal():
            return error
        case RequestValidationError():
            places = _places(error)
            # Where a sentence of ours says what is wrong with a body, nothing is added.
            lacks = [one for one in error.errors() if one.get("type") != "value_error"]
            hint = _NO_JSON if any(tuple(one["loc"]) == ("body",) for one in lacks) else ""
            return Refusal(422, "The request does not fit.", hint=hint, places=places)
        # While its body was read, or before its answer was sent.
        case HTTPException() | RuntimeError() if isinstance(error.__cause__, Refusal):
            return error.__cause__
        case HTTPException():
            absent = error.status_code == HTTPStatus.NOT_FOUND
            detail = "There is nothing at this address." if absent else str(error.detail)
            return Refusal(error.status_code, detail, headers=error.headers)
        case errors.ChapterhouseError():
            return _known(error)
        case _:
            is_full = isinstance(error, OSError) and error.errno in _FULL
            text = explain(error)
            return _known(errors.ChapterhouseError(text)) if is_full else Refusal(500, text)


def _known(error: errors.ChapterhouseError) -> Refusal:
    headers = {}
    if error.status == HTTPStatus.SERVICE_UNAVAILABLE:
        seconds = error.seconds if isinstance(error, errors.BusyError) else _RETRY_SECONDS
        headers["Retry-After"] = str(seconds)
    code = error.code if isinstance(error, errors.RejectedError) else ""
    kind = name_of_kind(type(error))
    return Refusal(
        error.status, error.message, hint=error.hint, code=code, headers=headers, kind=kind
    )


def _details(found: Refusal) -> JSONResponse:
    title = HTTPStatus(found.status).phrase
    body = Problem(
        type=f"urn:chapterhouse:problem:{found.kind or _kind(title.replace(' ', ''))}",
        title=title,
        status=found.status,
        detail=_public(found.detail),
        hint=_public(found.hint),
        code=found.code,
        errors=found.places,
    )
    shown = body.model_dump(exclude_defaults=True)
    return JSONResponse(shown, found.status, found.headers, MEDIA_TYPE)


def _openai_error(found: Refusal, *, is_invalid: bool) -> JSONResponse:
    """Return an error as OpenAI's service gives it.

    Its clients know by the status which exception to raise; the service says 400 where we say 422.
    """
    status = HTTPStatus.BAD_REQUEST if is_invalid else found.status
    place = found.places[0].place if found.places else ""
    wrong = "; ".join(f"{one.place}: {one.problem}" for one in found.places)
    is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    details = OpenAIErrorDetails(
        message=_public(" ".join(filter(None, (found.detail, wrong, found.hint)))),
        type="server_error" if is_ours else "invalid_request_error",
        param=place.removeprefix("body.").removeprefix("query.") or None,
        code=found.code or _OPENAI_CODES.get(status),
    )
    return JSONResponse(OpenAIError(error=details).model_dump(), status, found.headers)


def _public(text: str) -> str:
    return sanitise_line(without_paths(text))[:_LONGEST]


def _kind(name: str) -> str:
    """Return ``NotFound`` as ``not-found``."""
    parts = [f"-{letter.lower()}" if letter.isupper() else letter for letter in name]
    return "".join(parts).strip("-").replace("---", "-")


def _places(error: RequestValidationError) -> tuple[Place, ...]:
    return tuple(
        Place(
            place=_public(".".join(str(part) for part in one["loc"])),
            problem=_public(str(one["msg"]).removeprefix("Value error, ")),
        )
        for one in error.errors()
    )
