import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import assert_in_proportion

from chapterhouse.text.loose_json import Parse, objects_in

SCALARS = st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=20)
KEYS = st.text(min_size=1, max_size=8).filter(str.strip)
VALUES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(KEYS, below, max_size=4),
    max_leaves=12,
)


def first(text: str) -> Any:
    return next(objects_in(text)).value


@given(
    value=st.dictionaries(KEYS, VALUES, max_size=5),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
)
def test_json_is_read_as_json(
    value: dict[str, Any], *, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    (found,) = list(objects_in(text))[:1]
    assert found == Parse(json.loads(text), whole=True)


@given(st.text(alphabet="{}[]\",:\\ \n'/*#a1“”", max_size=200))
def test_nothing_makes_it_fail(text: str) -> None:
    for found in objects_in(text):
        assert isinstance(found.value, dict)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Here you are:\n```json\n{"a": 1}\n```\nBye {you}.', {"a": 1}),
        ('{"a": [1, 2,], "b": "c",}', {"a": [1, 2], "b": "c"}),
        ('{"a": 1 // one\n, /* two */ "b": 2}', {"a": 1, "b": 2}),
        ("{'a': 'it\\'s', 'b': True, 'c': None}", {"a": "it's", "b": True, "c": None}),
        ('{"a": "He said "yes" to it", "b": 2}', {"a": 'He said "yes" to it', "b": 2}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ("{a: nine o'clock, b: [x, y]}", {"a": "nine o'clock", "b": ["x", "y"]}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{"a": "\\u00e9 \\ud83d\\ude00 \\ud83d"}', {"a": "é \U0001f600 \ufffd"}),
        ('{"a": "b"\n"c": "d"}', {"a": "b", "c": "d"}),
        ('{"a": 1, "a": 2}', {"a": 1}),
        ('{"a": {"b": [{}, []]}}', {"a": {"b": [{}, []]}}),
        ('{"a": 1' + "2" * 40 + "}", {"a": "1" + "2" * 40}),  # no number that anyone can use
    ],
)
def test_small_mistakes_are_read_as_meant(text: str, value: object) -> None:
    assert first(text) == value


def test_what_is_cut_off_is_said_to_be() -> None:
    for text, value in (
        ('{"a": "b", "c": "half of', {"a": "b", "c": "half of"}),
        ('{"a": ["b", {"c": 1', {"a": ["b", {"c": 1}]}),
        ('{"a', {}),
    ):
        (found,) = objects_in(text)
        assert (found.value, found.whole) == (value, False)


def test_depth_and_what_is_looked_at_are_bounded() -> None:
    assert list(objects_in('{"a":' * 5_000 + "1" + "}" * 5_000)) == []
    assert list(objects_in('{"a":' + "[" * 5_000)) == []
    assert list(objects_in(" " * 200_000 + '{"a": 1}')) == []
    (found,) = objects_in('{"a": [' + "1," * 5_000 + "]}")
    assert len(found.value["a"]) == 2_000  # type: ignore[arg-type]  # a list


@pytest.mark.parametrize(
    "unit",
    ["{", '{"', '{"a":', '"', "{ ", '{"a" ', "/*", "//", '\\"', '" ', "'\t", "}{'", "{a", "[,"],
)
def test_work_is_linear_in_hostile_text(unit: str) -> None:
    assert_in_proportion(lambda text: list(objects_in('{"a": ' + text)), unit)
