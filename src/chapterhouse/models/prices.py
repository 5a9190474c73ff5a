"""What requests cost, by the price list that comes with genai-prices. It is never fetched anew."""

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from chapterhouse.types import Usage

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage

# The list's names of the services at their own addresses.
_SERVICES: Final = {"anthropic": "anthropic", "google": "google"}


def usage_of(used: "RequestUsage", model: str, engine: str, base_url: str) -> Usage:
    """Return what one request used, with its cost where the list knows model and service.

    Args:
        used: As the service counted.
        model: As the service calls it.
        engine: Which protocol it speaks.
        base_url: Its address; empty for the engine's own.
    """
    prompt, completion = max(0, used.input_tokens), max(0, used.output_tokens)
    cost = _cost(used, model, engine, base_url) if prompt and completion else None
    return Usage(1, prompt, completion, cost)


def added(before: Usage, further: Usage) -> Usage:
    """Return the sum of both; its cost is known where both are."""
    if not before.calls:
        return further
    costs = before.cost, further.cost
    return Usage(
        before.calls + further.calls,
        before.prompt_tokens + further.prompt_tokens,
        before.completion_tokens + further.completion_tokens,
        None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
    )


def _cost(used: "RequestUsage", model: str, engine: str, base_url: str) -> Decimal | None:
    from genai_prices import calc_price  # noqa: PLC0415 - of the extras

    try:
        if base_url:  # a name alone says nothing: any service may call its model gpt-4o
            found = calc_price(used, model, provider_api_url=base_url)
        else:
            found = calc_price(used, model, provider_id=_SERVICES[engine])
    except (LookupError, ValueError):  # not in the list, or counts that make no sense
        return None
    return found.total_price
