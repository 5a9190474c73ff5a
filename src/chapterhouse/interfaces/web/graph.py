"""Who and what documents speak of, on the page: a list, and a page for each with its sentences."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Query, Response

from chapterhouse.interfaces.api import graph as api
from chapterhouse.interfaces.web.frame import Visited, pages
from chapterhouse.types.graph import EntityKind, EntityPage, RelatedEntity

_ROWS: Final = 200
_SENTENCES: Final = 50
_AROUND: Final = 16  # entities that are drawn about one
_WIDTH, _HEIGHT, _REACH = 640, 360, 140  # of the drawing
_FAR: Final = 1.6  # as many times as high as it is wide


@pages.get("/graph", openapi_extra=api.READ)
async def show_entities(
    visit: Visited,
    text: Annotated[str, Query(max_length=200)] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
) -> Response:
    """Show people, organizations, places and things, those that most documents name first."""
    chosen = EntityKind(kind) if kind in set(EntityKind) else None
    found = await api.list_entities(visit, text, chosen, _ROWS, 0)
    values = {"found": found, "text": text, "kind": kind, "kinds": list(EntityKind)}
    return await visit.show("graph.html", values)


@pages.get("/graph/entity", openapi_extra=api.READ)
async def show_entity(visit: Visited, name: api.Name) -> Response:
    """Show the sentences that name somebody or something, and whom it stands with."""
    found = await api.show_entity(visit, name, _SENTENCES, _AROUND)
    return await visit.show("entity.html", {"found": found, "drawn": list(_drawn(found))})


@dataclass(frozen=True, slots=True)
class DrawnEntity:
    """A related entity and where it is drawn, in pixels; how wide its line is."""

    related: RelatedEntity
    x: float
    y: float
    width: float


def _drawn(found: EntityPage) -> Iterator[DrawnEntity]:
    """Yield the related entities, around the one in the middle."""
    related: Sequence[RelatedEntity] = found.related
    for number, one in enumerate(related):
        angle = 2 * math.pi * number / len(related) - math.pi / 2
        yield DrawnEntity(
            one,
            round(_WIDTH / 2 + _FAR * _REACH * math.cos(angle), 1),
            round(_HEIGHT / 2 + _REACH * math.sin(angle), 1),
            round(1 + math.log(one.together), 1),
        )
