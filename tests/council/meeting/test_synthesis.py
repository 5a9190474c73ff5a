"""The chair: a model that cannot lose what rules found."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.council.conftest import (
    QUESTION,
    Hall,
    council,
    honest,
    marker,
    phase,
    section,
    turn,
)

from chapterhouse.errors import EngineError
from chapterhouse.models.scripted import Scripted, Step
from chapterhouse.types import DissentReason, Gap, Leaning, Minutes, Support, Usage

SIX = "Inside the harbour no vessel may exceed 6 knots."
FOUR = "Inside the harbour no vessel may exceed 4 knots."
NOTHING_CARRIED = "Nothing that the chair wrote is carried by the documents: the map speaks."
OPTIONS = ("a limit of 4 knots", "a limit of 6 knots")
Says = Callable[[str], dict[str, Any]]


def write_synthesis(hall: Hall, says: Says | Scripted, *options: str) -> Minutes:
    """Hold a meeting whose members speak honestly and whose chair says this."""

    def script(instructions: str, prompt: str) -> Scripted:
        if "not one JSON object" in instructions:
            return "Still prose."
        if phase(instructions) != "synthesis":
            return honest(instructions, prompt)
        return json.dumps(says(prompt)) if callable(says) else says

    hall.says(script)
    rounds = ("independent_analysis", "cross_examination", "synthesis")
    return hall.convene(council(rounds=rounds), options=options or None)


def by_rules(hall: Hall, *options: str) -> Minutes:
    """Hold the same meeting without anyone who sums up."""
    hall.says(honest)
    rounds = ("independent_analysis", "cross_examination")
    return hall.convene(council(rounds=rounds), options=options or None)


def test_what_the_chair_writes_is_checked_and_stands(hall: Hall) -> None:
    minutes = write_synthesis(
        hall,
        lambda p: {
            "decision": [f"{SIX}{marker(p, '6 knots')}"],
            "grounds": [f"{SIX}{marker(p, '6 knots')}", "The moon is of cheese."],
            "dissent": [{"member": "maria", "text": f"{FOUR}{marker(p, '4 knots')}"}],
            "open_questions": ["What of rowing boats?"],
            "missing": [
                {"member": "nina", "text": "A log of collisions."},
                {"member": "stranger", "text": "A chart."},
            ],
        },
    )
    assert minutes.method == "scripted"
    assert [(p.text, p.support) for p in minutes.decision] == [(SIX, Support.CITED)]
    assert [p.support for p in minutes.grounds] == [Support.CITED]
    assert "No ground, for no document carries it: “The moon is of cheese.”" in minutes.warnings
    assert minutes.dissent[0].text == FOUR
    assert minutes.dissent[0].why is DissentReason.OLDER_DOCUMENT  # as rules know
    assert minutes.dissent[0].members == ("maria",)
    assert minutes.open_questions[0].text == "What of rowing boats?"
    assert any(p.text.startswith("Which holds") for p in minutes.open_questions)
    assert minutes.missing[:2] == (
        Gap("nina", "nina", "A log of collisions."),
        Gap("", "", "A chart."),
    )


def test_dissent_is_never_dropped(hall: Hall) -> None:
    minutes = write_synthesis(hall, lambda p: {"decision": [f"{SIX}{marker(p, '6 knots')}"]})
    rules = by_rules(hall)
    assert rules.dissent
    assert {p.text for p in minutes.dissent} == {p.text for p in rules.dissent}
    assert minutes.grounds == rules.grounds
    assert [p for p in minutes.open_questions if p.claims] == [
        p for p in rules.open_questions if p.claims
    ]
    assert minutes.missing == rules.missing


@pytest.mark.parametrize(
    "says",
    [
        lambda _: {"decision": ["The moon is of cheese."], "grounds": ["It is.[^x:y]"]},
        lambda _: {},
        "I decide that all is well.",
    ],
)
def test_where_nothing_is_carried_the_rules_stand(hall: Hall, says: Says | str) -> None:
    minutes = write_synthesis(hall, says)
    rules = by_rules(hall)
    assert NOTHING_CARRIED in minutes.warnings
    assert minutes.method == "extractive"
    for part in ("decision", "grounds", "dissent", "open_questions", "missing", "map"):
        assert getattr(minutes, part) == getattr(rules, part)
    assert minutes.usage is not None
    assert rules.usage is not None
    assert minutes.usage.calls > rules.usage.calls  # what the chair used counts all the same


def test_what_is_cut_off_is_said(hall: Hall) -> None:
    def script(instructions: str, prompt: str) -> Scripted:
        if phase(instructions) != "synthesis":
            return honest(instructions, prompt)
        return Step(json.dumps({"decision": [f"{SIX}{marker(prompt, '6 knots')}"]}), cut=True)

    hall.says(script)
    minutes = hall.convene(council())
    assert any("cut off" in warning for warning in minutes.warnings)
    assert minutes.method == "scripted"


def test_the_chair_is_told_of_claims_members_and_the_map(hall: Hall) -> None:
    model = hall.says(honest)
    hall.convene(council())
    prompt = next(p for i, p in model.asked if phase(i) == "synthesis")

    claims = section(prompt, "CLAIMS")
    for number, name in enumerate(("Maria Keller", "Jonas Brandt", "Nina Falk"), start=1):
        assert f"c{number}, by {name}, resting on [" in claims
    assert "¦ maria is Maria Keller: I am maria." in section(prompt, "MEMBERS")
    told = section(prompt, "DISAGREEMENT MAP")
    assert "different-documents" in told
    assert "2025-05-01" in told
    assert "the first is newer" in told


# --- the decision matrix ------------------------------------------------------------------------


def test_the_chair_s_matrix_has_a_cell_for_each_option_and_member(hall: Hall) -> None:
    minutes = write_synthesis(
        hall,
        lambda p: {
            "decided": "A limit of 6 knots.",
            "decision": [f"{SIX}{marker(p, '6 knots')}"],
            "matrix": [
                {
                    "option": OPTIONS[1],
                    "member": "jonas",
                    "leaning": "for",
                    "text": f"{SIX}{marker(p, '6 knots')}",
                },
                {"option": OPTIONS[1], "member": "maria", "leaning": "against", "text": "No."},
                {"option": OPTIONS[0], "member": "nina", "leaning": "silent", "text": ""},
                {"option": "burn it", "member": "nina", "leaning": "for", "text": "Yes."},
                {"option": OPTIONS[0], "member": "stranger", "leaning": "for", "text": "Yes."},
            ],
        },
        *OPTIONS,
    )
    cells = {(cell.option, cell.member): cell for cell in minutes.matrix}
    assert list(cells) == [(o, m) for o in OPTIONS for m in ("maria", "jonas", "nina")]
    assert minutes.decided == OPTIONS[1]
    assert cells[OPTIONS[1], "jonas"].leaning is Leaning.FOR
    assert cells[OPTIONS[1], "jonas"].support is Support.CITED
    assert cells[OPTIONS[1], "jonas"].citations
    assert cells[OPTIONS[1], "maria"].leaning is Leaning.AGAINST
    assert cells[OPTIONS[1], "maria"].citations == ()
    assert cells[OPTIONS[0], "nina"].leaning is Leaning.SILENT
    known = {citation.number for citation in minutes.citations}
    assert all(set(cell.citations) <= known for cell in minutes.matrix)


def test_cells_that_the_chair_leaves_out_are_those_of_the_rules(hall: Hall) -> None:
    minutes = write_synthesis(
        hall, lambda p: {"decision": [f"{SIX}{marker(p, '6 knots')}"]}, *OPTIONS
    )
    rules = by_rules(hall, *OPTIONS)
    quotes = {c.number: c.quote for c in minutes.citations}
    theirs = {c.number: c.quote for c in rules.citations}
    assert [(c.option, c.member, c.leaning, c.text) for c in minutes.matrix] == [
        (c.option, c.member, c.leaning, c.text) for c in rules.matrix
    ]
    assert [[quotes[n] for n in c.citations] for c in minutes.matrix] == [
        [theirs[n] for n in c.citations] for c in rules.matrix
    ]


# --- who cannot ---------------------------------------------------------------------------------


def test_an_engine_that_fails_costs_nothing_but_a_warning(hall: Hall) -> None:
    minutes = write_synthesis(hall, EngineError("Down."))
    rules = by_rules(hall)
    assert minutes.decision == rules.decision
    assert minutes.dissent == rules.dissent
    assert "Down." in minutes.warnings[-1]
    assert minutes.usage == replace(rules.usage or Usage(), calls=6)


def test_with_nothing_said_nobody_is_asked_to_sum_up(hall: Hall) -> None:
    model = hall.says(lambda *_: turn())
    minutes = hall.convene(council(), QUESTION)
    assert not any(phase(instructions) == "synthesis" for instructions, _ in model.asked)
    assert minutes.decision == ()
