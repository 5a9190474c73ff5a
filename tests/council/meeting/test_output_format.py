import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import steps

from chapterhouse.agents.council_model import RoundKind
from chapterhouse.council.meeting.output_format import (
    ask_again,
    format_of,
    partial_text,
    shape_in_words,
    stream_readable_text,
)
from chapterhouse.council.meeting.turn_output import (
    SynthesisOutput,
    TurnOutput,
    read_synthesis,
    read_turn,
)
from chapterhouse.types import OutputFormat

OPTIONS = ("Keep the ferry", 'Build a "bridge"')
FORMS = [(kind, options) for kind in RoundKind for options in ((), OPTIONS)]


def parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    yield schema
    for below in [*schema.get("properties", {}).values(), schema.get("items")]:
        if below:
            yield from parts(below)


@pytest.mark.parametrize(("kind", "options"), FORMS)
def test_schemas_are_what_every_service_takes(kind: RoundKind, options: tuple[str, ...]) -> None:
    form = format_of(kind, options)
    assert form.name.isidentifier()
    for part in parts(form.schema):
        assert set(part) <= {
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "description",
        }
        assert all(part.get("enum", ["x"]))  # Gemini takes no empty choice
        if part["type"] == "object":
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False
    assert len(json.dumps(form.schema)) < 3_000


@pytest.mark.parametrize(("kind", "options"), FORMS)
def test_openai_has_nothing_to_change_in_them(kind: RoundKind, options: tuple[str, ...]) -> None:
    profiles = pytest.importorskip("pydantic_ai.profiles.openai")
    schema = dict(format_of(kind, options).schema)
    transformer = profiles.OpenAIJsonSchemaTransformer(schema, strict=None)
    assert transformer.walk() == schema
    assert transformer.is_strict_compatible


def names(form: OutputFormat) -> set[str]:
    properties = form.schema["properties"]
    assert isinstance(properties, dict)
    return set(properties)


def test_each_round_has_only_what_it_needs() -> None:
    said, ours = {"position", "claims", "missing", "open_questions"}, {"warning", "in_form"}
    assert names(format_of(RoundKind.INDEPENDENT_ANALYSIS, ())) == said
    assert names(format_of(RoundKind.CROSS_EXAMINATION, ())) == said | {"replies", "concessions"}
    assert names(format_of(RoundKind.REBUTTAL, ())) == said | {"replies", "concessions"}
    assert names(format_of(RoundKind.OWN, OPTIONS)) == set(TurnOutput.model_fields) - ours
    summed = names(format_of(RoundKind.SYNTHESIS, ()))
    assert summed == {"decision", "grounds", "dissent", "open_questions", "missing"}
    whole = names(format_of(RoundKind.SYNTHESIS, OPTIONS))
    assert whole == set(SynthesisOutput.model_fields) - ours


@pytest.mark.parametrize(("kind", "options"), FORMS)
def test_the_shape_in_words_names_everything(kind: RoundKind, options: tuple[str, ...]) -> None:
    form = format_of(kind, options)
    words = shape_in_words(form)
    for part in parts(form.schema):
        for name in part.get("properties", ()):
            assert f'"{name}"' in words
        for choice in part.get("enum", ()):
            assert json.dumps(choice)[1:-1] in words


@pytest.mark.parametrize(("kind", "options"), FORMS)
def test_what_copies_the_shape_is_read(kind: RoundKind, options: tuple[str, ...]) -> None:
    """Weak models fill the example in, comments and dots and all."""
    read = read_synthesis if kind is RoundKind.SYNTHESIS else read_turn
    shape = shape_in_words(format_of(kind, options))
    found = read(shape.replace("one fact in one sentence", "The ferry leaves at nine"), options)
    assert found.in_form
    assert not found.warning
    if not isinstance(found, SynthesisOutput):
        assert len(found.claims) == 1
    copied = read(shape, options)  # what a description says is no statement of anybody's
    assert copied.in_form
    assert not (copied.decision if isinstance(copied, SynthesisOutput) else copied.claims)


def test_whoever_is_asked_again_is_told_the_shape() -> None:
    form = format_of(RoundKind.REBUTTAL, OPTIONS)
    assert ask_again(form).endswith(shape_in_words(form))


# --- while it is being written ------------------------------------------------------------------

WRITTEN = '{"position": "It stays.", "option": "x", "claims": ["One.", "Two."], "missing": ["m"]}'
SHOWN = "It stays.\n\nOne.\n\nTwo."


@pytest.mark.parametrize(
    ("so_far", "shown"),
    [
        ("", ""),
        ("Here it is:", ""),
        ('{"posi', ""),
        ('{"position": "It st', "It st"),
        ('{"position": "It stays.", "claims": ["On', "It stays.\n\nOn"),
        (WRITTEN, SHOWN),
        (f"Here:\n```json\n{WRITTEN}\n```", SHOWN),
        ('{"decision": ["We keep it."], "grounds": ["x"]}', "We keep it."),
        ('{"claims": {"a": 1}, "position": 3}', ""),
        ("{not json}", ""),
        ('{"position": "\u202eA\\u202e"}', "A"),
    ],
)
def test_what_a_reader_sees(so_far: str, shown: str) -> None:
    assert partial_text(so_far) == shown


@given(st.lists(st.text(max_size=30), max_size=5), st.data())
def test_what_was_shown_stays(claims: list[str], data: st.DataObject) -> None:
    text = json.dumps({"position": "P.", "claims": claims}, ensure_ascii=data.draw(st.booleans()))
    cut = data.draw(st.integers(0, len(text)))
    before = partial_text(text[:cut])
    assert not before or partial_text(text).startswith(before)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=80))
def test_pieces_add_up(sizes: list[int]) -> None:
    shown: list[str] = []
    listen = stream_readable_text(shown.append)
    rest = WRITTEN
    for size in sizes:
        listen(rest[:size])
        rest = rest[size:]
    listen(rest)
    assert SHOWN.startswith("".join(shown))
    assert all(shown)


def test_the_work_is_bounded() -> None:
    def listened(claims: int) -> int:
        text = json.dumps({"claims": ["A claim of some words." for _ in range(claims)]})
        listen = stream_readable_text(lambda _: None)
        return steps(lambda: [listen(text[place : place + 4]) for place in range(0, len(text), 4)])

    assert listened(1_000) < 2.5 * listened(500)
