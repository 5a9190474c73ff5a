"""Personas over HTTP: those whom a caller may ask."""

from typing import Final

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.agent_results import persona_result
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.schemas import PersonaResult, PersonasResult
from chapterhouse.library import Library
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ)
personas: Final = router("/api/personas", "personas")


@personas.get("", openapi_extra=READ)
async def list_personas(exchange: Exchanged) -> PersonasResult:
    """List the personas that you may ask, those that cannot be used with the reason."""
    found = await exchange.look(
        lambda library: tuple(
            persona_result(one, library.personas) for one in library.personas.all()
        )
    )
    return PersonasResult(personas=found)


@personas.get("/{slug}", openapi_extra=READ)
async def show_persona(exchange: Exchanged, slug: str) -> PersonaResult:
    """Show a persona."""

    def show(library: Library) -> PersonaResult:
        found = next((one for one in library.personas.all() if one.slug == slug), None)
        if found is None:
            raise NotFoundError(f"There is no persona '{slug[:100]}'.")
        return persona_result(found, library.personas)

    return await exchange.look(show)
