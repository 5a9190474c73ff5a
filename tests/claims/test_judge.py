"""What the judge says about sentences, and what it must never call found."""

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.judge import judge, model
from chapterhouse.types import FOUND, Evidence, Judgement, ProblemKind, Support

if TYPE_CHECKING:
    from chapterhouse.ports.models import ClaimJudge

FERRY = (
    "The ferry Aurora was built in Turku in 1998 by the Finnish company Wärtsilä. It carries at"
    " least 420 passengers and 60 cars between Varnholm and Lund. In June 2019, the captain Anna"
    " Berg rescued Peter Holm near the lighthouse. Some members of the crew speak German. Smoking"
    " is not allowed on the upper deck. The crossing takes 45 minutes and costs 12 euros."
)
CAFE = (
    "The café of the harbour opens at 9:00 on Monday. It sells 30 kinds of cake and no alcohol."
    " The baker, who moved here from Lisbon, won a medal in 2021."
)


def _evidence(text: str, name: str = "ferry", language: str = "en", start: int = 0) -> Evidence:
    return Evidence(name, start, start + len(text), text, language, title=name.title())


HERE = _evidence(FERRY)
THERE = _evidence(CAFE, "cafe")


def _judge(sentence: str) -> Judgement:
    return judge(sentence, [HERE], [THERE])


def test_the_judge_fills_the_seam() -> None:
    seam: ClaimJudge = judge
    assert seam("Some members of the crew speak German.", [HERE], []).support is Support.QUOTED


def test_the_model_has_a_weight_for_each_feature() -> None:
    assert 0 < model().threshold < 1


@pytest.mark.parametrize(
    "sentence",
    [
        "The crossing takes 45 minutes and costs 12 euros.",
        "the crossing takes 45  minutes and costs 12 euros [^ferry:Prices]",
        "**The crossing takes 45 minutes** and costs 12 euros.",
        "According to the document, the crossing takes 45 minutes and costs 12 euros.",
        "“The crossing takes 45 minutes and costs 12 euros.”",
        "The ferry Aurora was built in Turku in 1998.",
    ],
)
def test_what_stands_there_word_for_word_is_quoted(sentence: str) -> None:
    assert _judge(sentence).support is Support.QUOTED


@pytest.mark.parametrize(
    "sentence",
    [
        "In 1998, the ferry Aurora was built in Turku.",
        "The Finnish company Wärtsilä built the ferry Aurora in Turku in 1998.",
        "The crossing takes forty-five minutes, for 12 euros.",
        "At least 420 passengers and 60 cars are carried between Varnholm and Lund.",
    ],
)
def test_the_same_with_its_facts_in_another_order_is_supported(sentence: str) -> None:
    assert _judge(sentence).support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("sentence", "kind", "found"),
    [
        ("The crossing takes 46 minutes and costs 12 euros.", ProblemKind.NUMBER, "45 minutes"),
        ("The crossing costs 14 euros.", ProblemKind.NUMBER, "12 euros"),
        ("The ferry Aurora was built in Turku in 1999.", ProblemKind.DATE, "1998"),
        ("In July 2019, Anna Berg rescued Peter Holm.", ProblemKind.DATE, "June 2019"),
        ("It carries at least 430 passengers.", ProblemKind.NUMBER, "420"),
    ],
)
def test_another_number_or_date_disagrees_and_is_named(
    sentence: str, kind: ProblemKind, found: str
) -> None:
    told = _judge(sentence)
    assert told.support is Support.DISAGREES
    assert (told.problems[0].kind, told.problems[0].found) == (kind, found)
    assert found in told.spans[0].quote


@pytest.mark.parametrize(
    "sentence",
    [
        "The ferry Aurora was built in Hamburg.",
        "Smoking is allowed on the upper deck.",
        "The captain never rescued Peter Holm.",
        "Some members of the crew speak Polish.",
        "Whoever likes dolphins should look over the bow in summer.",
    ],
)
def test_what_is_not_sure_is_not_found_and_shown_beside_what_comes_closest(sentence: str) -> None:
    assert _judge(sentence).support is Support.NOT_FOUND


def test_what_denies_a_copied_passage_is_not_found() -> None:
    text = (
        "The ferry does not leave the harbour of Varnholm Town at nine on Fridays in summer and "
        "returns at noon."
    )
    said = text.replace("does not leave", "leaves").replace("returns", "never returns")
    assert judge(said, [_evidence(text)], []).support not in FOUND
    assert judge(text, [_evidence(said)], []).support not in FOUND


def test_durations_agree_in_other_units() -> None:
    evidence = [_evidence("The warranty of the engine lasts 24 months from delivery in 2021.")]
    for said, support in (("two years", False), ("24 weeks", True), ("three years", True)):
        told = judge(f"The engine's warranty lasts {said} from delivery.", evidence, [])
        assert (told.support is Support.DISAGREES) is support, said


def test_seconds_and_milliseconds_are_durations_too() -> None:
    evidence = [_evidence("An attempt is given up after two hundred milliseconds without answer.")]
    for said, disagrees in (("0.2 seconds", False), ("200 seconds", True), ("15 minutes", True)):
        told = judge(f"An attempt is given up after {said} without answer.", evidence, [])
        assert (told.support is Support.DISAGREES) is disagrees, said


def test_the_year_of_a_heading_counts() -> None:
    dated = Evidence("a", 0, 24, "The budget was adopted.", "en", "Minutes", ("Budget 2026",))
    assert judge("The 2026 budget was adopted.", [dated], []).support in FOUND
    assert judge("The 2027 budget was adopted.", [dated], []).support not in FOUND


def test_a_title_in_front_is_no_statement_of_its_own() -> None:
    of_title = Evidence("a", 0, 26, "The gate closes at 21:30.", "en", "Harbour Rules")
    told = judge("According to the Harbour Rules, the gate closes at 21:30.", [of_title], [])
    assert told.support is Support.QUOTED


def test_what_was_cut_off_may_deny_what_was_kept() -> None:
    evidence = [_evidence("It is not true that the harbour closes in winter.")]
    assert judge("The harbour closes in winter.", evidence, []).support is Support.NOT_FOUND
    german = [_evidence("Der alte Vertrag gilt für alle Gäste nicht.", language="de")]
    assert judge("Der alte Vertrag gilt für alle Gäste.", german, []).support is Support.NOT_FOUND


def test_another_document_is_asked_where_the_cited_one_does_not_have_it() -> None:
    told = _judge("The café of the harbour opens at 9:00 on Monday.")
    assert told.support is Support.QUOTED
    assert {span.document_id for span in told.spans} == {"cafe"}


def test_another_stretch_of_the_cited_document_counts_as_cited() -> None:
    more = _evidence("The bar closes at midnight on Sunday evenings.", start=5_000)
    told = judge("The bar closes at midnight on Sunday evenings.", [HERE], [more])
    assert told.support is Support.QUOTED
    assert told.spans[0].start == 5_000


@pytest.mark.parametrize(
    "sentence",
    [
        'The text says "The ferry Aurora was built in Turku and costs 12 euros".',
        'It states: "Some members of the staff speak German".',
        "The document says: “Smoking is not allowed on Monday at the café of the harbour”.",
    ],
)
def test_a_quotation_that_stands_nowhere_is_named(sentence: str) -> None:
    told = _judge(sentence)
    assert told.support is Support.NOT_FOUND
    assert told.problems[0].kind is ProblemKind.QUOTATION


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello!", "Thank you for your question.", "Which deck do you mean?", "## Prices",
        "Summary:", "The documents do not say who paid for it.",
        "Die Dokumente enthalten keine Angaben dazu.",
        "Les documents ne précisent pas la date.", "Los documentos no lo mencionan.",
        "Le fonti non specificano il prezzo.", "文档中没有提到这一点。",
        "I could not find an answer in the documents.",
    ],
)  # fmt: skip
def test_what_states_nothing_is_no_statement(sentence: str) -> None:
    assert _judge(sentence).support is Support.NO_STATEMENT


@pytest.mark.parametrize(
    "sentence",
    [
        "Thanks to the treaty, the war ended early.",
        "Certainly, Berlin is the capital of France.",
        "The documents do not say it, but the crossing takes two hours.",
        "No evidence was found for the theory in patients.",
        "Sorry, Paris won the cup in a row last year.",
        "- Founded in Berlin by monks",
        "Yes, the crossing takes two hours.",
    ],
)
def test_a_statement_behind_a_polite_word_is_judged(sentence: str) -> None:
    assert _judge(sentence).support in {Support.NOT_FOUND, Support.DISAGREES}


def test_chinese_and_german_are_judged_too() -> None:
    chinese = [_evidence("黑豹队的防守只丢了308分，在联赛中排名第六。", language="zh")]
    assert judge("黑豹队的防守只丢了308分。", chinese, []).support in FOUND
    assert judge("黑豹队的防守只丢了309分。", chinese, []).support not in FOUND
    text = "Die Fähre fährt am 3. Mai 2024 nach Lund und kostet 1.200 Euro."
    german = [_evidence(text, language="de")]
    assert judge("Am 3. Mai 2024 fährt die Fähre nach Lund.", german, []).support in FOUND
    told = judge("Am 4. Mai 2024 fährt die Fähre nach Lund.", german, [])
    assert told.support is Support.DISAGREES


def test_no_evidence_is_no_support() -> None:
    assert judge("The crossing takes 45 minutes.", [], []).support is Support.NOT_FOUND


# --- laws ---------------------------------------------------------------------------------------


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_judged_and_every_span_is_exact(sentence: str, text: str) -> None:
    evidence = _evidence(text, start=17)
    told = judge(sentence, [evidence], [THERE])
    assert 0.0 <= told.score <= 1.0
    for span in told.spans:
        source = evidence if span.document_id == "ferry" else THERE
        assert source.text[span.start - source.start : span.end - source.start] == span.quote


@given(st.integers(0, 5))
def test_every_sentence_of_the_evidence_is_quoted(number: int) -> None:
    sentence = [part.strip() + "." for part in FERRY.rstrip(".").split(". ")][number]
    told = _judge(sentence)
    assert told.support is Support.QUOTED
    assert told.spans[0].quote == sentence


TOWNS = ("Lund", "Turku", "Varnholm", "Bergen", "Tallinn", "Visby", "Aarhus", "Narvik")
MONTHS = ("January", "March", "April", "June", "July", "September", "October", "December")


@pytest.mark.parametrize("seed", range(45))
def test_a_number_or_date_that_stands_nowhere_is_never_found(seed: int) -> None:
    chance = random.Random(seed)
    town, other = chance.sample(TOWNS, 2)
    count, day, year = chance.randint(33, 900), chance.randint(2, 27), chance.randint(1900, 2020)
    month, wrong = chance.sample(MONTHS, 2)
    evidence = [
        _evidence(
            f"{town} has {count} boats and {other} has {count + 7} boats. On {day} {month} {year},"
            f" the council of {town} paid {count} euros for {count} days."
        )
    ]
    for said in (
        f"{town} has {count + 1} boats and {other} has {count + 7} boats.",
        f"On {day + 1} {month} {year}, the council of {town} paid {count} euros.",
        f"On {day} {wrong} {year}, the council of {town} paid {count} euros.",
        f"On {day} {month} {year + 1}, the council of {town} paid {count} euros.",
        f"The council of {town} paid {count} thousand euros for {count} days.",
        f"The council of {town} paid {count} euros for {count} weeks.",
    ):
        assert judge(said, evidence, []).support not in FOUND, said
