"""Codes and numbers that a question names, and what is about them."""

from typing import Final

import pytest
from tests.retrieval.scripted import document

from chapterhouse.retrieval.exact import exact_terms, standing
from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import Chunk, Hit

# A question, texts that have what it names exactly, and texts that have another of its kind.
NAMED: Final = (
    ("How deep is buoy B-201?", ["B-201 is red", "| b-201 | 3.5 |"], ["B-216", "B-2011"]),
    ("When was 4.0.3 released?", ["Version 4.0.3", "v 4.0.3."], ["4.0.2", "4.0.31", "14.0.3"]),
    ("Was kostet die Dichtung 2060-U2?", ["Dichtung 2060-U2:"], ["2054-S0", "2060-U3", "12060-U2"]),
    ("port 8444", ["on port 8444.", "Port: 8444"], ["port 8443", "8444"]),
    ("What does the Tidewatch 4 cost?", ["the Tidewatch 4"], ["Tidewatch 3", "Tidewatch 40"]),
    ("Que dit l'article 5 ?", ["Article 5 : loyer", "\n5. Loyer"], ["Article 15", "\n6. Loyer"]),
    ("Was steht in Ziffer 2.1?", ["Ziffer 2.1", "## 2.1 Zahlung"], ["2.10 Zahlung", "Ziffer 2.2"]),
    ("What does clause 2.2(b) say?", ["clause 2.2(b)"], ["clause 2.2(a)", "clause 2.3(b)"]),
    ('Is "dead slow" defined?', ["at Dead\n slow", "dead slower"], ["slow dead", "undead slow"]),
    ("Was heißt „höhere Gewalt“?", ["Höhere  Gewalt ist"], ["Gewalt höherer Art"]),
    ("「不可抗力」怎么说？", ["因不可抗力事件"], ["不可抗拒力"]),
    ("NO9386011117947", ["NO93 8601 1117 947", "no93-8601-1117-947"], ["NO93 8601 1117 948"]),
    ("Who has +4722334455?", ["+47 22 33 44 55", "+47-22334455"], ["+47 22 33 44 56"]),
)  # fmt: skip


def test_exactly_what_is_named_is_found() -> None:
    for asked, own, others in NAMED:
        (term,) = exact_terms(parse_question(asked, {"en": 1, "de": 1, "fr": 1}))
        assert [text for text in own if not term.is_in(text)] == [], asked
        assert [text for text in others if term.is_in(text)] == [], asked


@pytest.mark.parametrize(
    "asked",
    ["Which room has 12 seats?", "What is due after 14 days?", "Who paid 20 euros in 2024?",
     "Who was 5th?"],
)  # fmt: skip
def test_quantities_and_years_are_no_codes(asked: str) -> None:
    assert exact_terms(parse_question(asked, {"en": 1, "de": 1})) == ()


def test_a_question_of_thousands_of_codes_is_looked_for_in_a_few() -> None:
    many = " ".join(f"B-{number}" for number in range(2_000))
    assert len(exact_terms(parse_question(many, {"en": 1}))) <= 12
    assert exact_terms(parse_question("A1" * 4_000, {"en": 1})) == ()


TEXT: Final = """# Parts

The gasket 2057-T1 fits the HX319. It costs 11.65 euros.

The gasket 2060-U2 fits the HX320. It costs 12.00 euros.

All prices are net.

## 2063-V3

It costs 12.35 euros.

| 2060-U2 | 7 |
| 2066-W4 | 9 |
"""


def test_a_paragraph_a_row_and_a_section_are_about_the_code_that_they_name() -> None:
    (term,) = exact_terms(parse_question("What does 2060-U2 cost?", {"en": 1}))
    hit = Hit(1, 1.0, Chunk("parts", 0, 0, len(TEXT), TEXT), document("parts"))
    expected = {
        "The gasket 2057-T1 fits the HX319.": -1,
        "It costs 11.65 euros.": -1,
        "The gasket 2060-U2 fits the HX320.": 1,
        "It costs 12.00 euros.": 1,
        "All prices are net.": 0,
        "It costs 12.35 euros.": -1,
        "| 2060-U2 | 7 |": 1,
        "| 2066-W4 | 9 |": -1,
    }
    spans = [(0, (at := TEXT.index(text), at + len(text))) for text in expected]
    assert dict(zip(expected, standing(term, [hit], spans), strict=True)) == expected
