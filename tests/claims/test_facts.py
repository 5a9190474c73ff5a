"""Names and denials out of text, and what holds for all facts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.claims.facts import denials, facts_of
from chapterhouse.claims.statement import read


def test_names_are_capitals_within_a_sentence_and_codes() -> None:
    found = facts_of("Then John A. Smith of NASA flew the B-52 to Berlin.", "en").names
    assert [name.text for name in found] == ["John A. Smith", "NASA", "B-52", "Berlin"]


def test_a_german_noun_is_no_name() -> None:
    found = facts_of("Der Vertrag mit Anna Schmidt gilt für die Fähre.", "de").names
    assert [name.text for name in found] == ["Anna Schmidt"]


@pytest.mark.parametrize(
    ("text", "language", "denied"),
    [
        ("He did not win the cup.", "en", "win"),
        ("He didn't win the cup.", "en", "win"),
        ("No player won.", "en", "player"),
        ("Der Vertrag gilt nicht.", "de", "gilt"),
        ("Il ne gagne pas la coupe.", "fr", "coupe"),
        ("No ganó la copa.", "es", "ganó"),
        ("Non ha vinto la coppa.", "it", "vinto"),
        ("他不支持这个决定。", "zh", "支持"),
    ],
)
def test_a_cue_denies_what_follows_in_its_clause(text: str, language: str, denied: str) -> None:
    found = facts_of(text, language).negations
    assert denials(text, found, language)[text.index(denied)] == 1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Not only the captain won.", "en"),
        ("Pay no later than Friday.", "en"),
        ("See No. 5 for it.", "en"),
        ("Nicht nur der Kapitän gewann.", "de"),
        ("不仅如此", "zh"),
        ("他在非洲", "zh"),
    ],
)
def test_a_turn_of_phrase_denies_nothing(text: str, language: str) -> None:
    assert facts_of(text, language).negations == ()


def test_a_denial_ends_with_its_clause_and_spares_an_aside() -> None:
    text = "He did not win (he played) the cup, but he won the league."
    found = facts_of(text, "en").negations
    counts = denials(text, found)
    assert [counts[text.index(word)] for word in ("cup", "played", "league")] == [1, 0, 0]


@given(st.text(max_size=200), st.sampled_from(["", "en", "de", "fr", "es", "it", "zh"]))
def test_offsets_lie_within_any_text(text: str, language: str) -> None:
    facts = facts_of(text, language)
    spans = [(number.start, number.end) for number in facts.numbers]
    spans += [(date.start, date.end) for date in facts.dates]
    spans += [(name.start, name.end) for name in facts.names]
    spans += [(cue.scope_start, cue.scope_end) for cue in facts.negations]
    for start, end in spans:
        assert 0 <= start <= end <= len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "1,",
        "1.",
        "9",
        "-",
        "not ",
        "one ",
        "May ",
        "(",
        '"',
        "A.",
        "hundred ",
        "二",
        "1 ",
        "a'",
        "A ",
        "2024-",
    ],
)
def test_work_grows_with_length_only(piece: str) -> None:
    assert_in_proportion(lambda text: (facts_of(text, "en"), read(text, "en")), piece, 600)
    text = piece * 1_000
    numbers = facts_of(text, "en").numbers
    assert all(0 <= number.start < number.end <= len(text) for number in numbers)
