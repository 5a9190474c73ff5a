"""Who and what documents speak of, over HTTP, with the sentences that say so."""

from typing import Annotated, Final

from fastapi import Query

from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.types.access import AccessLevel
from chapterhouse.types.graph import EntityKind, EntityList, EntityPage, EntityPath

READ: Final = needs(AccessLevel.READ)
WAIT: Final = 2.0  # seconds that a request reads documents for names; the next goes on
_LONGEST: Final = 200

graph: Final = router("/api/graph", "graph")
Name = Annotated[
    str, Query(min_length=1, max_length=_LONGEST, description="Any name that documents have.")
]


@graph.get("/entities", openapi_extra=READ)
async def list_entities(
    exchange: Exchanged,
    text: Annotated[str, Query(max_length=_LONGEST, description="Words of a name.")] = "",
    kind: Annotated[EntityKind | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**7)] = 0,
) -> EntityList:
    """List people, organizations, places and things, those that most documents name first."""
    return await exchange.look_long(
        lambda library: library.graph.entities(
            text, kind=kind or "", limit=limit, offset=offset, wait=WAIT
        )
    )


@graph.get("/entity", openapi_extra=READ)
async def show_entity(
    exchange: Exchanged,
    name: Name,
    sentences: Annotated[int, Query(ge=1, le=200)] = 20,
    related: Annotated[int, Query(ge=0, le=100)] = 10,
) -> EntityPage:
    """Return the sentences that name somebody or something, and whom it stands with."""
    return await exchange.look_long(
        lambda library: library.graph.show(name, sentences=sentences, related=related, wait=WAIT)
    )


@graph.get("/path", openapi_extra=READ)
async def show_path(exchange: Exchanged, source: Name, target: Name) -> EntityPath:
    """Return the shortest way of at most three steps between two names, each with its sentence."""
    return await exchange.look_long(lambda library: library.graph.path(source, target, wait=WAIT))
