import pytest

from chapterhouse.council.disagreement.attribution import attributions, name_terms


@pytest.mark.parametrize(
    ("text", "language", "name", "covers"),
    [
        ("The demand study expects 52 passengers, which is much.", "en", "demand study",
         "The demand study expects 52 passengers"),
        ("With 52 passengers, as the demand study expects, it is safe.", "en", "demand study",
         "With 52 passengers, as "),
        ("The fare is 4 euros, according to the annual report.", "en", "annual report",
         "The fare is 4 euros, "),
        ("According to the safety report, 12 boats sank.", "en", "safety report",
         "According to the safety report, 12 boats sank."),
        ("According to the harbourmaster, the sea is calm.", "en", "harbourmaster",
         "According to the harbourmaster, the sea is calm."),
        ("We use the study's 52 passengers.", "en", "study", "We use the study's 52 passengers."),
        ("Der Studie zufolge sind es 52.", "de", "Studie", "Der Studie zufolge sind es 52."),
        ("Es sind 52, wie der Sicherheitsbericht schreibt.", "de", "Sicherheitsbericht",
         "Es sind 52, wie "),
    ],
)  # fmt: skip
def test_to_what_a_sentence_attributes_what_it_says(
    text: str, language: str, name: str, covers: str
) -> None:
    (found,) = attributions(text, language)
    assert found.name == name
    assert text[slice(*found.covers)] == covers
    assert not found.own


@pytest.mark.parametrize(
    "text",
    [
        "The law does not apply to studies of ferries.",
        "Each month the harbourmaster sends the board a list.",
        "The ferry expects 52 passengers.",
        "",
    ],
)
def test_a_sentence_may_name_no_source(text: str) -> None:
    assert attributions(text, "en") == ()


def test_a_document_that_speaks_of_itself_names_no_other() -> None:
    (found,) = attributions("This report finds 12 incidents.", "en")
    assert found.own


def test_languages_without_patterns_name_nothing() -> None:
    assert attributions("Selon le rapport, il y a 52 passagers.", "fr") == ()


def test_names_are_compared_without_numbers_and_articles() -> None:
    assert name_terms("the Demand-Studies 2025") == name_terms("demand study")
