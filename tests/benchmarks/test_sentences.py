from hypothesis import given
from hypothesis import strategies as st

from sentence_cases import Spans


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=5))
def test_the_share_of_a_span_is_that_of_its_characters(places: list[list[int]]) -> None:
    wanted = Spans({"a": [(10, 20)]})
    shown = [("a", start, end, "") for start, end in places]
    inside = {at for start, end in places for at in range(start, end)} & set(range(10, 20))
    assert wanted.held([*shown, ("b", 10, 20, "")]) == len(inside) / 10
