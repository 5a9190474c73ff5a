"""Which of several copies is shown."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.text.rows import term_rows

from chapterhouse.retrieval.candidates import Method
from chapterhouse.retrieval.pipeline import retrieve
from chapterhouse.retrieval.repeats import near_duplicates
from chapterhouse.types import Chunk, Query, Scope, SearchResult, TermRows

from .scripted import document, library

CLAUSE = "Either side may end this agreement with thirty days of notice given in writing by post."
TITLES = {"a": "Supply Agreement", "b": "Loan of Machines Agreement", "c": "Rent"}


def ask(question: str) -> SearchResult:
    texts = library(
        [
            ("a", "Between the Harbour Board and Greenstorm Limited."),
            ("a", CLAUSE),
            ("b", "Between the Harbour Board and Sintec."),
            ("b", CLAUSE),
            ("c", "The rent is due."),
        ],
        documents={
            name: document(name, title=title, source=f"root/{name}-{title.split()[0].lower()}.txt")
            for name, title in TITLES.items()
        },
    )
    return retrieve(Query(question, Scope.everything()), texts.sources(), Method())


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("notice to end the agreement", "a:1"),
        ("notice to end the agreement in b-loan.txt", "b:1"),
        ("notice in the loan of machines agreement", "b:1"),
        ("notice to end the loan", "b:1"),
        ("notice to end the agreement with Sintec", "b:1"),
        ("notice to end the agreement with Greenstorm", "a:1"),
    ],
)
def test_the_copy_of_the_document_asked_about_is_shown(question: str, shown: str) -> None:
    hits = ask(question).hits
    copies = [hit for hit in hits if hit.chunk.text == CLAUSE]
    assert [hit.chunk.id for hit in copies] == [shown]
    assert copies[0].repeats == ({"a:1": "b:1", "b:1": "a:1"}[shown],)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_copy_of_a_file_is_shown_once_however_short_it_is() -> None:
    texts = library(
        [("a", "It is Knut's."), ("b", "It is Knut's."), ("c", "It is Knut's.")],
        documents={
            "a": document("a", text_sha256="same"),
            "b": document("b", text_sha256="same"),
            "c": document("c", text_sha256="other"),
        },
    )
    hits = retrieve(Query("Knut's", Scope.everything()), texts.sources(), Method()).hits
    assert [(hit.chunk.id, hit.repeats) for hit in hits] == [("a:0", ("b:0",)), ("c:0", ())]


TERMS = [f"t{chr(97 + number)}" for number in range(14)]
SETS = st.lists(
    st.one_of(
        st.sets(st.sampled_from(TERMS), max_size=14),
        st.sets(st.sampled_from(TERMS), max_size=2).map(lambda some: set(TERMS) - some),
    ).map(sorted),
    max_size=8,
)


def made(texts: Sequence[str]) -> tuple[list[Chunk], TermRows]:
    chunks = [Chunk(f"d{n}", 0, 0, len(text), text, key=n + 1) for n, text in enumerate(texts)]
    return chunks, term_rows((text, "Section", "Title", "xx") for text in texts)


def slow(texts: Sequence[str], similarity: float) -> dict[int, int]:
    sets = [set(text.split()) for text in texts]
    found: dict[int, int] = {}
    for later, terms in enumerate(sets):
        for earlier in range(later):
            others = sets[earlier]
            if earlier in found or min(len(terms), len(others)) < 8:
                continue
            if len(terms & others) >= similarity * len(terms | others):
                found[later] = earlier
                break
    return found


@example([TERMS[:10], TERMS[:10]], 0.07)
@example([TERMS[:10], TERMS[:9]], 0.9)
@given(SETS, st.sampled_from([0.05, 0.07, 0.5, 0.55, 0.7, 0.8, 0.9, 0.95, 1.0]))
def test_the_quick_way_finds_what_the_slow_one_does(
    sets: list[list[str]], similarity: float
) -> None:
    texts = [" ".join(terms) for terms in sets]
    assert near_duplicates(*made(texts), similarity) == slow(texts, similarity)


@given(st.lists(st.integers(8, 400), min_size=1, max_size=3), st.integers(1, 100))
def test_equal_texts_are_found_at_every_similarity(lengths: list[int], percent: int) -> None:
    texts = [" ".join(f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(length))
             for length in lengths for _ in range(2)]  # fmt: skip
    found = near_duplicates(*made(texts), percent / 100)
    assert all(place in found for place in range(1, len(texts), 2))


LONG = "the harbour gate closes early whenever northern storm winds are reported within {} days"


def test_different_numbers_are_never_the_same() -> None:
    for one, other in (("14", "30"), ("1.5", "1,5"), ("2019", "2020"), ("3 or 4", "3")):
        assert near_duplicates(*made([LONG.format(one), LONG.format(other)]), 0.3) == {}
    turned = " ".join(reversed(LONG.format(14).split()))
    assert near_duplicates(*made([LONG.format(14), turned])) == {1: 0}
    (first, second), rows = made([LONG.format(14)] * 2)
    headed = Chunk("d1", 0, 0, 1, second.text, header="| 2019 |\n", key=2)
    assert near_duplicates([first, headed], rows) == {}
    assert near_duplicates(*made(["closed on holidays"] * 2)) == {}  # too short


def test_what_repeats_a_repetition_only_counts_by_itself() -> None:
    base = TERMS[:10]
    texts = [" ".join(base), " ".join(base[1:]), " ".join(base[2:])]
    assert near_duplicates(*made(texts), 0.85) == {1: 0}  # the third is like the second alone
