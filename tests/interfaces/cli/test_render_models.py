"""What people see of encoders: how far they are, how long it takes, and why they are not used."""

import pytest

from chapterhouse.interfaces.cli.render_models import (
    duration,
    encoder_chosen,
    megabytes,
    vector_rows,
)
from chapterhouse.presenting.blocks import Verbatim
from chapterhouse.types import EncoderStatus


def encoder(role: str, done: int, total: int, problem: str = "") -> EncoderStatus:
    return EncoderStatus(role, "small", "small@1", done, total, problem)


def test_a_complete_encoder_needs_no_row() -> None:
    complete = [encoder("active", 7, 7), encoder("previous", 2, 7)]
    assert vector_rows(complete, 7) == []


def test_one_that_is_built_says_how_far_it_is_and_whom_it_does_not_serve() -> None:
    rows = vector_rows([encoder("building", 3, 7)], 9)
    assert rows[0] == ("vectors of small", "3 of 7 documents")
    assert "in the background" in rows[1][1]
    assert rows[2][1].startswith("2 documents are in languages")
    assert len(rows) == 3


def test_a_problem_stands_in_place_of_a_promise() -> None:
    rows = vector_rows([encoder("active", 3, 7, "The disk is full.")], 7)
    assert [text for _, text in rows] == [
        "3 of 7 documents", "They could not be made: The disk is full.",
    ]  # fmt: skip


def test_the_time_that_is_left_is_told_where_the_speed_is_known() -> None:
    def told(speed: float) -> str:
        blocks = encoder_chosen([encoder("building", 0, 7)], 1_200, speed, "")
        return "\n".join(
            "".join(words.text for words in block.line)
            for block in blocks
            if isinstance(block, Verbatim)
        )

    assert "1,200 to go: about 2 minutes." in told(10.0)
    assert "to go" not in told(0.0)
    assert "answers as before" in told(0.0)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "less than a minute"),
        (59.9, "less than a minute"),
        (60, "about 1 minute"),
        (7_199, "about 120 minutes"),
        (7_200, "about 2 hours"),
    ],
)
def test_times_are_told_in_minutes_then_in_hours(seconds: float, told: str) -> None:
    assert duration(seconds) == told


@pytest.mark.parametrize(
    ("size", "told"),
    [(0, "-"), (1, "0.1 MB"), (1_260_000, "1.3 MB"), (2_500_000_000, "2,500.0 MB")],
)
def test_nothing_is_no_size_and_a_byte_is_more_than_nothing(size: int, told: str) -> None:
    assert megabytes(size) == told
