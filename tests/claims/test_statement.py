"""A sentence as tokens: content words and facts, each with what governs it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.statement import Token, TokenKind, read, term

SENTENCE = "The ferry does not leave Varnholm before 9:30 on 5 May 2026, but over 40 guests board."


def token(text: str, language: str, wanted: str) -> Token:
    return next(one for one in read(text, language).tokens if one.text == wanted)


def test_words_without_content_are_left_out_and_facts_are_one_token() -> None:
    texts = [one.text for one in read(SENTENCE, "en").tokens]
    assert texts == ["ferry", "leave", "Varnholm", "9:30", "5 May 2026", "40", "guests", "board"]
    kinds = [one.kind for one in read(SENTENCE, "en").tokens]
    assert kinds[3:6] == [TokenKind.DATE, TokenKind.DATE, TokenKind.NUMBER]


def test_a_token_knows_what_governs_it() -> None:
    denied = [one.text for one in read(SENTENCE, "en").tokens if one.negated]
    assert denied == ["leave", "Varnholm", "9:30"]
    assert token(SENTENCE, "en", "9:30").scopes == {"before"}
    assert token(SENTENCE, "en", "40").scopes == {"over"}
    assert token(SENTENCE, "en", "5 May 2026").preposition == "on"
    assert token(SENTENCE, "en", "Varnholm").name
    assert not token(SENTENCE, "en", "ferry").name
    assert token(SENTENCE, "en", "ferry").clause < token(SENTENCE, "en", "guests").clause


def test_a_cue_with_nothing_behind_it_denies_the_word_before() -> None:
    assert token("The prices are not up.", "en", "prices").negated == 1


def test_a_comparison_needs_no_number() -> None:
    assert token("The fee is lower than the toll.", "en", "toll").scopes == {"less"}
    assert token("He climbed over the fence.", "en", "fence").scopes == frozenset()


def test_chinese_is_read_in_pairs_of_characters() -> None:
    found = read("渡轮不在冬天开航。", "zh").tokens
    assert [one.text for one in found] == ["渡轮", "冬天", "天开", "开航"]
    assert [one.negated for one in found] == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("word", "other", "language"),
    [("leaves", "leaving", "en"), ("Fähren", "Fähre", "de"), ("B-52", "b-52", "en")],
)
def test_forms_of_a_word_are_compared_as_one(word: str, other: str, language: str) -> None:
    assert term(word, language) == term(other, language)


@given(st.text(max_size=80), st.sampled_from(["en", "de", "zh", "ja", "fr", ""]))
def test_tokens_are_stretches_of_the_text_in_order(text: str, language: str) -> None:
    found = read(text, language).tokens
    assert [one.start for one in found] == sorted(one.start for one in found)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
