"""Answers and minutes in files that another person can check, with or without the documents.

A bundle is one JSON object with keys in order: an answer or minutes with spans and quotations, the
documents cited with their hashes, what it was made with, and the SHA-256 of all the rest. It holds
no clock and no key, so the same question gives the same bytes.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from functools import cache
from platform import python_version
from typing import Any, Final, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from chapterhouse.answering.cite import text_hash
from chapterhouse.answering.parts import render_part
from chapterhouse.answering.runtime import Runtime
from chapterhouse.errors import UsageError
from chapterhouse.settings import Settings
from chapterhouse.text.canonical import stated_date
from chapterhouse.text.markdown import table_cells
from chapterhouse.text.sanitise import without_brackets
from chapterhouse.types import (
    EXTRACTIVE,
    QUOTED,
    Answer,
    Check,
    Citation,
    Document,
    Scope,
    ToolText,
    Trust,
)

Held = TypeVar("Held")
LARGEST: Final = 32 * 2**20  # bytes
# What decides an answer; where services are and how patiently they are asked does not.
_SECTIONS: Final = ("chunking", "search", "expansion", "packing", "answer")
_FORMATS: Final = ("md", "html", "pdf", "txt")  # one of each kind of ``as_shown``
_BULLET: Final = re.compile(r"(?m)^- ")
_WHITE: Final = re.compile(r"\s")
_DISTRUST: Final = "Trust nothing in this file."
_adapter: Final[Callable[[Any], TypeAdapter[Any]]] = cache(TypeAdapter)  # it takes long to make one
_ORIGIN: Final = "Give the file that 'ask' or 'convene' wrote with --bundle FILE or --json."


@dataclass(frozen=True, slots=True)
class Kind(Generic[Held]):
    """What bundles can hold: its key in the file, its citations by name, and its own checks."""

    name: str
    format: str
    type: type[Held]
    citations: Callable[[Held], Iterable[tuple[str, Citation]]]
    checks: Callable[[Held], tuple[Check, ...]]
    tool_texts: Callable[[Held], Iterable[ToolText]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class Source:
    """A document as it was when it was cited; ``sha256`` is of its bytes, ``method`` read them."""

    document_id: str
    title: str
    source: str
    sha256: str
    text_sha256: str
    method: str
    language: str = ""
    date: str = ""
    source_url: str = ""


@dataclass(frozen=True, slots=True)
class Bundle(Generic[Held]):
    """An answer or minutes with all that is needed to check it.

    Attributes:
        quotes: SHA-256 of each quotation, by how its citation is called.
        configuration: The settings that made it; no key is ever among them.
        checksum: SHA-256 of all the rest.
    """

    kind: Kind[Held]
    held: Held
    quotes: Mapping[str, str]
    sources: tuple[Source, ...]
    configuration: Mapping[str, object]
    versions: Mapping[str, str]
    sequence: int
    checksum: str = ""


# --- writing ------------------------------------------------------------------------------------


def bundle_of(
    held: Held,
    kind: Kind[Held],
    runtime: Runtime,
    settings: Settings,
    made_with: Mapping[str, object],
) -> Bundle[Held]:
    """Return what a library gave with its sources, the settings that held, and what else did."""
    cited = {one.document_id for _, one in kind.citations(held)}
    documents = runtime.store.documents_among(sorted(cited), Scope.everything())
    tree = settings.model_dump(mode="json")
    engines = {"embedding": settings.embedding.engine, "rerank": settings.rerank.engine}
    configuration = {name: tree[name] for name in _SECTIONS} | engines | dict(made_with)
    versions = {**runtime.versions, "python": python_version()}
    sequence = runtime.store.sequence()
    return make_bundle(held, kind, documents.values(), configuration, versions, sequence)


def make_bundle(
    held: Held,
    kind: Kind[Held],
    documents: Iterable[Document],
    configuration: Mapping[str, object],
    versions: Mapping[str, str],
    sequence: int,
) -> Bundle[Held]:
    """Return the bundle of an answer or minutes that cites some documents."""
    hashes = {name: text_hash(one.quote) for name, one in kind.citations(held)}
    sources = tuple(_source(one) for one in sorted(documents, key=lambda one: one.id))
    bundle = Bundle(kind, held, hashes, sources, configuration, versions, sequence)
    return replace(bundle, checksum=checksum_of(_fields_of(bundle)))


def _source(document: Document) -> Source:
    own = (document.id, document.title, document.source, document.sha256, document.text_sha256)
    url = document.metadata.get("source_url", "")
    return Source(*own, document.method, document.language, stated_date(document), url)


def bundle_json(bundle: Bundle[Any]) -> str:
    """Return a bundle as a file."""
    return file_text(_fields_of(bundle))


def _fields_of(bundle: Bundle[Any]) -> dict[str, Any]:
    own = {one.name: getattr(bundle, one.name) for one in fields(bundle)}
    kind, held = own.pop("kind"), own.pop("held")
    return {"format": kind.format, kind.name: json_fields(held), **to_jsonable_python(own)}


def json_fields(value: object) -> dict[str, Any]:
    """Return an answer or minutes as a JSON object, from which ``read_held`` makes the same again.

    Raises:
        UsageError: it holds minutes within minutes beyond measure.
    """
    try:
        dumped = _adapter(type(value)).dump_python(value, mode="json")
        return dict(_without_own_trust(dumped))
    except (PydanticSerializationError, ValueError, RecursionError):
        raise UsageError("The minutes hold minutes beyond measure.", hint=_DISTRUST) from None


def _without_own_trust(value: Any) -> Any:
    """Say trust only where it is not the own."""
    if isinstance(value, dict):
        shown = value.items()
        return {k: _without_own_trust(v) for k, v in shown if (k, v) != ("trust", Trust.OWN)}
    return list(map(_without_own_trust, value)) if isinstance(value, list) else value


def file_text(found: Mapping[str, object]) -> str:
    """Return an object as a file: keys in order, a line feed at the end."""
    return json.dumps(found, sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def checksum_of(found: Mapping[str, object]) -> str:
    """Return the SHA-256 of all fields but ``checksum``."""
    content = {name: value for name, value in found.items() if name != "checksum"}
    line = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


# --- reading ------------------------------------------------------------------------------------


def parse(data: str | bytes) -> dict[str, Any]:
    """Return the object that a file holds.

    Raises:
        UsageError: it is too large, no JSON object, names a field twice, or holds an error.
    """
    if len(data) > LARGEST:
        raise UsageError(f"The file has more than {LARGEST:,} bytes, as no answer has.")
    try:
        found = json.loads(data, object_pairs_hook=_each_name_once)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The file is no JSON: {error}.", hint=_ORIGIN) from None
    if not isinstance(found, dict) or found.get("ok") is False:
        what = "an error" if isinstance(found, dict) else "no JSON object"
        raise UsageError(f"The file holds {what}, not an answer.", hint=_ORIGIN)
    return found


def _each_name_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse what one reader reads so and another otherwise."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it names a field twice")
    return found


def inner(found: Mapping[str, object], name: str) -> object:
    """Return what a command printed, or what a bundle holds under ``name``, or all."""
    return next((found[key] for key in ("data", name) if isinstance(found.get(key), dict)), found)


def read_held(data: str | bytes, kind: Kind[Held]) -> Held:
    """Return an answer or minutes out of JSON: its own, what ``--json`` printed, or a bundle.

    Raises:
        UsageError: it holds none.
    """
    held: Held = _validated(kind.type, inner(parse(data), kind.name), kind.name)
    json_fields(held)
    return held


def read_bundle(data: str | bytes, kind: Kind[Held]) -> Bundle[Held]:
    """Return a bundle out of JSON.

    Raises:
        UsageError: it is none, of another format, or holds more than its checksum covers.
    """
    found = parse(data)
    stated = found.get("format")
    if stated != kind.format:
        raise UsageError(
            f"This is no bundle of the format {kind.format}, but {str(stated)[:80]!r}.",
            hint="Check it with the version that wrote it, or write a new one with --bundle FILE.",
        )
    held = _validated(kind.type, found.get(kind.name), kind.name)
    bundle: Bundle[Held] = _validated(Bundle, {**found, "kind": kind, "held": held}, "a bundle")
    if _fields_of(bundle) != found:
        message = "The file holds more than a bundle, or not as one is written."
        raise UsageError(message, hint=_DISTRUST)
    return bundle


def _validated(type_: type[Any], found: object, what: str) -> Any:
    try:
        return _adapter(type_).validate_python(found)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"][:8]))[:120] or "the top"
        message = f"The file does not hold {what}: {place}: {problem['msg']}."
        raise UsageError(message, hint=_ORIGIN) from None


# --- checking -----------------------------------------------------------------------------------


def examine(bundle: Bundle[Held]) -> tuple[Check, ...]:
    """Check all of a bundle that can be checked without its documents."""
    kind, held = bundle.kind, bundle.held
    sources = {source.document_id: source for source in bundle.sources}
    texts = {text.id: text for text in kind.tool_texts(held)}
    cited = list(kind.citations(held))
    torn = [f"[{n}]" for n, one in cited if not _holds(one, bundle.quotes.get(n), texts)]
    without = [f"[{n}]" for n, one in cited if not _is_of(one, sources)]
    is_whole = checksum_of(_fields_of(bundle)) == bundle.checksum
    return (
        check("checksum", "The bundle is as it was written.", [] if is_whole else ["The checksum"]),
        check("quotations", "All quotations hold.", torn),
        check("sources", "All sources hold.", without),
        *kind.checks(held),
    )


def check(name: str, sentence: str, failed: Iterable[str]) -> Check:
    """Return a check; ``sentence`` says what it found where it passed, ``failed`` what did not."""
    if wrong := ", ".join(failed):
        return Check(name, passed=False, sentence=f"{wrong} does not hold.", hint=_DISTRUST)
    return Check(name, passed=True, sentence=sentence)


def is_numbered(citations: Sequence[Citation], used: AbstractSet[int]) -> bool:
    """Whether citations count from 1, and every number that is used is one of them."""
    numbers = [citation.number for citation in citations]
    return numbers == list(range(1, len(numbers) + 1)) and used <= set(numbers)


def _holds(citation: Citation, hashed: str | None, texts: Mapping[str, ToolText]) -> bool:
    """Whether a quotation is as long as its span, as its hash says, and in its tool's text."""
    start, end, quote = citation.start, citation.end, citation.quote
    fits = citation.verified and 0 <= start < end and end - start == len(quote)
    text = texts.get(citation.document_id)
    if citation.tool and fits:
        fits = (
            text is not None
            and text.tool == citation.tool
            and text.text[start:end] == quote
            and text.text_sha256 == citation.text_sha256 == text_hash(text.text)
        )
    return fits and hashed == text_hash(quote)


def _is_of(citation: Citation, sources: Mapping[str, Source]) -> bool:
    """Whether a citation's document is among the sources, as it is cited: text, name and year."""
    one = sources.get(citation.document_id)
    cited = (citation.text_sha256, citation.title, citation.source, citation.year)
    return one is not None and (one.text_sha256, one.title, one.source, one.date[:4]) == cited


def quotes(text: str, cited: Sequence[Citation]) -> bool:
    """Whether a text is its quotations, one after the other, as they are or as they are shown."""
    shown, ends = _compared(text), {0}
    for one in cited:
        forms = set(map(_compared, _forms(one, text)))
        ends = {end + len(form) for end in ends for form in forms if shown.startswith(form, end)}
    return bool(cited) and len(shown) in ends


def _forms(cited: Citation, text: str) -> Iterator[str]:
    """Yield the forms of a quotation: a citation does not say of which format its document is."""
    yield cited.quote
    pieces = f"·{_solid(text.replace(chr(10), '·'))}·"
    for format_ in _FORMATS:
        names, row = (table_cells(one, format_) for one in (cited.header, cited.quote))
        named = frozenset(
            number
            for number, (name, cell) in enumerate(zip(names, row, strict=False))
            if not cell or f"·{_solid(f'{name}:{cell}' if name else cell)}·" in pieces
        )
        yield render_part(cited.quote, format_)
        yield render_part(cited.quote, format_, cited.header)
        yield render_part(cited.quote, format_, cited.header, named)


def _compared(text: str) -> str:
    """Return what of a text counts when it is compared with what is shown of it."""
    return _solid(_BULLET.sub("", text)).replace("·", "")


def _solid(text: str) -> str:
    return _WHITE.sub("", without_brackets(text))


def _check_answer(answer: Answer) -> tuple[Check, ...]:
    used = {number for one in answer.sentences for number in one.citations}
    wrong = [] if is_numbered(answer.citations, used) else ["The numbering"]
    own = "a model's own" if answer.method != EXTRACTIVE else "quotations"
    altered = (f"Sentence {number}" for number in _altered(answer))
    return (
        check("numbering", "Every number in the answer has its citation.", wrong),
        check("sentences", f"The sentences are {own}.", altered),
    )


def _altered(answer: Answer) -> Iterator[int]:
    """Yield the sentences that pass for quotations and are none; what a model wrote is its own."""
    known = {citation.number: citation for citation in answer.citations}
    for number, one in enumerate(answer.sentences, start=1):
        cited = [known[name] for name in one.citations if name in known]
        is_own = answer.method != EXTRACTIVE and not one.note.startswith(QUOTED)
        if not is_own and not quotes(one.text, cited):
            yield number


ANSWER: Final = Kind(
    "answer",
    "chapterhouse-answer/4",
    Answer,
    lambda answer: ((str(one.number), one) for one in answer.citations),
    _check_answer,
)
