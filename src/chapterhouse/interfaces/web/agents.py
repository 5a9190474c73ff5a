"""Personas and councils: listed, made, changed as a form or as their file."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Annotated, Any, Final, Literal

from fastapi import Depends, Form, Request, Response
from pydantic import Field

from chapterhouse.agents.council import council_from
from chapterhouse.agents.council_model import BUILT_IN, shelf_of
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.definition import (
    COUNCIL_TEMPLATES,
    LONGEST_NAME,
    LONGEST_SLUG,
    PERSONA_TEMPLATES,
    RESERVED,
    as_json,
    parse_object,
)
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import DefinitionError, KeyPath, Problem, errors
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.api import councils, sources
from chapterhouse.interfaces.api.meetings import MeetingState
from chapterhouse.interfaces.api.routing import needs, require
from chapterhouse.interfaces.api.schemas import Body
from chapterhouse.interfaces.values import all_councils, all_personas
from chapterhouse.interfaces.web.frame import (
    Note,
    Typed,
    Visit,
    Visited,
    pages,
)
from chapterhouse.interfaces.web.jobs import open_syncs
from chapterhouse.library import Library
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types.access import AccessLevel

ADMIN: Final = needs(AccessLevel.ADMIN, whole=True)
_BLANK: Final = "blank"  # the templates that say least
_PATHS: Final = frozenset({"folders", "folder"})  # keys of paths of the server's machine
_LONGEST_NUMBER: Final = 5  # characters, for a number behind a short name
_LISTS: Final = frozenset({"folders", "tags"})  # keys that are typed one a line
_FIELDS: Final = _LISTS | {"chair", "display_name", "members", "purpose", "rounds", "shelves"}
_TEXTS: Final = ("persona", "council", "name", "instructions", "model")  # of a member or round
# Of a form: a member, a round or the chair, and what is typed of them.
_PART: Final = re.compile(r"(?:(?:members|rounds)\.\d+|chair)(?=$|\.)")


@pages.get("/councils", openapi_extra=needs(AccessLevel.READ))
async def show_agents(visit: Visited) -> Response:
    """Show the councils and personas that the caller may ask, and their own meetings."""
    is_whole = visit.caller.grant.is_whole

    def look(library: Library) -> dict[str, Any]:
        folders = [one.folder for one in library.councils.all() if one.folder]
        return {
            "councils": all_councils(library).councils if is_whole else (),
            "titles": {one.slug: library.councils.titles(one.council) for one in folders},
            "wrong": {one.slug for one in errors(library.councils.validate())} if is_whole else (),
            "personas": all_personas(library).personas,
        }

    values = {
        **await visit.look(look),
        "meetings": [
            one
            for one in visit.server.meetings.list(visit.caller)
            if is_whole and one.state is MeetingState.OPEN
        ],
        "templates": {"council": COUNCIL_TEMPLATES, "persona": tuple(PERSONA_TEMPLATES)},
        "blank": _BLANK,
    }
    return await visit.show("councils.html", values)


# --- made -----------------------------------------------------------------------------------------


async def _which(request: Request) -> str:
    return request.url.path.split("/")[1].removesuffix("s")


Kind = Annotated[str, Depends(_which)]  # persona or council, by what an address begins with


async def _existing(visit: Visited, kind: Kind, slug: str) -> str:
    await visit.look(lambda library: _registry(library, kind, slug))
    return slug


Slug = Annotated[str, Depends(_existing)]


def _registry(library: Library, kind: str, slug: str = "") -> Personas | Councils:
    """Return all personas or councils, one of which is called exactly so."""
    registry = library.personas if kind == "persona" else library.councils
    if slug and slug not in registry.names():
        raise NotFoundError(f"There is no {registry.kind} '{slug[:100]}'.")
    return registry


class NewForm(Body):
    """A persona, or a council of personas, that is to be made; the rest is said in its form."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    template: str = Field(default=_BLANK, max_length=100)
    personas: tuple[str, ...] = Field(default=(), max_length=64)


@pages.post("/personas", openapi_extra=ADMIN)
@pages.post("/councils", openapi_extra=ADMIN)
async def make(visit: Visited, kind: Kind, form: Annotated[NewForm, Form()]) -> Response:
    """Make a persona or council, and show the form that describes it."""

    def work(library: Library) -> str:
        name = sanitise_line(form.name)
        taken = {*_registry(library, kind).names(), *library.documents.counts()["shelf"]}
        slug = free_slug(name, taken, kind)
        if kind == "persona":
            library.personas.create(slug, display_name=name, template=form.template)
        else:
            begun = council_from(form.template, slug, display_name=name, personas=form.personas)
            library.councils.create(begun)
        return slug

    slug = await visit.change(f"{kind}s.make", form.name, work)
    return visit.redirect(f"/{kind}s/{slug}/edit")


def free_slug(name: str, taken: Collection[str], otherwise: str) -> str:
    """Return a short name for what is called so, which nothing has; ``otherwise`` without any."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    whole = "-".join(re.findall("[a-z0-9]+", plain))
    begun = whole[: LONGEST_SLUG - _LONGEST_NUMBER].strip("-") or otherwise
    others = (f"{begun}-{number}" for number in count(2))
    used = RESERVED.union(taken)
    return next(one for one in chain((begun,), others) if one not in used)


# --- changed --------------------------------------------------------------------------------------


def _edited(before: Mapping[str, Any], typed: Mapping[str, str]) -> dict[str, Any]:
    """Return a definition with what a form says, whose fields are named by their paths in the file.

    Each member, round and chair is sent as the file has it, beside the fields that the form shows
    of it; one that is not ticked is not sent, and its fields do not count.
    """
    new = _with_ticked({name: one for name, one in typed.items() if not _PART.match(name)})
    for name in new.keys() & _LISTS:
        new[name] = list(filter(None, map(str.strip, new[name].splitlines())))
    for name in filter(_PART.fullmatch, typed):
        part = parse_object(typed[name])[0]
        if part is None:
            raise UsageError(f"'{name}' is no part of a definition.", hint="Open the form again.")
        start, where = f"{name}.", name.partition(".")[0]
        fields = {key.removeprefix(start): typed[key] for key in typed if key.startswith(start)}
        if where == "rounds":
            fields["name"] = fields.get("name", "").lower().replace(" ", "_")
        part = _merged(part, _with_ticked(fields))
        if where == "chair":
            new[where] = part
        else:  # a round of which no more is said than its name is written as that
            row = part.get("name") if where == "rounds" and set(part) == {"name"} else part
            new.setdefault(where, []).extend([row] if row else [])
    return _merged(before, new)


def _with_ticked(typed: Mapping[str, str]) -> dict[str, Any]:
    """Return fields with the shelves that are ticked as one list; it is sent empty too."""
    ticked = [name for name in typed if name.startswith("shelves.")]
    new: dict[str, Any] = {name: one for name, one in typed.items() if name not in ticked}
    return new | ({"shelves": [typed[name] for name in ticked if typed[name]]} if ticked else {})


def _merged(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with new values; what is emptied is left out."""
    whole = {**before, **new}
    return {key: one for key, one in whole.items() if one or before.get(key) == one}


@pages.get("/personas/{slug}/edit", openapi_extra=ADMIN)
@pages.get("/councils/{slug}/edit", openapi_extra=ADMIN)
async def show_form(visit: Visited, kind: Kind, slug: Slug, saved: bool = False) -> Response:
    """Show a definition as a form, with what is wrong with it, and its documents."""
    return await _show(visit, (kind, slug), saved=saved)


@pages.post("/personas/{slug}/edit", openapi_extra=ADMIN)
@pages.post("/councils/{slug}/edit", openapi_extra=ADMIN)
async def change(visit: Visited, kind: Kind, slug: Slug, typed: Typed) -> Response:
    """Write a definition as a form says, or as its file, and read its folders where they changed.

    Folders of the server's machine are named by those alone who may do everything on it.
    """
    before = (
        parse_object(await visit.look(lambda library: _registry(library, kind).text(slug)))[0] or {}
    )
    prose = typed.pop("prose", None) if kind == "persona" else None
    text = typed["file"] if set(typed) == {"file"} else as_json(_edited(before, typed))
    paths, known = (sorted(_paths(one)) for one in (parse_object(text)[0], before))

    def save(library: Library) -> bool:
        registry = _registry(library, kind)
        if set(paths) - set(known):  # other workspaces may lie there
            require(visit.caller, AccessLevel.ADMIN, whole=True, everywhere=True)
        registry.rewrite(slug, text)
        if prose is not None and prose != library.personas.prose(slug):
            library.personas.describe(slug, prose)
        return paths != known and not errors(registry.validate(slug))

    try:
        is_to_be_read = await visit.change(f"{kind}s.change", slug, save)
    except DefinitionError as error:
        return await _show(visit, (kind, slug), text, prose, error.problems)
    if is_to_be_read:
        await sources.sync_one(visit, f"{kind}/{slug}")
    return visit.redirect(f"/{kind}s/{slug}/edit", saved="true")


def _paths(value: object) -> Iterator[str]:
    """Yield the paths of the server's machine that a definition names."""
    for key, one in value.items() if isinstance(value, Mapping) else ():
        named = one if isinstance(one, list) else [one]
        yield from map(str, named) if key in _PATHS else _paths(one)
    for one in value if isinstance(value, list) else ():
        yield from _paths(one)


async def _show(
    visit: Visit,
    named: tuple[str, str],
    text: str = "",
    prose: str | None = None,
    problems: Sequence[Problem] = (),
    *,
    saved: bool = False,
) -> Response:
    """Show a definition as it is, or as it was sent with what is wrong with it."""
    kind, slug = named

    def look(library: Library) -> dict[str, Any]:
        registry = _registry(library, kind)
        file = text or registry.text(slug)
        raw = parse_object(file)[0] or {}
        found = problems or registry.validate(slug)
        rows = {name: list(_rows(raw.get(name))) for name in ("members", "rounds")}
        return {
            "raw": raw,
            "file": file,
            "prose": library.personas.prose(slug) if kind == "persona" and prose is None else prose,
            "problems": found,
            "wrong": errors(found),
            "others": [one for one in found if not _has_field(one.path, rows)],
            "title": raw.get("display_name") or slug.replace("-", " ").title(),
            "documents": registry.census(slug).documents,
            "reading": f"{kind}/{slug}" in open_syncs(library),
            "rows": rows,
            "chair": next(_rows([raw.get("chair")]), {}),
            "agents": _agents(library, slug if kind == "council" else ""),
            "models": list(library.settings.models),
            "shelves": library.documents.counts()["shelf"],
        }

    values = {"kind": kind, "slug": slug, "saved": saved, **await visit.look(look)}
    values |= {"shelf": slug if kind == "persona" else shelf_of(slug), "rounds": BUILT_IN}
    values["refused"] = bool(problems)
    return await visit.show("agent.html", values, 422 if problems else 200)


def _has_field(path: KeyPath, rows: Mapping[str, Sequence[object]]) -> bool:
    """Whether a form has a field of what is wrong, where it is told."""
    where, *below = path or ("",)
    is_of_row = not below or where not in rows or int(below[0]) < len(rows[str(where)])
    return where in _FIELDS and is_of_row


def _rows(written: object) -> Iterator[dict[str, Any]]:
    """Yield the members or rounds of a file that a form can show; a round may be its name alone."""
    for one in written if isinstance(written, list) else ():
        row = {"name": one} if isinstance(one, str) else one
        if isinstance(row, dict) and all(isinstance(row.get(name, ""), str) for name in _TEXTS):
            yield row


def _agents(library: Library, itself: str) -> dict[str, dict[str, str]]:
    """Return how all personas and councils are called, but for a council itself, by their kind."""
    return {
        kind: {
            one.slug: one.folder.display_name if one.folder else one.slug
            for one in _registry(library, kind).all()
            if (kind, one.slug) != ("council", itself)
        }
        for kind in ("persona", "council")
    }


class ConfirmedForm(Body):
    """Whether what was told is confirmed."""

    confirmed: Literal["", "yes"] = ""


@pages.post("/personas/{slug}/remove", openapi_extra=ADMIN)
@pages.post("/councils/{slug}/remove", openapi_extra=ADMIN)
async def remove(
    visit: Visited, kind: Kind, slug: Slug, form: Annotated[ConfirmedForm, Form()]
) -> Response:
    """Remove a persona or council, once what goes with it was told and is confirmed."""
    found = await councils.remove_agent(visit, kind, slug, dry_run=not form.confirmed)
    if form.confirmed:
        return visit.redirect("/councils")
    title, back = f"Remove {found.display_name}?", f"/{kind}s/{slug}/edit"
    what = "What goes, and what stays:"
    return await visit.show_note(Note(title, what, back, found.sentences, "Remove"))


# --- documents ----------------------------------------------------------------------------------


@pages.post("/personas/{slug}/read", openapi_extra=ADMIN)
@pages.post("/councils/{slug}/read", openapi_extra=ADMIN)
async def read_documents(visit: Visited, kind: Kind, slug: Slug) -> Response:
    """Leave reading what changed in the folders of a persona or council to a job."""
    job = await sources.sync_one(visit, f"{kind}/{slug}")
    return visit.redirect(f"/jobs/{job.id}")
