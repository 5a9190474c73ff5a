"""The frame of every page: templates, who looks at it, forms, errors, and what it loads."""

import gzip
import json
import mimetypes
from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from importlib import resources
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Form, Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import Field
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import Scope

from chapterhouse import __version__
from chapterhouse.concurrency import run_in_thread
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.door import SAFE, require_token
from chapterhouse.interfaces.api.problems import api_problem, refusal_of
from chapterhouse.interfaces.api.routing import ANYONE, CSRF, GuardedRoute, is_page
from chapterhouse.interfaces.api.schemas import Body
from chapterhouse.interfaces.api.state import Exchange
from chapterhouse.interfaces.service import without_paths
from chapterhouse.presenting import wording
from chapterhouse.presenting.blocks import CitationBlock, Words
from chapterhouse.presenting.citing import citation_line, clean
from chapterhouse.presenting.document_view import ViewBlock
from chapterhouse.text.sanitise import inert, sanitise, sanitise_line
from chapterhouse.types import Citation
from chapterhouse.types.access import AccessLevel

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",  # without any, a browser sends forms from nowhere
    "Vary": "HX-Request, Cookie",
}
_FOREVER: Final = {"Cache-Control": "private, max-age=31536000, immutable"}
_FORMS: Final = ("application/x-www-form-urlencoded", "multipart/form-data")
_KILOBYTE: Final = 1_024


class PageForm(Body):
    """A form of a page; the token says that the page was ours."""

    csrf: str = Field(default="", max_length=100)


def _take_form(form: Annotated[PageForm, Form()]) -> None:
    """See that a form has the token alone."""
    del form


BARE: Final = Depends(_take_form)  # of a route whose form has nothing but the token


class PageRoute(GuardedRoute):
    """A route of a page. What changes something needs the session's token, in a header or field."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            caller = request.state.caller
            if caller is not None and caller.csrf and request.method not in SAFE:
                shown = request.headers.get(CSRF, "")
                if not shown and request.headers.get("content-type", "").startswith(_FORMS):
                    shown = str((await request.form()).get("csrf", ""))
                require_token(shown, caller.csrf)
            return await handle(request)

        return checked


def page_router(prefix: str = "") -> APIRouter:
    """Return a router of pages; each states who may open it, as those of the API do."""
    return APIRouter(prefix=prefix, route_class=PageRoute, default_response_class=HTMLResponse)


def is_partial(request: Request) -> bool:
    """Whether a script of the page wants a part of it, to be put where it belongs."""
    return request.headers.get("hx-request") == "true"


def render(
    request: Request, name: str, values: Mapping[str, Any], status: int = HTTPStatus.OK
) -> HTMLResponse:
    """Return a template as an answer: within the frame, or alone where a script asks for it."""
    caller = getattr(request.state, "caller", None)
    text = fragment(
        name,
        {
            "caller": caller,
            "csrf": caller.csrf if caller else "",
            "is_partial": is_partial(request),
            "path": request.url.path,
            "permits": caller.grant.level.includes if caller else lambda _: False,
            "workspaces": getattr(request.state, "workspaces", ()),
            **values,
        },
    )
    return HTMLResponse(text, status, _HEADERS)


async def show(
    request: Request, exchange: Exchange, name: str, values: Mapping[str, Any]
) -> HTMLResponse:
    """Return a template as an answer to a caller, who can go to their other workspaces."""
    if not is_partial(request):
        names = await run_in_thread(exchange.server.workspaces.names)
        grant = exchange.caller.grant
        own = [one for one in names if grant.permits(AccessLevel.READ, one)]
        request.state.workspaces = own
    return render(request, name, values)


def fragment(name: str, values: Mapping[str, Any]) -> str:
    """Return a template as text; all that is put into it is escaped."""
    return _environment().get_template(name).render(values)


def redirect(request: Request, path: str, **query: object) -> Response:
    """Return an answer that sends a browser elsewhere on this server, whatever asked."""
    where = f"{path}?{urlencode(query)}" if query else path
    if is_partial(request):
        return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": where})
    return RedirectResponse(where, HTTPStatus.SEE_OTHER)


def own_path(path: str) -> str:
    """Return where a browser may be sent: a path of this server, else its first page."""
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain and "\\" not in path else "/"


def page_problem(error: Exception, scope: Scope) -> Response:
    """Return an error as people see it; who is not known is sent to the way in."""
    headers = dict(scope["headers"])
    if not is_page(scope["path"]) or b"text/html" not in headers.get(b"accept", b""):
        return api_problem(error, scope)
    request = Request(scope)
    found = refusal_of(error)
    if found.status == HTTPStatus.UNAUTHORIZED and scope["path"] != "/login":
        where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return redirect(request, "/login", **({"next": where} if where != "/" else {}))
    if found.status == HTTPStatus.NOT_MODIFIED:
        return api_problem(error, scope)
    values = {
        "title": HTTPStatus(found.status).phrase,
        "detail": sanitise_line(without_paths(found.detail)),
        "hint": sanitise_line(without_paths(found.hint)),
        "places": found.places,
    }
    answer = render(request, "problem.html", values, found.status)
    answer.headers.update(found.headers)
    return answer


# --- what pages load ----------------------------------------------------------------------------

assets: Final = page_router("/assets")


@assets.get("/{digest}/{name}", openapi_extra=ANYONE)
async def load(request: Request, digest: str, name: str) -> Response:
    """Return a part of all pages; another version of it has another address."""
    if name not in _assets() or asset(name) != f"/assets/{digest}/{name}":
        raise NotFoundError("There is no such part of a page.")
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers = {**_FOREVER, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(_compressed(name), media_type=kind, headers=headers)
    return Response(_assets()[name], media_type=kind, headers=_FOREVER)


@cache
def _assets() -> Mapping[str, bytes]:
    folder = resources.files(__package__).joinpath("static")
    shared = resources.files("chapterhouse.presenting").joinpath("table.js")
    return {one.name: one.read_bytes() for one in (shared, *folder.iterdir()) if one.is_file()}


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(_assets()[name], 9, mtime=0)


@cache
def asset(name: str) -> str:
    """Return the address of a part of all pages."""
    return f"/assets/{sha256(_assets()[name]).hexdigest()[:12]}/{name}"


# --- what templates say -------------------------------------------------------------------------


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "address": source_address,
        "asset": asset,
        "version": __version__,
        "citation_line": citation_line,
        "levels": AccessLevel,
    }
    environment.filters |= {
        "clean": clean,
        "count": count,
        "inert": inert,
        "json": json.dumps,
        "kind": lambda one: type(one).__name__,
        "moment": wording.moment,
        "place": lambda text: quote(text, safe=""),
        "size": size,
    }
    environment.tests |= {
        "marked": is_marked,
        "citation_block": lambda one: isinstance(one, CitationBlock),
        "words": lambda one: isinstance(one, Words),
    }
    return environment


def source_address(citation: Citation) -> str:
    """Return where the source of a citation is shown at its quotation; empty where it is none."""
    if citation.tool:
        return ""
    query = urlencode({"from": citation.start, "to": citation.end})
    return f"/documents/{quote(citation.document_id, safe='')}?{query}"


def is_marked(block: ViewBlock) -> bool:
    """Whether a block of a document has a part of the passage that is shown."""
    cells = (*block.header, *(cell for row in block.rows for cell in row))
    return any(run.is_marked for runs in (block.runs, block.marker, *cells) for run in runs)


def _visible(value: Any) -> Any:
    """Return a value without what nobody sees in it; markup of ours as it stands."""
    if value is None:
        return ""
    return sanitise(value).text if type(value) is str else value


def count(number: int, one: str, several: str = "") -> str:
    """Return ``1 document`` or ``1,204 documents``."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def size(number: float) -> str:
    """Return a number of bytes as people read it: ``4.2 MB``."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if number < _KILOBYTE or unit == "GB":
            break
        number /= _KILOBYTE
    return f"{number:,.0f} {unit}" if unit in {"bytes", "kB"} else f"{number:,.1f} {unit}"
