"""An answer in a file that another person can check, with or without the documents.

A bundle is one JSON object with keys in order: the answer with its spans and quotations, the
documents it cites with their hashes, what it was made with, and a seal, the SHA-256 of all the
rest. It holds no clock and no key, so the same question gives the same bytes.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pydantic import TypeAdapter, ValidationError

from chapterhouse.answering.cite import text_hash
from chapterhouse.answering.provenance import stated_date
from chapterhouse.errors import UsageError
from chapterhouse.protocols import ClaimJudge
from chapterhouse.types import (
    Answer,
    AnswerSentence,
    Check,
    Citation,
    Document,
    Evidence,
    ProblemKind,
    Support,
)

FORMAT: Final = "chapterhouse-answer/1"
LARGEST: Final = 32 * 2**20  # bytes
_CONTRADICTIONS: Final = frozenset(
    {ProblemKind.NUMBER, ProblemKind.DATE, ProblemKind.NEGATION, ProblemKind.NAME}
)


@dataclass(frozen=True, slots=True)
class Source:
    """A document that a bundle cites, as it was then.

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
        seal: SHA-256 of the bundle without it.
    """

    format: str
    answer: Answer
    quotes: Mapping[str, str]
    sources: tuple[Source, ...]
    configuration: Mapping[str, object]
    versions: Mapping[str, str]
    sequence: int
    seal: str = ""


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
        sources=tuple(map(_source, sorted(documents, key=lambda document: document.id))),
        configuration=configuration,
        versions=versions,
        sequence=sequence,
    )
    fields = _fields(open_bundle)
    return _adapter().validate_python({**fields, "seal": _seal(fields)})


def bundle_json(bundle: Bundle) -> str:
    """Return a bundle as a file: one JSON object, keys in order, a line feed at the end."""
    return json.dumps(_fields(bundle), sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def answer_json(answer: Answer) -> str:
    """Return an answer as JSON from which ``read_answer`` makes the same answer again."""
    return _answer_adapter().dump_json(answer).decode("utf-8")


def read_answer(data: str | bytes) -> Answer:
    """Return an answer out of JSON: its own, that of ``ask --json``, or a bundle.

    Raises:
        UsageError: it holds none.
    """
    fields = _parsed(data)
    inner: object = fields
    if isinstance(fields.get("data"), dict):  # what a command printed
        inner = fields["data"]
    elif isinstance(fields.get("answer"), dict):
        inner = fields["answer"]
    try:
        return _answer_adapter().validate_python(inner)
    except ValidationError as error:
        raise _unreadable("an answer", error) from None


def read_bundle(data: str | bytes) -> Bundle:
    """Return a bundle out of JSON.

    Raises:
        UsageError: it is none, or of a later format.
    """
    fields = _parsed(data)
    stated = fields.get("format")
    if stated != FORMAT:
        raise UsageError(
            f"This is no bundle of the format {FORMAT}, but {str(stated)[:80]!r}.",
            hint="Bundles are written by: chapterhouse ask QUESTION --bundle FILE; what "
            "ask --json printed is checked by: chapterhouse cite check FILE",
        )
    try:
        bundle = _adapter().validate_python(fields)
    except ValidationError as error:
        raise _unreadable("a bundle", error) from None
    if _fields(bundle) != fields:  # the seal would not cover what is not read
        raise UsageError(
            "The file holds more than a bundle, or not as one is written.",
            hint="Trust nothing in this file.",
        )
    return bundle


def examine(bundle: Bundle, judge: ClaimJudge) -> tuple[Check, ...]:
    """Check all of a bundle that can be checked without its documents.

    Args:
        bundle: As it was read.
        judge: Judges each sentence again, by the quotations alone.
    """
    fields = _fields(bundle)
    sealed = _seal({name: value for name, value in fields.items() if name != "seal"})
    sources = {source.document_id: source for source in bundle.sources}
    return (
        _check("seal", sealed == bundle.seal, "The bundle is as it was written."),
        _listed("quotations", [c for c in bundle.answer.citations if not _holds(c, bundle)]),
        _listed(
            "sources",
            [
                c
                for c in bundle.answer.citations
                if c.document_id not in sources
                or sources[c.document_id].text_sha256 != c.text_sha256
            ],
        ),
        _numbering(bundle.answer),
        _claims(bundle.answer, sources, judge),
    )


def _holds(citation: Citation, bundle: Bundle) -> bool:
    return (
        citation.verified
        and 0 <= citation.start < citation.end
        and citation.end - citation.start == len(citation.quote)
        and bundle.quotes.get(str(citation.number)) == text_hash(citation.quote)
    )


def _numbering(answer: Answer) -> Check:
    numbers = [citation.number for citation in answer.citations]
    used = {number for sentence in answer.sentences for number in sentence.citations}
    fits = numbers == list(range(1, len(numbers) + 1)) and used <= set(numbers)
    return _check("numbering", fits, "Every number in the answer has its citation.")


def _claims(answer: Answer, sources: Mapping[str, Source], judge: ClaimJudge) -> Check:
    """Judge each carried sentence again by its quotations: nothing in it may contradict them."""
    quoted = {
        citation.number: Evidence(
            citation.document_id,
            citation.start,
            citation.end,
            citation.quote,
            language=source.language if (source := sources.get(citation.document_id)) else "",
            title=citation.title,
            section_path=citation.section_path,
        )
        for citation in answer.citations
    }
    against = [
        number
        for number, sentence in enumerate(answer.sentences, start=1)
        if not _agrees(sentence, quoted, judge)
    ]
    names = ", ".join(map(str, against))
    return Check(
        "claims",
        not against,
        f"Sentence {names} says other than its quotations."
        if against
        else "No sentence contradicts its quotations.",
        hint="The answer was altered, or judged by other rules." if against else "",
    )


def _agrees(sentence: AnswerSentence, quoted: Mapping[int, Evidence], judge: ClaimJudge) -> bool:
    if sentence.support not in {Support.VERBATIM, Support.SUPPORTED}:
        return True
    evidence = [quoted[number] for number in sentence.citations if number in quoted]
    if not evidence:
        return False
    judged = judge(sentence.text, evidence, ())
    contradicted = any(problem.kind in _CONTRADICTIONS for problem in judged.problems)
    return not (contradicted and judged.support is Support.UNSUPPORTED)


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


def _fields(bundle: Bundle) -> dict[str, object]:
    fields: dict[str, object] = _adapter().dump_python(bundle, mode="json")
    return fields


def _seal(fields: Mapping[str, object]) -> str:
    unsealed = {name: value for name, value in fields.items() if name != "seal"}
    line = json.dumps(unsealed, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


def _parsed(data: str | bytes) -> dict[str, object]:
    if len(data) > LARGEST:
        raise UsageError(f"The file has more than {LARGEST:,} bytes, as no answer has.")
    try:
        parsed = json.loads(data, object_pairs_hook=_each_name_once)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"The file is no JSON: {error}.",
            hint="Give the file that 'ask --bundle FILE' or 'ask --json' wrote.",
        ) from None
    if not isinstance(parsed, dict):
        raise UsageError("The file holds no JSON object, so no answer.")
    if parsed.get("ok") is False:
        raise UsageError("The file holds an error, not an answer.")
    return parsed


def _each_name_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse what one reader reads so and another otherwise."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("it names a field twice")
    return fields


def _unreadable(what: str, error: ValidationError) -> UsageError:
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"]) or "the top"
    return UsageError(
        f"The file does not hold {what}: {place}: {problem['msg']}.",
        hint="Give the file that 'ask --bundle FILE' or 'ask --json' wrote.",
    )


def _check(name: str, passed: bool, sentence: str) -> Check:  # noqa: FBT001 - of a check
    if passed:
        return Check(name, passed=True, sentence=sentence)
    return Check(
        name, passed=False, sentence=f"Not so: {sentence}", hint="Trust nothing in this file."
    )


def _listed(name: str, failed: Sequence[Citation]) -> Check:
    names = ", ".join(f"[{citation.number}]" for citation in failed)
    sentence = f"{names} does not hold." if failed else f"All {name} hold."
    hint = "Trust nothing in this file." if failed else ""
    return Check(name, passed=not failed, sentence=sentence, hint=hint)
