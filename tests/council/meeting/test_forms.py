import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.agents.council_model import RoundKind
from chapterhouse.council.meeting.forms import (
    MOST_ENTRIES,
    MOST_REPLIES,
    Summary,
    partial_text,
    read_summary,
    read_turn,
    shape_in_words,
    statement_ids,
    stream_readable_text,
    summary_format,
    turn_format,
)
from chapterhouse.types import Gap, Ground, MemberTurn, Point, Reply, Stance, Statement

QUESTIONS = ("when does it leave", "what does it cost")
OPTIONS = ("Keep the ferry", "Build a bridge")
NO_TURN = MemberTurn("maria", "rebuttal")
WRITTEN_TURN: dict[str, Any] = {
    "positions": [
        {
            "question": "q2",
            "position": "It costs [1] little.",
            "label": "Little",
            "grounds": ["It costs 3 euros. [1]", "It cost 2 euros. [2]"],
        }
    ],
    "replies": [{"statement": "s3", "stance": "oppose", "reason": "No. [1]"}],
    "option": "Keep the ferry",
    "missing": ["The log of May."],
    "open_questions": ["Who pays?"],
}
GROUNDS = (Ground("It costs 3 euros. [1]"), Ground("It cost 2 euros. [2]"))
WHOLE_TURN = MemberTurn(
    "maria",
    "rebuttal",
    (
        Statement(
            "", "maria", "rebuttal", "It costs [1] little.", "Little", QUESTIONS[1], grounds=GROUNDS
        ),
    ),
    (Reply("maria", "rebuttal", "s3", Stance.OPPOSE, "No. [1]"),),
    "Keep the ferry",
    ("The log of May.",),
    ("Who pays?",),
)


def turn(text: str) -> MemberTurn:
    read = read_turn(text, NO_TURN, QUESTIONS, OPTIONS)
    assert "form" not in "".join(read.warnings)
    return read


def positions(said: object) -> list[tuple[str, str, tuple[str, ...]]]:
    read = turn(json.dumps({"positions": said}))
    return [(o.question, o.position, tuple(g.text for g in o.grounds)) for o in read.statements]


def replies(said: object) -> list[tuple[str, str, str]]:
    read = turn(json.dumps({"replies": said}))
    return [(one.statement, one.stance.value, one.reason) for one in read.replies]


def test_what_is_in_the_form_is_read_as_it_is() -> None:
    assert turn(json.dumps(WRITTEN_TURN)) == WHOLE_TURN
    written = {
        "decided": "Build a bridge",
        "decision": ["We build. [s1][1]"],
        "grounds": ["It is cheap. [2]"],
        "dissent": [{"member": "maria", "text": "It is not. [s2]"}],
        "open_questions": ["When?"],
        "missing": [{"member": "piet", "text": "The costs."}],
    }
    assert read_summary(json.dumps(written), OPTIONS) == Summary(
        "Build a bridge",
        ("We build. [s1][1]",),
        ("It is cheap. [2]",),
        (Point("It is not. [s2]", members=("maria",)),),
        ("When?",),
        (Gap("piet", "", "The costs."),),
    )


@pytest.mark.parametrize(
    "wrapped", ['{{"turn": {0}}}', "[{0}]", '{{"a": {{"b": [{0}]}}}}', "Hm: {0}!"]
)
def test_what_stands_in_something_else_is_found(wrapped: str) -> None:
    assert turn(wrapped.format(json.dumps(WRITTEN_TURN))) == WHOLE_TURN


def test_the_object_that_fits_best_is_taken() -> None:
    text = f'My plan: {{"positions": []}}.\n{json.dumps(WRITTEN_TURN)}\n{{"x": 1}}'
    assert turn(text) == WHOLE_TURN


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (RoundKind.INDEPENDENT_ANALYSIS, ["positions", "missing", "open_questions"]),
        (RoundKind.REBUTTAL, ["positions", "replies", "option", "missing", "open_questions"]),
    ],
)
def test_a_form_has_what_its_round_needs(kind: RoundKind, fields: list[str]) -> None:
    argues = kind is RoundKind.REBUTTAL
    form = turn_format(kind, 1 + argues, ["s1", "s2"] if argues else [], OPTIONS if argues else ())
    schema: Any = form.schema
    assert list(schema["properties"]) == schema["required"] == fields
    position = schema["properties"]["positions"]["items"]["properties"]
    assert ("question" in position) is argues
    if argues:
        reply = schema["properties"]["replies"]["items"]["properties"]
        assert reply["statement"]["enum"] == ["s1", "s2"]
        assert reply["stance"]["enum"] == ["stand", "concede", "oppose"]
        assert schema["properties"]["option"]["enum"] == [*OPTIONS, "undecided"]


def test_a_schema_has_no_references_and_no_optional_parts() -> None:
    forms = [
        turn_format(RoundKind.OWN, 2, ["s1"], OPTIONS),
        summary_format(OPTIONS, ["maria", "jonas"]),
    ]

    def walk(part: Any) -> None:
        assert set(part) <= {
            "type", "description", "enum", "items", "properties", "required", "additionalProperties"
        }  # fmt: skip
        if part["type"] == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
            for below in part["properties"].values():
                walk(below)
        elif part["type"] == "array":
            walk(part["items"])

    for form in forms:
        walk(form.schema)
        assert "“" not in shape_in_words(form)
        assert '"warning"' not in shape_in_words(form)


def test_positions_in_other_forms() -> None:
    assert positions("It leaves at nine.") == [("", "It leaves at nine.", ())]
    assert positions(["One.", {"answer": "Two.", "facts": "Three. [1]"}, {"x": 1}, 7, "none"]) == [
        ("", "One.", ()),
        ("", "Two.", ("Three. [1]",)),
    ]
    assert positions(
        {"q1": "At nine.", "q2": {"position": "Little.", "citations": [1, "[2]"]}}
    ) == [(QUESTIONS[0], "At nine.", ()), (QUESTIONS[1], "Little. [1] [2]", ())]
    assert positions([{"question": "What does it cost?", "grounds": ["3 euros."]}]) == [
        (QUESTIONS[1], "3 euros.", ())
    ]
    alone = turn('{"Position": "At nine.", "Label": "a b c d e f", "grounds": ["So. [1]"]}')
    (only,) = alone.statements
    assert (only.position, only.label, only.grounds) == (
        "At nine.",
        "a b c d e",
        (Ground("So. [1]"),),
    )


def test_replies_in_other_forms() -> None:
    assert replies(
        [
            {"statement": "[S3]", "stance": "I agree", "reason": "a"},
            {"statement_id": "s4 s5", "stance": "strongly disagree", "why": "b", "sources": [1]},
            {"statement": "6", "reason": "Oppose: it says so."},
        ]
    ) == [
        ("s3", "stand", "a"),
        ("s4", "oppose", "b [1]"),
        ("s5", "oppose", "b [1]"),
        ("s6", "oppose", "Oppose: it says so."),
    ]
    assert replies({"s3": "concede", "s4": {"stance": "holds", "reason": "x"}}) == [
        ("s3", "concede", ""),
        ("s4", "stand", "x"),
    ]


@pytest.mark.parametrize(
    "stance", ["partly", "partially supports", "do not oppose", "no evidence", "", None]
)
def test_a_stance_that_cannot_be_read_is_none_and_the_reason_stays(stance: object) -> None:
    said = [{"statement": "s3", "stance": stance, "reason": "It holds in winter only. [1]"}]
    read = turn(json.dumps({"replies": said}))
    assert read.replies == ()
    assert [one.position for one in read.statements] == ["It holds in winter only. [1]"]


def test_options_summaries_and_ids_however_they_are_written() -> None:
    assert turn('{"option": " keep the FERRY. "}').option == "Keep the ferry"
    assert not turn('{"option": "undecided"}').option
    assert not turn('{"option": "Drain the sea"}').option
    assert read_summary('{"decided": "build a bridge"}', OPTIONS).decided == "Build a bridge"
    read = read_summary(
        '{"decision": "We keep it.", "dissent": {"maria": "No. [s1]"}, "missing": ["Logs."]}'
    )
    assert read.decision == ("We keep it.",)
    assert read.dissent == (Point("No. [s1]", members=("maria",)),)
    assert read.missing == (Gap("", "", "Logs."),)
    assert statement_ids("[S3], statement 4 and s-05; s3") == ("s3", "s4", "s5")
    assert statement_ids(["s1", 2]) == ("s1", "s2")
    assert statement_ids("books3 is") == statement_ids(None) == ()


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("It leaves\n\nat nine. [1]", "It leaves\n\nat nine. [1]"),
        ("```\nIt leaves.\n```", "It leaves."),
        ('{"thoughts": "It leaves at nine.", "list": ["[1] says so."]}', None),
        ('["It leaves.", "It is late."]', '["It leaves.", "It is late."]'),
    ],
)
def test_what_is_no_form_is_a_position_as_it_stands(text: str, position: str | None) -> None:
    read = read_turn(text, NO_TURN)
    assert "form" in read.warnings[0]
    expected = position or "It leaves at nine.\n[1] says so."
    assert [one.position for one in read.statements] == [expected]
    assert read_summary(text).decision


@pytest.mark.parametrize("text", ["", "{}", "```\n```", "none"])
def test_nothing_is_nothing(text: str) -> None:
    assert read_turn(text, NO_TURN).statements == ()
    assert read_summary(text).decision == ()


def test_what_a_form_says_of_itself_is_no_position() -> None:
    said = {"position": "your answer to it in your own words, at most 3 sentences", "label": "…"}
    assert positions([said]) == []


def test_of_what_is_cut_off_what_is_whole_is_taken() -> None:
    read = turn('{"positions": [{"position": "P.", "grounds": ["One.", "Tw')
    assert [(one.position, one.grounds) for one in read.statements] == [
        ("P.", (Ground("One."), Ground("Tw")))
    ]
    assert "cut off" in read.warnings[0]
    assert not turn('{"positions": [], "warning": "mine"}').warnings


def test_invisible_characters_are_taken_out() -> None:
    hidden = "\u202eNot\U000e0041\u200b so."
    read = turn(json.dumps({"positions": [{"position": hidden, "grounds": [hidden]}]}))
    assert [(one.position, one.grounds) for one in read.statements] == [
        ("Not so.", (Ground("Not so."),))
    ]


def test_everything_is_bounded() -> None:
    many = [{"position": "word " * 10_000, "grounds": ["word " * 1_000] * 40}] * 40
    read = turn(json.dumps({"positions": many}))
    assert len(read.statements) <= MOST_ENTRIES
    assert len(read.statements[0].position) <= 20_000
    assert all(len(one.text) <= 2_000 for one in read.statements[0].grounds)
    said = [{"statement": f"s{number}", "stance": "stand"} for number in range(150)]
    assert len(replies(said)) == MOST_REPLIES


@given(st.text(max_size=300) | st.text(alphabet='{}[]",: positonsrel', max_size=300))
def test_nothing_makes_it_fail(text: str) -> None:
    read_turn(text, NO_TURN, QUESTIONS, OPTIONS)
    read_summary(text, OPTIONS)
    partial_text(text)


@pytest.mark.parametrize(
    "unit", ["- ", "\n \t", "a\n\n", "s1 ", "{", '{"positions":["', "#", "``` \n"]
)
def test_work_is_linear(unit: str) -> None:
    assert_in_proportion(lambda text: read_turn(text, NO_TURN), unit)
    assert_in_proportion(
        lambda text: read_turn('{"replies": [{"statement": "' + text, NO_TURN), unit
    )


def test_what_is_written_is_read_as_it_comes_and_never_taken_back() -> None:
    text = json.dumps(WRITTEN_TURN)
    shown: list[str] = []
    stream = stream_readable_text(shown.append)
    for character in text:
        stream(character)
    told = "".join(shown)
    assert told.startswith("It costs [1] little.\n\nIt costs 3 euros. [1]\n\n")
    assert partial_text(text).startswith(told)
    assert not {"{", '"'} & set(told)


def test_prose_is_not_shown_before_it_is_whole() -> None:
    assert partial_text("It leaves at nine.") == ""
    assert partial_text('{"positions": [{"position": "It le') == "It le"
    assert partial_text('```json\n{"decision": ["Yes."]}\n```') == "Yes."
