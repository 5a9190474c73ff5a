"""The map: who holds what, on what it rests, and who contradicts whom."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.council.said import Meeting, departments, meeting, row_of, stances

from chapterhouse.types import ClaimKind, ConflictKind, DisagreementMap, Stance, Support

STUDY = "The study counted 40 passengers on the night ferry."

TEXTS = {
    "old": "The notice period of the berth is 14 days. Dogs are welcome on the ferry deck.",
    "new": "The notice period of the berth is 30 days. The crane lifts 9 tonnes of steel.",
    "third": "The notice period of the berth is 30 days. The office opens at nine on Monday.",
}


def _planted() -> tuple[Meeting, dict[str, str]]:
    made = departments()
    said = {
        "one master": made.claim(
            "operations",
            "operations",
            "After that we need one more master and two more deckhands, and we would rather train"
            " our own people than hire for the season.",
        ),
        "52 by operations": made.claim(
            "operations",
            "operations",
            "The demand study expects 52 passengers on an average late sailing, which is 43 per"
            " cent of what MV Teal may carry.",
        ),
        "120": made.claim(
            "operations",
            "policy-2023",
            "Under amber, MV Teal carries at most 120 passengers, which is her certified number,"
            " and no vehicles higher than 2.2 metres.",
        ),
        "two masters": made.claim("safety", "safety", "We need two more masters, not one."),
        "52 by safety": made.claim(
            "safety",
            "safety",
            "With 52 passengers, as the demand study expects, MV Teal can be evacuated in under"
            " nine minutes with four crew.",
        ),
        "90": made.claim(
            "safety",
            "policy-2025",
            "Under amber, MV Teal carries at most 90 passengers and no vehicles higher than 2.2"
            " metres.",
        ),
        "52 by finance": made.claim(
            "finance",
            "finance",
            "Like everyone else we use the demand study's 52 passengers a sailing, and the loss"
            " remains even so.",
        ),
        "gearbox": made.claim(
            "finance", "finance", "We would be paying for night life with a gearbox."
        ),
    }
    return made, said


def test_the_example_has_its_contradiction_of_two_documents() -> None:
    made, said = _planted()
    found = made.map()
    row = row_of(found, said["one master"])
    assert stances(row) == {
        "operations": "supports",
        "safety": "contradicts",
        "finance": "silent",
    }
    assert row.kinds == (ClaimKind.ONE_MEMBER, ClaimKind.DIFFERENT_DOCUMENTS)
    dispute = found.disputes[0]
    assert (dispute.kind, dispute.by) == (ClaimKind.DIFFERENT_DOCUMENTS, ConflictKind.NUMBER)
    assert [side.value for side in dispute.sides] == ["one", "two"]
    assert [side.members for side in dispute.sides] == [("operations",), ("safety",)]
    assert dispute.newer is None
    assert "master" in dispute.subject


def test_the_example_has_its_agreement_on_one_source() -> None:
    made, said = _planted()
    row = row_of(made.map(), said["52 by operations"])
    assert row.claims == (said["52 by operations"], said["52 by safety"], said["52 by finance"])
    assert set(stances(row).values()) == {"supports"}
    assert row.kinds == (ClaimKind.SHARED_SOURCE,)
    assert row.rests_on == "demand-study-2025"


def test_the_example_has_its_newer_against_its_older() -> None:
    made, said = _planted()
    found = made.map()
    row = row_of(found, said["120"])
    assert ClaimKind.NEWER_AGAINST_OLDER in row.kinds
    dispute = found.disputes[1]
    assert [side.value for side in dispute.sides] == ["90", "120"]
    assert [side.date for side in dispute.sides] == ["2025", "2023"]
    assert [side.claim for side in dispute.sides] == [said["90"], said["120"]]
    assert dispute.newer is True
    assert len(found.disputes) == 2


def test_evidence_that_one_member_has() -> None:
    made, said = _planted()
    row = row_of(made.map(), said["gearbox"])
    assert row.kinds == (ClaimKind.ONE_MEMBER,)
    assert row.sources == ("finance",)


# --- rows ---------------------------------------------------------------------------------------


def test_claims_that_say_the_same_are_one_row_in_order() -> None:
    made = meeting(TEXTS, ["ada", "bo"])
    first = made.claim("ada", "new", "The notice period of the berth is 30 days.")
    other = made.claim("ada", "new", "The crane lifts 9 tonnes of steel.")
    second = made.claim("bo", "third", "The notice period of the berth is 30 days.")
    found = made.map()
    assert [row.claims for row in found.rows] == [(first, second), (other,)]
    row = found.rows[0]
    assert row.claim == first
    assert [cell.claims for cell in row.cells] == [(first,), (second,)]
    assert row.kinds == (ClaimKind.INDEPENDENT_SOURCES,)
    assert row.sources == ("new", "third")


def test_two_claims_of_one_member_that_say_the_same_are_one_row() -> None:
    made = meeting(TEXTS, ["ada"])
    made.claim("ada", "new", "The notice period of the berth is 30 days.")
    made.claim("ada", "third", "The notice period of the berth is 30 days.")
    (row,) = made.map().rows
    assert row.cells[0].claims == ("c1", "c2")
    assert row.kinds == (ClaimKind.ONE_MEMBER,)


def test_claims_on_the_same_span_are_one_row_and_share_its_document() -> None:
    made = meeting(TEXTS, ["ada", "bo"])
    quote = "Dogs are welcome on the ferry deck."
    made.claim("ada", "old", quote)
    made.claim("bo", "old", quote, text="The ferry welcomes dogs.", support=Support.SUPPORTED)
    (row,) = made.map().rows
    assert row.kinds == (ClaimKind.SHARED_SOURCE,)
    assert row.rests_on == "old"


def test_what_contradicts_is_never_merged() -> None:
    made = meeting(TEXTS, ["ada", "bo", "cy"], old="2022-01-05", new="2023")
    made.claim("ada", "old", "The notice period of the berth is 14 days.")
    made.claim("bo", "new", "The notice period of the berth is 30 days.")
    made.claim("cy", "third", "The notice period of the berth is 30 days.")
    found = made.map()
    assert [row.claims for row in found.rows] == [("c1",), ("c2", "c3")]
    assert stances(found.rows[0]) == {"ada": "supports", "bo": "contradicts", "cy": "contradicts"}
    (dispute,) = found.disputes
    assert [side.members for side in dispute.sides] == [("bo", "cy"), ("ada",)]
    assert [side.value for side in dispute.sides] == ["30 days", "14 days"]
    assert dispute.newer is True
    assert ClaimKind.NEWER_AGAINST_OLDER in found.rows[0].kinds
    assert ClaimKind.NEWER_AGAINST_OLDER in found.rows[1].kinds


@pytest.mark.parametrize(
    ("old", "new", "newer"),
    [
        ("2022-05-01", "2023", True),
        ("2023-05-01", "2023", None),  # the same year is all that both tell
        ("", "2023", None),
        ("2023-04", "2023-05-09", True),
    ],
)
def test_dates_tell_at_what_both_state(old: str, new: str, *, newer: bool | None) -> None:
    made = meeting(TEXTS, ["ada", "bo"], old=old, new=new)
    made.claim("ada", "old", "The notice period of the berth is 14 days.")
    made.claim("bo", "new", "The notice period of the berth is 30 days.")
    (dispute,) = made.map().disputes
    assert dispute.newer is newer
    assert dispute.sides[0].members == (("bo",) if newer else ("ada",))


def test_two_members_read_one_document_differently() -> None:
    made = meeting({"study": STUDY}, ["ada", "bo"])
    reworded = Support.SUPPORTED
    made.claim(
        "ada", "study", STUDY, text="The night ferry counted 40 passengers.", support=reworded
    )
    made.claim(
        "bo", "study", STUDY, text="The night ferry counted 60 passengers.", support=reworded
    )
    found = made.map()
    (dispute,) = found.disputes
    assert dispute.kind is ClaimKind.DIFFERENT_READINGS
    assert all(ClaimKind.DIFFERENT_READINGS in row.kinds for row in found.rows)
    assert len(found.rows) == 2


@pytest.mark.parametrize("support", [Support.NOT_FOUND, Support.DISAGREES])
def test_what_documents_do_not_carry_is_a_row_without_sources(support: Support) -> None:
    made = meeting(TEXTS, ["ada", "bo"])
    made.claim("ada", "old", "The notice period of the berth is 14 days.")
    made.claim("bo", "new", "The crane lifts 9 tonnes of steel.",
               text="The notice period of the berth is 90 days.", support=support)  # fmt: skip
    found = made.map()
    row = row_of(found, "c2")
    assert (row.kinds, row.sources, row.rests_on) == ((), (), "")
    assert stances(row)["bo"] == "supports"
    assert stances(row_of(found, "c1")) == {"ada": "supports", "bo": "contradicts"}
    assert not found.disputes


# --- replies, concessions and rounds ------------------------------------------------------------


def test_replies_are_stances_and_evidence() -> None:
    made = meeting(TEXTS, ["ada", "bo", "cy"])
    claim = made.claim("ada", "new", "The notice period of the berth is 30 days.")
    quote = "The notice period of the berth is 30 days."
    made.reply("bo", claim, Stance.SUPPORTS, "third", quote)
    made.reply("cy", claim, Stance.CONTRADICTS, "old", "The notice period of the berth is 14 days.")
    found = made.map()
    (row,) = found.rows
    assert stances(row) == {"ada": "supports", "bo": "supports", "cy": "contradicts"}
    assert row.kinds == (ClaimKind.INDEPENDENT_SOURCES, ClaimKind.DIFFERENT_DOCUMENTS)
    assert row.sources == ("new", "third")
    (dispute,) = found.disputes
    assert dispute.sides[1].claim == ""
    assert dispute.sides[1].members == ("cy",)
    assert "notice period" in dispute.subject


def test_a_reply_with_the_words_of_a_claim_is_no_second_dispute() -> None:
    made = meeting(TEXTS, ["ada", "bo"])
    first = made.claim("ada", "new", "The notice period of the berth is 30 days.")
    second = made.claim("bo", "old", "The notice period of the berth is 14 days.")
    made.reply("bo", first, Stance.CONTRADICTS, "old", "The notice period of the berth is 14 days.")
    made.reply(
        "ada", second, Stance.CONTRADICTS, "new", "The notice period of the berth is 30 days."
    )
    (dispute,) = made.map().disputes
    assert {side.claim for side in dispute.sides} == {first, second}


def test_two_members_who_reply_with_one_span_are_one_side() -> None:
    made = meeting(TEXTS, ["ada", "bo", "cy"])
    claim = made.claim("ada", "new", "The notice period of the berth is 30 days.")
    for member in ("cy", "bo"):
        quote = "The notice period of the berth is 14 days."
        made.reply(member, claim, Stance.CONTRADICTS, "old", quote)
    (dispute,) = made.map().disputes
    assert dispute.sides[1].members == ("bo", "cy")


def test_a_concession_that_counts_moves_the_member() -> None:
    made = meeting(TEXTS, ["ada", "bo"])
    own = made.claim("ada", "old", "The notice period of the berth is 14 days.")
    other = made.claim("bo", "new", "The notice period of the berth is 30 days.")
    made.concede("ada", own, other, accepted=True)
    found = made.map()
    assert stances(row_of(found, own)) == {"ada": "silent", "bo": "contradicts"}
    assert stances(row_of(found, other)) == {"ada": "supports", "bo": "supports"}
    (dispute,) = found.disputes  # the documents still say so, though nobody holds it
    assert [side.members for side in dispute.sides] == [(), ("ada", "bo")]


def test_copies_of_a_document_are_one_source() -> None:
    quote = "The notice period of the berth is 30 days."
    made = meeting({"one": TEXTS["new"], "two": TEXTS["new"]}, ["ada", "bo"], two="2020")
    made.claim("ada", "one", quote)
    made.claim("bo", "two", quote)
    (row,) = made.map().rows
    assert row.kinds == (ClaimKind.SHARED_SOURCE,)
    assert row.rests_on == "two"  # the one that is known to be the older


def test_nothing_said_is_an_empty_map() -> None:
    assert meeting(TEXTS, ["ada"]).map() == DisagreementMap(members=("ada",))


# --- laws ---------------------------------------------------------------------------------------

_SENTENCES = [
    ("old", "The notice period of the berth is 14 days."),
    ("old", "Dogs are welcome on the ferry deck."),
    ("new", "The notice period of the berth is 30 days."),
    ("new", "The crane lifts 9 tonnes of steel."),
    ("third", "The notice period of the berth is 30 days."),
    ("third", "The office opens at nine on Monday."),
]
_MEMBERS = ("ada", "bo", "cy")
_claims = st.tuples(st.sampled_from(_MEMBERS), st.sampled_from(_SENTENCES))
_replies = st.tuples(
    st.sampled_from(_MEMBERS),
    st.integers(0, 20),
    st.sampled_from([Stance.SUPPORTS, Stance.CONTRADICTS, Stance.SILENT]),
    st.sampled_from(_SENTENCES),
)
_concessions = st.tuples(
    st.sampled_from(_MEMBERS), st.integers(0, 20), st.integers(0, 20), st.booleans()
)


def _meeting_of(
    claims: list[tuple[str, tuple[str, str]]],
    replies: list[tuple[str, int, Stance, tuple[str, str]]],
    concessions: list[tuple[str, int, int, bool]],
    names: dict[str, str] | None = None,
) -> Meeting:
    called = names or {member: member for member in _MEMBERS}
    made = meeting(TEXTS, [called[member] for member in _MEMBERS], old="2020", new="2024-05")
    ids = [made.claim(called[member], *said) for member, said in claims]
    for member, number, stance, said in replies:
        made.reply(called[member], ids[number % len(ids)], stance, *said)
    for member, own, to, accepted in concessions:
        pair = (ids[own % len(ids)], ids[to % len(ids)])
        made.concede(called[member], *pair, accepted=accepted)
    return made


_meetings = st.tuples(
    st.lists(_claims, min_size=1, max_size=8),
    st.lists(_replies, max_size=5),
    st.lists(_concessions, max_size=3),
)


@given(_meetings)
def test_the_order_of_members_changes_only_columns(said: tuple[list, list, list]) -> None:  # type: ignore[type-arg]  # as drawn above
    made = _meeting_of(*said)
    found, turned = made.map(), made.map(_MEMBERS[::-1])
    for row, other in zip(found.rows, turned.rows, strict=True):
        assert sorted(row.cells, key=lambda c: c.member) == sorted(
            other.cells, key=lambda c: c.member
        )
        assert (row.claims, row.kinds, row.sources) == (other.claims, other.kinds, other.sources)
    assert [d.subject for d in found.disputes] == [d.subject for d in turned.disputes]
    assert found == made.map()


@settings(max_examples=settings().max_examples // 2)
@given(_meetings, st.permutations(["zoe", "abe", "max"]))
def test_renaming_members_changes_nothing_else(
    said: tuple[list, list, list],  # type: ignore[type-arg]  # as drawn above
    names: list[str],
) -> None:
    called = dict(zip(_MEMBERS, names, strict=True))
    found, renamed = _meeting_of(*said).map(), _meeting_of(*said, called).map()
    shown = repr(found)
    for member, name in called.items():
        shown = shown.replace(f"'{member}'", f"'{name}'")
    assert repr(renamed) == shown


@given(_meetings)
def test_every_claim_is_in_one_row_and_every_id_is_known(said: tuple[list, list, list]) -> None:  # type: ignore[type-arg]  # as drawn above
    made = _meeting_of(*said)
    found = made.map()
    ids = [claim.id for statement in made.statements for claim in statement.claims]
    assert sorted(claim for row in found.rows for claim in row.claims) == sorted(ids)
    for row in found.rows:
        assert row.claim == row.claims[0]
        assert set(row.sources) <= set(TEXTS)
        assert row.rests_on in {"", *TEXTS}
        for cell in row.cells:
            assert set(cell.claims) <= set(row.claims)
            assert set(cell.citations) <= set(made.citations)
    for dispute in found.disputes:
        for side in dispute.sides:
            assert side.claim in {"", *ids}
            assert set(side.members) <= set(_MEMBERS)
            assert side.citations


@given(_meetings)
def test_a_pair_of_rows_is_disputed_once(said: tuple[list, list, list]) -> None:  # type: ignore[type-arg]  # as drawn above
    found = _meeting_of(*said).map()
    row = {claim: number for number, row in enumerate(found.rows) for claim in row.claims}
    pairs = [
        frozenset(row[side.claim] for side in dispute.sides)
        for dispute in found.disputes
        if all(side.claim for side in dispute.sides)
    ]
    assert len(pairs) == len(set(pairs))
    assert all(len(pair) == 2 for pair in pairs)
