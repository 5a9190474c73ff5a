"""Whether what several members say rests on one source.

They may cite one document, or copies of it, or sentences that say themselves from where they have
it: "as the demand study expects". Agreement of that kind is one voice, however many repeat it.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Final

from chapterhouse.claims.align import sentences_of
from chapterhouse.claims.relation import is_newer
from chapterhouse.claims.statement import TokenKind, read
from chapterhouse.council.disagreement.attribution import Attribution, attributions, name_terms
from chapterhouse.text.analyse import analyse
from chapterhouse.text.language_data import cue_pattern
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Evidence

TextOf = Callable[[str], str]
_SIMILARITY: Final = 0.8  # Jaccard similarity of pairs of neighbouring terms of two copies
_KIN: Final = 0.15  # the same of two versions
_LEAST_PAIRS: Final = 20  # shorter texts are alike too easily
_READ: Final = 200_000  # characters of a document that are looked into
_COVERED: Final = 0.5  # share of what the sentences have in common that comes from the source
_RECORDS: Final = r"(?<!\w)<records>(?!\w)"
_VERSION: Final = re.compile(r"\W*\b(?:v(?:ersion)?\W?)?\d[\d.\-/]*\W*", re.IGNORECASE)
_LEAST_NAME: Final = 2  # words of a name that must mean the same thing wherever it stands


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a document beside its text.

    Attributes:
        source: The name of its file, with the folders above it.
        aliases: Other names that it gives itself.
        text_sha256: Hash of its canonical text.
        date: The day that it states for itself, or a part of it, or empty.
    """

    id: str
    title: str
    source: str
    aliases: tuple[str, ...] = ()
    text_sha256: str = ""
    date: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a sentence has it from: a document's id, or a name by its terms."""

    id: str = ""
    terms: frozenset[str] = frozenset()
    called: str = ""


def no_text(document_id: str) -> str:
    """Return no text of any document: what stands in them is not looked up."""
    del document_id
    return ""


def rests_on(
    sentences: Sequence[Evidence], documents: Sequence[Known], text_of: TextOf = no_text
) -> str:
    """Say on which one source the statements of several members rest.

    Args:
        sentences: What carries their statements, of all members together.
        documents: All documents of the library that may be meant.
        text_of: Gives the canonical text of a document by its id; empty where it has none.

    Returns:
        The document's id, of copies the oldest's, of versions the newest's; what they call the
        source, where it is no document here; or empty.
    """
    cited = sorted({sentence.document_id for sentence in sentences})
    if not cited:
        return ""
    known = {document.id: document for document in documents}
    if len(cited) == 1:
        return cited[0]
    if all(is_copy(cited[0], other, known, text_of) for other in cited[1:]):
        return _oldest(cited, known)
    if all(_is_version(cited[0], other, known, text_of) for other in cited[1:]):
        return max(cited, key=lambda one: (known[one].date, one))  # versions are one voice too
    return _attributed(sentences, documents, text_of)


def is_copy(one: str, other: str, known: Mapping[str, Known], text_of: TextOf = no_text) -> bool:
    """Whether two documents have the same text, or nearly.

    Args:
        one: A document's id.
        other: Another one's.
        known: The documents, by id.
        text_of: Gives the canonical text of a document by its id.
    """
    if one == other:
        return True
    first, second = known.get(one), known.get(other)
    if first and second and first.text_sha256 and first.text_sha256 == second.text_sha256:
        return True
    return _similarity(one, other, first.language if first else "", text_of) >= _SIMILARITY


def _similarity(one: str, other: str, language: str, text_of: TextOf) -> float:
    """Return the Jaccard similarity of two texts; nothing for short ones, alike too easily."""
    pairs, also = (_pairs(text_of(document), language) for document in (one, other))
    if min(len(pairs), len(also)) < _LEAST_PAIRS:
        return 0.0
    return len(pairs & also) / len(pairs | also)


@lru_cache(maxsize=16)
def _pairs(text: str, language: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairwise(analyse(text[:_READ], language)))


def _is_version(one: str, other: str, known: Mapping[str, Known], text_of: TextOf) -> bool:
    """Whether two documents are versions of one: called alike, and much of their text the same."""
    first, second = known.get(one), known.get(other)
    if first is None or second is None:
        return False
    series = series_of(first.title)
    if not series or series != series_of(second.title):
        return False
    return _similarity(one, other, first.language, text_of) >= _KIN


def all_outdated(
    documents: Collection[str], known: Mapping[str, Known], text_of: TextOf = no_text
) -> bool:
    """Whether there are documents, and of each a newer version is known.

    Args:
        documents: Their ids.
        known: The documents that may be newer versions, by id.
        text_of: Gives the canonical text of a document by its id.
    """
    return bool(documents) and all(newer_version(one, known, text_of) for one in documents)


def newer_version(document: str, known: Mapping[str, Known], text_of: TextOf = no_text) -> str:
    """Return the id of the newest of the newer versions of a document; empty where none is known.

    Args:
        document: Its id.
        known: The documents that may be newer versions, by id.
        text_of: Gives the canonical text of a document by its id.
    """
    own = known.get(document)
    newer = [
        (other.date, other.id)
        for other in known.values()
        if own is not None
        and is_newer(other.date, own.date)
        and _is_version(document, other.id, known, text_of)
    ]
    return max(newer)[1] if newer else ""


def series_of(title: str) -> str:
    """Return what the versions of a document are called alike: its title without numbers.

    Empty for minutes, logs and reports, of which a later one is no version of an earlier one.
    """
    if cue_pattern(_RECORDS).search(title):
        return ""
    return " ".join(_VERSION.sub(" ", title.casefold()).split())


def _oldest(ids: Sequence[str], known: Mapping[str, Known]) -> str:
    dates = {i: known[i].date if i in known else "" for i in ids}
    return min(ids, key=lambda i: (not dates[i], dates[i], i))


# --- what the sentences themselves say ----------------------------------------------------------


def _attributed(sentences: Sequence[Evidence], documents: Sequence[Known], text_of: TextOf) -> str:
    """Return the source that every sentence is from or attributes what all share to."""
    shared = _in_common(sentences)
    if not shared:
        return ""
    named = cache(partial(find_by_name, documents=documents))
    each = [_sources(sentence, shared, named, text_of) for sentence in sentences]
    ids = [{source.id for source in sources if source.id} for sources in each]
    common = set.intersection(*ids)
    if common:
        return min(common)
    names = [{source.terms: source.called for source in sources} for sources in each]
    for terms, called in sorted(names[0].items(), key=lambda item: item[1]):
        if len(terms) >= _LEAST_NAME and all(terms in others for others in names[1:]):
            return called
    return ""


def _sources(
    sentence: Evidence,
    shared: frozenset[str],
    named: Callable[[str, str], Known | None],
    text_of: TextOf,
) -> list[_Source]:
    """Return from where a sentence may have what all share: what it names, and itself."""
    found = [_Source(id=sentence.document_id)]
    language = sentence.language
    for part in sentences_of(sentence.text, language):
        for attribution in attributions(part.text, language):
            if attribution.own or not _is_covered(part.text, attribution, shared, language):
                continue
            terms = name_terms(attribution.name, language)
            document = named(attribution.name, language)
            if document and not _says_so(document, shared, text_of):
                document = None
            found.append(_Source(document.id if document else "", terms, attribution.name))
    return found


def _keys(text: str, language: str) -> Counter[str]:
    """Return the content words and figures of a text; figures with their units."""
    return Counter(
        token.key + (token.number.unit if token.number else "")
        for token in read(text, language).tokens
    )


def _in_common(sentences: Sequence[Evidence]) -> frozenset[str]:
    """Return the content words and figures that all have, without the names of sources."""
    each = []
    for sentence in sentences:
        text, language = sentence.text, sentence.language
        named = {
            term
            for attribution in attributions(text, language)
            for term in _keys(text[attribution.start : attribution.end], language)
        }
        each.append(set(_keys(text, language)) - named)
    return frozenset(set.intersection(*each))


def _is_covered(text: str, attribution: Attribution, shared: frozenset[str], language: str) -> bool:
    """Whether what all share stands where the sentence speaks for the source."""
    begin, end = attribution.covers
    inside = shared & set(_keys(text[begin:end], language))
    facts = {
        token.key + (token.number.unit if token.number else "")
        for token in read(text, language).tokens
        if token.kind is not TokenKind.WORD
    }
    return bool(inside) and len(inside) >= _COVERED * len(shared) and shared & facts <= inside


def _says_so(document: Known, shared: frozenset[str], text_of: TextOf) -> bool:
    """Whether a sentence of a document has most of it, and its figures.

    True where the text is not there, or goes on beyond what is looked into.
    """
    text = text_of(document.id)
    if not text or len(text) > _READ:
        return True
    figures = _figures(shared)
    return any(
        len(shared & keys) >= _COVERED * len(shared) and figures <= keys
        for keys in _sentence_keys(text, document.language)
    )


@lru_cache(maxsize=16)
def _sentence_keys(text: str, language: str) -> tuple[frozenset[str], ...]:
    spans = sentence_spans(text, 0, len(text))
    return tuple(frozenset(_keys(text[start:end].strip(), language)) for start, end in spans)


def _figures(shared: frozenset[str]) -> set[str]:
    return {key for key in shared if any(character.isdigit() for character in key)}


# --- which document is called so ----------------------------------------------------------------


def find_by_name(name: str, language: str, documents: Sequence[Known]) -> Known | None:
    """Return the one document that a name means: by title, file name or another name it has.

    A name that fits several means none of them, unless it is the whole name of just one.
    """
    terms = name_terms(name, language)
    if not terms:
        return None
    digits = {word for word in name.replace("-", " ").split() if word.isdigit()}
    fitting: dict[str, tuple[bool, Known]] = {}
    for document in documents:
        names = _names(document, language)
        numbered = digits <= set(_numbers(document))
        if numbered and any(terms <= other for other in names):
            fitting[document.id] = (terms in names, document)
    whole = [document for exact, document in fitting.values() if exact]
    if len(whole) == 1:
        return whole[0]
    if not whole and len(fitting) == 1:
        return next(iter(fitting.values()))[1]
    return None


@lru_cache(maxsize=8192)
def _names(document: Known, language: str) -> tuple[frozenset[str], ...]:
    """Return a document's names as terms, numbers and the ending of its file aside."""
    stem = document.source.rpartition("/")[2]
    stem = stem.rpartition(".")[0] or stem
    names = (document.title, stem, *document.aliases)
    return tuple(terms for name in names if (terms := name_terms(name, language)))


def _numbers(document: Known) -> list[str]:
    names = " ".join((document.title, document.source.rpartition("/")[2], *document.aliases))
    for mark in "-_./":
        names = names.replace(mark, " ")
    return [word for word in names.split() if word.isdigit()]
