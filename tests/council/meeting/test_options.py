"""On which side a sentence stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.meeting.options import (
    leaning_of,
)
from chapterhouse.types import Leaning

FOR, AGAINST, SILENT = Leaning.FOR, Leaning.AGAINST, Leaning.SILENT
NEUTRAL, CONDITIONAL = Leaning.NEUTRAL, Leaning.CONDITIONAL


@pytest.mark.parametrize(
    ("sentence", "leaning"),
    [
        ("We recommend a trial of twelve months.", FOR),
        ("The office supports the late sailing.", FOR),
        ("The board approved the new quay.", FOR),
        ("Operations is in favour of a start in April.", FOR),
        ("The lamp should burn all night.", FOR),
        ("Safety opposes a start before September.", AGAINST),
        ("The council rejected the second trial.", AGAINST),
        ("We advise against a start in winter.", AGAINST),
        ("The pilots warn of the sandbank.", NEUTRAL),
        ("We do not recommend a trial of three months.", AGAINST),
        ("The office cannot support a later hour.", AGAINST),
        ("The board never approved the new quay.", AGAINST),
        ("We don't recommend it.", AGAINST),
        ("We no longer oppose the quay.", FOR),
        ("We should not start before September.", AGAINST),
        ("The lamp shouldn't burn all night.", AGAINST),
        ("The lamp shouldn’t burn all night.", AGAINST),
        ("The office recommends against a start in winter.", AGAINST),
        ("We recommend not to start in winter.", AGAINST),
        ("Finance disagrees with the trial.", AGAINST),
        ("The lamp should burn, and nobody objects to it.", NEUTRAL),
        ("Nobody supports the renewal.", NEUTRAL),
        ("Few members support renewal.", NEUTRAL),
        ("Without support, the renewal fails.", NEUTRAL),
        ("Should we renew?", NEUTRAL),
        ("It is for the board to say whether the agreement should be renewed.", NEUTRAL),
        ("The support line under the agreement is open until 5 pm.", NEUTRAL),
        ("Norvik agreed to pay 5 euros.", NEUTRAL),
        ("We recommend to renew only if the price falls below 30 euros.", CONDITIONAL),
        ("The audit found no reason to reject the renewal.", NEUTRAL),
        ("The office warns that a delay of the renewal is costly.", NEUTRAL),
        ("Under these conditions we could agree to a start in autumn.", CONDITIONAL),
        ("We do not object to the quay.", FOR),
        ("Some recommend the quay, others oppose it.", NEUTRAL),
        ("The quay is 80 metres long.", NEUTRAL),
        ("", NEUTRAL),
        ("The support of the crane is rusty, and its supporter is dead.", NEUTRAL),
        ("Wir empfehlen einen Versuch von zwölf Monaten.", FOR),
        ("Die Werft unterstützt den späten Fahrplan.", FOR),
        ("Der Hafenmeister ist dafür.", FOR),
        ("Die Lampe soll die ganze Nacht brennen.", FOR),
        ("Wir lehnen einen Beginn im Winter ab.", AGAINST),
        ("Der Hafenmeister ist dagegen.", AGAINST),
        ("Die Lotsen warnen vor der Sandbank.", NEUTRAL),
        ("Wir empfehlen keinen Versuch im Winter.", AGAINST),
        ("Wir können den Versuch nicht empfehlen.", AGAINST),
        ("Wir empfehlen den Versuch im Winter nicht.", AGAINST),
        ("Die Werft stimmt dem Versuch nicht zu.", AGAINST),
        ("Die Werft stimmt dem Versuch im Sommer zu.", FOR),
        ("Wir lehnen den Versuch nicht ab.", FOR),
        ("Wir empfehlen einen Beginn, aber nicht vor April.", FOR),
        ("Die Lampe sollte nicht brennen.", AGAINST),
        ("Der Vorstand hat den Versuch abgelehnt.", AGAINST),
        ("Die Lotsen raten von einem Beginn im Winter ab.", AGAINST),
        ("Die Werft schlägt einen Versuch im Sommer vor.", FOR),
    ],
)
def test_the_side_of_a_sentence(sentence: str, leaning: Leaning) -> None:
    assert leaning_of(sentence) is leaning


@given(st.text(max_size=200))
def test_every_text_has_a_side_or_none(text: str) -> None:
    assert leaning_of(text) in Leaning
