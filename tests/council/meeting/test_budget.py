"""Budgets: what they say, and that what is spent and reserved stays within them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.council.meeting.budget import Budget, Need, Spending, duration, parse_budget
from chapterhouse.errors import UsageError
from chapterhouse.types import Usage


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("texts", "budget"),
    [
        (["10 minutes"], Budget(seconds=600)),
        (["90 seconds", "20 calls"], Budget(calls=20, seconds=90)),
        (["1 hour"], Budget(seconds=3_600)),
        (["50,000 tokens"], Budget(tokens=50_000)),
        (["50k tokens"], Budget(tokens=50_000)),
        (["0.50 dollars"], Budget(dollars=Decimal("0.50"))),
        (["$2"], Budget(dollars=Decimal(2))),
        ([" 1 Call "], Budget(calls=1)),
    ],
)
def test_what_people_write(texts: list[str], budget: Budget) -> None:
    assert parse_budget(texts) == budget


@pytest.mark.parametrize("text", ["", "soon", "10", "10 bananas", "-3 calls", "0 calls", "minutes"])
def test_what_states_no_budget(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_budget([text])
    assert caught.value.hint


def test_a_budget_is_shown_as_people_say_it() -> None:
    budget = parse_budget(["12 calls", "50000 tokens", "5 minutes", "$0.50"])
    assert str(budget) == "12 calls, 50,000 tokens, 5 minutes, $0.50"
    assert (duration(0.2), duration(90), duration(130)) == ("1 second", "90 seconds", "2 minutes")


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 900), st.integers(0, 1)), max_size=30),
    st.integers(1, 12),
    st.integers(1, 3_000),
)
def test_what_is_let_through_stays_within_the_budget(
    turns: list[tuple[int, int, int]], calls: int, tokens: int
) -> None:
    spending = Spending(Budget(calls=calls, tokens=tokens))
    spending.set_aside(Need(1, 50))
    used = Usage()
    for needed, wide, ends in turns:
        need = Need(needed, wide)
        if spending.reserve(need):
            spent = Usage(needed, wide) if ends else Usage(1, wide // 2)
            spending.settle(need, spent)
            used += spent
    assert used.calls + 1 <= calls or not used.calls
    assert used.prompt_tokens + 50 <= tokens or not used.calls


def test_what_is_set_aside_is_left_for_what_comes_last() -> None:
    spending = Spending(Budget(calls=3))
    spending.set_aside(Need(1))
    assert spending.reserve(Need(2))
    assert not spending.reserve(Need(1))
    assert spending.reserve(Need(1), is_last=True)


def test_time_runs_out() -> None:
    clock = Clock()
    spending = Spending(Budget(seconds=100), clock)
    spending.set_aside(Need(1, 0, 20))
    assert spending.allows(Need(1, 0, 80))
    assert not spending.allows(Need(1, 0, 81))
    clock.now = 70
    assert (spending.seconds_left(), spending.seconds_left(is_last=True)) == (10, 30)
    clock.now = 200
    assert spending.seconds_left() == 0
    assert Spending().seconds_left() == float("inf")


def test_cost_is_known_from_the_first_call_on() -> None:
    spending = Spending(Budget(dollars=Decimal("0.10")))
    need = Need(1, 1_000)
    assert spending.reserve(need)
    assert not spending.reserve(need)  # nobody knows yet what one costs
    spending.settle(need, Usage(1, 900, 100, Decimal("0.04")))
    assert spending.reserve(need)
    assert not spending.reserve(Need(1, 2_000))
    unknown = Spending(Budget(dollars=Decimal(9)))
    assert unknown.reserve(need)
    unknown.settle(need, Usage(1, 900, 100))
    assert not unknown.reserve(need)  # its price is not known


def test_what_a_budget_left_out_is_said_once() -> None:
    spending = Spending(Budget(calls=2))
    spending.note("rules summed up")
    spending.note("rules summed up")
    assert spending.warnings == ("The budget of 2 calls was used: rules summed up.",)
