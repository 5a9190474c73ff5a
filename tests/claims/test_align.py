"""Where the words of a claim stand in a sentence of the evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.align import (
    Alignment,
    Sentence,
    Window,
    align,
    context_terms,
    polarity_differs,
    same_fact,
    sentences_of,
)
from chapterhouse.claims.statement import read
from chapterhouse.types import Evidence


def aligned(claim: str, *sentences: str, language: str = "en") -> Alignment:
    """Align a claim with neighbouring sentences."""
    text = " ".join(sentences)
    statements = tuple(read(sentence, language) for sentence in sentences)
    shown = tuple(Sentence(0, len(s), s, frozenset(), row=False) for s in sentences)
    tokens = tuple((token, n) for n, one in enumerate(statements) for token in one.tokens)
    window = Window(Evidence("a", 0, len(text), text, language), shown, statements, tokens)
    return align(read(claim, language), window)


def found(claim: str, *sentences: str, language: str = "en") -> list[str]:
    """Return what stands in the evidence for each word of a claim; "-" for nothing."""
    made = aligned(claim, *sentences, language=language)
    return ["-" if at < 0 else made.window.tokens[at][0].text for at in made.places]


def test_each_word_is_found_where_it_stands() -> None:
    assert found("The ferry leaves at nine.", "At nine the ferry leaves the harbour.") == [
        "ferry",
        "leaves",
        "nine",
    ]
    assert found("The ferry sinks.", "The ferry leaves.") == ["ferry", "-"]


def test_of_two_places_the_one_that_keeps_the_order_is_taken() -> None:
    text = "The tug waits, the ferry leaves, the tug returns."
    made = aligned("The ferry leaves and the tug returns.", text)
    assert [made.window.tokens[at][0].start for at in made.places] == [
        text.index("ferry"),
        text.index("leaves"),
        text.rindex("tug"),
        text.index("returns"),
    ]


def test_neighbouring_sentences_are_read_together() -> None:
    assert found("The ferry leaves at 9:30.", "The ferry is new.", "It leaves at 9:30.") == [
        "ferry",
        "leaves",
        "9:30",
    ]


def test_words_of_one_family_are_the_same_and_names_are_not() -> None:
    assert found("The administration agreed.", "The administrator agreed.")[0] == "administrator"
    assert found("He saw Martinez.", "He saw Martinek.")[-1] == "-"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("80 euros", "80 euros", True),
        ("80", "80 euros", True),
        ("80", "80 %", False),
        ("80 euros", "95 euros", False),
        ("5 May 2026", "2026-05-05", True),
        ("5 May 2026", "6 May 2026", False),
        ("May 2026", "5 May 2026", True),
    ],
)
def test_facts_are_the_same_by_their_value(one: str, other: str, *, same: bool) -> None:
    def fact(text: str) -> object:
        (token,) = [t for t in read(f"It is {text}.", "en").tokens if t.number or t.date]
        return token

    assert same_fact(fact(one), fact(other)) is same  # type: ignore[arg-type]  # tokens both


@pytest.mark.parametrize(
    ("claim", "stated", "differs"),
    [
        ("The ferry does not sail.", "The ferry sails.", True),
        ("The ferry sails.", "The ferry sails.", False),
        ("The ferry does not sail.", "The ferry does not sail.", False),
        ("No ferry sails.", "The ferry sails.", True),
    ],
)
def test_what_is_denied_on_one_side_is_told(claim: str, stated: str, *, differs: bool) -> None:
    assert (polarity_differs(aligned(claim, stated)) is not None) is differs
    assert (polarity_differs(aligned(stated, claim)) is not None) is differs


def test_where_order_is_fixed_every_word_counts() -> None:
    assert (
        polarity_differs(aligned("渡轮在冬天开航", "渡轮不在冬天开航", language="zh")) is not None
    )


def test_sentences_are_stretches_and_rows_are_marked() -> None:
    text = "One.  Two is here.\n\n- An item\n| a | b |\n3. A third"
    split = sentences_of(text, "en")
    assert [one.text for one in split] == [text[one.start : one.end] for one in split]
    assert [one.row for one in split if one.text[0] in "-|3"] == [True, True, True]
    assert not split[0].row


def test_headings_give_terms_and_facts() -> None:
    terms = context_terms("Annual_Report 2025", ("Life rafts",), "en")
    assert {"report", "raft"} <= terms
    assert any("2025" in one for one in terms)


@given(st.text("the ferry not leaves 9:30 80 % euros. ", max_size=60), st.text(max_size=60))
def test_whatever_is_aligned_stands_somewhere(claim: str, stated: str) -> None:
    made = aligned(claim, stated)
    assert len(made.places) == len(made.flips) == len(made.claim.tokens)
    assert all(-1 <= at < len(made.window.tokens) for at in made.places)
