"""Nobody gives a claim up for company: every branch of the rule."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.meeting.concessions import judge_concession
from chapterhouse.council.meeting.turns import Record
from chapterhouse.types import Citation, Claim, Concession, Reading, Reply, Stance, Statement

FOUR = "Inside the harbour no vessel may exceed 4 knots."
SIX = "Inside the harbour no vessel may exceed 6 knots."
BERTH = "A berth in the marina costs 80 euros a metre."
FOG = "In fog the pilots wait outside until the horn has sounded twice."


def cite(number: int, document: str, quote: str, start: int = 0) -> Citation:
    return Citation(
        number, document, document, document, (), None, "", "", start, start + len(quote), quote, ""
    )


OWN = cite(1, "old", FOUR)
OTHERS = cite(2, "new", SIX)
REPLIED = cite(3, "log", FOG)
IRRELEVANT = cite(4, "tariff", BERTH)


def claim(name: str, member: str, citation: Citation) -> Claim:
    return Claim(name, member, "first", citation.quote, (citation.number,))


def reading(citation: Citation) -> Reading:
    return Reading(citation.document_id, citation.start, citation.end)


RECORD = Record(
    statements=(
        Statement("maria", "first", claims=(claim("c1", "maria", OWN),), read=(reading(OWN),)),
        Statement(
            "jonas", "first", claims=(claim("c2", "jonas", OTHERS),), read=(reading(OTHERS),)
        ),
        Statement(
            "nina",
            "second",
            replies=(
                Reply("nina", "second", "c1", Stance.CONTRADICTS, "No.", (3,)),
                Reply("nina", "second", "c2", Stance.SUPPORTS, "Yes.", (4,)),
            ),
        ),
    ),
    citations=(OWN, OTHERS, REPLIED, IRRELEVANT),
)
OLD = "It cites only what lay before them when they made the claim."
NOTHING_AGAINST = "The evidence that it cites is new to them, but says nothing against the claim."
NEW = "It cites evidence that is new to them."


def given_up(claim: str = "c1", to: str = "", member: str = "maria") -> Concession:
    return Concession(member, "third", claim, to, "I give way.", ())


def judge(
    *cited: Citation, record: Record = RECORD, free: bool = False, **more: str
) -> tuple[bool, str]:
    told = judge_concession(given_up(**more), cited, record, free=free)
    return told.accepted, told.reason


# --- whose claim --------------------------------------------------------------------------------


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("name", ["c2", "c9", ""])
def test_only_a_claim_of_ones_own_can_be_given_up(name: str, *, free: bool) -> None:
    assert judge(OTHERS, claim=name, free=free) == (False, "It is no claim of theirs.")


@pytest.mark.parametrize("free", [True, False])
def test_a_claim_is_given_up_once(*, free: bool) -> None:
    before = replace(given_up(), accepted=True)
    record = replace(
        RECORD, statements=(*RECORD.statements, Statement("maria", "second", concessions=(before,)))
    )
    assert judge(OTHERS, record=record, free=free) == (False, "It was given up before.")


def test_what_did_not_count_before_may_count_now() -> None:
    before = replace(given_up(), accepted=False)
    record = replace(
        RECORD, statements=(*RECORD.statements, Statement("maria", "second", concessions=(before,)))
    )
    assert judge(OTHERS, record=record) == (True, NEW)


# --- which evidence -----------------------------------------------------------------------------


def test_company_is_no_evidence() -> None:
    assert judge(to="c2") == (False, "It cites no evidence.")


def test_what_one_knew_is_no_reason_to_change_ones_mind() -> None:
    assert judge(OWN, to="c2") == (False, OLD)


def test_a_part_of_what_one_read_is_not_new_either() -> None:
    wide = replace(RECORD.statements[0], read=(Reading("new", 0, 500),))
    record = replace(RECORD, statements=(wide, *RECORD.statements[1:]))
    assert judge(OTHERS, record=record, to="c2") == (False, OLD)
    assert judge(cite(2, "new", SIX, start=499), record=record) == (False, OLD)
    assert judge(cite(2, "new", SIX, start=500), record=record) == (True, NEW)


def test_what_one_read_after_the_claim_is_new() -> None:
    later = Statement("maria", "second", read=(reading(OTHERS),))
    record = replace(RECORD, statements=(*RECORD.statements, later))
    assert judge(OTHERS, record=record) == (True, NEW)


def test_what_one_read_before_the_claim_is_old_whatever_the_round() -> None:
    first = Statement("maria", "zeroth", read=(reading(OTHERS),))
    record = replace(RECORD, statements=(first, *RECORD.statements))
    assert judge(OTHERS, record=record) == (False, OLD)


def test_what_others_read_is_new() -> None:
    seen = Statement("nina", "first", read=(reading(OTHERS),))
    record = replace(RECORD, statements=(seen, *RECORD.statements))
    assert judge(OTHERS, record=record) == (True, NEW)


def test_new_evidence_that_says_nothing_against_the_claim_does_not_count() -> None:
    assert judge(IRRELEVANT) == (False, NOTHING_AGAINST)
    assert judge(OWN, IRRELEVANT) == (False, NOTHING_AGAINST)


# --- what bears on the claim --------------------------------------------------------------------


def test_it_bears_by_contradicting_the_claim() -> None:
    assert judge(OTHERS) == (True, NEW)


def test_it_bears_by_contradicting_what_the_claim_rests_on_in_other_words() -> None:
    worded = replace(RECORD.statements[0].claims[0], text="Slowly, please.")
    first = replace(RECORD.statements[0], claims=(worded,))
    record = replace(RECORD, statements=(first, *RECORD.statements[1:]))
    assert judge(OTHERS, record=record) == (True, NEW)


def test_it_bears_by_carrying_the_claim_that_takes_its_place() -> None:
    words = "A vessel inside the harbour may go as the pilots allow."
    takes_over = Claim("c2", "jonas", "first", words, (4,))
    carried = replace(RECORD.statements[1], claims=(takes_over,))
    record = replace(RECORD, statements=(RECORD.statements[0], carried))
    assert judge(IRRELEVANT, record=record, to="c2") == (True, NEW)
    assert judge(IRRELEVANT, record=record, to="") == (False, NOTHING_AGAINST)
    assert judge(REPLIED, record=record, to="c2") == (False, NOTHING_AGAINST)


def test_a_claim_about_something_else_takes_no_place() -> None:
    carried = replace(RECORD.statements[1], claims=(claim("c2", "jonas", IRRELEVANT),))
    record = replace(RECORD, statements=(RECORD.statements[0], carried))
    assert judge(IRRELEVANT, record=record, to="c2") == (False, NOTHING_AGAINST)


def test_another_claim_of_ones_own_is_nothing_to_give_way_to() -> None:
    own = Statement("maria", "first", claims=(Claim("c3", "maria", "first", "Pay for it.", (4,)),))
    record = replace(RECORD, statements=(*RECORD.statements, own))
    assert judge(IRRELEVANT, record=record, to="c3") == (False, NOTHING_AGAINST)


def test_it_bears_by_being_what_somebody_said_against_it() -> None:
    assert judge(REPLIED) == (True, NEW)


def test_what_was_said_against_or_for_another_claim_does_not_bear() -> None:
    second = Statement("nina", "first", claims=(claim("c3", "nina", OTHERS),))
    record = replace(
        RECORD,
        statements=(
            *RECORD.statements,
            second,
            Statement(
                "jonas",
                "second",
                replies=(
                    Reply("jonas", "second", "c3", Stance.CONTRADICTS, "No.", (4,)),
                    Reply("jonas", "second", "c1", Stance.SUPPORTS, "Yes.", (4,)),
                ),
            ),
        ),
    )
    assert judge(IRRELEVANT, record=record) == (False, NOTHING_AGAINST)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (
            "Die Fähre fährt im Winter jeden Tag.",
            "Die Fähre fährt im Winter nicht jeden Tag.",
        ),
        (
            "Der Hafen schließt im Winter um 20 Uhr.",
            "Der Hafen schließt im Winter um 22 Uhr.",
        ),
        ("The ferry sails in storms.", "The ferry does not sail in storms."),
        ("The gate opened on 3 May 2024.", "The gate opened on 9 May 2024."),
    ],
)
def test_it_bears_by_number_date_or_denial(before: str, now: str) -> None:
    old, new = cite(1, "old", before), cite(2, "new", now)
    first = Statement("maria", "first", claims=(claim("c1", "maria", old),), read=(reading(old),))
    record = Record((first,), (old, new))
    assert judge(new, record=record) == (True, NEW)


def test_what_agrees_with_a_claim_is_nothing_to_give_it_up_for() -> None:
    again = cite(2, "new", FOUR)
    record = replace(RECORD, statements=RECORD.statements[:1], citations=(OWN, again))
    assert judge(again, record=record) == (False, NOTHING_AGAINST)


# --- councils that do not mind ------------------------------------------------------------------


@pytest.mark.parametrize("cited", [(), (OWN,), (IRRELEVANT,)])
def test_where_concessions_are_free_nothing_is_asked(cited: tuple[Citation, ...]) -> None:
    assert judge(*cited, free=True) == (True, "This council lets its members concede freely.")


@given(
    st.lists(st.sampled_from([OWN, OTHERS, REPLIED, IRRELEVANT]), max_size=4),
    st.sampled_from(["c1", "c2", "c7"]),
    st.sampled_from(["", "c1", "c2", "c7"]),
)
def test_what_counts_always_has_evidence_that_was_not_known(
    cited: list[Citation], name: str, to: str
) -> None:
    told = judge_concession(given_up(name, to), cited, RECORD)
    assert told.reason
    if told.accepted:
        assert name == "c1"
        assert any(one is not OWN for one in cited)
