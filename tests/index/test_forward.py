"""The forward file says of every chunk what analysing it anew would say."""

import json
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.text.rows import term_rows

from chapterhouse.index import lexical
from chapterhouse.index.lexical import LexicalIndex
from chapterhouse.store.sqlite import Store
from chapterhouse.text.canonical import other_names
from chapterhouse.text.terms import text_of_section
from chapterhouse.types import Scope, TermRows

EVERYTHING = Scope.everything()
SEEDS = 40 if "CHAPTERHOUSE_LARGE" in os.environ else 4

Put = Callable[..., str]
WORDS = ("harbour", "gate", "wind", "ferry", "ticket", "crew", "storm", "berth", "E-42", "naïve")


def expected(store: Store, keys: Sequence[int]) -> TermRows:
    chunks = store.chunks(keys, EVERYTHING)
    documents = {document.id: document for document in store.documents(EVERYTHING)}
    return term_rows(
        (
            chunks[key].header + chunks[key].text,
            " ".join(
                (
                    text_of_section(chunks[key].section_path),
                    other_names(documents[chunks[key].document_id]),
                )
            ),
            documents[chunks[key].document_id].title,
            documents[chunks[key].document_id].language,
        )
        for key in keys
    )


def all_keys(store: Store) -> list[int]:
    return [
        chunk.key
        for document in store.documents(EVERYTHING)
        for chunk in store.chunks_of(document.id, EVERYTHING)
    ]


def assert_same(found: TermRows, wanted: TermRows) -> None:
    np.testing.assert_array_equal(found.terms, wanted.terms)
    np.testing.assert_array_equal(found.starts, wanted.starts)
    np.testing.assert_array_equal(found.sections, wanted.sections)
    np.testing.assert_array_equal(found.titles, wanted.titles)


def rows_on_disk(folder: Path) -> int:
    return int(json.loads((folder / "state.json").read_text())["counts"]["rows"])


@pytest.mark.large
@pytest.mark.parametrize("seed", range(SEEDS))
def test_rows_equal_the_analysis_after_any_history(
    tmp_path: Path, store: Store, put: Put, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical, "_COMPACT_FROM", 6)
    monkeypatch.setattr(lexical, "_BATCH_CHANGES", 3)
    chance = random.Random(seed)
    writer, reader = LexicalIndex(tmp_path / "index"), LexicalIndex(tmp_path / "index")
    for _ in range(40):
        name = f"d{chance.randrange(7)}"
        step = chance.random()
        if step < 0.5:
            paragraphs = [
                " ".join(chance.choices(WORDS, k=chance.randrange(6))) + "." for _ in "ab"
            ]
            put(name, "\n\n".join(paragraphs), title=chance.choice(WORDS))
        elif step < 0.7:
            store.remove(name)
        elif step < 0.8:
            store.set_shelves(name, [chance.choice(("crew", "guests"))])
        elif step < 0.85:
            writer = LexicalIndex(tmp_path / "index")
        else:
            writer.catch_up(store)
            keys = all_keys(store)
            chance.shuffle(keys)
            assert_same(reader.terms_of(keys, EVERYTHING), expected(store, keys))
    writer.catch_up(store)
    assert_same(reader.terms_of(all_keys(store), EVERYTHING), expected(store, all_keys(store)))
    writer.rebuild(store)
    assert_same(reader.terms_of(all_keys(store), EVERYTHING), expected(store, all_keys(store)))
    assert rows_on_disk(tmp_path / "index") == len(all_keys(store))


def test_chunks_that_are_not_known_have_empty_rows(tmp_path: Path, store: Store, put: Put) -> None:
    index = LexicalIndex(tmp_path / "index")
    assert index.terms_of([1, 2], EVERYTHING).starts.tolist() == [0, 0, 0]
    put("a", "The harbour gate.")
    index.catch_up(store)
    (key,) = all_keys(store)
    rows = index.terms_of([key + 1, key, key + 2], EVERYTHING)
    assert rows.starts.tolist() == [0, 0, 5, 5]
    assert rows.sections.tolist() == [0, 3, 5]
    assert rows.titles.tolist() == [0, 4, 5]
    assert index.terms_of([], EVERYTHING).starts.tolist() == [0]


@pytest.mark.parametrize("name", ["terms", "ends", "keys"])
def test_a_torn_tail_is_cut_off_and_a_log_that_lost_what_counts_is_built_anew(
    tmp_path: Path, store: Store, put: Put, name: str
) -> None:
    index = LexicalIndex(tmp_path / "index")
    put("a", "The harbour gate.")
    index.catch_up(store)
    (path,) = (tmp_path / "index").glob(f"{name}.*")
    with path.open("ab") as stream:
        stream.write(b"torn!")
    put("b", "The wind rises.\n\nThe ferry sails.")
    LexicalIndex(tmp_path / "index").catch_up(store)
    assert_same(index.terms_of(all_keys(store), EVERYTHING), expected(store, all_keys(store)))
    with path.open("r+b") as stream:
        stream.truncate(3)
    again = LexicalIndex(tmp_path / "index")
    assert again.sequence() == 0
    again.catch_up(store)
    assert_same(again.terms_of(all_keys(store), EVERYTHING), expected(store, all_keys(store)))
    assert again.size(EVERYTHING) == 3
