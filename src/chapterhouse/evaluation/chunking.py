"""Every way of cutting that the settings know, scored on gold spans by one retriever."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from chapterhouse.chunking.quality import Quality, mean_quality, measure_quality
from chapterhouse.evaluation.collection import Collection, open_collection
from chapterhouse.evaluation.datasets import CorpusDocument
from chapterhouse.evaluation.measures import Estimate, estimate
from chapterhouse.evaluation.spans import (
    GoldQuestion,
    GoldSpans,
    Places,
    SpanScores,
    count_tokens,
    score_spans,
    token_places,
)
from chapterhouse.settings import ChunkingSettings, Settings
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import Progress, Range, Scope

RETRIEVED: Final = 5  # chunks a question, as in the published figures


@dataclass(frozen=True, slots=True)
class StrategyScores:
    """How well one way of cutting serves retrieval, as means over the questions.

    Attributes:
        strategy: Its name in the settings.
        chunks: Number of chunks made.
        characters: Mean length of a chunk.
        measures: recall, precision, precision_omega and iou with their intervals.
        quality: Means of the measures of the chunks' words.
    """

    strategy: str
    chunks: int
    characters: float
    measures: Mapping[str, Estimate]
    quality: Quality


@dataclass(frozen=True, slots=True)
class _Corpus:
    """One text as the library holds it. ``moved`` gives our offset for one of the set's."""

    document_id: str
    chunks: tuple[Range, ...]
    places: Places
    moved: Callable[[int], int]
    quality: tuple[Quality, ...]


def strategies() -> tuple[str, ...]:
    """Return the names of all ways of cutting, as the setting ``chunking.strategy`` knows them."""
    return tuple(get_args(ChunkingSettings.model_fields["strategy"].annotation))


def score_strategies(
    gold: GoldSpans,
    settings: Settings | None = None,
    names: Sequence[str] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> tuple[StrategyScores, ...]:
    """Score ways of cutting on the same questions, each with its own indexes.

    Args:
        gold: Texts and questions with gold spans.
        settings: Everything but the choice of strategy; the defaults when None.
        names: The strategies to score; all when empty.
        on_progress: Called after each strategy.
    """
    settings = settings or Settings()
    wanted = names or strategies()
    found: list[StrategyScores] = []
    for name in wanted:
        cut = settings.chunking.model_copy(update={"strategy": name, "by_format": {}})
        found.append(_scored(name, gold, settings.model_copy(update={"chunking": cut})))
        if on_progress:
            on_progress(Progress(len(found), len(wanted), name))
    return tuple(found)


def _scored(name: str, gold: GoldSpans, settings: Settings) -> StrategyScores:
    documents = [CorpusDocument(corpus, "", text) for corpus, text in gold.texts.items()]
    with open_collection(documents, settings=settings, markdown=True) as collection:
        ids = {corpus: identifier for identifier, corpus in collection.names.items()}
        corpora = {
            corpus: _corpus(collection, ids[corpus], text)
            for corpus, text in gold.texts.items()
            if corpus in ids
        }
        scores = [_question(collection, question, corpora) for question in gold.questions]
    lengths = [end - start for corpus in corpora.values() for start, end in corpus.chunks]
    measures = {
        measure: estimate([getattr(score, measure) for score in scores])
        for measure in ("recall", "precision", "precision_omega", "iou")
    }
    quality = mean_quality([each for corpus in corpora.values() for each in corpus.quality])
    mean_length = round(sum(lengths) / len(lengths), 1)
    return StrategyScores(name, len(lengths), mean_length, measures, quality)


def _corpus(collection: Collection, identifier: str, text: str) -> _Corpus:
    body = collection.library.documents.body(identifier)
    chunks = collection.store.chunks_of(identifier, Scope.everything())
    language = collection.library.documents.get(identifier).language
    clean = sanitise(text).text
    skipped = len(clean) - len(clean.lstrip("\n"))  # blank lines at the start are not kept

    def moved(offset: int) -> int:
        return len(sanitise(text[:offset]).text) - skipped

    offsets = collection.runtime.table.token_offsets
    return _Corpus(
        identifier,
        tuple((chunk.start, chunk.end) for chunk in chunks),
        token_places(body.text, offsets),
        moved,
        measure_quality([chunk.text for chunk in chunks], language),
    )


def _question(
    collection: Collection, question: GoldQuestion, corpora: Mapping[str, _Corpus]
) -> SpanScores:
    corpus = corpora[question.corpus]
    places = {entry.document_id: entry.places for entry in corpora.values()}
    hits = collection.library.search.hits(question.text, limit=RETRIEVED, per_document=0).hits
    here: list[Range] = []
    elsewhere = 0
    for hit in hits:
        chunk_range = (hit.chunk.start, hit.chunk.end)
        if hit.document.id == corpus.document_id:
            here.append(chunk_range)
        else:
            elsewhere += count_tokens([chunk_range], places[hit.document.id])
    spans = [(corpus.moved(start), corpus.moved(end)) for start, end in question.ranges]
    return score_spans(spans, here, corpus.chunks, corpus.places, elsewhere)
