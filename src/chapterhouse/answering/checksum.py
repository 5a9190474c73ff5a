"""What all files share that another person can check: reading, a seal, checks without documents.

Such a file is one JSON object with keys in order; its seal is the SHA-256 of all the rest.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from chapterhouse.answering.cite import text_hash
from chapterhouse.answering.parts import as_shown
from chapterhouse.errors import UsageError
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.markdown import table_cells
from chapterhouse.text.view import without_brackets
from chapterhouse.types import (
    Check,
    Citation,
    Document,
    Quotation,
    Trust,
)

QUOTED: Final = "quoted from the documents"  # the note of a quotation below what a model wrote
EXTRACTIVE: Final = "extractive"  # the method of what was composed without a model
LARGEST: Final = 32 * 2**20  # bytes
_FORMATS: Final = ("md", "html", "pdf", "txt")  # one of each kind of ``as_shown``
_WHITE: Final = re.compile(r"\s")
_BETWEEN: Final = frozenset("·;,|")  # cells, lines and quotations
_DISTRUST: Final = "Trust nothing in this file."
_ORIGIN: Final = "Give the file that 'ask' or 'convene' wrote with --bundle FILE or --json."


@dataclass(frozen=True, slots=True)
class Source:
    """A document that is cited, as it was then.

    Attributes:
        sha256: Of the file's bytes.
        text_sha256: Of its canonical text.
        method: What read the file.
    """

    document_id: str
    title: str
    source: str
    sha256: str
    text_sha256: str
    method: str
    language: str = ""
    date: str = ""
    source_url: str = ""


def sources_of(documents: Iterable[Document]) -> tuple[Source, ...]:
    """Return documents as a file names them, in order of id."""
    return tuple(map(_source, sorted(documents, key=lambda document: document.id)))


def _source(document: Document) -> Source:
    return Source(
        document_id=document.id,
        title=document.title,
        source=document.source,
        sha256=document.sha256,
        text_sha256=document.text_sha256,
        method=document.method,
        language=document.language,
        date=stated_date(document),
        source_url=document.metadata.get("source_url", ""),
    )


# --- writing and reading -----------------------------------------------------------------------


def without_own_trust(fields: Any) -> Any:
    """Return fields whose citations say how far a source is trusted only where it is not the own.

    Files that were written before it was said stay as they were.
    """
    match fields:
        case dict():
            shown = fields.items()
            return {k: without_own_trust(v) for k, v in shown if (k, v) != ("trust", Trust.OWN)}
        case list():
            return [without_own_trust(one) for one in fields]
        case _:
            return fields


def file_text(fields: Mapping[str, object]) -> str:
    """Return fields as a file: one JSON object, keys in order, a line feed at the end."""
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def checksum_of(fields: Mapping[str, object]) -> str:
    """Return the SHA-256 of all fields but ``seal``."""
    content = {name: value for name, value in fields.items() if name != "checksum"}
    line = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


def parse(data: str | bytes) -> dict[str, object]:
    """Return the object that a file holds.

    Raises:
        UsageError: it is too large, no JSON, no object, names a field twice, or holds an error.
    """
    if len(data) > LARGEST:
        raise UsageError(f"The file has more than {LARGEST:,} bytes, as no answer has.")
    try:
        found = json.loads(data, object_pairs_hook=_each_name_once)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The file is no JSON: {error}.", hint=_ORIGIN) from None
    if not isinstance(found, dict):
        raise UsageError("The file holds no JSON object, so no answer.")
    if found.get("ok") is False:
        raise UsageError("The file holds an error, not an answer.")
    return found


def _each_name_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse what one reader reads so and another otherwise."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("it names a field twice")
    return fields


def inner(fields: Mapping[str, object], name: str) -> object:
    """Return what a command printed, or what a bundle holds under ``name``, or all."""
    for key in ("data", name):
        if isinstance(fields.get(key), dict):
            return fields[key]
    return fields


def require_format(fields: Mapping[str, object], wanted: str, hint: str) -> None:
    """Let only a bundle of one format pass.

    Raises:
        UsageError: it is none, or of a later format.
    """
    stated = fields.get("format")
    if stated != wanted:
        raise UsageError(
            f"This is no bundle of the format {wanted}, but {str(stated)[:80]!r}.", hint=hint
        )


def require_nothing_else(read: Mapping[str, object], fields: Mapping[str, object]) -> None:
    """Refuse a file that holds more than was read of it: the seal would not cover that.

    Raises:
        UsageError: it does.
    """
    if read != fields:
        raise UsageError(
            "The file holds more than a bundle, or not as one is written.", hint=_DISTRUST
        )


def unreadable(what: str, error: ValidationError) -> UsageError:
    """Return the error for a file that is JSON but not what it should be."""
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"][:8]) or "the top"
    return UsageError(
        f"The file does not hold {what}: {place[:120]}: {problem['msg']}.", hint=_ORIGIN
    )


# --- checking ----------------------------------------------------------------------------------


def check(name: str, passed: bool, sentence: str) -> Check:  # noqa: FBT001 - of a check
    """Return a check of which ``sentence`` says what it found where it passed."""
    if passed:
        return Check(name, passed=True, sentence=sentence)
    return Check(name, passed=False, sentence=f"Not so: {sentence}", hint=_DISTRUST)


def check_each(name: str, failed: Sequence[str]) -> Check:
    """Return a check that failed for each of the citations named."""
    sentence = f"{', '.join(failed)} does not hold." if failed else f"All {name} hold."
    return Check(name, passed=not failed, sentence=sentence, hint=_DISTRUST if failed else "")


def check_checksum(fields: Mapping[str, object]) -> Check:
    """Check that nothing was changed since the seal was made."""
    return check(
        "checksum", checksum_of(fields) == fields["checksum"], "The bundle is as it was written."
    )


def holds(citation: Citation, quote_hash: str | None) -> bool:
    """Whether a citation fits its span and the hash that was kept of its quotation."""
    span = Quotation(citation.document_id, citation.start, citation.end, citation.quote)
    return citation.verified and spans(span) and quote_hash == text_hash(citation.quote)


def spans(span: Quotation) -> bool:
    """Whether a quotation is as long as the span where it is said to stand."""
    return 0 <= span.start < span.end and span.end - span.start == len(span.quote)


def is_of(citation: Citation, sources: Mapping[str, Source]) -> bool:
    """Whether a citation's document is among the sources, as it is cited: text, name and year."""
    source = sources.get(citation.document_id)
    return (
        source is not None
        and source.text_sha256 == citation.text_sha256
        and source.title == citation.title
        and source.source == citation.source
        and source.date[:4] == citation.year
    )


def quotes(text: str, cited: Sequence[Citation]) -> bool:
    """Whether a text is its quotations, one after the other, with or without their marks.

    Rows of a table may name the column before each cell; one that names them all may leave out
    other columns than the first.
    """
    characters = _characters(text)
    places: AbstractSet[int] = {0}
    for one in cited:
        places = _behind_quotation(characters, places, one)
    return bool(cited) and len(characters) in places


def _behind_quotation(
    characters: str, places: AbstractSet[int], cited: Citation
) -> AbstractSet[int]:
    """Return where a quotation ends that begins at one of ``places``: whole, or line by line.

    A citation does not say of which format its document is, so any may be.
    """
    whole = _behind(characters, places, _ways(cited.quote))
    names = table_cells(cited.header) if cited.header else []
    for line in cited.quote.splitlines():
        if names and line.startswith("|") and len(table_cells(line)) == len(names):
            places = frozenset[int]().union(
                *(_behind_row(characters, places, row) for row in _rows(cited.header, line))
            )
        else:
            ways = _ways(line)
            places = _behind(characters, places, (*ways, *(one.removeprefix("- ") for one in ways)))
    return whole | places


def _ways(quote: str) -> tuple[str, ...]:
    """Return how a quotation may be shown, whatever its document's format."""
    return quote, *(as_shown(quote, format_) for format_ in _FORMATS)


def _rows(header: str, line: str) -> Iterator[Sequence[tuple[str, str]]]:
    """Yield the cells of a row behind the names of their columns, as each format has them."""
    for format_ in _FORMATS:
        yield list(zip(table_cells(header, format_), table_cells(line, format_), strict=True))


def _behind_row(
    characters: str, places: AbstractSet[int], row: Sequence[tuple[str, str]]
) -> AbstractSet[int]:
    """Return where a row ends: with all cells, or the first and others behind their columns' names.

    A cell that is empty is shown by saying nothing.
    """
    every, first, more = places, places, frozenset[int]()
    for number, (name, cell) in enumerate(row):
        named = (f"{name}{cell}", f"{name}:{cell}")
        every = _behind(characters, every, (cell, *named))
        if not number:
            first = _behind(characters, first, named if cell else ("",))
        else:
            more |= _behind(characters, first | more, named if cell else ("",))
    return every | more


def _behind(characters: str, places: AbstractSet[int], options: Iterable[str]) -> AbstractSet[int]:
    """Return where one of several texts ends that begins at one of ``places``."""
    found = {_characters(option) for option in options}
    ends = {
        place + len(one) for place in places for one in found if characters.startswith(one, place)
    }
    return ends | {end + 1 for end in ends if characters[end : end + 1] in _BETWEEN}


def _characters(text: str) -> str:
    """Return what of a text counts when it is compared with what is shown of it."""
    return _WHITE.sub("", without_brackets(text))
