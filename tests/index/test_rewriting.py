"""The lexical index written anew from its own terms is the one that is built from the texts."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chapterhouse.index import rewriting
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.store.sqlite import SqliteStore
from chapterhouse.types import Scope, WeightedTerm

EVERYTHING = Scope.everything()
WORDS = ("harbour", "gates", "closing", "Störung", "wind's", "3.5", "港口", "zephyrine")


def _seen(index: LexicalIndex, scope: Scope) -> object:
    terms = ["harbour", "gate", "close", "zephyrin", "wind", "3.5", "storung"]
    hits = [index.search([WeightedTerm(term)], scope, 50) for term in terms]
    phrases = [index.search_phrase(pair, scope, 50) for pair in (terms[:2], terms[1:3])]
    keys = range(1, 60)
    rows = index.terms_of(keys, scope)
    found = rows.terms.tolist(), rows.starts.tolist(), rows.sections.tolist(), rows.titles.tolist()
    return hits, phrases, index.document_frequencies(terms, scope), index.size(scope), found


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(
        st.lists(st.sampled_from((*WORDS, "\n\n")), min_size=1, max_size=12).map(" ".join),
        min_size=2,
        max_size=6,
    ),
    gone=st.integers(0, 5),
)
def test_it_is_the_same_as_one_built_from_the_texts(
    tmp_path_factory: pytest.TempPathFactory,
    store: SqliteStore,
    put: Callable[..., str],
    texts: list[str],
    gone: int,
) -> None:
    folder = tmp_path_factory.mktemp("index")
    index, other = LexicalIndex(folder / "a"), LexicalIndex(folder / "b")
    for document in list(store.documents(EVERYTHING)):
        store.remove(document.id)
    for number, text in enumerate(texts):
        shelves = ("library",) if number % 2 else ("library", "maria")
        put(f"d{number}", text, shelves=shelves, title=f"About {WORDS[number]}")
    index.catch_up(store)
    store.remove(f"d{gone}")
    assert index.purge(store) == other.rebuild(store) == store.sequence()
    for scope in (EVERYTHING, Scope.of(["maria"])):
        assert _seen(index, scope) == _seen(other, scope)
    put("later", "The harbour bell rings.")
    assert index.catch_up(store) == other.catch_up(store) == store.sequence()
    assert index.size(EVERYTHING) == other.size(EVERYTHING)


def test_no_term_of_what_is_gone_is_in_the_files(
    tmp_path: Path, store: SqliteStore, put: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put("a", "The zephyrine gate closes.")
    put("b", "The harbour gate closes.")
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    store.remove("a")
    index.catch_up(store)

    def held() -> tuple[list[tuple[str, int]], int]:
        terms = index._searcher().terms_with_prefix("body", "zephyr")
        return terms, len(index._load_forward().terms)

    before, length = held()
    assert before
    monkeypatch.setattr(index, "rebuild", lambda _: pytest.fail("the terms are known"))
    index.purge(store)
    terms, shorter = held()
    assert terms == []
    assert shorter < length
    assert len(index.search([WeightedTerm("harbour")], EVERYTHING, 10)) == 1
    assert len(list((tmp_path / "index").glob("tantivy.*"))) == 1


def test_without_the_terms_of_all_numbers_it_is_built_from_the_texts(
    tmp_path: Path, store: SqliteStore, put: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put("a", "The harbour gate closes.")
    index = LexicalIndex(tmp_path / "index")
    index.catch_up(store)
    numbers, searcher = index._load_forward().terms, index._searcher()
    known = rewriting.terms_by_number(searcher, numbers)
    assert known is not None
    assert set(known) == set(numbers.tolist())
    unknown = np.asarray([*numbers, 1], np.uint32)
    assert rewriting.terms_by_number(searcher, unknown) is None

    def one_number(terms: list[str]) -> np.ndarray:
        return np.zeros(len(terms), np.uint32)

    monkeypatch.setattr(rewriting, "term_numbers", one_number)
    assert rewriting.terms_by_number(searcher, numbers) is None
    monkeypatch.setattr(rewriting, "write_entries", lambda *_: pytest.fail("not for sure"))
    assert index.purge(store) == store.sequence()
    assert len(index.search([WeightedTerm("harbour")], EVERYTHING, 10)) == 1
