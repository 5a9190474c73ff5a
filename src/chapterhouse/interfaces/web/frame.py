"""The frame of every page: templates, who looks at it, forms, errors, and what it loads."""

import gzip
import json
import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from http import HTTPStatus
from importlib import resources
from typing import Annotated, Any, Final
from urllib.parse import quote, unquote, urlencode

from fastapi import APIRouter, Depends, Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import Scope

from chapterhouse import __version__
from chapterhouse.agents.council_model import is_council_shelf
from chapterhouse.answering.parts import render_part
from chapterhouse.concurrency import run_in_thread
from chapterhouse.council.minutes.outline import shelf_title
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.problems import api_problem, refusal_of
from chapterhouse.interfaces.api.routing import ANYONE, OWNER, GuardedRoute, is_page
from chapterhouse.interfaces.api.state import Exchange
from chapterhouse.interfaces.service import without_paths
from chapterhouse.presenting import wording
from chapterhouse.presenting.blocks import CitationBlock, Words
from chapterhouse.presenting.citing import citation_line
from chapterhouse.presenting.document_view import ViewBlock, quotation_view
from chapterhouse.presenting.styled import shortened
from chapterhouse.reading.formats import claimed_format
from chapterhouse.text.counting import counted
from chapterhouse.text.naming import given_name
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
_COMMAND: Final = re.compile(r"\bchapterhouse ([a-z]+)")
_PLACES: Final = {
    **dict.fromkeys(("add", "document", "list", "reindex", "remove", "shelf", "status"), "Library"),
    **dict.fromkeys(("source", "sync"), "Library, Sources"),
    **dict.fromkeys(("convene", "council", "persona"), "Councils"),
    **dict.fromkeys(("key", "settings", "user", "workspace"), "Settings"),
    "doctor": "Settings, Health",
    "jobs": "Library, Jobs",
    "memory": "History",
    "model": "Settings, Models",
}
SENT: Final = "upload"
_SAVE_FORMATS: Final = (  # of answers and minutes: what each is for
    ("md", "Markdown", "Text with footnotes"),
    ("html", "web page", "One file, with its sources"),
    ("json", "file to check", "With all that another person needs to check every quotation"),
)


def folder_name(path: str) -> str:
    """Return how a folder is called; files that were sent lie in one of ours."""
    return "Uploaded files" if path == SENT else path.removeprefix(f"{SENT}/")


async def _typed_fields(request: Request) -> dict[str, str]:
    fields = (await request.form()).items()
    return {name: str(one).replace("\r\n", "\n").strip() for name, one in fields}


# What is typed in a form whose fields are named by what they change; that names unknown ones.
Typed = Annotated[dict[str, str], Depends(_typed_fields)]


# All pages; each states who may open it, as routes of the API do.
pages: Final = APIRouter(route_class=GuardedRoute, default_response_class=HTMLResponse)


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
            "is_partial": is_partial(request),
            "path": request.url.path,
            "permits": caller.grant.level.includes if caller else lambda _: False,
            "workspaces": getattr(request.state, "workspaces", ()),
            **values,
        },
    )
    return HTMLResponse(text, status, _HEADERS)


def fragment(name: str, values: Mapping[str, Any]) -> str:
    """Return a template as text; all that is put into it is escaped."""
    return _environment().get_template(name).render(values)


def redirect(request: Request, path: str, **query: object) -> Response:
    """Return an answer that sends a browser elsewhere on this server, whatever asked."""
    where = f"{path}?{urlencode(query)}" if query else path
    if is_partial(request):
        return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": where})
    return RedirectResponse(where, HTTPStatus.SEE_OTHER)


@dataclass(frozen=True, slots=True)
class Note:
    """What is to be known before something goes on.

    Attributes:
        back: Where it goes on from.
        does: What is confirmed by a press of its button; empty where nothing is.
        fields: What is sent with that.
    """

    title: str
    meaning: str
    back: str
    listed: Sequence[str] = ()
    does: str = ""
    fields: Sequence[tuple[str, str]] = ()
    hint: str = ""
    wrong: bool = False


class Visit(Exchange):
    """An exchange that is answered with pages."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.app.state.server, request.state.caller)
        self.request = request

    @property
    def may_remember(self) -> bool:
        """Whether a question may be remembered: those of the owner, as on the command line."""
        return self.remember or self.caller.grant is OWNER

    async def show(
        self, name: str, values: Mapping[str, Any], status: int = HTTPStatus.OK
    ) -> HTMLResponse:
        """Return a template as an answer; the caller can go to their other workspaces."""
        if not is_partial(self.request):
            names = await run_in_thread(self.server.workspaces.names)
            permits = self.caller.grant.permits
            own = [one for one in names if permits(AccessLevel.READ, one)]
            self.request.state.workspaces = own
        return render(self.request, name, values, status)

    async def show_note(self, note: Note) -> Response:
        """Return what is to be known, or confirmed, before something goes on."""
        return await self.show("note.html", asdict(note))

    def redirect(self, path: str, **query: object) -> Response:
        """Return an answer that sends the browser elsewhere on this server."""
        return redirect(self.request, path, **query)


Visited = Annotated[Visit, Depends(Visit)]


def file_of(text: str, name: str) -> Response:
    """Return a text as a file that is saved and not shown."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=mimetypes.guess_type(name)[0], headers=headers)


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
        known = request.method == "GET" and where != "/"  # a form cannot be sent again
        return redirect(request, "/login", **({"next": where} if known else {}))
    if found.status == HTTPStatus.NOT_MODIFIED:
        return api_problem(error, scope)
    host, _, came = request.headers.get("referer", "").partition("://")[2].partition("/")
    asked = Note(
        HTTPStatus(found.status).phrase,
        sanitise_line(without_paths(found.detail)),
        own_path(f"/{came}") if host == request.headers.get("host") else "/",
        [f"{one.place}: {one.problem}" for one in found.places or ()],
        hint=page_hint(sanitise_line(without_paths(found.hint))),
        wrong=True,
    )
    answer = render(request, "note.html", asdict(asked), found.status)
    answer.headers.update(found.headers)
    return answer


def page_hint(hint: str, here: str = "") -> str:
    """Return what to do about a problem: on the page, where that has what a command does.

    Nothing where that is ``here``.
    """
    found = _COMMAND.search(hint)
    place = _PLACES.get(found[1]) if found else ""
    if place and place == here:
        return ""
    return f"See {place} on this page." if place else hint


# --- what pages load ----------------------------------------------------------------------------


@pages.get("/assets/{digest}/{name}", openapi_extra=ANYONE)
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
        "as_text": as_text,
        "asset": asset,
        "version": __version__,
        "citation_line": citation_line,
        "levels": AccessLevel,
        "save_formats": _SAVE_FORMATS,
    }
    environment.filters |= {
        "count": counted,
        "given": lambda source: unquote(given_name(source)),
        "hint": page_hint,
        "inert": inert,
        "json": json.dumps,
        "lines": lambda one: "\n".join(map(str, one)) if isinstance(one, list) else one,
        "kind": lambda one: type(one).__name__,
        "middle": shortened,
        "day": lambda seconds: wording.moment(seconds)[:10],
        "moment": _moment,
        "place": lambda text: quote(text, safe=""),
        "quotation": _quotation,
        "quoted": _quoted,
        "shelf": shelf_title,
        "size": wording.size,
    }
    environment.tests |= {
        "begins": lambda own, path, below: own[: len(path) if below else None] == path,
        "council_shelf": is_council_shelf,
        "marked": is_marked,
        "citation_block": lambda one: isinstance(one, CitationBlock),
        "words": lambda one: isinstance(one, Words),
    }
    return environment


def source_address(citation: Citation) -> str:
    """Return where the source of a citation is shown at its quotation; empty where it is none.

    Where the quotation is not found any more, nothing is marked.
    """
    if citation.tool:
        return ""
    query = {"from": citation.start, "to": citation.end} if citation.verified else {"begin": 0}
    return f"/documents/{quote(citation.document_id, safe='')}?{urlencode(query)}"


def _quotation(citation: Citation) -> tuple[ViewBlock, ...]:
    return quotation_view(citation.quote, claimed_format(citation.source), citation.header)


def _quoted(citation: Citation) -> str:
    return render_part(citation.quote, claimed_format(citation.source), citation.header)


def is_marked(block: ViewBlock) -> bool:
    """Whether a block of a document has a part of the passage that is shown."""
    cells = (*block.header, *(cell for row in block.rows for cell in row))
    return any(run.is_marked for runs in (block.runs, block.marker, *cells) for run in runs)


def _visible(value: Any) -> Any:
    """Return a value without what nobody sees in it; markup of ours as it stands."""
    if value is None:
        return ""
    return sanitise(value).text if type(value) is str else value


def _moment(seconds: int) -> Markup:
    """Return a time as people read it; a script puts it in theirs."""
    whole = wording.moment(seconds)
    found = Markup('<time datetime="{0}T{1}Z" title="{2}">{0} {3} UTC</time>')
    return found.format(whole[:10], whole[11:19], whole, whole[11:16]) if whole else Markup()


def as_text(value: object) -> str:
    """Return a value as a field shows it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
