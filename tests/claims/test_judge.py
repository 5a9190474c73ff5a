"""What the judge of claims accepts, and what it must never accept."""

# ruff: noqa: E501 - a sentence a line

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from chapterhouse.answering.combining import combine
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.claims.judge import fabricated, judge
from chapterhouse.types import Evidence, Judgement, Problem, ProblemKind, Support

if TYPE_CHECKING:
    from chapterhouse.protocols import ClaimJudge

CARRIED = {Support.QUOTED, Support.SUPPORTED}
FERRY = (
    "The ferry Aurora was built in Turku in 1998 by the Finnish company Wärtsilä. It carries at least"
    " 420 passengers and 60 cars between Varnholm and Lund. In June 2019, the captain Anna Berg"
    " rescued Peter Holm near the lighthouse. Some members of the crew speak German. Smoking is not"
    " allowed on the upper deck. The crossing takes 45 minutes and costs 12 euros."
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
def test_what_stands_there_to_the_letter_is_verbatim(sentence: str) -> None:
    assert _judge(sentence).support is Support.QUOTED


@pytest.mark.parametrize(
    "sentence",
    [
        "In 1998, the ferry Aurora was built in Turku.",
        "The Finnish company Wärtsilä built the ferry Aurora in Turku.",
        "Smoking isn't allowed on the upper deck.",
        "The café opens on Monday at 9 am.",
        "The crossing takes forty-five minutes.",
        "Peter Holm was rescued by Anna Berg near the lighthouse.",
        "The baker won a medal in 2021.",
        "The Aurora carries at least 420 passengers between Varnholm and Lund.",
        "It carries at least 420 passengers and 60 cars between Lund and Varnholm.",
    ],
)
def test_the_same_in_other_words_is_supported(sentence: str) -> None:
    assert judge(sentence, [HERE, THERE], []).support in CARRIED


def test_a_figure_without_its_limit_is_carried_in_part() -> None:
    told = judge("It carries 420 passengers and 60 cars between Varnholm and Lund.", [HERE], [])
    assert told.support is Support.PARTLY
    assert [problem.kind for problem in told.problems] == [ProblemKind.NUMBER]
    speed = Evidence("a", 0, 41, "A vessel makes at most 4 knots in there.", "en", "Rules")
    assert judge("A vessel may make 4 knots in there.", [speed], []).support in CARRIED
    assert judge("A vessel makes 4 knots in there.", [speed], []).support is Support.PARTLY


def test_a_title_in_front_is_no_claim_of_its_own() -> None:
    of_title = Evidence("a", 0, 26, "The gate closes at 21:30.", "en", "Harbour Rules")
    told = judge("According to the Harbour Rules, the gate closes at 21:30.", [of_title], [])
    assert told.support in CARRIED
    other = judge("According to the mayor, the gate closes at 21:30.", [of_title], [])
    assert other.support not in CARRIED


def test_the_year_of_a_heading_counts() -> None:
    dated = Evidence("a", 0, 24, "The budget was adopted.", "en", "Minutes", ("Budget 2026",))
    assert judge("The budget for 2026 was adopted.", [dated], []).support in CARRIED
    assert judge("The budget for 2027 was adopted.", [dated], []).support not in CARRIED


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The crossing takes 46 minutes and costs 12 euros.", ProblemKind.NUMBER),
        ("The crossing takes 45 hours and costs 12 euros.", ProblemKind.NUMBER),
        ("The crossing takes 12 minutes and costs 45 euros.", ProblemKind.NUMBER),
        ("The ferry Aurora was built in Turku in 1999.", ProblemKind.DATE),
        ("In July 2019, the captain Anna Berg rescued Peter Holm.", ProblemKind.DATE),
        ("The ferry Aurora was built in Hamburg in 1998.", ProblemKind.NAME),
        (
            "In June 2019, Peter Holm rescued the captain Anna Berg near the lighthouse.",
            ProblemKind.NAME,
        ),
        ("The captain Anna Berg was rescued by Peter Holm near the lighthouse.", ProblemKind.NAME),
        ("Smoking is allowed on the upper deck.", ProblemKind.NEGATION),
        ("Smoking is not allowed on the lower deck.", ProblemKind.NEGATION),
        ("The captain Anna Berg never rescued Peter Holm.", ProblemKind.NEGATION),
        ("All members of the crew speak German.", ProblemKind.WORDS),
        ("Only members of the crew speak German.", ProblemKind.WORDS),
        ("It carries at most 420 passengers and 60 cars.", ProblemKind.NUMBER),
        ("It carries at least 60 passengers and 420 cars.", ProblemKind.NUMBER),
        ("The ferry Aurora was built before 1998 in Turku.", ProblemKind.DATE),
    ],
)
def test_a_contradiction_is_unsupported_and_named(sentence: str, kind: ProblemKind) -> None:
    told = _judge(sentence)
    assert told.support is Support.NOT_FOUND
    assert kind in {problem.kind for problem in told.problems}


def test_numbers_stay_with_their_owners() -> None:
    evidence = [_evidence("Lund has 7 boats and Varnholm has 5 boats.")]
    assert judge("Lund has 7 boats.", evidence, []).support in CARRIED
    assert judge("Varnholm has 5 boats.", evidence, []).support in CARRIED
    for wrong in (
        "Lund has 5 boats.",
        "Varnholm has 7 boats.",
        "Lund has 5 boats and Varnholm has 7 boats.",
    ):
        assert judge(wrong, evidence, []).support is Support.NOT_FOUND


def test_a_denial_or_comparison_without_a_number_counts() -> None:
    evidence = [
        _evidence("Since May the prices are up. A value higher than the limit is an error.")
    ]
    assert judge("Since May the prices are not up.", evidence, []).support not in CARRIED
    assert judge("A value lower than the limit is an error.", evidence, []).support not in CARRIED


def test_what_was_cut_off_may_deny_what_was_kept() -> None:
    evidence = [
        _evidence(
            "It is not true that the harbour closes in winter. Der Vertrag gilt für Gäste nicht."
        )
    ]
    assert judge("The harbour closes in winter.", evidence, []).support is Support.NOT_FOUND
    german = [_evidence("Der alte Vertrag gilt für alle Gäste nicht.", language="de")]
    assert judge("Der alte Vertrag gilt für alle Gäste.", german, []).support is Support.NOT_FOUND


def test_a_true_clause_with_an_invented_one_is_partly() -> None:
    told = _judge("The crossing takes 45 minutes, and dolphins follow the bow every summer.")
    assert told.support is Support.PARTLY
    assert [span.quote for span in told.spans] == [
        "The crossing takes 45 minutes and costs 12 euros."
    ]
    assert "dolphins" in {problem.said for problem in told.problems}
    assert 0.2 < told.score < 0.8


def test_support_in_another_document_is_misattributed() -> None:
    told = _judge("The café of the harbour opens at 9:00 on Monday.")
    assert told.support is Support.MISATTRIBUTED
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
        "The ferry Aurora was built in Turku in 1998 kinds of cake and no alcohol is sold",
    ],
)
def test_a_stitched_or_altered_quotation_is_no_support(sentence: str) -> None:
    told = _judge(sentence)
    assert told.support not in CARRIED


def test_a_stitched_quotation_is_told_with_its_pieces() -> None:
    told = _judge('The text says "The ferry Aurora was built in Turku and costs 12 euros".')
    assert told.support is Support.FRANKENQUOTE
    assert len(told.spans) == 2
    assert told.problems[0].kind is ProblemKind.QUOTATION


@pytest.mark.parametrize(
    "sentence",
    [
        "Hello!", "Thank you for your question.", "Which deck do you mean?", "## Prices", "Summary:",
        "The documents do not say who paid for it.", "Die Dokumente enthalten keine Angaben dazu.",
        "Les documents ne précisent pas la date.", "Los documentos no lo mencionan.",
        "Le fonti non specificano il prezzo.", "文档中没有提到这一点。", "I could not find an answer in the documents.",
    ],
)  # fmt: skip
def test_what_states_nothing_is_no_claim(sentence: str) -> None:
    assert _judge(sentence).support is Support.NO_STATEMENT


@pytest.mark.parametrize(
    "sentence",
    [
        "Thanks to the treaty, the war ended early.",
        "Certainly, Berlin is the capital of France.",
        "Note that the crossing takes two hours.",
        "The documents do not say it, but the crossing takes two hours.",
        "No evidence was found for the theory in patients.",
        "Sorry, Paris won the cup in a row last year.",
        "- Founded in Berlin by monks",
        "Yes, the crossing takes two hours.",
    ],
)
def test_a_claim_behind_a_polite_word_is_judged(sentence: str) -> None:
    assert _judge(sentence).support is Support.NOT_FOUND


def test_chinese_and_german_are_judged_too() -> None:
    chinese = [_evidence("黑豹队的防守只丢了308分，在联赛中排名第六。", language="zh")]
    assert judge("黑豹队的防守只丢了308分。", chinese, []).support in CARRIED
    assert judge("黑豹队的防守只丢了309分。", chinese, []).support is Support.NOT_FOUND
    assert judge("黑豹队的防守没有丢308分。", chinese, []).support not in CARRIED
    german = [
        _evidence("Die Fähre fährt am 3. Mai 2024 nach Lund und kostet 1.200 Euro.", language="de")
    ]
    assert judge("Am 3. Mai 2024 fährt die Fähre nach Lund.", german, []).support in CARRIED
    assert (
        judge("Am 4. Mai 2024 fährt die Fähre nach Lund.", german, []).support is Support.NOT_FOUND
    )


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


@given(st.integers(0, 5), st.integers(0, 5))
def test_every_sentence_of_the_evidence_is_verbatim(one: int, other: int) -> None:
    sentences = [part.strip() + "." for part in FERRY.rstrip(".").split(". ")]
    for number in (one, other):
        told = _judge(sentences[number])
        assert told.support is Support.QUOTED
        assert told.spans[0].quote == sentences[number]


# --- thousands of changed sentences ---------------------------------------------------------------

PEOPLE = [
    "Anna Berg",
    "Peter Holm",
    "Maria Lind",
    "Erik Dahl",
    "Sofia Falk",
    "Jonas Ek",
    "Clara Voss",
    "Henrik Moe",
]
TOWNS = ["Lund", "Turku", "Varnholm", "Bergen", "Tallinn", "Visby", "Aarhus", "Narvik"]
MONTHS = ["January", "March", "April", "June", "July", "September", "October", "December"]
THINGS = ["boats", "bridges", "schools", "wells", "towers", "gardens"]


def _world(chance: random.Random) -> list[tuple[str, list[str]]]:
    """Return true sentences, and for each the untrue ones that a slip could make of it."""
    made: list[tuple[str, list[str]]] = []
    people, towns = chance.sample(PEOPLE, 4), chance.sample(TOWNS, 6)
    for number in range(4):
        person, friend = people[number], people[number - 1]
        town, next_town = towns[number], towns[number + 1]
        thing, count = chance.choice(THINGS), chance.randint(3, 900)
        day, month, year = chance.randint(2, 27), chance.choice(MONTHS), chance.randint(1900, 2020)
        other_month = chance.choice([m for m in MONTHS if m != month])
        stranger = next(p for p in PEOPLE if p not in people)
        made += [
            (
                f"{town} has {count} {thing} and {next_town} has {count + 7} {thing}.",
                [
                    f"{town} has {count + 7} {thing} and {next_town} has {count} {thing}.",
                    f"{next_town} has {count} {thing} and {town} has {count + 7} {thing}.",
                    f"{town} has {count + 1} {thing}.",
                    f"{town} has {count + 7} {thing}.",
                    f"{next_town} has {count} {thing}.",
                    f"{town} has no {thing}.",
                    f"{town} has at least {count} {thing}.",
                    f"{town} has {count} thousand {thing}.",
                ],
            ),
            (
                f"On {day} {month} {year}, {person} visited {friend} in {town}.",
                [
                    f"On {day + 1} {month} {year}, {person} visited {friend} in {town}.",
                    f"On {day} {other_month} {year}, {person} visited {friend} in {town}.",
                    f"On {day} {month} {year + 1}, {person} visited {friend} in {town}.",
                    f"On {day} {month} {year}, {friend} visited {person} in {town}.",
                    f"On {day} {month} {year}, {stranger} visited {friend} in {town}.",
                    f"On {day} {month} {year}, {person} visited {friend} in {next_town}.",
                    f"On {day} {month} {year}, {person} did not visit {friend} in {town}.",
                    f"{friend} visited {person}.",
                    f"{person} was visited by {friend} in {town}.",
                    f"After {day} {month} {year}, {person} visited {friend} in {town}.",
                ],
            ),
            (
                f"Some pupils of {person} never paid more than {count} euros for the ticket to {town}.",
                [
                    f"All pupils of {person} never paid more than {count} euros for the ticket to {town}.",
                    f"Some pupils of {person} paid more than {count} euros for the ticket to {town}.",
                    f"Some pupils of {person} never paid less than {count} euros for the ticket to {town}.",
                    f"Some pupils of {person} never paid more than {count} dollars for the ticket to {town}.",
                    f"Some pupils of {stranger} never paid more than {count} euros for the ticket to {town}.",
                    f"Pupils of {person} never paid more than {count} euros for the ticket to {town}.",
                ],
            ),
        ]
    return made


def _documents(world: Sequence[tuple[str, list[str]]], chance: random.Random) -> list[Evidence]:
    sentences = [true for true, _ in world]
    chance.shuffle(sentences)
    cut = len(sentences) // 2
    return [
        _evidence(" ".join(sentences[:cut]), "one"),
        _evidence(" ".join(sentences[cut:]), "two"),
    ]


@pytest.mark.parametrize("seed", range(45))
def test_no_changed_fact_is_accepted(seed: int) -> None:
    chance = random.Random(seed)
    world = _world(chance)
    documents = _documents(world, chance)
    known = " ".join(evidence.text for evidence in documents)
    for true, changed in world:
        assert judge(true, documents, []).support is Support.QUOTED, true
        for false in changed:
            if false.rstrip(".") not in known:
                told = judge(false, documents, [])
                assert told.support not in CARRIED, (false, true)


# --- second opinions ------------------------------------------------------------------------------

_CONTRADICTED = Judgement(
    Support.NOT_FOUND, problems=(Problem(ProblemKind.NUMBER, "5", "7"),), score=0.8
)
_LACKING = Judgement(Support.PARTLY, problems=(Problem(ProblemKind.WORDS, "violin"),), score=0.7)


def _plain(support: Support) -> Judgement:
    return Judgement(support, score=0.5)


@pytest.mark.parametrize("second", list(Support))
def test_nothing_overrules_fabricated_frankenquotes_and_contradictions(second: Support) -> None:
    for first in (fabricated("x:y"), _plain(Support.FRANKENQUOTE), _CONTRADICTED):
        assert combine(first, _plain(second)).support is first.support


def test_a_second_opinion_raises_what_only_lacked_words() -> None:
    assert combine(_LACKING, _plain(Support.SUPPORTED)).support is Support.SUPPORTED
    assert combine(_plain(Support.NOT_FOUND), _plain(Support.PARTLY)).support is Support.PARTLY


def test_a_second_opinion_lowers_support_but_not_what_stands_to_the_letter() -> None:
    assert combine(_plain(Support.SUPPORTED), _CONTRADICTED).support is Support.NOT_FOUND
    assert combine(_plain(Support.QUOTED), _plain(Support.NOT_FOUND)).support is Support.QUOTED


@given(st.sampled_from(Support), st.sampled_from(Support))
def test_a_second_opinion_never_makes_verbatim_misattributed_or_harmless(
    one: Support, two: Support
) -> None:
    told = combine(_plain(one), _plain(two)).support
    if told is not one:
        assert told in {Support.SUPPORTED, Support.PARTLY, Support.NOT_FOUND}
