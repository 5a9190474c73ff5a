import pytest

from chapterhouse.text.wording import LanguageWords, words_of, words_or_english


@pytest.mark.parametrize("language", ["de", "en", "es", "fr", "it"])
def test_every_list_can_be_used(language: str) -> None:
    own = words_of(language)
    assert len(own.months) == 12
    assert len(own.short_months) in {0, 12}
    assert len(own.weekdays) == 7
    assert own.cardinals
    assert own.ordinals
    assert all((own.highest, own.lowest, own.most, own.fewest, own.dearest, own.cheapest))
    assert own.price_names
    assert own.total_names


def test_an_unknown_language_has_no_words_and_an_empty_one_is_english() -> None:
    assert words_of("xx") == words_of("../en") == LanguageWords()
    assert words_of("") == words_of("en")
    assert words_or_english("ru", "months") is words_of("en")
    assert words_or_english("de", "months") is words_of("de")
