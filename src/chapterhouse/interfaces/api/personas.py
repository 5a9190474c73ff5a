"""Personas over HTTP: those whom a caller may ask."""

from typing import Final

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.agent_results import all_personas
from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.schemas import PersonaResult, PersonasResult
from chapterhouse.types.access import AccessLevel

READ: Final = needs(AccessLevel.READ)
personas: Final = router("/api/personas", "personas")


@personas.get("", openapi_extra=READ)
async def list_personas(exchange: Exchanged) -> PersonasResult:
    """List the personas that you may ask, those that cannot be used with the reason."""
    return await exchange.look(all_personas)


@personas.get("/{slug}", openapi_extra=READ)
async def show_persona(exchange: Exchanged, slug: str) -> PersonaResult:
    """Show a persona."""
    found = (await exchange.look(all_personas)).personas
    for one in found:
        if one.slug == slug:
            return one
    raise NotFoundError(f"There is no persona '{slug[:100]}'.")
