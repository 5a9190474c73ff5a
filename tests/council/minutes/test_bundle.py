import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.council import Council
from chapterhouse.answering.bundle import (
    Bundle,
    bundle_json,
    checksum_of,
    examine,
    file_text,
    json_fields,
    make_bundle,
    read_held,
)
from chapterhouse.answering.bundle import read_bundle as read_any_bundle
from chapterhouse.council.minutes.bundle import MINUTES, holds_minutes
from chapterhouse.council.minutes.contents import all_citations, meetings
from chapterhouse.council.minutes.outline import minutes_html as html
from chapterhouse.council.minutes.outline import minutes_markdown as markdown
from chapterhouse.errors import UsageError
from chapterhouse.interfaces.cli.envelope import success
from chapterhouse.types import Document, Minutes

from ..conftest import (  # noqa: TID252 - the meetings that tests hold stand one folder above
    Hall,
    council,
    honest,
)

NAMES = ["checksum", "quotations", "sources", "numbering", "table", "agreement"]
Path = tuple[str | int, ...]


@pytest.fixture
def bundle(minutes: Minutes, documents: tuple[Document, ...]) -> Bundle[Minutes]:
    made_with = {"answer": {"sentences": 3}}
    return make_bundle(minutes, MINUTES, documents, made_with, {"chapterhouse": "0.0"}, 7)


def read_bundle(data: str | bytes) -> Bundle[Minutes]:
    return read_any_bundle(data, MINUTES)


def read_minutes(data: str | bytes) -> Minutes:
    return read_held(data, MINUTES)


def minutes_json(minutes: Minutes) -> str:
    return file_text(json_fields(minutes))


def failed(data: str | bytes) -> set[str]:
    checks = examine(read_bundle(data))
    assert [check.name for check in checks] == NAMES
    return {check.name for check in checks if not check.passed}


def altered(bundle: Bundle[Minutes], path: Path, to: object, *, resealed: bool = False) -> str:
    """Return a bundle with one value changed; resealed as a forger would who knows how."""
    data = json.loads(bundle_json(bundle))
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    assert inner[path[-1]] != to
    inner[path[-1]] = to
    if resealed:
        data["checksum"] = checksum_of(data)
    return file_text(data)


def test_minutes_come_back_from_what_was_written(minutes: Minutes, bundle: Bundle[Minutes]) -> None:
    assert read_minutes(minutes_json(minutes)) == minutes
    assert read_minutes(bundle_json(bundle)) == minutes
    printed = success(json_fields(minutes), workspace="default", seconds=0.1)
    assert read_minutes(json.dumps(printed)) == minutes
    assert read_bundle(bundle_json(bundle)) == bundle
    for text in (minutes_json(minutes), bundle_json(bundle), json.dumps(printed)):
        assert holds_minutes(text)


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_any_text_comes_back(filled: Any, text: str) -> None:
    minutes = filled(text)
    assert read_minutes(minutes_json(minutes)) == minutes


def test_every_citation_has_its_hash_also_of_inner_councils(bundle: Bundle[Minutes]) -> None:
    assert failed(bundle_json(bundle)) == set()
    assert list(bundle.quotes) == ["1", "2", "3", "4", "3-1"]
    assert [name for name, _ in all_citations(bundle.held)] == list(bundle.quotes)
    assert [place for place, _ in meetings(bundle.held)] == ["", "3-"]


@pytest.mark.parametrize(
    ("path", "to", "check"),
    [
        (("citations", 0, "quote"), "A guest berth costs 70 euros a night.", "quotations"),
        (("citations", 0, "start"), 12, "quotations"),
        (("citations", 0, "verified"), False, "quotations"),
        (("citations", 0, "number"), 2, "numbering"),
        (("citations", 0, "document_id"), "other", "sources"),
        (("citations", 0, "text_sha256"), "0" * 64, "sources"),
        (("turns", 2, "inner", "citations", 0, "quote"), "x" * 37, "quotations"),
        (("turns", 2, "inner", "citations", 0, "number"), 2, "numbering"),
        (("turns", 2, "inner", "decision", 0, "citations"), [2], "numbering"),
        (("turns", 2, "inner", "agreement", 0, "stand"), [], "agreement"),
        (("turns", 0, "statements", 0, "citations"), [9], "numbering"),
        (("turns", 0, "statements", 0, "grounds", 0, "citations"), [9], "numbering"),
        (("turns", 0, "statements", 0, "id"), "s9", "numbering"),
        (("turns", 3, "replies", 0, "statement"), "s9", "numbering"),
        (("turns", 3, "replies", 0, "stance"), "stand", "agreement"),
        (("agreement", 0, "oppose"), ["finance"], "agreement"),
        (("table", 0, "cells", 0, "text"), "A guest berth costs 70 euros a night.", "table"),
        (("table", 0, "cells", 2, "text"), "A guest berth costs 60 euros a night.", "table"),
        (("decision", 0, "statements"), ["s9"], "numbering"),
        (("dissent", 0, "citations"), [12], "numbering"),
        (("citations", 0, "title"), "Other tariffs", "sources"),
        (("citations", 0, "source"), "papers/other.md", "sources"),
        (("citations", 0, "year"), "2026", "sources"),
        (("sources", 0, "date"), "2026-01-15", "sources"),
    ],
)
def test_a_new_seal_does_not_hide_what_does_not_fit(
    bundle: Bundle[Minutes], path: Path, to: object, check: str
) -> None:
    place = path if path[0] == "sources" else ("minutes", *path)
    found = failed(altered(bundle, place, to, resealed=True))
    assert check in found
    assert "checksum" not in found


def test_citations_of_a_statement_would_count_otherwise(bundle: Bundle[Minutes]) -> None:
    data = json.loads(bundle_json(bundle))
    own = data["minutes"]["citations"][0]
    text = altered(bundle, ("minutes", "turns", 0, "citations"), [own], resealed=True)
    assert failed(text) == {"numbering"}


def test_what_does_not_fit_is_named(bundle: Bundle[Minutes]) -> None:
    first = altered(bundle, ("quotes", "3-1"), "0")
    told = {c.name: c.sentence for c in examine(read_bundle(first))}
    assert told["quotations"] == "[3-1] does not hold."


@pytest.mark.parametrize("depth", [5, 60, 100, 300, 5_000])
def test_minutes_within_minutes_are_read_or_refused(minutes: Minutes, depth: int) -> None:
    start = '{"council":"a","title":"","question":"","turns":[{"member":"a","round":"b","inner":'
    text = start * depth + '{"council":"a","title":"","question":""}' + "}]}" * depth
    if depth < 20:
        found = read_minutes(text)
        assert len(list(meetings(found))) == depth + 1
        return
    try:
        found = read_minutes(text)
    except UsageError:
        return
    assert len(list(meetings(found))) == depth + 1


def test_answers_and_minutes_of_an_earlier_version_are_refused() -> None:
    for text in ('{"question": "x", "sentences": []}', '{"format": "chapterhouse-answer/3"}'):
        assert not holds_minutes(text)
    with pytest.raises(UsageError):
        holds_minutes("junk")
    old = '{"format": "chapterhouse-minutes/4", "minutes": {"council": "a", "statements": []}}'
    assert holds_minutes(old)
    with pytest.raises(UsageError, match="but 'chapterhouse-minutes/4'") as failure:
        read_bundle(old)
    assert "the version that wrote it" in failure.value.hint


def assert_whole(hall: Hall, minutes: Minutes) -> None:
    """Say that a bundle of minutes passes every check and comes back, and that forms hold all."""
    bundle = hall.library.councils.bundle(minutes)
    text = bundle_json(bundle)
    assert read_bundle(text) == bundle
    assert read_minutes(minutes_json(minutes)) == minutes
    assert text == bundle_json(hall.library.councils.bundle(minutes))
    told = [check for check in examine(bundle) if not check.passed]
    assert told == []
    assert all(one.holds for one in hall.library.councils.recheck(minutes))
    page, read = html(minutes), markdown(minutes)
    for name, citation in all_citations(minutes):
        assert f'id="source-{name}"' in page
        assert f"\n[^{name}]: " in read
        assert bundle.quotes[name]
        assert citation.document_id in {source.document_id for source in bundle.sources}
    used = set(re.findall(r"\[\^([0-9-]+)\](?!:)", read))
    assert used <= {name for name, _ in all_citations(minutes)}


def test_minutes_are_whole_with_models_and_without(hall: Hall) -> None:
    minutes = hall.convene("harbour-board", model="none")
    assert minutes.method == "extractive"
    assert minutes.table
    assert_whole(hall, minutes)
    hall.says(honest)
    rounds = ("independent_analysis", "cross_examination", "synthesis")
    minutes = hall.convene(council(rounds=rounds))
    assert minutes.method != "extractive"
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
    hall.says(honest)
    minutes = hall.convene(outer)
    assert [said.member for said in minutes.turns if said.inner] == ["harbour-board"]
    assert any("-" in name for name, _ in all_citations(minutes))
    assert_whole(hall, minutes)
    assert "The council that sat as a member: Harbour Board" in markdown(minutes)


def test_a_meeting_is_remembered_and_checked_in_the_files_as_they_are_now(own_hall: Hall) -> None:
    library = own_hall.library
    own_hall.says(honest)
    minutes = own_hall.convene("harbour-board", remember=True)
    assert "council_harbour-board/maria" in library.memory.personas()
    rules = library.personas.load("maria").rag / "rules.md"
    rules.write_text(rules.read_text("utf-8").replace("4 knots", "3 knots"), "utf-8")
    lost = [one.citation.quote for one in library.councils.recheck(minutes) if not one.holds]
    assert lost
    assert all("4 knots" in quote for quote in lost)


def test_a_bundle_holds_what_the_meeting_was_made_with(hall: Hall) -> None:
    minutes = hall.convene("harbour-board", model="none")
    bundle = hall.library.councils.bundle(minutes)
    told = json.loads(bundle_json(bundle))["configuration"]
    assert list(told["councils"]) == ["harbour-board"]
    assert told["councils"]["harbour-board"]["members"]
    assert list(told["personas"]) == ["jonas", "maria", "nina"]
    assert {"answer", "search", "embedding", "rerank", "models"} <= set(told)
    assert told["models"] == {}
    assert bundle.sequence == hall.library.status().sequence
    assert set(bundle.versions) >= {"chapterhouse", "python"}
    built = replace(minutes, council="built-in-python")
    assert hall.library.councils.bundle(built).configuration["councils"] == {}
