"""Minutes in a file that another person can check, with or without the documents.

As for an answer: one JSON object with keys in order, the minutes with their spans and quotations,
the documents they cite with their hashes, what they were made with, and a seal over all of it. No
clock and no key is in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from platform import python_version
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from chapterhouse.agents.council import as_object
from chapterhouse.agents.council_model import shelves_of
from chapterhouse.agents.councils import Councils
from chapterhouse.agents.personas import Personas
from chapterhouse.answering import checksum
from chapterhouse.answering.bundle import documents_of, sections_of
from chapterhouse.answering.checksum import Source
from chapterhouse.answering.cite import CitationCheck, recheck_citations, text_hash
from chapterhouse.answering.search import holdings_on_disk
from chapterhouse.answering.tool_texts import with_tool_texts
from chapterhouse.council.agreement import find_agreement
from chapterhouse.council.minutes.contents import (
    all_citations,
    meetings,
    points_of,
    sentences_of,
    tool_texts,
)
from chapterhouse.errors import UsageError
from chapterhouse.runtime import Runtime
from chapterhouse.types import (
    GAP,
    Check,
    Citation,
    Document,
    Minutes,
    Scope,
    TableCell,
    ToolText,
)

MINUTES_FORMAT: Final = "chapterhouse-minutes/5"
_ANY_FORMAT: Final = "chapterhouse-minutes/"
_WRITTEN_BY: Final = (
    "Bundles of minutes are written by: chapterhouse convene COUNCIL QUESTION --bundle FILE; what "
    "convene --json printed is checked by: chapterhouse verify FILE"
)


@dataclass(frozen=True, slots=True)
class MinutesBundle:
    """Minutes and all that is needed to check them.

    Attributes:
        minutes: With their spans and quotations.
        quotes: SHA-256 of each citation's quotation, by its number; of a council that sat in it
            by the numbers of the statements on the way there, as ``3-1``.
        sources: The documents cited.
        configuration: The settings and the council that made them; no key is ever among them.
        versions: Of Chapterhouse and of the models.
        sequence: Of the library.
        checksum: SHA-256 of the bundle without it.
    """

    format: str
    minutes: Minutes
    quotes: Mapping[str, str]
    sources: tuple[Source, ...]
    configuration: Mapping[str, object]
    versions: Mapping[str, str]
    sequence: int
    checksum: str = ""


@cache
def _adapter() -> TypeAdapter[MinutesBundle]:
    return TypeAdapter(MinutesBundle)


@cache
def _minutes_adapter() -> TypeAdapter[Minutes]:
    return TypeAdapter(Minutes)


def make_minutes_bundle(
    minutes: Minutes,
    documents: Sequence[Document],
    *,
    configuration: Mapping[str, object],
    versions: Mapping[str, str],
    sequence: int,
) -> MinutesBundle:
    """Return the bundle of minutes.

    Args:
        minutes: The minutes.
        documents: Those that they cite.
        configuration: The settings and the council that made them.
        versions: Of Chapterhouse and of the models.
        sequence: Of the library.
    """
    open_bundle = MinutesBundle(
        format=MINUTES_FORMAT,
        minutes=minutes,
        quotes={name: text_hash(one.quote) for name, one in all_citations(minutes)},
        sources=checksum.sources_of(documents),
        configuration=configuration,
        versions=versions,
        sequence=sequence,
    )
    fields = bundle_fields(open_bundle)
    return _adapter().validate_python({**fields, "checksum": checksum.checksum_of(fields)})


def minutes_bundle_json(bundle: MinutesBundle) -> str:
    """Return a bundle as a file: one JSON object, keys in order, a line feed at the end."""
    return checksum.file_text(bundle_fields(bundle))


def minutes_fields(minutes: Minutes) -> dict[str, object]:
    """Return minutes as a JSON object, from which ``read_minutes`` makes the same again."""
    dumped = _minutes_adapter().dump_python(minutes, mode="json")
    fields: dict[str, object] = checksum.without_own_trust(dumped)
    return fields


def minutes_json(minutes: Minutes) -> str:
    """Return minutes as a JSON file, keys in order."""
    return checksum.file_text(minutes_fields(minutes))


def holds_minutes(data: str | bytes) -> bool:
    """Whether JSON is, or holds, minutes rather than an answer; both are then read in full.

    Raises:
        UsageError: it is no JSON object.
    """
    fields = checksum.parse(data)
    if "format" in fields:
        return str(fields["format"]).startswith(_ANY_FORMAT)
    found = checksum.inner(fields, "minutes")
    return isinstance(found, dict) and "members" in found and "council" in found


def read_minutes(data: str | bytes) -> Minutes:
    """Return minutes out of JSON: their own, those of ``convene --json``, or a bundle.

    Raises:
        UsageError: it holds none.
    """
    try:
        found = checksum.inner(checksum.parse(data), "minutes")
        if isinstance(found, dict) and "statements" in found and "turns" not in found:
            raise _other_version("an earlier form")
        minutes = _minutes_adapter().validate_python(found)
        minutes_fields(minutes)  # minutes within minutes beyond measure
    except ValidationError as error:
        raise checksum.unreadable("minutes", error) from None
    except (PydanticSerializationError, ValueError, RecursionError):
        raise _too_deep() from None
    return minutes


def read_minutes_bundle(data: str | bytes) -> MinutesBundle:
    """Return a bundle of minutes out of JSON.

    Raises:
        UsageError: it is none, or of a later format.
    """
    fields = checksum.parse(data)
    written = str(fields.get("format"))
    if written.startswith(_ANY_FORMAT) and written != MINUTES_FORMAT:
        raise _other_version(written[:80])
    checksum.require_format(fields, MINUTES_FORMAT, _WRITTEN_BY)
    try:
        bundle = _adapter().validate_python(fields)
        read = bundle_fields(bundle)
    except ValidationError as error:
        raise checksum.unreadable("a bundle of minutes", error) from None
    except (PydanticSerializationError, ValueError, RecursionError):
        raise _too_deep() from None
    checksum.require_nothing_else(read, fields)
    return bundle


def bundle_fields(bundle: MinutesBundle) -> dict[str, object]:
    """Return a bundle as a JSON object."""
    dumped = _adapter().dump_python(bundle, mode="json")
    fields: dict[str, object] = checksum.without_own_trust(dumped)
    return fields


def _other_version(written: str) -> UsageError:
    return UsageError(
        f"These minutes are of another version: {written}; this one reads {MINUTES_FORMAT}.",
        hint="Check them with the version that wrote them, or convene the council again.",
    )


def _too_deep() -> UsageError:
    return UsageError(
        "The file holds minutes within minutes beyond measure.", hint="Trust nothing in this file."
    )


# --- checking ----------------------------------------------------------------------------------


def examine_minutes(bundle: MinutesBundle) -> tuple[Check, ...]:
    """Check all of a bundle of minutes that can be checked without its documents.

    Returns:
        ``seal``, ``quotations``, ``sources`` and ``numbering``, as for an answer, ``table`` and
        ``agreement``.
    """
    sources = {source.document_id: source for source in bundle.sources}
    cited = list(all_citations(bundle.minutes))
    held = [meeting for _, meeting in meetings(bundle.minutes)]
    texts = {text.id: text for text in tool_texts(bundle.minutes)}
    torn = [
        f"[{name}]"
        for name, c in cited
        if not (checksum.holds(c, bundle.quotes.get(name)) and _is_in_tool_text(c, texts))
    ]
    without = [f"[{name}]" for name, c in cited if not checksum.is_of(c, sources)]
    return (
        checksum.check_checksum(bundle_fields(bundle)),
        checksum.check_each("quotations", torn),
        checksum.check_each("sources", without),
        checksum.check(
            "numbering", all(map(_numbered, held)), "Every number in the minutes has its citation."
        ),
        checksum.check(
            "table", all(map(_quotes, held)), "Every cell of the table is what it quotes."
        ),
        checksum.check(
            "agreement", all(map(_agrees, held)), "Who stands where is what the replies say."
        ),
    )


def _agrees(minutes: Minutes) -> bool:
    """Whether members stand where their own replies say."""
    members = (one.key for one in minutes.members)
    return minutes.agreement == find_agreement(minutes.turns, members)


def _quotes(minutes: Minutes) -> bool:
    """Whether every cell is its quotation, but for marks that its sentence goes on."""
    cited = {one.number: one for one in minutes.citations}
    return all(
        _is_quotation(cell, [cited[number] for number in cell.citations if number in cited])
        for row in minutes.table
        for cell in row.cells
    )


def _is_quotation(cell: TableCell, cited: Sequence[Citation]) -> bool:
    text = cell.text.removeprefix(f"{GAP} ").removesuffix(f" {GAP}")
    if not text:
        return not cell.citations
    return checksum.quotes(text, cited) or checksum.quotes(cell.text, cited)


def _is_in_tool_text(citation: Citation, texts: Mapping[str, ToolText]) -> bool:
    """Whether what is quoted of a tool's text stands there to the character; of others true."""
    if not citation.tool:
        return True
    text = texts.get(citation.document_id)
    return (
        text is not None
        and text.tool == citation.tool
        and text.text[citation.start : citation.end] == citation.quote
        and text.text_sha256 == citation.text_sha256 == text_hash(text.text)
    )


def _numbered(minutes: Minutes) -> bool:
    """Whether citations count from 1, and every number and every statement named is there."""
    numbers = [citation.number for citation in minutes.citations]
    sentences = [one for turn in minutes.turns for one in sentences_of(turn)]
    points = list(points_of(minutes))
    cells = (cell for row in minutes.table for cell in row.cells)
    used = {number for cell in cells for number in cell.citations}
    used |= {*(number for one in (*sentences, *points) for number in one.citations)}
    made = [one.id for one in minutes.statements]
    named = {reply.statement for reply in minutes.replies}
    named |= {name for point in points for name in point.statements}
    return (
        numbers == list(range(1, len(numbers) + 1))
        and used <= set(numbers)
        and made == [f"s{number}" for number in range(1, len(made) + 1)]
        and named <= set(made)
        and not any(turn.citations for turn in minutes.turns)
    )


def minutes_bundle_of(minutes: Minutes, runtime: Runtime) -> MinutesBundle:
    """Return minutes with their sources, and with what they were made with.

    A council that was built in Python has no file, and is not in it.
    """
    runtime = with_tool_texts(runtime, tool_texts(minutes))
    held = [meeting for _, meeting in meetings(minutes)]
    personas = sorted(
        {participant.persona for one in held for participant in one.members if participant.persona}
    )
    return make_minutes_bundle(
        minutes,
        documents_of({one.document_id for _, one in all_citations(minutes)}, runtime),
        configuration={
            **sections_of(runtime.settings),
            "embedding": runtime.settings.embedding.engine,
            "rerank": runtime.settings.rerank.engine,
            "models": dict(sorted(_models(minutes))),
            "councils": {
                slug: as_object(Councils(runtime).load(slug).council)
                for slug in sorted({one.council for one in held} & set(Councils(runtime).names()))
            },
            "personas": {
                slug: Personas(runtime).load(slug).config.model_dump(mode="json")
                for slug in personas
                if slug in Personas(runtime).names()
            },
        },
        versions={**runtime.versions, "python": python_version()},
        sequence=runtime.store.sequence(),
    )


def _models(minutes: Minutes) -> Iterator[tuple[str, str]]:
    """Yield who spoke by which model, members of inner councils by their place."""
    for place, meeting in meetings(minutes):
        yield from (
            (f"{place}{participant.key}", participant.model)
            for participant in meeting.members
            if participant.model
        )
        if meeting.usage is not None:
            yield f"{place}minutes", meeting.method


def recheck_minutes(minutes: Minutes, runtime: Runtime) -> tuple[CitationCheck, ...]:
    """Look every citation up again, also of councils that sat in it.

    Personas and councils on whose shelves the documents stand read what changed first.
    """
    runtime = with_tool_texts(runtime, tool_texts(minutes))
    cited = sorted({one.document_id for _, one in all_citations(minutes)})
    found = runtime.store.documents_among(cited, Scope.everything())
    shelves = {name for one in found.values() for name in one.shelves}
    for slug in sorted(shelves & set(Personas(runtime).names())):
        Personas(runtime).refresh(slug)
    for slug in Councils(runtime).names():
        if shelves_of(slug, shelves):
            Councils(runtime).refresh(slug)
    cited_texts = tuple(one for _, one in all_citations(minutes))
    return recheck_citations(cited_texts, holdings_on_disk(runtime))
