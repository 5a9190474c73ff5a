import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.spoken.showing import partial_text, spoken_pieces

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
    listen = spoken_pieces(shown.append)
    rest = WRITTEN
    for size in sizes:
        listen(rest[:size])
        rest = rest[size:]
    listen(rest)
    assert SHOWN.startswith("".join(shown))
    assert all(shown)


def test_the_work_is_bounded() -> None:
    text = json.dumps({"claims": ["A claim of some words." for _ in range(20_000)]})
    listen = spoken_pieces(lambda _: None)
    started = time.perf_counter()
    for place in range(0, len(text), 4):
        listen(text[place : place + 4])
    assert time.perf_counter() - started < 4
