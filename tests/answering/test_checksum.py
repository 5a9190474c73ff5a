"""What answers and minutes share that are written into a file others can check."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering import checksum
from chapterhouse.errors import UsageError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
FIELDS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


def turned(value: object) -> object:
    """Return the same value with the keys of each object the other way round."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(one) for one in value] if isinstance(value, list) else value


@given(FIELDS)
def test_a_file_has_the_same_bytes_however_its_fields_were_made(fields: dict[str, object]) -> None:
    other = turned(fields)
    assert isinstance(other, dict)
    assert checksum.file_text(fields) == checksum.file_text(other)
    assert checksum.checksum_of(fields) == checksum.checksum_of(other)
    assert json.loads(checksum.file_text(fields)) == fields
    assert checksum.file_text(fields).endswith("}\n")


@given(FIELDS, st.text(max_size=5))
def test_the_seal_covers_all_but_itself(fields: dict[str, object], value: str) -> None:
    own = checksum.checksum_of(fields)
    assert checksum.checksum_of({**fields, "checksum": value}) == own
    assert checksum.checksum_of({**fields, "another field": value}) != own
    assert checksum.check_checksum({**fields, "checksum": own}).passed
    assert not checksum.check_checksum({**fields, "checksum": own, "another field": value}).passed


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ('{"a": 1, "a": 2}', "names a field twice"),
        ("[]", "no JSON object"),
        ('{"ok": false}', "an error, not an answer"),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        (b"\xff", "no JSON"),
        (" " * (checksum.LARGEST + 1), "more than"),
    ],
    ids=["twice", "a list", "an error", "cut off", "too deep", "no text", "too large"],
)
def test_what_holds_no_answer_is_refused(data: str | bytes, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        checksum.parse(data)


def test_what_a_command_printed_is_looked_into() -> None:
    answer = {"question": "x"}
    for fields in ({"ok": True, "data": answer}, {"answer": answer}, answer):
        assert checksum.inner(fields, "answer") == answer
