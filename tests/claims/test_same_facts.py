"""Whether a sentence states only what a quotation states."""

from dataclasses import replace

import pytest

from chapterhouse.claims.same_facts import states_same_facts
from chapterhouse.types import Evidence

QUOTED = "The obligations shall survive for a period of two (2) years, Acme Ltd. being informed."
EVIDENCE = Evidence(
    "nda", 10, 10 + len(QUOTED), QUOTED, "en", "Agreement of Bolt AG", ("Term",), "2021-05-04"
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Duties of secrecy outlive the agreement by 2 years.",
        "One of the parties, Acme, has to be told.",
        "For Bolt AG secrecy goes on two years longer.",  # the title names it
        "In the agreement of 2021-05-04 secrecy lasts two years.",  # so is its date
        "Whoever got papers stays bound.",
    ],
)
def test_other_words_for_the_same_facts(sentence: str) -> None:
    assert states_same_facts(sentence, [EVIDENCE])


@pytest.mark.parametrize(
    "sentence",
    [
        "Secrecy lasts three years.",
        "Secrecy lasts two weeks.",
        "Secrecy lasts 21 years.",  # 2021 is in the date, which is no number of the quotation
        "Secrecy does not outlive the agreement.",
        "Secrecy lasts until 3 May 2024.",
        "They have to tell Globex.",
        "They have to tell form ISO-8859-1.",
        "Write to privacy@acme.com.",
    ],
)
def test_other_facts(sentence: str) -> None:
    assert not states_same_facts(sentence, [EVIDENCE])


def test_what_is_denied_there_is_denied_here() -> None:
    denied = replace(EVIDENCE, text="The parties shall not keep copies.")
    assert states_same_facts("Nobody may keep copies.", [denied])
    assert not states_same_facts("Copies may be kept.", [denied])


def test_nothing_quoted_states_nothing() -> None:
    assert not states_same_facts("Secrecy lasts.", [])
