"""Costs: known or not said."""

from decimal import Decimal

import pytest
from pydantic_ai.usage import RequestUsage

from chapterhouse.models.prices import added, usage_of
from chapterhouse.types import Usage

USED = RequestUsage(input_tokens=1_000_000, output_tokens=100_000)


@pytest.mark.parametrize(
    ("model", "engine", "base_url", "cost"),
    [
        ("gpt-4o", "openai", "https://api.openai.com/v1", Decimal("3.5")),
        ("claude-sonnet-4-5", "anthropic", "", None),
        ("gemini-2.5-flash", "google", "", Decimal("0.55")),
    ],
)
def test_the_list_knows_some(model: str, engine: str, base_url: str, cost: Decimal | None) -> None:
    found = usage_of(USED, model, engine, base_url).cost
    assert found is not None
    assert found > 0
    assert cost is None or found == cost


@pytest.mark.parametrize(
    ("model", "engine", "base_url"),
    [
        ("gpt-4o", "openai", "http://localhost:11434/v1"),
        ("gpt-4o", "openai", "https://example.org/v1"),
        ("no-such-model", "openai", "https://api.openai.com/v1"),
        ("no-such-model", "anthropic", ""),
        ("claude-sonnet-4-5", "anthropic", "http://127.0.0.1:9"),
    ],
)
def test_what_it_does_not_know_has_no_price(model: str, engine: str, base_url: str) -> None:
    usage = usage_of(USED, model, engine, base_url)
    assert usage == Usage(1, 1_000_000, 100_000)


def test_what_was_not_counted_has_no_price() -> None:
    usage = usage_of(RequestUsage(), "gpt-4o", "openai", "https://api.openai.com/v1")
    assert usage == Usage(1)
    negative = RequestUsage(input_tokens=-5, output_tokens=3)
    assert usage_of(negative, "gpt-4o", "openai", "https://api.openai.com/v1") == Usage(1, 0, 3)


def test_a_sum_is_known_where_its_parts_are() -> None:
    known = Usage(1, 1, 1, Decimal("0.5"))
    assert added(Usage(), known) == known
    assert added(known, known) == Usage(2, 2, 2, Decimal("1.0"))
    assert added(known, Usage(1, 1, 1)).cost is None
