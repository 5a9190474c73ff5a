"""What is known of a claim beside its evidence."""

import pytest

from chapterhouse.claims.features import (
    FEATURES,
    Reading,
    compare_with_evidence,
    is_fact,
    is_small,
    is_stated,
    stated,
)
from chapterhouse.claims.statement import read
from chapterhouse.types import Evidence

TEXT = (
    "The ferry leaves Varnholm at 9:30. A berth costs 80 euros. Guests do not pay in winter. "
    "The works took two weeks in April 2011."
)


def evidence(text: str = TEXT) -> Evidence:
    return Evidence("a", 0, len(text), text, "en", title="Tariffs of 2025")


def beside(claim: str, text: str = TEXT) -> Reading | None:
    own = [evidence(text)]
    return compare_with_evidence(read(claim, "en"), own, stated(own))


def feature(claim: str, name: str) -> float:
    found = beside(claim)
    assert found is not None
    return found.features[FEATURES.index(name)]


@pytest.mark.parametrize(
    ("fact", "held"),
    [
        ("80 euros", True),
        ("80 dollars", False),
        ("95 euros", False),
        ("14 days", True),  # two weeks
        ("9:30", True),
        ("10:30", False),
        ("April 2011", True),
        ("May 2011", False),
        ("2025", True),  # of the title
        ("Varnholm", True),
        ("Osk", False),
    ],
)
def test_a_fact_is_stated_by_its_value_wherever_it_stands(fact: str, *, held: bool) -> None:
    (token,) = [one for one in read(f"it was {fact}", "en").tokens if is_fact(one)]
    assert is_stated(token, stated([evidence()])) is held


def test_a_claim_is_read_beside_the_sentences_that_say_most_of_it() -> None:
    found = beside("A berth costs 80 euros.")
    assert found is not None
    assert [one.text for one in found.window.sentences] == ["A berth costs 80 euros."]
    assert found.share == 1.0
    assert all(found.stated)


def test_what_shares_no_word_is_not_read() -> None:
    assert beside("Zebras gallop.") is None
    assert beside("Zebras gallop.", "") is None


def test_rows_of_a_table_stand_alone() -> None:
    found = beside("Berth two costs 95 euros.", "| Berth one | 80 euros |\n| two | 95 euros |")
    assert found is not None
    assert len(found.window.sentences) == 1


def test_the_features_tell_what_is_missing_and_denied() -> None:
    assert feature("A berth costs 95 euros.", "facts missing") == 1.0
    assert feature("A berth costs 80 euros.", "facts missing") == 0.0
    assert feature("A berth costs 80 euros.", "numbers found") == 1.0
    assert feature("The ferry leaves at 9:30.", "dates found") == 1.0
    assert feature("Guests pay in winter.", "denied otherwise") == 1.0
    assert feature("Guests do not pay in winter.", "denied otherwise") == 0.0
    assert feature("All guests do not pay in winter.", "quantity on one side") == 1.0
    assert feature("A berth costs euros.", "other numbers") == 1.0


def test_one_and_first_are_small() -> None:
    small = [
        is_small(one) for one in read("The first berth has 2 lamps and one rail.", "en").tokens
    ]
    assert small.count(True) == 2
