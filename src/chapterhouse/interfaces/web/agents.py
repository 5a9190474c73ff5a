"""Personas and councils made and changed as forms, whose fields are those of their definitions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import Depends, Form, Request, Response
from pydantic import Field

from chapterhouse.agents.council import council_from, council_schema
from chapterhouse.agents.council_model import BUILT_IN, CouncilModel, shelf_of
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.definition import LONGEST_NAME
from chapterhouse.agents.fields import (
    FormField,
    field_groups,
    read_form,
    without_defaults,
)
from chapterhouse.agents.persona import PERSONA_SCHEMA, PersonaConfig
from chapterhouse.agents.personas import Personas
from chapterhouse.agents.problems import DefinitionError, Problem, errors
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.interfaces.api import sources
from chapterhouse.interfaces.api.routing import needs, require
from chapterhouse.interfaces.schemas import no_such_parameter
from chapterhouse.interfaces.web import agent_form, words
from chapterhouse.interfaces.web.councils import BLANK
from chapterhouse.interfaces.web.frame import BARE, PageForm, Visit, Visited, page_router
from chapterhouse.interfaces.web.jobs import open_syncs
from chapterhouse.interfaces.web.slugs import free_slug
from chapterhouse.library import Library
from chapterhouse.store.definitions import CONFIG_FILE, COUNCIL_FILE
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types.access import AccessLevel

ADMIN: Final = needs(AccessLevel.ADMIN, whole=True)
_PATHS: Final = frozenset({"folders", "folder"})  # keys of paths of the server's machine
_BUTTON: Final = re.compile(r"(members|rounds)\.(?:add|(\d{1,3})\.(up|down|remove))")
_PROSE: Final = FormField("prose", "text", "Who they are and how they speak, in your own words.")
_FILES: Final = (CONFIG_FILE, COUNCIL_FILE)
_FIELDS: Final = {
    "persona": field_groups(PERSONA_SCHEMA, PersonaConfig, _PROSE),
    "council": field_groups(council_schema(), CouncilModel),
}
Texts = dict[str, list[str]]
Json = Mapping[str, Any]

agents: Final = page_router()


async def _which(request: Request) -> str:
    return request.url.path.split("/")[1].removesuffix("s")


async def _texts(request: Request) -> Texts:
    form = await request.form()
    return {name: [str(one) for one in form.getlist(name)] for name in form}


Kind = Annotated[str, Depends(_which)]  # persona or council, by what an address begins with


async def _existing(visit: Visited, kind: Kind, slug: str) -> str:
    await visit.look(lambda library: _registry(library, kind, slug))
    return slug


Slug = Annotated[str, Depends(_existing)]


class NewForm(PageForm):
    """A persona, or a council of personas, that is to be made; the rest is said in its form."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    template: str = Field(default=BLANK, max_length=100)
    personas: tuple[str, ...] = Field(default=(), max_length=64)


@agents.post("/personas", openapi_extra=ADMIN)
@agents.post("/councils", openapi_extra=ADMIN)
async def make(visit: Visited, kind: Kind, form: Annotated[NewForm, Form()]) -> Response:
    """Make a persona or council, and show the form that describes it."""

    def work(library: Library) -> str:
        name = sanitise_line(form.name)
        own = (library.personas if kind == "persona" else library.councils).names()
        slug = free_slug(name, {*own, *library.documents.counts()["shelf"]}, kind)
        if kind == "persona":
            library.personas.create(slug, display_name=name, template=form.template)
        else:
            begun = council_from(form.template, slug, display_name=name, personas=form.personas)
            library.councils.create(begun)
        return slug

    slug = await visit.change(f"{kind}s.make", form.name, work)
    return visit.redirect(f"/{kind}s/{slug}/edit")


@agents.get("/personas/{slug}/edit", openapi_extra=ADMIN)
@agents.get("/councils/{slug}/edit", openapi_extra=ADMIN)
async def show_form(visit: Visited, kind: Kind, slug: Slug, saved: bool = False) -> Response:
    """Show a definition as a form, with what is wrong at its place, and its documents."""

    def look(library: Library) -> tuple[Json, Sequence[Problem]]:
        registry = _registry(library, kind, slug)
        prose = {"prose": library.personas.prose(slug)} if kind == "persona" else {}
        return {**registry.written(slug), **prose}, registry.validate(slug)

    raw, problems = await visit.look(look)
    return await _show(visit, (kind, slug), raw, problems, saved=saved)


@agents.post("/personas/{slug}/edit", openapi_extra=ADMIN)
@agents.post("/councils/{slug}/edit", openapi_extra=ADMIN)
async def change(
    visit: Visited, kind: Kind, slug: Slug, texts: Annotated[Texts, Depends(_texts)]
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
        return await _show(visit, (kind, slug), raw, (), focus=focus, note=note)

    def save(library: Library) -> bool:
        registry = _registry(library, kind, slug)
        before = registry.written(slug)
        if set(_paths(raw)) - set(_paths(before)):  # other workspaces may lie there
            require(visit.caller, AccessLevel.ADMIN, whole=True, everywhere=True)
        definition = {key: value for key, value in raw.items() if key != "prose"}
        registry.rewrite(slug, {"slug": slug, **without_defaults(definition, before, groups)})
        if kind == "persona" and raw["prose"] != library.personas.prose(slug):
            library.personas.describe(slug, raw["prose"])
        is_same = sorted(_paths(raw)) == sorted(_paths(before))
        return not is_same and not errors(registry.validate(slug))

    try:
        is_to_be_read = await visit.change(f"{kind}s.change", slug, save)
    except DefinitionError as error:
        return await _show(visit, (kind, slug), raw, error.problems, status=422)
    if is_to_be_read:
        await sources.sync_one(visit, f"{kind}/{slug}")
    return visit.redirect(f"/{kind}s/{slug}/edit", saved="true")


def _registry(library: Library, kind: str, slug: str) -> Personas | Councils:
    """Return all personas or councils, one of which is called exactly so."""
    registry = library.personas if kind == "persona" else library.councils
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
    visit: Visit,
    named: tuple[str, str],
    raw: Json,
    problems: Iterable[Problem],
    status: int = 200,
    **more: Any,
) -> Response:
    kind, slug = named
    groups = _FIELDS[kind]

    def look(library: Library) -> dict[str, Any]:
        registry = _registry(library, kind, slug)
        more["documents"] = registry.census(slug).documents
        more["reading"] = open_syncs(library).get(f"{kind}/{slug}")
        councils = {name: title for name, title in _titles(library.councils) if name != slug}
        models = dict.fromkeys((*library.settings.models, "none"))
        return {
            "persona": dict(_titles(library.personas)),
            "council": councils if kind == "council" else {},
            "model": {name: name or "" for name in models},
            "rounds.name": dict.fromkeys(BUILT_IN),
        }

    suggested = await visit.look(look)
    entries = {group.name: group.places(raw) for group in groups}
    placed = agent_form.by_place(problems, groups, entries)
    wrong = {place: errors(found) for place, found in placed.items()}
    values = {
        "kind": kind,
        "slug": slug,
        "title": raw.get("display_name") or slug.replace("-", " ").title(),
        "groups": groups,
        "entries": entries,
        "problems": placed,
        "wrong": {place: found for place, found in wrong.items() if found},
        "suggested": suggested,
        "unfolded": agent_form.unfolded(placed, str(more.get("focus", ""))),
        "form": agent_form,
        "words": words,
        "files": _FILES,
        "shelf": slug if kind == "persona" else shelf_of(slug),
        "saved": False,
        "focus": "",
        "note": "",
    }
    return await visit.show("agent.html", values | more, status)


def _titles(registry: Personas | Councils) -> Iterator[tuple[str, str]]:
    """Yield each of all personas or councils by its slug, with how it is called."""
    for one in registry.all():
        yield one.slug, one.folder.display_name if one.folder else one.slug


# --- documents ----------------------------------------------------------------------------------


@agents.post("/personas/{slug}/read", openapi_extra=ADMIN, dependencies=[BARE])
@agents.post("/councils/{slug}/read", openapi_extra=ADMIN, dependencies=[BARE])
async def read_documents(visit: Visited, kind: Kind, slug: Slug) -> Response:
    """Leave reading what changed in the folders of a persona or council to a job."""
    job = await sources.sync_one(visit, f"{kind}/{slug}")
    return visit.redirect(f"/jobs/{job.id}")
