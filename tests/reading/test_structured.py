import json

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.structured import _indented

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_laying_out_json_keeps_its_value(value: object) -> None:
    assert json.loads(_indented(json.dumps(value))) == value
