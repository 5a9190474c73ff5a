"""What the indexes give for every variant."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from numpy import float32
from numpy.typing import NDArray
from tests.embedders import LetterEmbedder

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.candidates import (
    Candidates,
    Method,
    find_candidates,
    variants_of,
    with_other_names,
)
from chapterhouse.retrieval.expand import by_parts, by_rewriting
from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import (
    CorpusCounts,
    Fusion,
    Query,
    Question,
    Rewriting,
    Scope,
    Variant,
    VariantKind,
    WeightedTerm,
)

from .scripted import Texts, library

EVERYTHING = Scope.everything()

ENGLISH = {"en": 1}
THREE = [("a", "harbour gate"), ("b", "harbour storm tide"), ("c", "gate crew tide ferry")]


def found(texts: Texts, text: str, method: Method, limit: int = 10) -> Candidates:
    sources = texts.sources()
    question = parse_question(text, ENGLISH)
    return find_candidates(
        question, Query(text, EVERYTHING, limit=limit), sources.census(EVERYTHING), sources, method
    )


def test_the_question_itself_is_the_first_variant() -> None:
    question = parse_question("Who built the gate and when does the ferry leave?", ENGLISH)
    method = Method(expand=(by_parts,))
    variants, warnings = variants_of(question, Query(question.text, EVERYTHING), ENGLISH, method)
    assert variants[0] == Variant(VariantKind.ASKED, question.text, question.terms)
    assert len(variants) == 3
    assert warnings == ()


def test_what_works_is_kept_and_a_model_that_fails_is_not_asked_again() -> None:
    asked: list[object] = []

    def fail(*arguments: object) -> Sequence[Variant]:
        asked.append(arguments)
        raise EngineError("no service")

    question = parse_question("Who built the gate and when does the ferry leave?", ENGLISH)
    method = Method(expand=(by_parts, fail, fail))
    variants, warnings = variants_of(question, Query(question.text, EVERYTHING), ENGLISH, method)
    assert len(variants) == 3
    assert warnings == ("The question was not rephrased: no service",)
    assert len(asked) == 1


def test_a_part_of_a_question_is_measured_by_the_whole_of_it() -> None:
    asked = "Who built the gate and when does the ferry leave with its crew?"
    result = found(library(THREE), asked, Method(expand=(by_parts,)))
    whole, *parts = (each.lists[0].full for each in result.found)
    assert len(parts) == 2
    assert parts == pytest.approx([whole, whole])
    assert whole > max(hit.score for each in result.found for hit in each.lists[0].hits)


def test_languages_that_gain_nothing_are_not_embedded() -> None:
    result = found(library(THREE), "harbour gate", Method())
    assert all(len(each.lists) == 1 for each in result.found)
    with_vectors = found(library(THREE, embedder=LetterEmbedder()), "harbour gate", Method())
    assert all(each.lists[1].hits for each in with_vectors.found)


def test_a_question_in_another_language_than_all_documents_goes_by_vectors() -> None:
    texts = library(THREE, embedder=LetterEmbedder())
    sources, census = texts.sources(), CorpusCounts(3, 3, {"en": 3})
    assert sources.vectors
    across = Fusion(weight=0.9, floor=0.0, ceiling=0.4, alone=0.0)
    layer = replace(sources.vectors, fusion=replace(sources.vectors.fusion, across=across))
    for text, used in (
        ("Wo ist die Werft und wer ist der Wirt?", across),
        ("Where is the gate and who is the crew?", layer.fusion.in_language("en")),
    ):
        question = parse_question(text, census.languages)
        query = Query(text, EVERYTHING)
        result = find_candidates(question, query, census, replace(sources, vectors=layer), Method())
        assert all(one.lists[1].similarity == used for one in result.found)


def test_a_made_up_answer_is_embedded_as_a_passage() -> None:
    class Noting(LetterEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.passages: list[str] = []
            self.questions: list[str] = []

        def embed_passages(self, texts: Sequence[str]) -> NDArray[float32]:
            self.passages.extend(texts)
            return super().embed_passages(texts)

        def embed_question(self, text: str) -> NDArray[float32]:
            self.questions.append(text)
            return LetterEmbedder().embed_question(text)

    method = Method(expand=(by_rewriting(lambda _: Rewriting(passage="A storm shut the gate.")),))
    embedder = Noting()
    found(library(THREE, embedder=embedder), "Why shut?", method)
    assert embedder.questions == ["Why shut?"]
    assert embedder.passages == ["A storm shut the gate."]


def test_a_chunk_is_worth_its_best_variant() -> None:
    method = Method(expand=(by_parts,), merge=lambda lists, weights: {
        key: max(w * s.get(key, 0.0) for s, w in zip(lists, weights, strict=True))
        for key in set().union(*lists)
    })  # fmt: skip
    text = "which harbour gate is it, and which ferry crew is it?"
    own = found(library(THREE), text, Method(expand=(by_parts,)))
    assert own.scores == found(library(THREE), text, method).scores


def test_a_search_for_many_looks_deeper_and_puts_that_behind() -> None:
    texts = library([(f"d{n}", "harbour " + "gate " * n) for n in range(12)])
    method = Method(lexical_depth=4, vector_depth=4)
    few = found(texts, "harbour", method, limit=2)
    many = found(texts, "harbour", method, limit=6)
    assert texts.depths == [4, 12]
    assert few.scores.items() <= many.scores.items()
    behind = [score for key, score in many.scores.items() if key not in few.scores]
    assert len(behind) == 8
    assert max(behind) <= min(few.scores.values())
    assert found(texts, "harbour", replace(method, lexical_depth=12), limit=6).scores != {}


def test_added_terms_are_read_along_but_not_said() -> None:
    def more(question: Question, *_rest: object) -> Sequence[Variant]:
        terms = (*question.terms, WeightedTerm("ferri", 0.5), WeightedTerm("harbour", 9.0))
        return [Variant(VariantKind.EXPANSION, "x", terms), Variant(VariantKind.PART, "y", terms)]

    texts = library(THREE)
    question = parse_question("harbour gate", ENGLISH)
    result = found(texts, "harbour gate", Method(expand=(more,)))
    widened = with_other_names(question, result)
    assert {term.term: term.weight for term in widened.terms} == {
        "harbour": 1.0, "gate": 1.0, "ferri": 0.5,
    }  # fmt: skip
    assert (widened.order, widened.content) == (question.order, question.content)
    plain = found(texts, "harbour gate", Method(expand=(by_parts,)))
    assert with_other_names(question, plain) == question
