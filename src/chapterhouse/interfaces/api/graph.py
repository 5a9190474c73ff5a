"""Who and what documents speak of, over HTTP, with the sentences that say so."""

from typing import Annotated, Final

from fastapi import Query
from pydantic import Field

from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import Body
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.interfaces.schemas import Result
from chapterhouse.library import Library
from chapterhouse.types.access import AccessLevel
from chapterhouse.types.graph import EntityKind, EntityList, EntityPage, EntityPath, NameDecision

READ: Final = needs(AccessLevel.READ)
DECIDE: Final = needs(AccessLevel.WRITE, whole=True)
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
    sentences: Annotated[int, Query(ge=0, le=200)] = 20,
    related: Annotated[int, Query(ge=0, le=100)] = 10,
    documents: Annotated[int, Query(ge=0, le=100)] = 5,
) -> EntityPage:
    """Return the sentences that name somebody or something, and what it is to others."""
    return await exchange.look_long(
        lambda library: library.graph.show(
            name, sentences=sentences, related=related, documents=documents, wait=WAIT
        )
    )


@graph.get("/path", openapi_extra=READ)
async def show_path(exchange: Exchanged, source: Name, target: Name) -> EntityPath:
    """Return the shortest way of at most three steps between two names, each with its sentence."""
    return await exchange.look_long(lambda library: library.graph.path(source, target, wait=WAIT))


class NameBody(Body):
    """A name, and the one that it is another name of; without that it is to stand alone."""

    name: Annotated[str, Field(min_length=1, max_length=_LONGEST)]
    entity: Annotated[str, Field(max_length=_LONGEST)] = ""


class DecisionsResult(Result):
    """What people decided about names; those that stand alone mean themselves."""

    decisions: tuple[NameDecision, ...]


@graph.get("/decisions", openapi_extra=needs(AccessLevel.READ, whole=True))
async def list_decisions(exchange: Exchanged) -> DecisionsResult:
    """List what people decided about names."""
    return await exchange.look(lambda library: DecisionsResult(decisions=library.graph.decisions()))


@graph.post("/decisions", openapi_extra=DECIDE)
async def decide_name(exchange: Exchanged, body: NameBody) -> DecisionsResult:
    """Decide that two names mean one, or that a name stands alone."""
    by = exchange.caller.grant.name

    def decide(library: Library) -> DecisionsResult:
        graph, name = library.graph, body.name
        return DecisionsResult(
            decisions=graph.merge(name, body.entity, by, wait=WAIT)
            if body.entity
            else graph.split(name, by, wait=WAIT)
        )

    return await exchange.change("graph.decide", body.name, decide)


@graph.delete("/decisions", openapi_extra=DECIDE)
async def undo_decision(exchange: Exchanged, name: Name) -> DecisionsResult:
    """Take back what was decided about a name."""
    return await exchange.change(
        "graph.undo",
        name,
        lambda library: DecisionsResult(decisions=library.graph.undo(name, wait=WAIT)),
    )
