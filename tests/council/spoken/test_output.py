import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from chapterhouse.agents.council_model import RoundKind
from chapterhouse.council.spoken.output import (
    SpokenSynthesis,
    SpokenTurn,
    ask_again,
    format_of,
    read_synthesis,
    read_turn,
    shape_in_words,
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
    said = {"position", "claims", "missing", "open_questions"}
    assert names(format_of(RoundKind.INDEPENDENT_ANALYSIS, ())) == said
    assert names(format_of(RoundKind.CROSS_EXAMINATION, ())) == said | {"replies"}
    assert names(format_of(RoundKind.REBUTTAL, ())) == said | {"replies", "concessions"}
    assert names(format_of(RoundKind.OWN, OPTIONS)) == set(SpokenTurn.model_fields) - {"warning"}
    summed = names(format_of(RoundKind.SYNTHESIS, ()))
    assert summed == {"decision", "grounds", "dissent", "open_questions", "missing"}
    whole = names(format_of(RoundKind.SYNTHESIS, OPTIONS))
    assert whole == set(SpokenSynthesis.model_fields) - {"warning"}


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
    found = read(shape_in_words(format_of(kind, options)), options)
    assert isinstance(found, SpokenTurn | SpokenSynthesis)
    assert not found.warning
    lines = found.decision if isinstance(found, SpokenSynthesis) else found.claims
    assert len(lines) == 1


def test_whoever_is_asked_again_is_told_the_shape() -> None:
    form = format_of(RoundKind.REBUTTAL, OPTIONS)
    assert ask_again(form).endswith(shape_in_words(form))
