"""Who calls: the credentials of a request, and what they permit."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.library import Library
from chapterhouse.text.naming import valid_name
from chapterhouse.types import Scope
from chapterhouse.types.access import AccessLevel, Grant

COOKIE: Final = "chapterhouse_session"
WORKSPACE: Final = "X-Workspace"
CSRF: Final = "X-CSRF-Token"
_DEFAULT: Final = "default"

# Who shows the key in the home, to a server that only this machine can reach.
OWNER: Final = Grant("owner", AccessLevel.ADMIN, None)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request brings along; at most one of them counts."""

    key: str
    session: str
    csrf: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and where.

    Attributes:
        workspace: The workspace that the request is about.
        expect: Is called with the bytes of an answer that may be large before it is made; raises
            ``Refusal`` while the caller does not read others.
    """

    grant: Grant
    workspace: str
    address: str
    request_id: str
    expect: Callable[[int], None] = field(default=lambda _: None, compare=False)


def credentials(headers: Headers) -> Credentials:
    """Return what the headers of a request bring along."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    bearer = value.strip() if scheme.lower() == "bearer" else ""
    key = headers.get("x-api-key", "").strip()
    if key and bearer and key != bearer:
        raise Refusal(400, "The request brings two keys.", hint="Send one of them.")
    cookies = cookie_parser(headers.get("cookie", ""))
    return Credentials(key or bearer, cookies.get(COOKIE, ""), headers.get(CSRF, ""))


def workspace_of(headers: Headers, grant: Grant) -> str:
    """Return the workspace that a request is about: the one it names, or the caller's only one.

    Raises:
        NotFoundError: the caller has no such workspace, whether it exists or not.
    """
    only = grant.workspaces[0] if grant.workspaces and len(grant.workspaces) == 1 else ""
    name = headers.get(WORKSPACE, "").strip() or only or _DEFAULT
    if not valid_name(name) or not grant.permits(AccessLevel.READ, name):
        raise NotFoundError(f"There is no workspace '{name[:100]}'.")
    return name


def permitted(grant: Grant, library: Library) -> tuple[Scope, frozenset[str] | None]:
    """Return which documents a caller may see, and which personas there are for them.

    The documents are those of their shelves and of their personas. Who is limited to shelves alone
    has the personas who read nothing else: others would speak of what is outside.

    Returns:
        The scope, and slugs of personas; None for all of them.
    """
    if grant.is_whole:
        return Scope.everything(), None
    reads = {
        entry.slug: set(entry.folder.persona.reads) if entry.folder else set()
        for entry in library.personas.all()
    }
    shelves = set(grant.shelves or ())
    if grant.personas is None:
        own = frozenset(slug for slug, read in reads.items() if read and read <= shelves)
        return Scope.of(shelves), own
    own = frozenset(grant.personas) & reads.keys()  # the name alone: no beginning of another's
    return Scope.of(shelves.union(*(reads[slug] for slug in own))), own
