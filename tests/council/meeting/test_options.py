"""On which side a sentence stands, and what the sentences of everyone come to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.council.conftest import Hall, council

from chapterhouse.council.meeting.options import (
    favoured_option,
    leaning_of,
    leaning_on,
    mentions,
    verdicts,
)
from chapterhouse.council.meeting.turns import Ledger
from chapterhouse.types import Leaning, Verdict

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


@pytest.mark.parametrize(
    ("option", "sentence", "leaning"),
    [
        ("a bridge", "We oppose a bridge.", AGAINST),
        ("no bridge", "We oppose a bridge.", FOR),
        ("no bridge", "We recommend a bridge.", AGAINST),
        ("no bridge", "A bridge costs 4 million euros.", NEUTRAL),
        ("Do not start in winter", "We advise against a start in winter.", FOR),
        ("keine Brücke", "Wir lehnen eine Brücke ab.", FOR),
        ("a north bridge", "We support a north bridge.", FOR),
    ],
)
def test_the_side_on_an_option_that_leaves_something(
    option: str, sentence: str, leaning: Leaning
) -> None:
    assert leaning_on(option, sentence) is leaning


def test_a_sentence_speaks_of_the_option_with_which_it_shares_most() -> None:
    options = ("a trial of twelve months", "a trial of three months on Saturdays")
    sentence = "We ask for a trial of three months on Saturdays from June."
    assert [mentions(one, options, sentence) for one in options] == [False, True]
    assert all(mentions(one, options, "We ask for a trial.") for one in options)
    assert not any(mentions(one, options, "") for one in options)


def test_a_sentence_without_its_words_or_a_row_of_a_table_speaks_of_no_option() -> None:
    options = ("under 16 be allowed", "only from 13")
    waiver = "Should any part of the waiver be judged invalid, it shall be preserved."
    assert not any(mentions(one, options, waiver) for one in options)
    row = "Adobe | at_check | Adobe Target to support conversion tracking | 13 months"
    assert not any(mentions(one, options, row) for one in options)


def test_a_sentence_with_other_figures_speaks_of_something_else() -> None:
    options = ("hire one engineer", "hire ten engineers")
    assert not any(mentions(one, options, "We recommend hiring two engineers.") for one in options)
    assert mentions(options[1], options, "We recommend hiring ten engineers.")


@given(st.text(max_size=200))
def test_every_text_has_a_side_or_none(text: str) -> None:
    assert leaning_of(text) in Leaning


def cell(option: str, member: str, leaning: Leaning) -> Verdict:
    return Verdict(option, member, leaning)


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([], ""),
        ([("quay", "a", SILENT)], ""),
        ([("quay", "a", FOR)], "quay"),
        ([("quay", "a", FOR), ("quay", "b", AGAINST)], ""),
        ([("quay", "a", CONDITIONAL)], ""),  # no consent yet
        ([("quay", "a", NEUTRAL)], ""),
        ([("quay", "a", FOR), ("quay", "b", CONDITIONAL)], "quay"),
        ([("quay", "a", FOR), ("quay", "b", SILENT), ("crane", "a", AGAINST)], "quay"),
        ([("quay", "a", FOR), ("crane", "b", FOR)], ""),
        ([("quay", "a", FOR), ("crane", "a", FOR), ("crane", "b", AGAINST)], "quay"),
        ([("quay", "a", AGAINST), ("crane", "a", AGAINST)], ""),
    ],
)
def test_one_option_is_favoured_or_none(cells: list[tuple[str, str, Leaning]], wanted: str) -> None:
    assert favoured_option([cell(*one) for one in cells]) == wanted


# --- over documents -----------------------------------------------------------------------------

MARIA = """# Position of the watch

We recommend a second lamp on the north quay. We oppose a bridge over the harbour mouth.
"""
JONAS = """# Position of the till

The till supports a second lamp on the north quay, which costs 900 euros.
A bridge over the harbour mouth costs 4 million euros.
"""
LAMP, BRIDGE, CRANE = (
    "a second lamp on the north quay",
    "a bridge over the harbour mouth",
    "a helicopter for the dentist",
)


@pytest.fixture
def deciding(bare_hall: Hall) -> Hall:
    bare_hall.persona("watch", {"position.md": MARIA}, display_name="The Watch")
    bare_hall.persona("till", {"position.md": JONAS}, display_name="The Till")
    bare_hall.library.personas.refresh("watch")
    bare_hall.library.personas.refresh("till")
    return bare_hall


def test_the_matrix_of_what_documents_say(deciding: Hall) -> None:
    made = council("quays", "watch", "till").decide_between(LAMP, BRIDGE, CRANE)
    session, context, ledger = deciding.open_session(made), deciding.runtime, Ledger()
    matrix = verdicts(made.options, session.participants, context, ledger)

    told = {(one.option, one.member): one for one in matrix}
    assert list(told) == [(o, m) for o in (LAMP, BRIDGE, CRANE) for m in ("watch", "till")]
    assert told[LAMP, "watch"].leaning is FOR
    assert told[LAMP, "till"].leaning is FOR
    assert told[BRIDGE, "watch"].leaning is AGAINST
    assert told[BRIDGE, "till"].leaning is NEUTRAL
    assert told[CRANE, "watch"] == Verdict(CRANE, "watch", SILENT)
    cited = {citation.number: citation for citation in ledger.citations}
    for one in matrix:
        for number in one.citations:
            assert cited[number].verified
            assert " ".join(cited[number].quote.split()) == one.text


def test_the_documents_decide_where_only_one_option_has_friends_alone(deciding: Hall) -> None:
    made = council("quays", "watch", "till").decide_between(LAMP, BRIDGE)
    minutes = deciding.convene(made, f"Should we build {LAMP} or {BRIDGE}?")

    assert minutes.decided == LAMP
    assert minutes.decision[0].text.startswith(f"The documents favour “{LAMP}”")
    assert {(v.option, v.member) for v in minutes.matrix} == {
        (option, member) for option in (LAMP, BRIDGE) for member in ("watch", "till")
    }
