"""What a configuration may say, and how what it may not say is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.definition_json import (
    MAXIMUM_BYTES,
    JsonObject,
    parse_object,
    with_changes,
    write_object,
)
from chapterhouse.agents.persona_config import (
    PERSONA_SCHEMA,
    PersonaConfig,
    parse_config,
    value_of,
)
from chapterhouse.agents.persona_folder import read_raw
from chapterhouse.agents.problems import PersonaConfigError, in_file
from chapterhouse.errors import UsageError

FILE = "maria/persona.config.json"


def parsed(data: bytes) -> PersonaConfig:
    read: JsonObject = parse_object(data, PERSONA_SCHEMA)
    if read.value is None or read.problems:
        raise PersonaConfigError(tuple(in_file(FILE, read.problems)))
    return parse_config(read.value, FILE)


def problems(text: str | bytes) -> list[tuple[str, str, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(PersonaConfigError) as caught:
        parsed(data)
    assert all(problem.file == FILE for problem in caught.value.problems)
    assert all(problem.hint for problem in caught.value.problems)
    return [(problem.place, problem.sentence, problem.hint) for problem in caught.value.problems]


def reasons(work: Callable[[], object]) -> list[str]:
    try:
        work()
    except PersonaConfigError as error:
        return [problem.sentence for problem in error.problems]
    return []


def inside(values: dict[str, Any]) -> str:
    return json.dumps({"slug": "maria", **values})


def test_a_slug_is_enough() -> None:
    config = parsed(b'{"slug": "maria"}')
    assert config == PersonaConfig(slug="maria")
    assert config.retrieval.max_chunks == 12
    assert config.retrieval.per_document is None
    assert (config.grounding, config.out_of_scope, config.model) == ("inject", "defer", "")
    assert config.memory.enabled is None


@pytest.mark.parametrize(
    ("values", "key", "reason", "hint"),
    [
        ({"retrieval": {"max_chunks": 0}}, "retrieval.max_chunks", "at least 1, not 0", "docs"),
        ({"retrieval": {"max_chunks": "12"}}, "retrieval.max_chunks", 'whole number, not "12"', ""),
        ({"retrieval": {"max_chunks": 1.5}}, "retrieval.max_chunks", "whole number, not 1.5", ""),
        ({"retrieval": {"max_chunks": True}}, "retrieval.max_chunks", "not true", ""),
        ({"retrieval": {"recency": 2}}, "retrieval.recency", "at most 1, not 2", ""),
        ({"retrieval": {"vector_threshold": "x"}}, "retrieval.vector_threshold", "a number", ""),
        ({"retrieval": []}, "retrieval", "an object in braces", ""),
        ({"tags": "tides"}, "tags", "a list in square brackets", ""),
        ({"tags": ["tides", 1]}, "tags[1]", "text in double quotes, not 1", ""),
        ({"tags": [""]}, "tags[0]", "It is empty", ""),
        ({"tags": ["a\u200bb"]}, "tags[0]", "invisible", ""),
        ({"tags": ["a\nb"]}, "tags[0]", "one line", ""),
        ({"display_name": "x" * 81}, "display_name", "at most 80 characters", ""),
        ({"grounding": "never"}, "grounding", "'inject', 'tool' or 'both', not \"never\"", "Most"),
        ({"out_of_scope": None}, "out_of_scope", "'defer'", "Most"),
        ({"memory": {"enabled": "yes"}}, "memory.enabled", 'true or false, not "yes"', ""),
        ({"memory": {"days": -1}}, "memory.days", "at least 0", ""),
        ({"shelves": ["../x"]}, "shelves[0]", "cannot be the name of a shelf", "status"),
        ({"slug": "Maria Keller"}, "slug", "lower-case", "folder is called"),
        ({"slug": "library"}, "slug", "reserved", "folder is called"),
        ({"slug": "a" * 41}, "slug", "at most 40", ""),
        ({"slug": "../x"}, "slug", "lower-case", ""),
        ({"max_chunks": 3}, "max_chunks", "no key", "'retrieval.max_chunks'"),
        ({"tag": []}, "tag", "no key", "'tags'"),
        ({"retrieval": {"max_chunk": 3}}, "retrieval.max_chunk", "no key", "max_chunks"),
        ({"colour": "red"}, "colour", "no key", "There are: answer, display_name"),
    ],
)
def test_what_is_wrong_is_named_by_key(
    values: dict[str, Any], key: str, reason: str, hint: str
) -> None:
    (found,) = problems(inside(values))
    assert found[0] == key
    assert reason in found[1]
    assert hint in found[2]


def test_all_problems_come_at_once() -> None:
    found = problems('{"tags": [1], "grounding": "x", "colour": 2}')
    assert [key for key, _, _ in found] == ["slug", "tags[0]", "grounding", "colour"]
    with pytest.raises(PersonaConfigError, match="slug: 'slug' is missing") as caught:
        parse_config({"tags": [1]}, FILE)
    assert "1 more" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        (b'{"slug": "maria",\n "tags": [],}', "", "(line 2, column 13)"),
        (b'{"slug": "maria"', "", "line 1, column 17"),
        (b'{"slug": "m\xe4ria"}', "", "not UTF-8 (line 1, column 12)"),
        (b'{\n"slug": "a\xff"}', "", "not UTF-8 (line 2, column 11)"),
        (b'{"slug": "a", "slug": "b"}', "slug", "twice"),
        (b'{"slug": "a", "memory": {"days": 1, "days": 2}}', "memory.days", "twice"),
        (b'{"slug": "a", "tags": [{"x": 1, "x": 2}]}', "tags[0].x", "twice"),
        (b"[]", "", "no object"),
        (b"12", "", "no object"),
        (b"", "", "not JSON"),
        (b'{"slug": NaN}', "", "NaN is no number"),
        (b"[" * 100_000, "", "not JSON"),
        (b'{"slug": "\\ud800"}', "slug", "half of a character"),
        (b'{"\\ud800": 1}', "", "half of a character"),
    ],
)
def test_a_file_that_is_no_json_object_says_where(text: bytes, key: str, reason: str) -> None:
    found = problems(text)
    assert found[0][0] == key
    assert reason in found[0][1]


def test_a_byte_order_mark_is_no_problem() -> None:
    assert parsed(b'\xef\xbb\xbf{"slug": "maria"}') == PersonaConfig(slug="maria")


def test_a_file_that_is_not_there_or_too_long(tmp_path: Path) -> None:
    path = tmp_path / "persona.config.json"
    with pytest.raises(PersonaConfigError, match="No such file"):
        read_raw(tmp_path)
    path.write_bytes(b" " * (MAXIMUM_BYTES + 1))
    with pytest.raises(PersonaConfigError, match="more than 1,000,000 bytes"):
        read_raw(tmp_path)


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_bytes_make_it_fail_otherwise(data: bytes) -> None:
    assert all(reason for reason in reasons(lambda: parsed(data)))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from([*PersonaConfig.model_fields, "x"]), json_values, max_size=5)
)
def test_no_values_make_it_fail_otherwise(values: dict[str, Any]) -> None:
    assert all(reason for reason in reasons(lambda: parse_config(values, FILE)))


def test_edits_keep_what_its_owner_wrote(tmp_path: Path) -> None:
    path = tmp_path / "persona.config.json"
    raw = {"tags": ["ö"], "slug": "maria", "retrieval": {"max_chunks": 3}}
    changed = with_changes(raw, {"retrieval.recency": 0.5, "model": "none", "tags": []})
    assert list(changed) == ["tags", "slug", "retrieval", "model"]
    assert changed["retrieval"] == {"max_chunks": 3, "recency": 0.5}
    assert raw["tags"] == ["ö"]
    path.write_text("{}")
    path.chmod(0o600)
    write_object(path, changed | {"tags": ["ö"]})
    assert read_raw(tmp_path) == changed | {"tags": ["ö"]}
    assert "ö" in path.read_text("utf-8")
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_an_edit_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(UsageError, match="'tags' is no object"):
        with_changes({"tags": []}, {"tags.first": "x"})


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("retrieval.max_chunks", "8", 8),
        ("memory.enabled", "false", False),
        ("memory.days", "null", None),
        ("tags", "tides, harbour", ["tides", "harbour"]),
        ("tags", '["a, b"]', ["a, b"]),
        ("tags", "", []),
        ("profile.key_terms", "slipway", ["slipway"]),
        ("display_name", "Maria Keller", "Maria Keller"),
        ("display_name", "1984", "1984"),
        ("display_name", '"Maria"', "Maria"),
        ("grounding", "tool", "tool"),
        ("retrieval.recency", "NaN", "NaN"),
    ],
)
def test_values_from_a_command_line(key: str, text: str, value: object) -> None:
    assert value_of(key, text) == value
