"""Names and terms of documents."""

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.key_terms import key_terms

POLICY = """\
---
tags: [hidden tag, hidden tag]
---
# Severe Weather Policy

The duty harbourmaster reads the mean wind every ten minutes. Above a mean wind of 15 m/s the MV
Teal carries fewer passengers. The duty harbourmaster writes the reading into the harbour log; MV
Teal has a harbour log of its own. See https://example.org/harbour-log and ask post@example.org.

## Passenger limits

The limits are 90 and 60. MV Heron sails until the mean wind reaches 18 m/s. The setting is called
`max_wind_speed`, and max_wind_speed is checked by the duty harbourmaster.
"""


def test_names_terms_and_identifiers_are_found_in_their_own_spelling() -> None:
    found = key_terms(POLICY, "en")
    assert found[0] == "Severe Weather Policy"
    for term in ("MV Teal", "duty harbourmaster", "mean wind", "harbour log", "max_wind_speed"):
        assert term in found


def test_no_markup_address_number_or_function_word_at_an_edge_is_a_term() -> None:
    for term in key_terms(POLICY, "en", limit=100):
        assert not any(mark in term for mark in ("http", "@", "example", "#", "`", "*", "|"))
        assert any(character.isalpha() for character in term)
        words = term.casefold().split()
        assert not {words[0], words[-1]} & {"the", "of", "a", "and", "is", "every"}
        assert len(words) <= 4
        assert "hidden" not in words


def test_nothing_crosses_punctuation() -> None:
    text = "The red, ferry. " * 5 + "The red ferry waits, and a red ferry sails. A red ferry. "
    assert "red ferry" in key_terms(text, "en")
    crossing = "Sandpiper, Limpet; Sandpiper: Limpet. " * 5
    assert not [term for term in key_terms(crossing, "en") if " " in term]


def test_singular_and_plural_are_one_term() -> None:
    text = "A life jacket is orange. Life jackets float. The life jackets hang here. Life jackets."
    assert [term for term in key_terms(text, "en") if "acket" in term] == ["life jackets"]


def test_a_part_that_never_stands_alone_is_no_term() -> None:
    text = "We met Agnes Merrow. Then Agnes Merrow left, said Agnes Merrow of the House."
    assert [term for term in key_terms(text, "en") if "Merrow" in term] == ["Agnes Merrow"]


def test_a_term_in_a_heading_comes_before_one_in_the_text() -> None:
    text = (
        "# Berth fees\n\nThe guest pontoon is long. The guest pontoon is wide. Berth fees rise.\n"
    )
    found = key_terms(text, "en")
    assert found.index("Berth fees") < found.index("guest pontoon")


def test_german_keeps_its_compounds_and_links() -> None:
    text = "# Liegeplatzordnung für Gäste\n\nDer Liegeplatz am Gästesteg. Der Gästesteg ist kurz. "
    found = key_terms(text + "Am Gästesteg liegt, wer am Gästesteg zahlt.", "de")
    assert found[0] == "Liegeplatzordnung für Gäste"
    assert "Gästesteg" in found


def test_chinese_runs_between_function_characters() -> None:
    text = "渡轮的乘客在开船前登船。渡轮和救生衣。乘客的救生衣在渡轮上。" * 2
    found = key_terms(text, "zh")
    assert {"渡轮", "救生衣", "乘客"} <= set(found)
    assert not any("的" in term or "在" in term for term in found)


def test_marks_of_letters_cut_no_word_and_code_and_tables_give_their_names() -> None:
    assert key_terms("नौका सेवा अच्छी है। नौका सेवा तेज़ है। नौका सेवा।", "hi")[0] == "नौका सेवा"
    code = "```python\ndef required_tide(vessel): ...\nrequired_tide(heron)\n```\n"
    assert key_terms(code, "")[0] == "required_tide"
    table = "| boat | holder |\n| --- | --- |\n" + "| Little Auk | Samir Adair |\n" * 3
    assert set(key_terms(table, "en")) >= {"Little Auk", "Samir Adair"}
    for text in ("", "12 34 56", "the and of", "---\n---\n", "# \n"):
        assert key_terms(text, "en") == ()


@given(st.text(max_size=300), st.sampled_from(["en", "de", "zh", "ja", ""]), st.integers(0, 5))
def test_any_text_gives_few_clean_terms_and_the_same_again(
    text: str, language: str, limit: int
) -> None:
    found = key_terms(text, language, limit=limit)
    assert found == key_terms(text, language, limit=limit)
    assert len(found) == len(set(found)) <= limit
    for term in found:
        assert 0 < len(term) <= 60
        assert term == " ".join(term.split())
        assert not set(term) & set('<>[]|*`#"\n')
