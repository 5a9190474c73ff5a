"""An answer in a file that another person can check, with or without the documents.

A bundle is one JSON object with keys in order: the answer with its spans and quotations, the
documents it cites with their hashes, what it was made with, and a seal, the SHA-256 of all the
rest. It holds no clock and no key, so the same question gives the same bytes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from platform import python_version
from typing import Final

from pydantic import TypeAdapter, ValidationError

from chapterhouse.answering import checksum
from chapterhouse.answering.checksum import LARGEST, Source
from chapterhouse.answering.cite import text_hash
from chapterhouse.runtime import Runtime
from chapterhouse.settings import Settings
from chapterhouse.types import Answer, Check, Document, Scope

__all__ = [
    "FORMAT",
    "LARGEST",
    "Bundle",
    "Source",
    "answer_json",
    "bundle_json",
    "examine",
    "make_bundle",
    "read_answer",
    "read_bundle",
]

FORMAT: Final = "chapterhouse-answer/4"
_EARLIER: Final = "chapterhouse-answer/3"  # which said how far each sentence is supported
_WRITTEN_BY: Final = (
    "Bundles are written by: chapterhouse ask QUESTION --bundle FILE; what "
    "ask --json printed is checked by: chapterhouse verify FILE"
)
# What decides an answer; where services are and how patiently they are asked does not.
_SECTIONS = ("chunking", "tokens", "search", "expansion", "packing", "answer")


@dataclass(frozen=True, slots=True)
class Bundle:
    """An answer and all that is needed to check it.

    Attributes:
        answer: With its spans and quotations.
        quotes: SHA-256 of each citation's quotation, by its number.
        sources: The documents cited.
        configuration: The settings that made it; no key is ever among them.
        versions: Of Chapterhouse and of the models.
        sequence: Of the library.
        checksum: SHA-256 of the bundle without it.
    """

    format: str
    answer: Answer
    quotes: Mapping[str, str]
    sources: tuple[Source, ...]
    configuration: Mapping[str, object]
    versions: Mapping[str, str]
    sequence: int
    checksum: str = ""


@cache
def _adapter() -> TypeAdapter[Bundle]:
    return TypeAdapter(Bundle)  # made when first needed: it takes as long as a question


@cache
def _answer_adapter() -> TypeAdapter[Answer]:
    return TypeAdapter(Answer)


def make_bundle(
    answer: Answer,
    documents: Sequence[Document],
    *,
    configuration: Mapping[str, object],
    versions: Mapping[str, str],
    sequence: int,
) -> Bundle:
    """Return the bundle of an answer.

    Args:
        answer: The answer.
        documents: Those that it cites.
        configuration: The settings that made it.
        versions: Of Chapterhouse and of the models.
        sequence: Of the library.
    """
    open_bundle = Bundle(
        format=FORMAT,
        answer=answer,
        quotes={str(c.number): text_hash(c.quote) for c in answer.citations},
        sources=checksum.sources_of(documents),
        configuration=configuration,
        versions=versions,
        sequence=sequence,
    )
    fields = _fields(open_bundle)
    return _adapter().validate_python({**fields, "checksum": checksum.checksum_of(fields)})


def bundle_json(bundle: Bundle) -> str:
    """Return a bundle as a file: one JSON object, keys in order, a line feed at the end."""
    return checksum.file_text(_fields(bundle))


def answer_json(answer: Answer) -> str:
    """Return an answer as JSON from which ``read_answer`` makes the same answer again."""
    return _answer_adapter().dump_json(answer).decode("utf-8")


def read_answer(data: str | bytes) -> Answer:
    """Return an answer out of JSON: its own, that of ``ask --json``, or a bundle.

    Raises:
        UsageError: it holds none.
    """
    try:
        return _answer_adapter().validate_python(checksum.inner(checksum.parse(data), "answer"))
    except ValidationError as error:
        raise checksum.unreadable("an answer", error) from None


def states_format(data: str | bytes) -> bool:
    """Whether a file names a format, as bundles do; what ``--json`` prints does not.

    Raises:
        UsageError: it is no JSON object.
    """
    return "format" in checksum.parse(data)


def read_bundle(data: str | bytes) -> Bundle:
    """Return a bundle out of JSON.

    Raises:
        UsageError: it is none, or of a later format.
    """
    fields = checksum.parse(data)
    is_earlier = fields.get("format") == _EARLIER
    checksum.require_format({"format": FORMAT} if is_earlier else fields, FORMAT, _WRITTEN_BY)
    try:
        bundle = _adapter().validate_python({**fields, "format": FORMAT})
    except ValidationError as error:
        raise checksum.unreadable("a bundle", error) from None
    if is_earlier:  # it is read without what it says beside; its own checksum covers that too
        is_whole = checksum.checksum_of(fields) == fields["checksum"]
        return replace(bundle, checksum=checksum.checksum_of(_fields(bundle)) if is_whole else "")
    checksum.require_nothing_else(_fields(bundle), fields)
    return bundle


def examine(bundle: Bundle) -> tuple[Check, ...]:
    """Check all of a bundle that can be checked without its documents."""
    sources = {source.document_id: source for source in bundle.sources}
    cited = bundle.answer.citations
    torn = [
        f"[{c.number}]" for c in cited if not checksum.holds(c, bundle.quotes.get(str(c.number)))
    ]
    without = [f"[{c.number}]" for c in cited if not checksum.is_of(c, sources)]
    return (
        checksum.check_checksum(_fields(bundle)),
        checksum.check_each("quotations", torn),
        checksum.check_each("sources", without),
        _numbering(bundle.answer),
        _sentences(bundle.answer),
    )


def _numbering(answer: Answer) -> Check:
    numbers = [citation.number for citation in answer.citations]
    used = {number for sentence in answer.sentences for number in sentence.citations}
    fits = numbers == list(range(1, len(numbers) + 1)) and used <= set(numbers)
    return checksum.check("numbering", fits, "Every number in the answer has its citation.")


def _sentences(answer: Answer) -> Check:
    altered = ", ".join(map(str, _altered(answer)))
    if answer.method != checksum.EXTRACTIVE and not altered:
        return Check("sentences", passed=True, sentence="The sentences are a model's own.")
    sentence = (
        f"Sentence {altered} is not its quotations." if altered else "Sentences are quotations."
    )
    hint = "The answer was altered." if altered else ""
    return Check("sentences", not altered, sentence, hint=hint)


def _altered(answer: Answer) -> Iterator[int]:
    """Yield the sentences that pass for quotations, and are not what they quote.

    Without a model every sentence is. What a model wrote is its own.
    """
    known = {citation.number: citation for citation in answer.citations}
    for number, one in enumerate(answer.sentences, start=1):
        if answer.method != checksum.EXTRACTIVE and not one.note.startswith(checksum.QUOTED):
            continue
        cited = [known[name] for name in one.citations if name in known]
        each = bool(cited) and all(checksum.quotes(one.text, [quoted]) for quoted in cited)
        if not (each or checksum.quotes(one.text, cited)):
            yield number


def _fields(bundle: Bundle) -> dict[str, object]:
    fields: dict[str, object] = checksum.without_own_trust(
        _adapter().dump_python(bundle, mode="json")
    )
    return fields


def bundle_of(
    answer: Answer, runtime: Runtime, settings: Settings, persona: Mapping[str, object] | None
) -> Bundle:
    """Return an answer with its sources, and with what it was made with.

    Args:
        answer: The answer.
        runtime: Of the library that gave it.
        settings: As they held for it.
        persona: The configuration of the persona who answered, if one did.
    """
    cited = {citation.document_id for citation in answer.citations}
    return make_bundle(
        answer,
        documents_of(cited, runtime),
        configuration={
            **sections_of(settings),
            "embedding": settings.embedding.engine,
            "rerank": settings.rerank.engine,
            "model": "" if answer.usage is None else answer.method,
            "persona": persona,
        },
        versions={**runtime.versions, "python": python_version()},
        sequence=runtime.store.sequence(),
    )


def documents_of(names: Iterable[str], runtime: Runtime) -> list[Document]:
    """Return those documents of the library that have one of these ids, in order of id."""
    found = (runtime.store.document(name, Scope.everything()) for name in sorted(names))
    return [document for document in found if document is not None]


def sections_of(settings: Settings) -> dict[str, object]:
    """Return those settings that decide what is found and how it is answered."""
    tree = settings.model_dump(mode="json")
    return {name: tree[name] for name in _SECTIONS}
