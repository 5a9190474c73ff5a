import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.council.meeting.turn_output import (
    MOST_CLAIMS,
    Attributed,
    ConcessionOutput,
    DissentOutput,
    ReplyOutput,
    StatedOutput,
    SynthesisOutput,
    TurnOutput,
    VerdictOutput,
    read_synthesis,
    read_turn,
)
from chapterhouse.types import Leaning, Stance

OPTIONS = ("Keep the ferry", "Build a bridge")


def turn(text: str) -> TurnOutput:
    read = read_turn(text, OPTIONS)
    assert read.in_form
    return read


def stated(*said: str) -> tuple[StatedOutput, ...]:
    return tuple(StatedOutput(text=one) for one in said)


def texts(stated: Sequence[StatedOutput]) -> tuple[str, ...]:
    return tuple(one.text for one in stated)


def synthesis(text: str) -> SynthesisOutput:
    read = read_synthesis(text, OPTIONS)
    assert read.in_form
    return read


WHOLE_TURN = TurnOutput(
    position="It stays.",
    option="Keep the ferry",
    claims=stated("It leaves at nine. [^timetable:2]", "It carries 40 people. [^rules:1]"),
    replies=(ReplyOutput(claim="c3", stance=Stance.CONTRADICTS, reason="No. [^rules:1]"),),
    concessions=(ConcessionOutput(claim="c2", to="c4", reason="New. [^rules:2]"),),
    missing=("The log of May.",),
    open_questions=("Who pays?",),
)
WHOLE_SYNTHESIS = SynthesisOutput(
    decided="Build a bridge",
    decision=stated("We build. [^a:1]"),
    grounds=stated("It is cheap. [^a:2]"),
    dissent=(DissentOutput(member="maria", text="It is not. [^b:1]"),),
    open_questions=("When?",),
    missing=(Attributed(member="piet", text="The costs."),),
    matrix=(
        VerdictOutput(
            option="Keep the ferry", member="maria", leaning=Leaning.FOR, text="Why. [^b:1]"
        ),
    ),
)


def test_what_is_quoted_for_a_sentence_is_read_under_other_names() -> None:
    said = [{"text": "It leaves.", "quote": "leaves at nine"}, {"claim": "It is red."}, "Blue."]
    read = turn(json.dumps({"claims": said})).claims
    assert [(one.text, one.quotation) for one in read] == [
        ("It leaves.", "leaves at nine"),
        ("It is red.", ""),
        ("Blue.", ""),
    ]


def test_what_is_in_the_form_is_read_as_it_is() -> None:
    assert turn(WHOLE_TURN.model_dump_json()) == WHOLE_TURN
    assert synthesis(WHOLE_SYNTHESIS.model_dump_json()) == WHOLE_SYNTHESIS


@pytest.mark.parametrize(
    "wrapped", ['{{"turn": {0}}}', "[{0}]", '{{"a": {{"b": [{0}]}}}}', "Hm: {0}!"]
)
def test_what_stands_in_something_else_is_found(wrapped: str) -> None:
    assert turn(wrapped.format(WHOLE_TURN.model_dump_json())) == WHOLE_TURN


def test_the_object_that_fits_best_is_taken() -> None:
    text = f'My plan: {{"claims": []}}.\n{WHOLE_TURN.model_dump_json()}\n{{"x": 1}}'
    assert turn(text) == WHOLE_TURN


def test_names_and_lists_may_be_written_otherwise() -> None:
    read = turn(
        '{"Position": ["One.", "Two."], "claim": "Only one.", "openQuestions": "Who?",'
        ' "Missing": null, "confidence": 3}'
    )
    assert read == TurnOutput(
        position="One.\nTwo.", claims=stated("Only one."), open_questions=("Who?",)
    )


def test_claims_may_be_objects_with_citations_apart() -> None:
    read = turn(
        '{"claims": [{"text": "One.", "citations": ["a:1", "[^b:2]", "junk"]},'
        ' {"claim": "Two.", "sources": "c:3"}, {"x": 1}, 7, "- Three.", "none", "…", ""]}'
    )
    assert texts(read.claims) == ("One. [^a:1] [^b:2]", "Two. [^c:3]", "Three.")


def test_replies_in_other_forms() -> None:
    read = turn(
        '{"replies": [{"claim": "[C3]", "stance": "agree", "reason": "a"},'
        ' {"claim_id": "c4 c5", "stance": "strongly disagree", "why": "b", "citations": ["r:1"]},'
        ' {"claim": "c6", "reason": "Agree: it says so."}, {"stance": "agree"}, "c7"]}'
    )
    assert read.replies == (
        ReplyOutput(claim="c3", stance=Stance.SUPPORTS, reason="a"),
        ReplyOutput(claim="c4", stance=Stance.CONTRADICTS, reason="b [^r:1]"),
        ReplyOutput(claim="c5", stance=Stance.CONTRADICTS, reason="b [^r:1]"),
        ReplyOutput(claim="c6", stance=Stance.SUPPORTS, reason="Agree: it says so."),
        ReplyOutput(claim="c7", stance=Stance.SILENT, reason="c7"),
    )
    by_claim = turn('{"replies": {"c3": "supports", "c4": {"stance": "no", "reason": "x"}}}')
    assert [reply.stance for reply in by_claim.replies] == [Stance.SUPPORTS, Stance.CONTRADICTS]


def test_an_option_is_one_of_those_there_are() -> None:
    assert turn('{"option": " keep the FERRY. "}').option == "Keep the ferry"
    assert not turn('{"option": "undecided"}').option
    assert not turn('{"option": "Drain the sea"}').option
    assert synthesis('{"decided": "build a bridge"}').decided == "Build a bridge"


def test_a_synthesis_in_other_forms() -> None:
    read = synthesis(
        '{"decision": "We keep it.", "dissent": {"maria": "No. [^a:1]"}, "missing": ["Logs."],'
        ' "matrix": {"Keep the ferry": {"maria": "against", "piet": {"leaning": "for"}},'
        ' "Drain": {"maria": "for"}}}'
    )
    assert texts(read.decision) == ("We keep it.",)
    assert read.dissent == (DissentOutput(member="maria", text="No. [^a:1]"),)
    assert read.missing == (Attributed(text="Logs."),)
    assert [(cell.member, cell.leaning) for cell in read.matrix] == [
        ("maria", Leaning.AGAINST),
        ("piet", Leaning.FOR),
    ]
    assert synthesis('{"decision": [], "dissent": "Nobody asked."}').dissent == (
        DissentOutput(text="Nobody asked."),
    )


@pytest.mark.parametrize(
    ("written", "why"),
    [("fact", "fact"), ("Older document", "older-document"), ("because", None), (None, None)],
)
def test_why_somebody_dissents_is_one_of_five_reasons(written: object, why: str | None) -> None:
    said = {"dissent": [{"member": "maria", "text": "It is shut.", "why": written}]}
    assert synthesis(json.dumps(said)).dissent[0].why == why


@pytest.mark.parametrize("text", ["", "I do not know.", "{}", '{"answer": 1}', "```\nHello.\n```"])
def test_prose_is_unread(text: str) -> None:
    assert not read_turn(text).in_form
    assert not read_synthesis(text).in_form


def test_prose_is_taken_for_what_it_states() -> None:
    read = read_turn("# View\n\nIt leaves\nat nine. [^a:1]\n\n- One.\n2. Two.\n```\n")
    assert not read.in_form
    assert texts(read.claims) == ("It leaves at nine. [^a:1]", "One.", "Two.")
    assert "form" in read.warning
    summed = read_synthesis("We keep it.")
    assert not summed.in_form
    assert texts(summed.decision) == ("We keep it.",)


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "The ferry leaves at nine. [^a:1]", "sources": ["a"]}',
        '```json\n{\n  "thoughts": "It leaves at nine.",\n\n  "list": [\n  - "x"\n]}\n```',
        '["The ferry leaves at nine.", "It is late."]',
        '[{"statement": "The ferry leaves at nine."}]',
        "[\n  1\n]",
        "{}",
    ],
)
def test_another_form_is_no_prose(text: str) -> None:
    for read in (read_turn(text), read_synthesis(text)):
        assert not read.in_form
        assert read == type(read)(in_form=False, warning=read.warning)
        assert "states nothing" in read.warning


def test_prose_before_another_form_and_markers_are_prose() -> None:
    read = read_turn('[^a:1] It leaves.\n\n[1] It is {late}.\n\n{"answer": "It leaves."}')
    assert not read.in_form
    assert texts(read.claims) == ("[^a:1] It leaves.", "[1] It is {late}.")
    assert "taken as it is" in read.warning


def test_what_is_cut_off_is_taken_and_said() -> None:
    read = turn('{"position": "P.", "claims": ["One.", "Tw')
    assert (read.position, texts(read.claims)) == ("P.", ("One.", "Tw"))
    assert "cut off" in read.warning
    assert not turn('{"claims": [], "warning": "mine"}').warning


def test_invisible_characters_are_taken_out() -> None:
    hidden = "\u202eNot\U000e0041\u200b so."
    read = turn(f'{{"position": "{hidden}", "claims": ["{hidden}\\u202e"]}}')
    assert (read.position, texts(read.claims)) == ("Not so.", ("Not so.",))


def test_everything_is_bounded() -> None:
    many = ", ".join(f'"{number} {"word " * 1_000}"' for number in range(39))
    read = turn(f'{{"claims": [{many}], "position": "{"p" * 20_000}"}}')
    assert len(read.claims) == MOST_CLAIMS
    assert all(len(text) <= 2_000 and text.endswith("word…") for text in texts(read.claims))
    assert len(read.position) == 4_000
    replies = ", ".join(f'{{"claim": "c{number}"}}' for number in range(500))
    assert len(turn(f'{{"replies": [{replies}], "concessions": [{replies}]}}').replies) == 60
    assert len(turn(f'{{"concessions": [{replies}]}}').concessions) == MOST_CLAIMS


@given(st.text(max_size=300) | st.text(alphabet='{}[]",: claimsrepso', max_size=300))
def test_nothing_makes_it_fail(text: str) -> None:
    read_turn(text, OPTIONS)
    read_synthesis(text, OPTIONS)


@pytest.mark.parametrize(
    "unit", ["- ", "\n \t", "a\n\n", "c1 ", "{", '{"claims":["', "#", "``` \n"]
)
def test_work_is_linear(unit: str) -> None:
    assert_in_proportion(read_turn, unit)
    assert_in_proportion(lambda text: read_turn('{"replies": [{"claim": "' + text), unit)


# --- stances and leanings ------------------------------------------------------------------------


def reply(stance: str) -> ReplyOutput:
    return ReplyOutput.model_validate({"claim": "c1", "stance": stance})


@pytest.mark.parametrize("stance", list(Stance))
def test_a_stance_by_its_name(stance: Stance) -> None:
    assert reply(stance.value.upper()).stance is stance


@pytest.mark.parametrize("leaning", list(Leaning))
def test_a_leaning_by_its_name(leaning: Leaning) -> None:
    cell = VerdictOutput.model_validate({"option": "a", "member": "b", "leaning": leaning.value})
    assert cell.leaning is leaning


@pytest.mark.parametrize(
    ("written", "stance"),
    [
        ("agree", Stance.SUPPORTS),
        ("I fully agree.", Stance.SUPPORTS),
        ("confirmed", Stance.SUPPORTS),
        ("Yes", Stance.SUPPORTS),
        ("stimme zu", Stance.SUPPORTS),
        ("disagree", Stance.CONTRADICTS),
        ("does not support", Stance.CONTRADICTS),
        ("doesn’t support it", Stance.CONTRADICTS),
        ("not supported", Stance.CONTRADICTS),
        ("widerspricht", Stance.CONTRADICTS),
        ("false", Stance.CONTRADICTS),
        ("no evidence", Stance.SILENT),
        ("cannot confirm", Stance.SILENT),
        ("partially supports", Stance.SILENT),
        ("", Stance.SILENT),
        ("perhaps", Stance.SILENT),
        ("x" * 300 + " agree", Stance.SILENT),
    ],
)
def test_stances_in_other_words(written: str, stance: Stance) -> None:
    assert reply(written).stance is stance
