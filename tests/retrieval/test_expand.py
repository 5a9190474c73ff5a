"""More ways of putting a question."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import EngineError
from chapterhouse.retrieval.expand import (
    MOST_PARTS,
    by_names,
    by_parts,
    by_rewriting,
    by_tags,
    parts_of,
)
from chapterhouse.retrieval.question import parse_question
from chapterhouse.types import Alias, AliasKind, Query, Rewriting, Scope, Variant, VariantKind

EVERYTHING = Scope.everything()

ENGLISH = {"en": 1}
ALIASES = (
    Alias("WHO", "World Health Organization", AliasKind.ABBREVIATION),
    Alias("Bank of England", "BoE", AliasKind.ABBREVIATION),
    Alias("RCT", "randomised controlled trial", AliasKind.ABBREVIATION),
    Alias("MULTIPLE", "Multipurpose Program That Learns", AliasKind.ABBREVIATION),
    Alias("Rex", "Big Dog", AliasKind.ALSO_KNOWN_AS),
    Alias("berth", "Harbour Handbook", AliasKind.KEY_TERM),
)


class Names:
    """Looks up ``ALIASES`` and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: Sequence[str] = ()
        self.scope = EVERYTHING

    def find(self, names: Sequence[str], scope: Scope) -> Sequence[Alias]:
        self.asked, self.scope = names, scope
        folded = {name.casefold() for name in names}
        return [alias for alias in ALIASES if alias.name.casefold() in folded]


def expanded(text: str, scope: Scope = EVERYTHING) -> tuple[Sequence[Variant], Names]:
    names = Names()
    question = parse_question(text, ENGLISH)
    return by_names(names.find)(question, Query(text, scope), ENGLISH), names


def added(variant: Variant, text: str) -> dict[str, float]:
    asked = {term.term for term in parse_question(text, ENGLISH).terms}
    return {term.term: term.weight for term in variant.terms if term.term not in asked}


def test_another_name_adds_its_words_at_a_share() -> None:
    text = "What did Rex eat?"
    (variant,), names = expanded(text, Scope.of(("crew",)))
    assert variant.kind is VariantKind.EXPANSION
    assert set(added(variant, text)) == {"big", "dog"}
    assert all(0 < weight <= 1 for weight in added(variant, text).values())
    asked = {term.term: term.weight for term in parse_question(text, ENGLISH).terms}
    assert asked.items() <= {term.term: term.weight for term in variant.terms}.items()
    assert variant.note == "Rex: Big Dog"
    assert variant.weight <= 1
    assert names.scope == Scope.of(("crew",))


def test_a_name_with_function_words_is_looked_up_whole() -> None:
    (variant,), names = expanded("When was the Bank of England founded?")
    assert "Bank of England" in names.asked
    assert "boe" in added(variant, "When was the Bank of England founded?")


def test_a_name_that_is_said_already_adds_nothing() -> None:
    assert expanded("Is Rex the Big Dog?")[0] == ()
    assert expanded("Is Rex the Big Dogma?")[0] != ()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("What does RCT mean", True),
        ("What do RCTs say", True),
        ("what does rct mean", True),  # no capitals anywhere
        ("What does a rct mean", False),
        ("What did MULTIPLE learn", True),
        ("What did multiple programs learn", False),
        ("what did multiple programs learn", False),
        ("Multiple programs", False),
        ("What do bank of england notes say", True),
    ],
)
def test_an_abbreviation_is_not_the_word_spelled_like_it(text: str, *, meant: bool) -> None:
    assert bool(expanded(text)[0]) is meant


@given(st.text(max_size=80))
def test_any_question_can_be_expanded(text: str) -> None:
    variants, names = expanded(text or "x")
    assert len(variants) <= 1
    assert all(name == name.strip() for name in names.asked)


def test_the_askers_tags_add_the_rest_of_what_is_touched() -> None:
    question = parse_question("How is tracking done?", ENGLISH)
    query = Query("q", EVERYTHING, tags=("Eye_Tracking", "harbour", "tracking"))
    (variant,) = by_tags(question, query, ENGLISH)
    assert added(variant, "How is tracking done?") == {"eye": 0.2}
    assert variant.note == "tag: Eye_Tracking"
    assert by_tags(question, Query("q", EVERYTHING, tags=("harbour",)), ENGLISH) == ()
    assert by_tags(question, Query("q", EVERYTHING), ENGLISH) == ()


def test_parts_become_variants_that_weigh_less_than_the_question() -> None:
    question = parse_question("Who built the gate and when does the ferry leave?", ENGLISH)
    variants = by_parts(question, Query("q", EVERYTHING), ENGLISH)
    assert [variant.kind for variant in variants] == [VariantKind.PART] * 2
    parts = ["Who built the gate", "when does the ferry leave"]
    assert [variant.text for variant in variants] == parts
    assert [variant.note for variant in variants] == parts
    assert all(0 < variant.weight <= 1 for variant in variants)


def test_what_a_model_gives_becomes_variants() -> None:
    question, query = parse_question("Why was the gate shut?", ENGLISH), Query("q", EVERYTHING)
    given = Rewriting(("When was it shut?", "Who shut it?"), ("storm surge", "gate"), "A storm.")
    *parts, terms, answer = by_rewriting(lambda _: given)(question, query, ENGLISH)
    assert [part.kind for part in parts] == [VariantKind.PART] * 2
    assert added(terms, "Why was the gate shut?") == {"storm": 0.4, "surg": 0.4}
    assert (answer.kind, answer.text) == (VariantKind.HYPOTHETICAL, "A storm.")


def test_a_model_that_gives_nothing_new_adds_nothing() -> None:
    question, query = parse_question("Why was the gate shut?", ENGLISH), Query("q", EVERYTHING)
    for nothing in (Rewriting(), Rewriting(terms=("gates",))):
        expand = by_rewriting({question.text: nothing}.__getitem__)
        assert expand(question, query, ENGLISH) == []


def test_a_failing_model_is_left_to_the_caller() -> None:
    def fail(_text: str) -> Rewriting:
        raise EngineError("no service")

    with pytest.raises(EngineError):
        by_rewriting(fail)(parse_question("x", ENGLISH), Query("q", EVERYTHING), ENGLISH)


@pytest.mark.parametrize(
    ("language", "text", "parts"),
    [
        ("en", "Who founded A and when was B built?", "Who founded A|when was B built"),
        ("en", "When does the ferry leave and is the bar open?",
         "When does the ferry leave|is the bar open"),
        ("en", "harbour fee; opening hours", "harbour fee|opening hours"),
        ("en", "- harbour fee\n- opening hours", "harbour fee|opening hours"),
        ("en", "Please tell me: 1. the harbour fee 2. the opening hours",
         "the harbour fee|the opening hours"),
        ("en", "How wide is the gate?\nHow deep is the lock?",
         "How wide is the gate|How deep is the lock"),
        ("de", "Wer fährt das Schiff und darf man rauchen?",
         "Wer fährt das Schiff|darf man rauchen"),
        ("es", "¿Qué es la grúa y quién es el capitán?", "Qué es la grúa|quién es el capitán"),
        ("fr", "Qui est le capitaine et quand part le bateau ?",
         "Qui est le capitaine|quand part le bateau"),
        ("zh", "人口是多少？面积是多少？", "人口是多少|面积是多少"),
    ],
)  # fmt: skip
def test_several_things_are_taken_apart(language: str, text: str, parts: str) -> None:
    assert parts_of(parse_question(text, {language: 1})) == tuple(parts.split("|"))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "what is X and Y"),
        ("en", "What do fares and tickets cost?"),
        ("en", "How and when was Rome built?"),
        ("en", "How wide is the gate and how high?"),
        ("en", "Which company makes pumps and is based in Berlin?"),
        ("en", "harbour fee? Harbour fee"),
        ("en", "Varnholm Ostby - ferry times winter"),
        ("en", "Who won in 3. Liga football?"),
        ("en", "What are the rules for\ncarrying dangerous goods on\nthe night ferry in winter?"),
        ("en", "What is the fee?"),
        ("en", "???"),
        ("de", "Was kosten Fahrräder und Autos?"),
        ("xx", "Was kosten Fahrräder und Autos?"),
    ],
)
def test_one_thing_stays_whole(language: str, text: str) -> None:
    assert parts_of(parse_question(text, {language: 1})) == ()


def test_a_part_with_a_pronoun_carries_what_it_means() -> None:
    question = parse_question("Who wrote the plan and when did they publish it?", {"en": 1})
    assert parts_of(question) == ("Who wrote the plan", "when did they publish it wrote plan")


@given(
    st.lists(
        st.sampled_from(
            ["who", "is", "the", "and", "?", ";", "\n", "1.", "2)", "-", "und", "harbour", "gate"]
        ),
        max_size=40,
    )
)
def test_parts_are_few_distinct_and_made_of_the_question(words: list[str]) -> None:
    text = " ".join(words)
    parts = parts_of(parse_question(text, {"en": 1}))
    assert len(parts) != 1
    assert len(parts) <= MOST_PARTS
    assert len(set(parts)) == len(parts)
    said = {word.strip(".?;") for word in words}
    assert all({word.strip(".?;") for word in part.split()} <= said for part in parts)


@pytest.mark.parametrize("unit", [" ", "\n", "and what ", "1. ", "? ", "- ", "((1) ", "is the "])
@pytest.mark.timeout(60)  # what grows with the square of the length takes longer
def test_hostile_questions_are_taken_apart_quickly(unit: str) -> None:
    text = "x" + (unit * 10_000)[:9_990] + "y"
    question = parse_question(text, {"en": 1})
    assert all(part in text for part in parts_of(question))
