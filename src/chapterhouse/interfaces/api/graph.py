"""Who and what documents speak of, over HTTP, with the sentences that say so."""

from typing import Annotated, Final

from fastapi import Query
from pydantic import Field

from chapterhouse.interfaces.api.routing import needs, router
from chapterhouse.interfaces.api.schemas import Body, Result
from chapterhouse.interfaces.api.state import Exchanged
from chapterhouse.types.access import AccessLevel
from chapterhouse.types.graph import (
    Entity,
    EntityKind,
    EntityList,
    EntityNeighbours,
    EntityPage,
    EntityPath,
    NameDecision,
)

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


@graph.get("/related", openapi_extra=READ)
async def list_related(
    exchange: Exchanged,
    name: Name,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 20,
    documents: Annotated[int, Query(ge=0, le=100)] = 10,
) -> EntityNeighbours:
    """Return what a name is to others and whom it stands with, and the documents that say most."""
    return await exchange.look_long(
        lambda library: library.graph.related(name, limit=limit, documents=documents, wait=WAIT)
    )


class NameBody(Body):
    """A name, as documents have it."""

    name: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class MergeBody(NameBody):
    """A name, and the one that it is another name of."""

    other: Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class DecisionsResult(Result):
    """What people said of names."""

    decisions: tuple[NameDecision, ...]


class UndoneResult(Result):
    """How many decisions about a name were taken back."""

    undone: int


class SplitResult(Result):
    """The names that stand alone from now on."""

    names: tuple[str, ...]


@graph.get("/decisions", openapi_extra=needs(AccessLevel.READ, whole=True))
async def list_decisions(exchange: Exchanged) -> DecisionsResult:
    """List what people said of names."""
    return await exchange.look(lambda library: DecisionsResult(decisions=library.graph.decisions()))


@graph.post("/merge", openapi_extra=DECIDE)
async def merge_names(exchange: Exchanged, body: MergeBody) -> Entity:
    """Say that two names mean one; return the entity that they mean."""
    by = exchange.caller.grant.name
    return await exchange.change(
        "graph.merge",
        body.name,
        lambda library: library.graph.merge(body.name, body.other, by, wait=WAIT),
    )


@graph.post("/split", openapi_extra=DECIDE)
async def split_name(exchange: Exchanged, body: NameBody) -> SplitResult:
    """Say that a name stands alone; of an entity's own name, that all its others do."""
    by = exchange.caller.grant.name
    return await exchange.change(
        "graph.split",
        body.name,
        lambda library: SplitResult(names=library.graph.split(body.name, by, wait=WAIT)),
    )


@graph.post("/undo", openapi_extra=DECIDE)
async def undo_decision(exchange: Exchanged, body: NameBody) -> UndoneResult:
    """Take back what was said of a name."""
    return await exchange.change(
        "graph.undo",
        body.name,
        lambda library: UndoneResult(undone=library.graph.undo(body.name, wait=WAIT)),
    )
