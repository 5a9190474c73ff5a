"""What kind of value is asked for, and which a sentence states; in English, German and French."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.positions.values import ValueKind, value_kind, values_in

DURATION, MONEY, NUMBER, DATE = (
    ValueKind.DURATION,
    ValueKind.MONEY,
    ValueKind.NUMBER,
    ValueKind.DATE,
)
NAME, CONTACT, OPEN = ValueKind.NAME, ValueKind.CONTACT, ValueKind.OPEN


@pytest.mark.parametrize(
    ("question", "language", "kind"),
    [
        ("How long should confidentiality last", "en", DURATION),
        ("How much notice must be given", "en", DURATION),
        ("How much does it cost", "en", MONEY),
        ("How many masters do we need", "en", NUMBER),
        ("When does the gate close", "en", DATE),
        ("Who may terminate", "en", NAME),
        ("Which court decides", "en", NAME),
        ("What email address do I write to", "en", CONTACT),
        ("What is confidential", "en", OPEN),
        ("Wie lange gilt es", "de", DURATION),
        ("Was kostet ein Liegeplatz", "de", MONEY),
        ("Wie viele Mitglieder hat er", "de", NUMBER),
        ("Wann schließt das Tor", "de", DATE),
        ("Wer entscheidet", "de", NAME),
        ("Pendant combien de temps", "fr", DURATION),
        ("Combien coûte un emplacement", "fr", MONEY),
        ("Quand ferme la porte", "fr", DATE),
        ("Quel tribunal décide", "fr", NAME),
        pytest.param(
            "How fast may a vessel go",
            "en",
            NUMBER,
        ),
    ],
)
def test_what_kind_of_value_is_asked_for(question: str, language: str, kind: ValueKind) -> None:
    assert value_kind(question, (language,)) is kind


@pytest.mark.parametrize(
    ("sentence", "language", "kind", "values"),
    [
        ("It lasts five years.", "en", DURATION, ["five years"]),
        ("It lasts two (2) years.", "en", DURATION, ["two (2) years"]),
        ("It lasts eighteen months.", "en", DURATION, ["eighteen months"]),
        ("Sie gilt fünf Jahre.", "de", DURATION, ["fünf Jahre"]),
        ("Die Frist beträgt 30 Tage.", "de", DURATION, ["30 Tage"]),
        ("Elle dure cinq ans.", "fr", DURATION, ["cinq ans"]),
        pytest.param(
            "Elle dure dix-huit mois.",
            "fr",
            DURATION,
            ["dix-huit mois"],
        ),
        ("In the third year 40 came.", "en", DURATION, []),
        ("It costs 1,200 euros or $30.", "en", MONEY, ["1,200 euros", "$30"]),
        ("Es kostet 1.200 Euro.", "de", MONEY, ["1.200 Euro"]),
        ("It costs 12 days of work.", "en", MONEY, []),
        ("The gate closes on 3 May 2024.", "en", DATE, ["3 May 2024"]),
        ("Return it upon written request.", "en", DATE, ["upon written request"]),
        ("Write to legal@github.com, please.", "en", CONTACT, ["legal@github.com"]),
        pytest.param(
            "Write to https://github.com/contact.",
            "en",
            CONTACT,
            ["https://github.com/contact"],
        ),
        ("Disputes go to the courts of London, England.", "en", NAME, ["London", "England"]),
        ("(d) Nothing in This Agreement binds Acme Ltd.", "en", NAME, ["Acme Ltd"]),
        ("see JORFTEXT000000339241 and Paris Court", "en", NAME, ["Paris Court"]),
        ("the laws of the Republic of South Africa", "en", NAME, ["Republic of South Africa"]),
        ("17 APPLICABLE LAW AND JURISDICTION 17.1 under Kenya law", "en", NAME, ["Kenya"]),
        ("It lasts five years.", "en", OPEN, []),
    ],
)
def test_what_a_sentence_states(
    sentence: str, language: str, kind: ValueKind, values: list[str]
) -> None:
    assert [one.text for one in values_in(sentence, language, kind, "What is it")] == values


@pytest.mark.parametrize(
    ("sentences", "language"),
    [
        (("It lasts 24 months.", "It lasts two years.", "It lasts two (2) years."), "en"),
        (("It lasts 14 days.", "It lasts two weeks."), "en"),
        (("Sie gilt zwei Jahre.", "Sie gilt 24 Monate."), "de"),
        (("Elle dure deux ans.", "Elle dure 24 mois."), "fr"),
    ],
)
def test_the_same_time_in_other_words_has_one_key(
    sentences: tuple[str, ...], language: str
) -> None:
    keys = {
        value.key
        for sentence in sentences
        for value in values_in(sentence, language, DURATION, "How long")
    }
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("noun", "number"),
    [
        ("masters", "two"),
        pytest.param(
            "deckhands",
            "three",
        ),
    ],
)
def test_of_several_numbers_those_of_what_is_asked_for(noun: str, number: str) -> None:
    sentence = "We need two more masters and three deckhands."
    found = values_in(sentence, "en", NUMBER, f"How many {noun} do we need")
    assert [one.text for one in found] == [number]


def test_what_the_question_says_is_no_answer() -> None:
    sentence = "Alder Ltd and Birch Ltd share it until 3 May 2024."
    names = {one.text for one in values_in(sentence, "en", NAME, "Who shares it with Alder Ltd")}
    assert "Birch Ltd" in names
    assert "Alder Ltd" not in names
    assert values_in(sentence, "en", DATE, "What happens on 3 May 2024") == ()


@given(
    st.text(max_size=200),
    st.sampled_from(["en", "de", "fr", ""]),
    st.sampled_from(list(ValueKind)),
)
def test_every_value_stands_in_its_sentence(text: str, language: str, kind: ValueKind) -> None:
    for value in values_in(text, language, kind, "What is it"):
        assert text[value.start : value.end].strip().startswith(value.text)
        assert value.key


@given(st.integers(1, 80))  # 1008 months could be a year
def test_years_and_their_months_are_one_value(years: int) -> None:
    one = values_in(f"It lasts {years} years.", "en", DURATION, "How long")
    other = values_in(f"It lasts {12 * years} months.", "en", DURATION, "How long")
    assert [value.key for value in one] == [value.key for value in other]
