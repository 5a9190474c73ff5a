"""Personas and councils made and changed as forms, whose fields are those of their definitions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final, Literal

from fastapi import Depends, Form, Request, Response
from pydantic import Field

from chapterhouse.agents.council import council_from, council_schema
from chapterhouse.agents.council_model import BUILT_IN, CouncilModel
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.fields import (
    FieldGroup,
    FormField,
    as_text,
    field_groups,
    read_form,
    without_defaults,
)
from chapterhouse.agents.persona import PERSONA_SCHEMA, PersonaConfig
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import DefinitionError, Problem
from chapterhouse.errors import ChapterhouseError, NotFoundError, UsageError
from chapterhouse.interfaces.api import sources
from chapterhouse.interfaces.api.routing import needs, require
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.schemas import no_such_parameter
from chapterhouse.interfaces.service import without_paths
from chapterhouse.interfaces.web.councils import show_agents
from chapterhouse.interfaces.web.frame import BARE, PageForm, page_router, redirect, show
from chapterhouse.library import Library
from chapterhouse.store.definitions import PROSE_FILE
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types.access import AccessLevel

ADMIN: Final = needs(AccessLevel.ADMIN, whole=True)
_PATHS: Final = frozenset({"folders", "folder"})  # keys of paths of the server's machine
_BUTTON: Final = re.compile(r"(members|rounds)\.(?:add|(\d{1,3})\.(up|down|remove))")
_PROSE: Final = FormField("prose", "text", "Who they are and how they speak, in your own words.")
_FIELDS: Final = {
    "personas": field_groups(PERSONA_SCHEMA, PersonaConfig, _PROSE),
    "councils": field_groups(council_schema(), CouncilModel),
}
Texts = dict[str, list[str]]
Json = Mapping[str, Any]

agents: Final = page_router()


async def _which(request: Request) -> str:
    return request.url.path.split("/")[1]


async def _texts(request: Request) -> Texts:
    form = await request.form()
    return {name: [str(one) for one in form.getlist(name)] for name in form}


Kind = Annotated[str, Depends(_which)]  # personas or councils: what an address begins with


async def _existing(exchange: Exchanged, kind: Kind, slug: str) -> str:
    await exchange.look(lambda library: _registry(library, kind, slug))
    return slug


Slug = Annotated[str, Depends(_existing)]


class NewForm(PageForm):
    """A persona or a council that is to be made; a council of personas, or as it begins."""

    slug: str = Field(max_length=100)
    name: str = Field(default="", max_length=200)
    template: str = Field(max_length=100)
    personas: tuple[str, ...] = Field(default=(), max_length=64)


@agents.post("/personas", openapi_extra=ADMIN)
@agents.post("/councils", openapi_extra=ADMIN)
async def make(
    request: Request, exchange: Exchanged, kind: Kind, form: Annotated[NewForm, Form()]
) -> Response:
    """Make a persona or council, and show the form in which it is described."""
    slug, name = form.slug, sanitise_line(form.name)

    def work(library: Library) -> None:
        if kind == "personas":
            library.personas.create(slug, display_name=name, template=form.template)
        else:
            begun = council_from(form.template, slug, display_name=name, personas=form.personas)
            library.councils.create(begun)

    try:
        await exchange.change(f"{kind}.make", slug, work)
    except ChapterhouseError as error:
        made = {"kind": kind.removesuffix("s"), **form.model_dump()}
        problem = without_paths(f"{error.message} {error.hint}")
        return await show_agents(request, exchange, made=made, problem=problem)
    return redirect(request, f"/{kind}/{slug}/edit")


@agents.get("/personas/{slug}/edit", openapi_extra=ADMIN)
@agents.get("/councils/{slug}/edit", openapi_extra=ADMIN)
async def show_form(
    request: Request, exchange: Exchanged, kind: Kind, slug: Slug, saved: bool = False
) -> Response:
    """Show a definition as a form, with what is wrong at its place, and its documents."""

    def look(library: Library) -> tuple[Json, Sequence[Problem]]:
        registry = _registry(library, kind, slug)
        prose = {"prose": library.personas.prose(slug)} if kind == "personas" else {}
        return {**registry.written(slug), **prose}, registry.validate(slug)

    raw, problems = await exchange.look(look)
    return await _show(request, exchange, (kind, slug), raw, problems, saved=saved)


@agents.post("/personas/{slug}/edit", openapi_extra=ADMIN)
@agents.post("/councils/{slug}/edit", openapi_extra=ADMIN)
async def change(
    request: Request,
    exchange: Exchanged,
    kind: Kind,
    slug: Slug,
    texts: Annotated[Texts, Depends(_texts)],
) -> Response:
    """Write a definition as a form says; or add, move or take out an entry of the form."""
    groups, (action, *_) = _FIELDS[kind], texts.get("action", [""])
    known = [key for group in groups for key in group.names()]
    for name in texts.keys() - {*known, "csrf", "action"}:
        raise UsageError(no_such_parameter(name, known))
    raw = read_form(texts, groups)
    if action != "save":
        raw, focus = edited(raw, action)
        note = "Not saved yet."
        return await _show(request, exchange, (kind, slug), raw, (), focus=focus, note=note)

    def save(library: Library) -> None:
        registry = _registry(library, kind, slug)
        before = registry.written(slug)
        if set(_paths(raw)) - set(_paths(before)):  # other workspaces may lie there
            require(exchange.caller, AccessLevel.ADMIN, whole=True, everywhere=True)
        definition = {key: value for key, value in raw.items() if key != "prose"}
        registry.rewrite(slug, {"slug": slug, **without_defaults(definition, before, groups)})
        if kind == "personas" and raw["prose"] != library.personas.prose(slug):
            library.personas.describe(slug, raw["prose"])

    try:
        await exchange.change(f"{kind}.change", slug, save)
    except DefinitionError as error:
        return await _show(request, exchange, (kind, slug), raw, error.problems, status=422)
    return redirect(request, f"/{kind}/{slug}/edit", saved="true")


@agents.post("/personas/{slug}/profile", openapi_extra=ADMIN, dependencies=[BARE])
async def propose(request: Request, exchange: Exchanged, slug: Slug) -> Response:
    """Show a persona's form with the profile that a model makes of their documents, not saved."""

    def look(library: Library) -> tuple[Json, str]:
        proposal = library.personas.update(slug, dry_run=True).proposal
        raw = {**proposal.after.model_dump(mode="json"), "prose": library.personas.prose(slug)}
        note = " ".join(map(without_paths, proposal.warnings)) or "Nothing would change."
        return raw, "This is proposed, and not saved yet." if proposal else note

    raw, note = await exchange.look_long(look)
    return await _show(request, exchange, ("personas", slug), raw, (), note=note)


def _registry(library: Library, kind: str, slug: str) -> Personas | Councils:
    """Return all personas or councils, one of which is called exactly so."""
    registry = library.personas if kind == "personas" else library.councils
    if slug not in registry.names():
        raise NotFoundError(f"There is no {registry.kind} '{slug[:100]}'.")
    return registry


def edited(raw: Json, action: str) -> tuple[dict[str, Any], str]:
    """Return what a button of a list makes of a definition, and what is then in the focus."""
    found = _BUTTON.fullmatch(action)
    entries = list(raw.get(found[1], ())) if found else []
    if not found or int(found[2] or 0) >= len(entries) + (not found[2]):
        raise UsageError("The form has no such button.")
    place = int(found[2] or len(entries))
    entry = entries.pop(place) if found[2] else {}
    if found[3] != "remove":
        place = max(place + {"up": -1, "down": 1}.get(found[3], 0), 0)
        entries.insert(place, entry)
    return {**raw, found[1]: entries}, f"{found[1]}.{place}.{found[3] or 'add'}"


def _paths(value: object) -> Iterator[str]:
    """Yield the paths of the server's machine that a definition names."""
    for key, one in value.items() if isinstance(value, Mapping) else ():
        named = one if isinstance(one, list) else [one]
        yield from map(str, named) if key in _PATHS else _paths(one)
    for one in value if isinstance(value, list) else ():
        yield from _paths(one)


async def _show(
    request: Request,
    exchange: Exchange,
    named: tuple[str, str],
    raw: Json,
    problems: Iterable[Problem],
    status: int = 200,
    **more: Any,
) -> Response:
    kind, slug = named

    def look(library: Library) -> dict[str, Any]:
        registry = _registry(library, kind, slug)
        with suppress(DefinitionError):  # then it has none, and the form says why
            more["listed"] = registry.documents(slug)
        names = {"persona": library.personas.names(), "council": library.councils.names()}
        return {**names, "model": (*library.settings.models, "none"), "rounds.name": BUILT_IN}

    suggested = await exchange.look(look)
    entries = {group.name: group.places(raw) for group in _FIELDS[kind]}
    values = {
        "kind": kind.removesuffix("s"),
        "slug": slug,
        "title": raw.get("display_name") or slug,
        "groups": _FIELDS[kind],
        "entries": entries,
        "problems": _by_place(problems, _FIELDS[kind], entries),
        "suggested": suggested,
        "as_text": as_text,
        "listed": (),
        "saved": False,
        "focus": "",
        "note": "",
    }
    answer = await show(request, exchange, "agent.html", values | more)
    answer.status_code = status
    return answer


def _by_place(
    problems: Iterable[Problem], groups: Iterable[FieldGroup], entries: Mapping[str, Any]
) -> dict[str, list[Problem]]:
    """Return problems by the field or entry at which a form shows them; empty for above all."""
    known = {"", *entries}
    for group in groups:
        for place, _ in entries[group.name]:
            known |= {place, *group.names(place)}
    found: dict[str, list[Problem]] = {}
    for one in problems:
        path = ["prose"] if one.file.endswith(PROSE_FILE) else [*map(str, one.path)]
        while ".".join(path) not in known:
            path.pop()
        found.setdefault(".".join(path), []).append(one)
    return found


# --- documents ----------------------------------------------------------------------------------


@agents.post("/personas/{slug}/read", openapi_extra=ADMIN, dependencies=[BARE])
@agents.post("/councils/{slug}/read", openapi_extra=ADMIN, dependencies=[BARE])
async def read_documents(request: Request, exchange: Exchanged, kind: Kind, slug: Slug) -> Response:
    """Leave reading what changed in the folders of a persona or council to a job."""
    job = await sources.sync_one(exchange, f"{kind.removesuffix('s')}/{slug}")
    return redirect(request, f"/jobs/{job.id}")


class FileForm(PageForm):
    """A file of a persona, and whether it is taken out of the index or in again."""

    file: str = Field(max_length=4_096)
    action: Literal["remove", "restore"]


@agents.post("/personas/{slug}/documents", openapi_extra=ADMIN)
async def move_file(
    request: Request, exchange: Exchanged, slug: Slug, form: Annotated[FileForm, Form()]
) -> Response:
    """Take a file of a persona out of the index, or in again; the file stays where it is."""

    def move(library: Library) -> None:
        personas = library.personas
        (personas.remove if form.action == "remove" else personas.restore)(slug, form.file)

    await exchange.change(f"personas.{form.action}", f"{slug}/{form.file}", move)
    return redirect(request, f"/personas/{slug}/edit")
