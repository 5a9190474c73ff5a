from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.persona import PersonaConfig, Profile
from chapterhouse.agents.profile import (
    GENERATED_FILE,
    MOST_TAGS,
    Generated,
    changes_by_key,
    propose,
    read_last,
    write_last,
)
from chapterhouse.store.definitions import Definitions

MARIA = PersonaConfig(slug="maria")
FIRST = Generated(("tides", "berths"), ("slack water",), ("TGO",), "Knows about tides.", "scripted")


def test_a_first_proposal_is_what_the_documents_give() -> None:
    proposal = propose(MARIA, Generated(), FIRST)
    assert proposal
    assert changes_by_key(proposal) == {
        "tags": ["tides", "berths"],
        "profile.expertise": "Knows about tides.",
        "profile.key_terms": ["slack water"],
        "profile.aliases": ["TGO"],
    }
    assert proposal.after.profile.key_terms == ("slack water",)
    assert not propose(proposal.after, proposal.remembered, FIRST)


def test_without_a_model_nothing_is_changed_and_nothing_forgotten() -> None:
    accepted = propose(MARIA, Generated(), FIRST)
    now = Generated(warnings=("There is no model.",))
    proposal = propose(accepted.after, accepted.remembered, now)
    assert not proposal
    assert proposal.after == accepted.after
    assert proposal.remembered == accepted.remembered
    assert proposal.warnings == now.warnings


def test_what_a_person_wrote_stays() -> None:
    config = PersonaConfig(
        slug="maria", tags=("Harbour Law", "Tides"), profile=Profile(expertise="My own words.")
    )
    proposal = propose(config, Generated(), FIRST)
    assert proposal.after.tags == ("Harbour Law", "Tides", "berths")
    assert proposal.after.profile.expertise == "My own words."
    assert "profile.expertise" not in changes_by_key(proposal)
    later = propose(
        proposal.after, proposal.remembered, Generated(("dredging",), method="scripted")
    )
    assert later.after.tags == ("Harbour Law", "Tides", "dredging")
    tags = next(change for change in later.changes if change.key == "tags")
    assert (tags.dropped, tags.added) == (("berths",), ("dredging",))
    assert later.after.profile.expertise == "My own words."


def test_what_a_person_took_out_does_not_come_back() -> None:
    accepted = propose(MARIA, Generated(), FIRST)
    edited = accepted.after.model_copy(update={"tags": ("tides",)})
    again = propose(edited, accepted.remembered, FIRST)
    assert not again
    third = propose(
        edited, again.remembered, Generated(("tides", "berths", "dredging"), method="scripted")
    )
    assert third.after.tags == ("tides", "dredging")


def test_an_expertise_that_nobody_touched_follows_the_documents() -> None:
    accepted = propose(MARIA, Generated(), FIRST)
    later = Generated(FIRST.tags, FIRST.key_terms, FIRST.aliases, "Knows about fog.", "scripted")
    again = propose(accepted.after, accepted.remembered, later)
    assert changes_by_key(again) == {"profile.expertise": "Knows about fog."}


def test_what_is_remembered_survives_the_disk(personas: Definitions) -> None:
    personas.make("maria", ("RAG",))
    assert read_last(personas, "maria") == Generated()
    write_last(personas, "maria", FIRST)
    assert read_last(personas, "maria") == replace(FIRST, method="")
    for broken in (b"", b"[]", b'{"tags": 1}', b'{"tags": [1, "x"]}', b"\xff"):
        (personas.folder("maria") / GENERATED_FILE).write_bytes(broken)
        assert set(read_last(personas, "maria").tags) <= {"x"}


words = st.lists(st.sampled_from("abcdefghijklmnopqr"), unique=True).map(tuple)


@given(words, words, words)
def test_hand_written_tags_are_never_dropped(
    current: tuple[str, ...], last: tuple[str, ...], now: tuple[str, ...]
) -> None:
    config = PersonaConfig(slug="maria", tags=current)
    proposal = propose(config, Generated(tags=last), Generated(tags=now, method="scripted"))
    after = proposal.after.tags
    assert set(current) - set(last) <= set(after)
    assert not (set(last) - set(current)) & set(after)
    assert set(after) <= set(current) | set(now)
    assert len(after) <= max(MOST_TAGS, len(current))
    assert len(set(after)) == len(after)
    assert not propose(proposal.after, proposal.remembered, Generated(tags=now, method="scripted"))
