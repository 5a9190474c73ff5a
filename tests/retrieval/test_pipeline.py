"""From a question to its hits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embedders import Broken
from tests.text.rows import term_rows

from chapterhouse.answering.search import fitted_model
from chapterhouse.errors import EngineError
from chapterhouse.retrieval.candidates import Method, Thresholds
from chapterhouse.retrieval.expand import PART_WEIGHT, by_parts
from chapterhouse.retrieval.fuse import lexical_scores
from chapterhouse.retrieval.pipeline import Sources, choose, retrieve
from chapterhouse.retrieval.rerank import Recency, Shortlist, by_features, by_model
from chapterhouse.types import (
    Chunk,
    CorpusCounts,
    Query,
    Question,
    Scope,
    Scored,
    SearchResult,
    TermRows,
    Variant,
    VariantKind,
    WeightedTerm,
)

from .scripted import EMBEDDER, Texts, document, library

EVERYTHING = Scope.everything()

PLAIN = Method(duplicates=2.0)
PRODUCT = Method(rerank=by_features(fitted_model()), expand=(by_parts,))
DAY = 86_400
WORDS = ("harbour", "gate", "storm", "ferry", "ticket", "crew", "berth", "tide")
TEXTS = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join),
    ),
    min_size=1,
    max_size=12,
)
QUESTIONS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


def names(result: SearchResult) -> list[str]:
    return [hit.chunk.id for hit in result.hits]


def ask(texts: Texts, text: str, method: Method = PLAIN, **options: object) -> SearchResult:
    return retrieve(Query(text, EVERYTHING, **options), texts.sources(), method)  # type: ignore[arg-type]  # checked by Query


# --- choosing ----------------------------------------------------------------------------------

CHUNKS = st.lists(st.sampled_from("abc"), max_size=20).map(
    lambda names: [
        Chunk(name, ordinal, 0, 1, "x", key=ordinal + 1) for ordinal, name in enumerate(names)
    ]
)


@given(CHUNKS, st.sets(st.integers(1, 20), max_size=4), st.integers(1, 10), st.integers(0, 3))
def test_the_choice_keeps_order_limit_cap_and_guarantees(
    ordered: list[Chunk], wanted: set[int], limit: int, cap: int
) -> None:
    guaranteed = {key: "x" for key in wanted if key <= len(ordered)}
    chosen = choose(ordered, guaranteed, limit, cap)
    keys = [chunk.key for chunk in chosen]
    assert len(chosen) <= limit
    assert keys == sorted(keys)  # the order they came in
    first = sorted(guaranteed)[:limit]
    assert set(first) <= set(keys)
    for name in "abc":
        of_document = [chunk for chunk in chosen if chunk.document_id == name]
        must = sum(chunk.key in guaranteed for chunk in of_document)
        assert not cap or len(of_document) <= max(cap, must)


# --- looking at few ----------------------------------------------------------------------------


class Scores:
    """Both sides of a search, and the store, from a table of scores."""

    def __init__(self, scores: dict[int, float], documents: int) -> None:
        self.scores = scores
        self.documents = documents
        self.looked_at: set[int] = set()

    def search(self, *_arguments: object, **_options: object) -> list[Scored]:
        found = [Scored(key, score) for key, score in self.scores.items()]
        return sorted(found, key=lambda hit: (-hit.score, hit.key))

    def search_phrase(self, *_arguments: object) -> list[Scored]:
        return []

    def document_frequencies(self, terms: Sequence[str], scope: Scope) -> list[int]:  # noqa: ARG002 - the seam's signature
        return [len(self.scores)] * len(terms)

    def terms_of(self, keys: Sequence[int], scope: Scope) -> TermRows:  # noqa: ARG002 - likewise
        return term_rows(("x", "", "", "en") for _ in keys)

    def size(self, scope: Scope) -> int:  # noqa: ARG002 - likewise
        return len(self.scores)

    def chunks(self, keys: Iterable[int], _scope: Scope = EVERYTHING) -> dict[int, Chunk]:
        wanted = set(keys)
        self.looked_at.update(wanted)
        return {key: Chunk(f"d{key % self.documents}", key, 0, 1, "x", key=key) for key in wanted}

    def sources(self) -> Sources:
        return Sources(
            lexical=self,
            vectors=None,
            census=lambda _: CorpusCounts(self.documents, len(self.scores), {"en": self.documents}),
            chunks=self.chunks,
            documents=lambda ids, _: {name: document(name) for name in ids},
            chunks_named=lambda *_: (),
            documents_of=lambda keys, _: {key: f"d{key % self.documents}" for key in keys},
            near_words=lambda *_: {},
            titled=lambda *_: {},
        )


@given(
    st.dictionaries(st.integers(1, 60), st.sampled_from([1.0, 2.0, 3.0, 4.0]), min_size=1),
    st.integers(1, 12),
    st.integers(0, 3),
    st.integers(1, 6),
    st.integers(1, 70),
)
def test_looking_at_few_chunks_chooses_what_looking_at_all_would(
    scores: dict[int, float], limit: int, cap: int, documents: int, shortlist: int
) -> None:
    scores_of = Scores(scores, documents)
    method = Method(shortlist=shortlist)
    result = retrieve(
        Query("word", EVERYTHING, limit=limit, per_document=cap),
        scores_of.sources(),
        method,
    )
    everything = sorted(
        scores_of.chunks(scores).values(),
        key=lambda c: (-scores[c.key], c.document_id, c.ordinal),
    )
    wanted = [chunk.id for chunk in choose(everything, {}, limit, cap)]
    assert names(result) == wanted
    assert [hit.score for hit in result.hits] == sorted(
        (h.score for h in result.hits), reverse=True
    )


@pytest.mark.parametrize(("shortlist", "limit", "read"), [(60, 5, 60), (5, 5, 5), (5, 7, 26)])
def test_only_the_shortlist_and_what_is_needed_is_looked_at(
    shortlist: int, limit: int, read: int
) -> None:
    scores = Scores({key: float(100 - key) for key in range(1, 90)}, 90)
    retrieve(
        Query("word", EVERYTHING, limit=limit),
        scores.sources(),
        Method(shortlist=shortlist),
    )
    assert len(scores.looked_at) == read


# --- laws --------------------------------------------------------------------------------------


@given(TEXTS, QUESTIONS, st.integers(1, 6), st.integers(0, 2), st.integers(1, 12))
def test_the_first_hits_do_not_depend_on_how_many_are_wanted(
    texts: list[tuple[str, str]], question: str, limit: int, cap: int, shortlist: int
) -> None:
    method = replace(PRODUCT, shortlist=shortlist)
    few = ask(library(texts), question, method, limit=limit, per_document=cap)
    many = ask(library(texts), question, method, limit=limit + 6, per_document=cap)
    assert names(few) == names(many)[: len(few.hits)]
    assert [hit.score for hit in few.hits] == [hit.score for hit in many.hits[: len(few.hits)]]
    assert len(few.hits) == min(limit, len(many.hits))


@given(TEXTS, QUESTIONS, st.integers(2, 4), st.integers(2, 4))
def test_not_even_where_the_indexes_are_asked_for_more(
    texts: list[tuple[str, str]], question: str, lexical: int, vector: int
) -> None:
    method = Method(lexical_depth=lexical, vector_depth=vector, duplicates=2.0)
    known = library(texts, embedder=EMBEDDER)
    few = ask(known, question, method, limit=1, per_document=0)
    many = ask(known, question, method, limit=9, per_document=0)
    assert known.depths == [lexical, 18]
    # Which of equal chunks stands behind the cut of an index, their keys decide.
    assert [hit.score for hit in few.hits] == [hit.score for hit in many.hits[:1]]
    if len({hit.score for hit in many.hits}) == len(many.hits):
        assert names(few) == names(many)[:1]


@given(TEXTS, QUESTIONS, st.data())
def test_hits_do_not_depend_on_the_order_of_storing(
    texts: list[tuple[str, str]], question: str, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(texts))))
    shortlist = data.draw(st.integers(1, 12))
    method = replace(PRODUCT, shortlist=shortlist)
    one = ask(library(texts), question, method)
    other = ask(library(texts, order=order), question, method)
    assert names(one) == names(other)
    assert [hit.score for hit in one.hits] == [hit.score for hit in other.hits]
    assert [hit.repeats for hit in one.hits] == [hit.repeats for hit in other.hits]


def test_identical_runs_are_identical() -> None:
    texts = [(f"d{n % 4}", f"harbour gate {WORDS[n % 8]} {WORDS[n % 5]} storm") for n in range(20)]
    one, other = (
        ask(library(texts, embedder=EMBEDDER), "which harbour gate, and which storm?",
            PRODUCT) for _ in range(2)
    )  # fmt: skip
    assert one == other
    assert repr(one) == repr(other)


def test_scores_lie_between_zero_and_one_and_fall() -> None:
    texts = library([("a", "harbour gate"), ("b", "harbour storm tide"), ("c", "gate crew")])
    texts.documents = {n: document(n, metadata={"tags": "port"}) for n in "abc"}
    scores = [hit.score for hit in ask(texts, "harbour gate", tags=("port",)).hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


# --- what goes wrong ---------------------------------------------------------------------------

THREE = [("a", "harbour gate"), ("b", "harbour storm tide"), ("c", "gate crew tide ferry")]


class FailingReranker:
    fingerprint = "failing"

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        raise EngineError(f"no service for {len(question)} and {len(passages)}")


def test_a_failing_reranker_leaves_the_order_and_a_warning() -> None:
    plain = ask(library(THREE), "harbour gate")
    failed = ask(library(THREE), "harbour gate", replace(PLAIN, rerank=by_model(FailingReranker())))
    assert names(failed) == names(plain)
    assert [hit.score for hit in failed.hits] == [hit.score for hit in plain.hits]
    assert failed.warnings == ("The order is that before reranking: no service for 12 and 3",)
    assert "reranked" not in failed.hits[0].stages


def test_a_failing_embedder_leaves_words_and_one_warning() -> None:
    broken = library(THREE, embedder=Broken())
    text = "which harbour gate, and which storm tide?"
    result = ask(broken, text, replace(PLAIN, expand=(by_parts,)))
    assert set(names(result)) == set(names(ask(library(THREE), text)))
    assert [warning for warning in result.warnings if "words alone" in warning] == [
        result.warnings[0]
    ]
    assert len(result.variants) == 3


# --- thresholds --------------------------------------------------------------------------------


def test_each_threshold_leaves_out_what_is_below_it() -> None:
    texts = library(THREE)
    everything = ask(texts, "harbour gate")
    assert len(everything.hits) == 3
    scores = [hit.score for hit in everything.hits]
    least = replace(PLAIN, thresholds=Thresholds(score=scores[0]))
    assert names(ask(texts, "harbour gate", least)) == names(everything)[:1]
    bm25 = [hit.stages["bm25"] for hit in everything.hits]
    words = replace(PLAIN, thresholds=Thresholds(bm25=bm25[1]))
    assert names(ask(texts, "harbour gate", words)) == names(everything)[:2]
    none = replace(PLAIN, thresholds=Thresholds(score=1.0, bm25=99.0))
    assert ask(texts, "harbour gate", none).hits == ()


def test_the_cosine_threshold_spares_what_was_found_by_words() -> None:
    texts = library(
        [("a", "the ship lies in the harbour"), ("b", "shipowners of harbourside villages")],
        embedder=EMBEDDER,
    )
    free = ask(texts, "ship in harbour")
    assert set(names(free)) == {"a:0", "b:0"}
    strict = replace(PLAIN, thresholds=Thresholds(cosine=1.0))
    assert names(ask(texts, "ship in harbour", strict)) == ["a:0"]


# --- tags and age ------------------------------------------------------------------------------


def two(**fields: Mapping[str, object]) -> Texts:
    return library(
        [("a", "harbour gate storm"), ("b", "harbour gate tide")],
        documents={name: document(name, **given) for name, given in fields.items()},
    )


def test_a_shared_tag_is_worth_eight_percent() -> None:
    texts = two(b={"metadata": {"tags": "Port_Authority, dues"}})
    assert names(ask(texts, "harbour gate tickets")) == ["a:0", "b:0"]
    words = replace(PLAIN, fuse=lexical_scores)
    tagged = ask(texts, "harbour gate tickets", words, tags=("port authority",))
    assert names(tagged) == ["b:0", "a:0"]  # though both have the highest score there is
    assert tagged.hits[0].stages["tags"] == 1.08
    assert "tags" not in tagged.hits[1].stages
    assert tagged.hits[0].score == 1.0
    plain = ask(library([("a", "harbour gate storm"), ("b", "harbour tide")]), "harbour gate")
    boosted = ask(
        library(
            [("a", "harbour gate storm"), ("b", "harbour tide")],
            documents={"b": document("b", metadata={"tags": "port"})},
        ),
        "harbour gate",
        tags=("Port",),
    )
    assert boosted.hits[1].score == pytest.approx(plain.hits[1].score * 1.08, abs=1e-6)


NOW = 1_000 * DAY
AGED = replace(PLAIN, recency=Recency(NOW, 1.0))


def aged(title: str = "Crew handbook") -> Texts:
    return two(
        a={"modified": NOW - 400 * DAY, "title": title, "source": "root/rules-old.txt"},
        b={"modified": NOW, "title": "Other"},
    )


def test_newer_documents_come_first_where_age_counts() -> None:
    assert names(ask(aged(), "harbour gate")) == ["a:0", "b:0"]
    result = ask(aged(), "harbour gate", AGED)
    assert names(result) == ["b:0", "a:0"]
    assert result.hits[1].stages["recency"] == pytest.approx(0.1, abs=1e-3)


def test_where_all_is_old_no_score_falls() -> None:
    old = two(a={"modified": NOW - 400 * DAY}, b={"modified": NOW - 400 * DAY})
    plain, result = ask(old, "harbour gate"), ask(old, "harbour gate", AGED)
    assert [hit.score for hit in result.hits] == [hit.score for hit in plain.hits]


@pytest.mark.parametrize(
    "question",
    ["harbour gate in 1998", "harbour gate of the Crew  Handbook?", "harbour gate rules-old.txt"],
)
def test_age_does_not_count_where_a_document_or_year_is_named(question: str) -> None:
    result = ask(aged(), question, AGED)
    assert "a:0" in names(result)
    old = next(hit for hit in result.hits if hit.chunk.id == "a:0")
    assert "recency" not in old.stages


# --- repeats -----------------------------------------------------------------------------------

SENTENCE = "The harbour gate closes early whenever a northern storm is reported within {} days"


def test_what_says_the_same_is_told_once() -> None:
    texts = library(
        [("b", SENTENCE.format(14)), ("a", SENTENCE.format(14)), ("c", "harbour " + "tide " * 90)]
    )
    result = ask(texts, "harbour gate", Method())
    assert names(result) == ["a:0", "c:0"]
    assert result.hits[0].repeats == ("b:0",)
    assert names(ask(texts, "harbour gate")) == ["a:0", "b:0", "c:0"]


def test_what_was_asked_for_to_the_letter_is_never_left_out() -> None:
    plain = SENTENCE.format(14)
    texts = library([("a", plain), ("b", plain)])
    assert names(ask(texts, "harbour gate b.txt", Method())) == ["b:0"]
    assert names(ask(texts, "harbour gate", Method())) == ["a:0"]


# --- to the letter -----------------------------------------------------------------------------


def test_a_quotation_comes_before_every_score() -> None:
    texts = library(
        [
            ("a", "gate harbour gate harbour"),
            ("b", "a rule of dead slow at the gate of the harbour"),
        ]
    )
    assert names(ask(texts, "harbour gate"))[0] == "a:0"
    result = ask(texts, '"gate of the harbour"')
    assert names(result)[0] == "b:0"
    assert result.hits[0].stages["exact"] == 1.0
    assert result.question.exact == ("gate of the harbour",)


@pytest.mark.parametrize("asked", ["tide.md", "notes/tide.md", "tide.md gate"])
def test_a_file_asked_for_by_name_comes_before_those_that_say_its_name(asked: str) -> None:
    named = document("plain", source="notes/tide.md")
    texts = [("plain", "nothing of the kind"), ("other", "see tide.md, the gate, the notes")]
    result = ask(library(texts, documents={"plain": named}), asked)
    assert names(result)[0] == "plain:0"


def test_what_states_the_value_that_is_asked_for_comes_first_with_its_own_score() -> None:
    texts = library([("a", "fee " * 9), ("b", "a fee of a boat"), ("c", "a fee of 40 for a boat")])
    asked = replace(PLAIN, value_asked=lambda _: lambda text, _: "40" in text)
    plain, valued = (ask(texts, "fee", method) for method in (PLAIN, asked))
    assert names(plain).index("c:0") > names(valued).index("c:0")
    assert {hit.chunk.key: hit.score for hit in plain.hits} == {
        hit.chunk.key: hit.score for hit in valued.hits
    }


def test_a_quotation_in_a_longer_question_comes_first() -> None:
    texts = library([("a", "harbour gate crew ferry"), ("b", "a slow gate tide " * 5)])
    result = ask(texts, 'harbour crew ferry tickets and "slow gate"', limit=2)
    assert names(result) == ["b:0", "a:0"]
    assert names(ask(texts, 'harbour crew ferry tickets and "slow gate"', limit=1)) == ["b:0"]


@pytest.mark.parametrize(
    "question",
    [
        'which harbour gate, and which "storm tide"?',
        "which harbour gate, and which storm in rules.txt?",
        "harbour ERR-4012",
    ],
)
def test_what_means_itself_is_not_rephrased(question: str) -> None:
    def never(*_arguments: object) -> Sequence[Variant]:
        pytest.fail("it was rephrased")

    result = ask(library(THREE), question, replace(PLAIN, expand=(never,)))
    assert [variant.kind for variant in result.variants] == [VariantKind.ASKED]


def test_a_code_amid_a_longer_question_does_not_hinder() -> None:
    more = Variant(VariantKind.EXPANSION, "tide", (WeightedTerm("tide"),), 0.5)
    question = "which harbour gate, and which storm is ERR-4012?"
    result = ask(library(THREE), question, replace(PLAIN, expand=(lambda *_: [more],)))
    assert [variant.kind for variant in result.variants] == [
        VariantKind.ASKED,
        VariantKind.EXPANSION,
    ]


# --- variants ----------------------------------------------------------------------------------


def test_every_variant_shows_what_it_gave() -> None:
    method = replace(PLAIN, expand=(by_parts,))
    result = ask(library(THREE), "which harbour gate is it, and which ferry crew is it?", method)
    kinds = [variant.kind for variant in result.variants]
    assert kinds == [VariantKind.ASKED, VariantKind.PART, VariantKind.PART]
    stages = {hit.chunk.id: hit.stages for hit in result.hits}
    assert stages["a:0"]["variant_1_bm25_rank"] == 1
    assert "variant_2_bm25" in stages["c:0"]
    assert "variant_1_bm25" not in {**stages.get("x", {})}
    weights = {"fused": 1.0, "variant_1_fused": PART_WEIGHT, "variant_2_fused": PART_WEIGHT}
    for own in stages.values():
        given = [own[name] * weight for name, weight in weights.items() if name in own]
        assert own["first_stage"] == pytest.approx(max(given), abs=2e-6)


def test_a_variant_finds_what_the_question_does_not() -> None:
    def ferries(question: Question, *_rest: object) -> Sequence[Variant]:
        (term,) = (replace(term, term="ferri") for term in question.terms)
        return [Variant(VariantKind.EXPANSION, "ferry", (term,), 0.9)]

    result = ask(library(THREE), "boat", replace(PLAIN, expand=(ferries,)))
    assert names(result) == ["c:0"]
    assert "bm25" not in result.hits[0].stages
    assert result.hits[0].stages["variant_1_bm25"] > 0


# --- the method --------------------------------------------------------------------------------


def test_a_reranker_sees_the_shortlist_in_order_with_its_terms() -> None:
    seen: list[Shortlist] = []

    def look(shortlist: Shortlist) -> Sequence[float]:
        seen.append(shortlist)
        return shortlist.scores

    result = ask(library(THREE), "harbour gate", replace(PLAIN, rerank=look))
    (shortlist,) = seen
    assert [chunk.id for chunk in shortlist.chunks] == names(result)
    assert list(shortlist.scores) == sorted(shortlist.scores, reverse=True)
    assert len(shortlist.rows.starts) == len(shortlist.chunks) + 1
    assert shortlist.size == 3
    assert list(shortlist.frequencies(["harbour", "nowhere"])) == [2, 0]


def test_a_document_removed_meanwhile_is_no_hit() -> None:
    texts = library(THREE)
    texts.documents = {name: texts.documents[name] for name in "bc"}
    result = ask(texts, "harbour gate", PRODUCT)
    assert "a:0" not in names(result)
    assert [hit.rank for hit in result.hits] == [1, 2]


def test_nothing_is_found_in_an_empty_library() -> None:
    assert ask(library([]), "harbour", PRODUCT).hits == ()
    assert ask(library(THREE), "nothing known", PRODUCT).hits == ()
    assert ask(library(THREE), "?!", PRODUCT).hits == ()
