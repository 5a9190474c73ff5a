"""The bundle of minutes, with what the library knows of their sources and of who sat."""

from collections.abc import Iterator
from platform import python_version

from chapterhouse.agents.council import as_object
from chapterhouse.agents.council_model import shelf_of
from chapterhouse.answering.recheck import CitationCheck, Holdings, recheck_citations
from chapterhouse.council.meeting.seating import Room
from chapterhouse.council.minutes.bundle import MinutesBundle, make_minutes_bundle
from chapterhouse.council.minutes.contents import all_citations, meetings
from chapterhouse.replying.bundling import documents_of, sections_of
from chapterhouse.types import Minutes
from chapterhouse.wiring import Engines


def minutes_bundle_of(minutes: Minutes, room: Room, engines: Engines) -> MinutesBundle:
    """Return minutes with their sources, and with what they were made with.

    A council that was built in Python has no file, and is not in it.
    """
    held = [meeting for _, meeting in meetings(minutes)]
    personas = sorted({seat.persona for one in held for seat in one.members if seat.persona})
    return make_minutes_bundle(
        minutes,
        documents_of({one.document_id for _, one in all_citations(minutes)}, engines),
        configuration={
            **sections_of(room.settings),
            "embedding": room.settings.embedding.engine,
            "rerank": room.settings.rerank.engine,
            "models": dict(sorted(_models(minutes))),
            "councils": {
                slug: as_object(room.councils.load(slug).council)
                for slug in sorted({one.council for one in held} & set(room.councils.names()))
            },
            "personas": {
                slug: room.house.load(slug).config.model_dump(mode="json")
                for slug in personas
                if slug in room.house.names()
            },
        },
        versions={**room.parts.versions, "python": python_version()},
        sequence=engines.store.sequence(),
    )


def _models(minutes: Minutes) -> Iterator[tuple[str, str]]:
    """Yield who spoke by which model, members of inner councils by their place."""
    for place, meeting in meetings(minutes):
        yield from ((f"{place}{seat.key}", seat.model) for seat in meeting.members if seat.model)
        if meeting.usage is not None:
            yield f"{place}minutes", meeting.method


def recheck_minutes(minutes: Minutes, room: Room, engines: Engines) -> tuple[CitationCheck, ...]:
    """Look every citation up again, also of councils that sat in it.

    Personas and councils on whose shelves the documents stand read what changed first.
    """
    cited = sorted({one.document_id for _, one in all_citations(minutes)})
    found = engines.store.documents_among(cited)
    shelves = {name for one in found.values() for name in one.shelves}
    for slug in sorted(shelves & set(room.house.names())):
        room.house.refresh(slug)
    for slug in room.councils.names():
        if shelf_of(slug) in shelves:
            room.councils.refresh(slug)
    store = engines.store
    return recheck_citations(
        tuple(one for _, one in all_citations(minutes)),
        Holdings(store.document, store.documents, store.body),
    )
