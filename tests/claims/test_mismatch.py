import pytest

from chapterhouse.claims.mismatch import find_mismatches
from chapterhouse.claims.quotation import closest_sentences
from chapterhouse.types import Evidence, MismatchKind

RULES = (
    "Membership runs for 24 months and costs €1,250.00 in all. "
    "Boats leave the harbour on 3 May 2024 at 2 pm. "
    "About 2,087,334 passengers were carried, 25% of them children; in 2023 it was half of that. "
    "Guests may stay for seven nights; the keys are kept in the office. "
    "The release of 18-20 April 2011 was version 8.19.0. "
    "“No dog may enter the engine room,” the captain said."
)


def passage(text: str = RULES, language: str = "en") -> Evidence:
    return Evidence("d", 100, 100 + len(text), text, language=language)


def mismatches(sentence: str, *passages: Evidence, known: str = "") -> list[tuple[str, str]]:
    found = find_mismatches(sentence, passages or [passage()], known)
    return [(one.text, one.instead) for one in found]


@pytest.mark.parametrize(
    "sentence",
    [
        "You are a member for two years.", "It costs 1250 euros in total.", "The fee is EUR 1,250.",
        "The boats leave at 14:00 on May 3, 2024.", "On 2024-05-03 the boats leave.",
        "Some 2.1 million people travelled.", "Nearly 2,000,000 passengers were counted.",
        "A quarter of them, 25 percent, were children.", "In 2023 the figure was 50 % of that.",
        "You can stay a week, that is 7 nights.",
        "On 19 April 2011 nothing happened, but on 20 April 2011 version 8.19.0 came out.",
        'The captain said: "No dog may enter the engine room".',
        "First, there are two rules, A and B.", "1. Membership runs for 24 months.",
        "Step 3 is to find the office.", "Nothing to compare here.",
    ],
)  # fmt: skip
def test_what_stands_there_in_another_form_is_no_mismatch(sentence: str) -> None:
    found = [one for one in mismatches(sentence) if one != ("19 April 2011", "")]
    assert not found


@pytest.mark.parametrize(
    ("sentence", "text", "instead"),
    [
        ("Membership runs for 36 months.", "36 months", "24 months"),
        ("Membership costs €1,520 in all.", "€1,520", "€1,250.00"),
        ("The boats leave the harbour on 13 May 2024.", "13 May 2024", "3 May 2024"),
        ("Boats leave the harbour at 4 pm.", "4 pm", "2 pm"),
        ("35% of the passengers carried were children.", "35%", "25%"),
        ("Guests may stay for nine nights.", "nine", "seven"),
        ("The release of April 2011 was version 8.9.0.", "8.9.0", "8.19.0"),
        ("Membership was invented in 1987.", "1987", ""),
    ],
)
def test_a_value_that_is_nowhere_is_named(sentence: str, text: str, instead: str) -> None:
    assert mismatches(sentence) == [(text, instead)]


def test_kinds() -> None:
    sentence = "“No cat may enter it,” it costs $7,777, lasts 99 days and began on 1 June 1999."
    kinds = [one.kind for one in find_mismatches(sentence, [passage()])]
    assert kinds == [
        MismatchKind.QUOTATION,
        MismatchKind.DATE,
        MismatchKind.AMOUNT,
        MismatchKind.NUMBER,
    ]


def test_a_value_of_the_question_a_title_or_a_heading_is_known() -> None:
    assert not mismatches("Rule 417 says that you may stay.", known="What does rule 417 say?")
    headed = Evidence("d", 0, 5, "Rules", "en", "Rules of 1999", ("Part 417",), "2021-03-04")
    assert not mismatches("Part 417 of 1999 holds since 4 March 2021.", headed)


def test_what_is_computed_from_values_beside_it_is_no_mismatch() -> None:
    text = passage("The fee rose from 200 dollars to 250 dollars.")
    assert not mismatches("From 200 to 250 dollars: 50 dollars more, or 25%.", text)
    assert mismatches("From 200 to 250 dollars: 60 dollars more.", text)


def test_any_of_several_passages_suffices_and_without_one_nothing_is_missing() -> None:
    other = passage("The pier is 310 metres long.")
    assert not mismatches("The pier has 310 metres, and 24 months are long.", passage(), other)
    assert not find_mismatches("It is 77 miles away.", ())


@pytest.mark.parametrize(
    ("language", "text", "same", "other"),
    [
        ("de", "Die Frist beträgt 1.500 Tage ab dem 3. März 2024.",
         "Ab dem 03.03.2024 sind es 1500 Tage.", "Ab dem 3. März 2025 sind es 1.500 Tage."),
        ("fr", "La commune compte 3 500 habitants depuis le 28 juin 2017.",
         "Elle a 3500 habitants.", "Elle a 2 500 habitants."),
        ("zh", "公司成立于2016年3月，有３００名员工。",
         "2016年3月成立，300名员工。", "2015年3月成立。"),
    ],
)  # fmt: skip
def test_other_languages(language: str, text: str, same: str, other: str) -> None:
    assert not mismatches(same, passage(text, language))
    assert mismatches(other, passage(text, language))


def test_long_and_odd_texts_are_compared_in_time() -> None:
    digits = "9" * 5_000
    assert not mismatches(f"It is {digits} km.", passage(f"It is {digits} km, or 1/2, or ٣."))
    many = passage(" ".join(f"{number} days" for number in range(2_000)))
    assert mismatches("It takes 99999 days.", many)


def test_the_closest_sentences_are_a_span_of_the_best_passage() -> None:
    dogs = Evidence("e", 0, 40, "Dogs wait on the quay beside the ladder.", "en")
    pier = "The pier is closed. It opens again in the spring of 2025."
    for said, passages, quote in (
        ("How long may guests stay in the house?", [passage()],
         "Guests may stay for seven nights; the keys are kept in the office."),
        ("Where do dogs wait?", [passage(), dogs], dogs.text),
        ("The pier is closed until spring 2025.", [passage(f"{pier} Bring a coat.")], pier),
    ):  # fmt: skip
        found = closest_sentences(said, passages)
        assert found is not None
        (one,) = [one for one in passages if one.document_id == found.document_id]
        assert one.text[found.start - one.start : found.end - one.start] == found.quote == quote
    assert closest_sentences("Völlig anderes", [passage()]) is None
