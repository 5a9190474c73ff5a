"""Minutes in bundles, and their citations looked up again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.agents.council import as_object
from chapterhouse.agents.council_model import shelves_of
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.personas import Personas
from chapterhouse.answering import bundle, cite
from chapterhouse.answering.bundle import Bundle, Kind, bundle_of, check
from chapterhouse.answering.runtime import Runtime
from chapterhouse.answering.search import lookup_in, lookup_on_disk
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.council.minutes.contents import (
    all_citations,
    find_agreement,
    map_meetings,
    meetings,
    points_of,
    sentences_of,
    tool_texts,
)
from chapterhouse.errors import UsageError
from chapterhouse.types import GAP, Check, Citation, Memory, Minutes, Scope, TableCell


def holds_minutes(data: str | bytes) -> bool:
    """Whether JSON is, or holds, minutes rather than an answer; both are then read in full."""
    fields = bundle.parse(data)
    if "format" in fields:
        return str(fields["format"]).startswith("chapterhouse-minutes/")
    found = bundle.inner(fields, "minutes")
    return isinstance(found, dict) and "members" in found and "council" in found


def _check_minutes(minutes: Minutes) -> tuple[Check, ...]:
    held = [meeting for _, meeting in meetings(minutes)]
    numbering = [] if all(map(_is_numbered, held)) else ["The numbering"]
    table = [] if all(map(_quotes, held)) else ["A cell of the table"]
    agreement = [] if all(map(_agrees, held)) else ["Who stands where"]
    return (
        check("numbering", "Every number in the minutes has its citation.", numbering),
        check("table", "Every cell of the table is what it quotes.", table),
        check("agreement", "Who stands where is what the replies say.", agreement),
    )


def _agrees(minutes: Minutes) -> bool:
    """Whether members stand where their own replies say."""
    members = (one.key for one in minutes.members)
    return minutes.agreement == find_agreement(minutes.turns, members)


def _quotes(minutes: Minutes) -> bool:
    """Whether every cell is its quotation, but for marks that its sentence goes on."""
    cited = {one.number: one for one in minutes.citations}
    cells = (cell for row in minutes.table for cell in row.cells)
    return all(_is_quotation(one, [cited[n] for n in one.citations if n in cited]) for one in cells)


def _is_quotation(cell: TableCell, cited: Sequence[Citation]) -> bool:
    text = cell.text.removeprefix(f"{GAP} ").removesuffix(f" {GAP}")
    if not text:
        return not cell.citations
    return bundle.quotes(text, cited) or bundle.quotes(cell.text, cited)


def _is_numbered(minutes: Minutes) -> bool:
    """Whether every number and every statement that is named is there, counted from 1."""
    points = list(points_of(minutes))
    cells = (cell for row in minutes.table for cell in row.cells)
    stated = (one for turn in minutes.turns for one in sentences_of(turn))
    used = {number for one in (*stated, *points, *cells) for number in one.citations}
    made = [one.id for one in minutes.statements]
    named = {reply.statement for reply in minutes.replies}
    named |= {name for point in points for name in point.statements}
    return (
        bundle.is_numbered(minutes.citations, used)
        and made == [f"s{number}" for number in range(1, len(made) + 1)]
        and named <= set(made)
        and not any(turn.citations for turn in minutes.turns)
    )


MINUTES: Final = Kind(
    "minutes", "chapterhouse-minutes/5", Minutes, all_citations, _check_minutes, tool_texts
)


def minutes_bundle_of(minutes: Minutes, runtime: Runtime) -> Bundle[Minutes]:
    """Return minutes with their sources, and with what they were made with.

    A council that was built in Python has no file, and is not in it.
    """
    runtime = with_tool_texts(runtime, tool_texts(minutes))
    councils, personas = Councils(runtime), Personas(runtime)
    held = [meeting for _, meeting in meetings(minutes)]
    met = sorted({one.council for one in held} & set(councils.names()))
    members = {member.persona for one in held for member in one.members} & set(personas.names())
    made_with = {
        "models": dict(sorted(_models(minutes))),
        "councils": {slug: as_object(councils.load(slug).council) for slug in met},
        "personas": {
            slug: personas.load(slug).config.model_dump(mode="json") for slug in sorted(members)
        },
    }
    return bundle_of(minutes, MINUTES, runtime, runtime.settings, made_with)


def _models(minutes: Minutes) -> Iterator[tuple[str, str]]:
    """Yield who spoke by which model, members of inner councils by their place."""
    for place, meeting in meetings(minutes):
        yield from ((f"{place}{one.key}", one.model) for one in meeting.members if one.model)
        if meeting.usage is not None:
            yield f"{place}minutes", meeting.method


def remembered_minutes(
    memory_id: str, owners: Sequence[str], runtime: Runtime
) -> tuple[Memory, Minutes | None]:
    """Return a memory with the minutes of its meeting; None where only a text is known.

    A citation is verified where its quotation still stands in its place.

    Raises:
        UsageError: the id is none.
        NotFoundError: ``owners`` have no such memory.
    """
    memory, text = runtime.memories.get(memory_id, owners, runtime.now())
    try:
        minutes = bundle.read_held(text, MINUTES) if text else None
    except UsageError:  # written by another version
        minutes = None
    look = lookup_in(runtime.store, Scope.everything())

    def verified(held: Minutes) -> Minutes:
        return replace(held, citations=cite.verified_now(look, held.citations))

    return memory, minutes and map_meetings(minutes, verified)


def recheck(citations: Sequence[Citation], runtime: Runtime) -> tuple[cite.CitationCheck, ...]:
    """Look citations up again, in the files as they are now.

    Personas and councils on whose shelves the documents stand read what changed first.
    """
    cited = {one.document_id for one in citations}
    found = runtime.store.documents_among(sorted(cited), Scope.everything())
    shelves = {name for one in found.values() for name in one.shelves}
    for slug in sorted(shelves & set(Personas(runtime).names())):
        Personas(runtime).refresh(slug)
    for slug in Councils(runtime).names():
        if shelves_of(slug, shelves):
            Councils(runtime).refresh(slug)
    return cite.recheck(citations, lookup_on_disk(runtime))
