"""Bundles and forms of minutes that came of real meetings, with models and without."""

import json
import re
from dataclasses import replace

import pytest

from chapterhouse.answering.recheck import QuoteState, SourceState
from chapterhouse.claims.judge import judge
from chapterhouse.council.builder import Council
from chapterhouse.council.config import Round
from chapterhouse.council.minutes.bundle import (
    examine_minutes,
    minutes_bundle_json,
    minutes_json,
    read_minutes,
    read_minutes_bundle,
)
from chapterhouse.council.minutes.contents import all_citations
from chapterhouse.council.minutes.outline import minutes_html as html
from chapterhouse.council.minutes.outline import minutes_markdown as markdown
from chapterhouse.council.minutes.record import decision_record
from chapterhouse.types import Minutes, Support

from ..conftest import (  # noqa: TID252 - the meetings that tests hold stand one folder above
    Hall,
    council,
    honest,
    marker,
    phase,
    turn,
    whose,
)


def assert_whole(hall: Hall, minutes: Minutes) -> None:
    """Say that a bundle of minutes passes every check and comes back, and that forms hold all."""
    bundle = hall.library.bundle_minutes(minutes)
    text = minutes_bundle_json(bundle)
    assert read_minutes_bundle(text) == bundle
    assert read_minutes(minutes_json(minutes)) == minutes
    assert text == minutes_bundle_json(hall.library.bundle_minutes(minutes))
    told = [check for check in examine_minutes(bundle, judge) if not check.passed]
    assert told == []
    assert all(one.holds for one in hall.library.recheck_minutes(minutes))
    page, read = html(minutes), markdown(minutes)
    for name, citation in all_citations(minutes):
        assert f'id="source-{name}"' in page
        assert f"\n[^{name}]: " in read
        assert bundle.quotes[name]
        assert citation.document_id in {source.document_id for source in bundle.sources}
    used = set(re.findall(r"\[\^([0-9-]+)\](?!:)", read))
    assert used <= {name for name, _ in all_citations(minutes)}
    assert decision_record(minutes) == decision_record(minutes)


def test_minutes_without_a_model_are_whole(hall: Hall) -> None:
    minutes = hall.convene("harbour-board", model="none")
    assert minutes.method == "extractive"
    assert minutes.map.disputes
    assert_whole(hall, minutes)


def test_minutes_with_models_are_whole(hall: Hall) -> None:
    hall.says(honest)
    minutes = hall.convene(
        council(rounds=("independent_analysis", "cross_examination", "synthesis"))
    )
    assert minutes.method != "extractive"
    assert_whole(hall, minutes)


def lying(instructions: str, prompt: str) -> str:
    """Let Maria state what her document contradicts, and something that nothing carries."""
    if phase(instructions) == "independent_analysis" and whose(instructions) == "maria":
        cited = marker(prompt, "4 knots")
        claims = (f"Inside the harbour no vessel may exceed 9 knots.{cited}", "The moon is near.")
        return turn(claims=list(claims), position="[x](http://evil.example) <b>")
    return honest(instructions, prompt)


def test_a_claim_that_is_not_carried_is_told_and_no_forgery(hall: Hall) -> None:
    hall.says(lying)
    minutes = hall.convene(council())
    assert any(claim.support is Support.NOT_FOUND for claim in minutes.claims)
    assert "not confirmed by the sources" in markdown(minutes)
    assert_whole(hall, minutes)


def test_a_council_within_a_council_is_whole(hall: Hall) -> None:
    outer = (
        Council.new("city", display_name="City")
        .add_member("maria")
        .add_member(council="harbour-board")
        .add_round("independent_analysis")
        .add_round("synthesis")
        .chair(name="Mayor", instructions="Weigh.")
    )
    minutes = hall.convene(outer, model="none")
    assert [said.member for said in minutes.statements if said.inner] == ["harbour-board"]
    assert any("-" in name for name, _ in all_citations(minutes))
    assert_whole(hall, minutes)
    assert "The council that sat as a member: Harbour Board" in markdown(minutes)


def test_a_chair_who_speaks_in_a_round_is_no_stranger(hall: Hall) -> None:
    opening = Round("opening", instructions="Say what is known.", speakers=("chair", "nina"))
    minutes = hall.convene(council(rounds=(opening, "synthesis")), model="none")
    assert "chair" in {said.member for said in minutes.statements}
    assert_whole(hall, minutes)


def test_a_bundle_holds_what_the_meeting_was_made_with(hall: Hall) -> None:
    minutes = hall.convene("harbour-board", model="none")
    bundle = hall.library.bundle_minutes(minutes)
    told = json.loads(minutes_bundle_json(bundle))["configuration"]
    assert list(told["councils"]) == ["harbour-board"]
    assert told["councils"]["harbour-board"]["members"]
    assert list(told["personas"]) == ["jonas", "maria", "nina"]
    assert {"answer", "search", "embedding", "rerank", "models"} <= set(told)
    assert told["models"] == {}
    assert bundle.sequence == hall.library.status().sequence
    assert set(bundle.versions) >= {"chapterhouse", "python"}
    built = replace(minutes, council="built-in-python")
    assert hall.library.bundle_minutes(built).configuration["councils"] == {}


def test_what_becomes_of_the_sources_is_told(own_hall: Hall) -> None:
    library = own_hall.library
    speed = own_hall.convene("harbour-board", model="none")
    traffic = own_hall.convene("harbour-board", "What did the traffic survey count?", model="none")
    rules = library.personas.load("maria").rag / "rules.md"
    rules.write_text(rules.read_text("utf-8").replace("4 knots", "3 knots"), "utf-8")
    charter = library.councils.load("harbour-board").docs / "charter.md"
    charter.write_text(f"New.\n\n{charter.read_text('utf-8')}", "utf-8")

    found = {one.citation.quote: one for one in library.recheck_minutes(speed)}
    lost = next(one for quote, one in found.items() if "4 knots" in quote)
    assert (lost.source, lost.quote) == (SourceState.CHANGED, QuoteState.LOST)
    found = {one.citation.quote: one for one in library.recheck_minutes(traffic)}
    moved = next(one for quote, one in found.items() if "40 vessels a day inside" in quote)
    assert (moved.source, moved.quote) == (SourceState.CHANGED, QuoteState.MOVED)


@pytest.mark.parametrize("question", ["Who may fish?", "How fast?"])
def test_two_meetings_give_the_same_pages(hall: Hall, question: str) -> None:
    one, other = (hall.convene("harbour-board", question, model="none") for _ in range(2))
    assert (markdown(one), html(one)) == (markdown(other), html(other))
    bundles = [minutes_bundle_json(hall.library.bundle_minutes(held)) for held in (one, other)]
    assert bundles[0] == bundles[1]
