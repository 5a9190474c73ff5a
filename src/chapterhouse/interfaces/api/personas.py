"""Personas over HTTP: those whom a caller may ask."""

from typing import Final

from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.registry import Entry
from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.agent_results import persona_result
from chapterhouse.interfaces.api.caller import permitted
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.state import Exchange, Exchanged
from chapterhouse.interfaces.schemas import PersonaResult, PersonasResult
from chapterhouse.library import Library
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ)
personas: Final = router("/api/personas", "personas")


@personas.get("", openapi_extra=READ)
async def list_personas(exchange: Exchanged) -> PersonasResult:
    """List the personas that you may ask, those that cannot be used with the reason."""
    found = await exchange.look(
        lambda library: tuple(_shown(one, library, exchange) for one in library.personas.all())
    )
    return PersonasResult(personas=found)


@personas.get("/{slug}", openapi_extra=READ)
async def show_persona(exchange: Exchanged, slug: str) -> PersonaResult:
    """Show a persona."""

    def show(library: Library) -> PersonaResult:
        found = next((one for one in library.personas.all() if one.slug == slug), None)
        if found is None:
            raise NotFoundError(f"There is no persona '{slug[:100]}'.")
        return _shown(found, library, exchange)

    return await exchange.look(show)


def _shown(entry: Entry[PersonaFolder], library: Library, exchange: Exchange) -> PersonaResult:
    """Return a persona with those of their shelves that the caller may know of."""
    shown = persona_result(entry, library.personas)
    scope, _ = permitted(exchange.caller.grant, library)
    if scope.shelves is None:
        return shown
    visible = tuple(one for one in shown.shelves if one in scope.shelves)
    return shown.model_copy(update={"shelves": visible})
