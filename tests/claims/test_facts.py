"""Numbers, dates, names, denials and quotations out of text."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.facts import denials, facts_of
from chapterhouse.claims.quotation import quotations
from chapterhouse.claims.statement import read


def _numbers(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [(number.key, number.unit) for number in facts_of(text, language).numbers]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("1,234.5", "en", [("1234.5", "")]),
        ("1.234,5", "de", [("1234.5", "")]),
        ("1.234,5", "en", [("1234.5", "")]),
        ("3,5 Prozent", "de", [("3.5", "%")]),
        ("12 %", "en", [("12", "%")]),
        ("12 percent", "en", [("12", "%")]),
        ("twelve", "en", [("12", "")]),
        ("two hundred and five people", "en", [("205", "")]),
        ("4 thousand", "en", [("4000", "")]),
        ("4,000", "en", [("4000", "")]),
        ("$3.2 million", "en", [("3200000", "usd")]),
        ("$5bn", "en", [("5000000000", "usd")]),
        ("5-10 km", "en", [("5–10", "km")]),
        ("a 14-day trial", "en", [("14", "d")]),
        ("14 and 30 days", "en", [("14", "d"), ("30", "d")]),
        ("the third try", "en", [("3.", "")]),
        ("the 21st try", "en", [("21.", "")]),
        ("one of the crew", "en", []),
        ("one goal", "en", [("1", "")]),
        ("einundzwanzig Tage", "de", [("21", "d")]),
        ("vingt jours", "fr", [("20", "d")]),
        ("6½ sacks", "en", [("6.5", "")]),
        ("大约3.2万人", "zh", [("32000", "")]),
        ("百分之十二", "zh", [("12", "%")]),
        ("二十五个", "zh", [("25", "")]),
        ("第三", "zh", [("3.", "")]),
        ("３０公里", "zh", [("30", "km")]),
        ("the B-52 and GPT-4", "en", []),
    ],
)
def test_a_number_has_one_form(text: str, language: str, expected: list[tuple[str, str]]) -> None:
    assert _numbers(text, language) == expected


@given(st.integers(0, 999_999_999))
def test_thousands_marks_change_no_value(number: int) -> None:
    for text, language in ((f"{number:,}", "en"), (f"{number:,}".replace(",", "."), "de")):
        found = facts_of(f"xx {text} yy", language)
        values = [n.value for n in found.numbers] or [Decimal(d.year) for d in found.dates]
        assert values == [Decimal(number)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("2024-05-03", "", ["2024-05-03"]),
        ("on 3 May 2024", "en", ["2024-05-03"]),
        ("on May 3, 2024", "en", ["2024-05-03"]),
        ("am 3. Mai 2024", "de", ["2024-05-03"]),
        ("03.05.2024", "de", ["2024-05-03"]),
        ("le 3 mai 2024", "fr", ["2024-05-03"]),
        ("el 3 de mayo de 2024", "es", ["2024-05-03"]),
        ("il 3 maggio 2024", "it", ["2024-05-03"]),
        ("2024年5月3日", "zh", ["2024-05-03"]),
        ("in May", "en", ["--05"]),
        ("He may go", "en", []),
        ("1914–1918", "en", ["1914", "1918"]),
        ("the 1990s", "en", ["1990s"]),
        ("at 10:30 on Monday", "en", ["10:30", "w1"]),
        ("at 3 pm", "en", ["15:00"]),
    ],
)
def test_a_date_has_one_form(text: str, language: str, expected: list[str]) -> None:
    assert [date.key for date in facts_of(text, language).dates] == expected


def test_less_of_a_date_agrees_and_more_does_not() -> None:
    month = facts_of("in May 2024", "en").dates[0]
    day = facts_of("on 3 May 2024", "en").dates[0]
    assert month.agrees(day)
    assert not day.agrees(month)


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


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "«»", "「」", "『』"])
def test_quotations_of_every_kind(marks: str) -> None:
    assert list(quotations(f"He said {marks[0]}come at once{marks[1]} today.")) == ["come at once"]


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
@pytest.mark.timeout(120)  # what grows with the square of the length takes longer
def test_time_grows_with_length_only(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    facts = facts_of(text, "en")
    read(text, "en")
    assert all(0 <= number.start < number.end <= len(text) for number in facts.numbers)
