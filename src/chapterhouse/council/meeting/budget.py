"""How much a meeting may use of models: calls, tokens, time and cost; and what it has used."""

import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from chapterhouse.errors import UsageError
from chapterhouse.text.counting import counted
from chapterhouse.types import Usage

_MINUTE: Final = 60.0
_AMOUNT: Final = re.compile(r"\$?\s*(\d[\d,_]*(?:\.\d+)?)\s*(k?)\s*([a-z]*)", re.IGNORECASE)
_SECONDS: Final = {"second": 1.0, "minute": _MINUTE, "hour": 60 * _MINUTE}
_HINT: Final = 'Write it as "10 minutes", "20 calls", "50000 tokens" or "0.50 dollars".'


@dataclass(frozen=True, slots=True)
class Need:
    """What something is estimated to take of a model."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def __add__(self, further: "Need") -> "Need":
        """Return both, one after the other."""
        return Need(
            self.calls + further.calls,
            self.tokens + further.tokens,
            self.seconds + further.seconds,
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """What a meeting may use at most; 0 for any.

    Attributes:
        tokens: Of prompts and answers together.
        seconds: From its beginning.
        dollars: As far as prices are known; without a known price no second call is made.
    """

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    dollars: Decimal = Decimal(0)

    def __str__(self) -> str:
        """Return it for people."""
        parts = [
            counted(self.calls, "call") if self.calls else "",
            counted(self.tokens, "token") if self.tokens else "",
            duration(self.seconds) if self.seconds else "",
            f"${self.dollars}" if self.dollars else "",
        ]
        return ", ".join(filter(None, parts))


def duration(seconds: float) -> str:
    """Return a time for people: "40 seconds", "3 minutes"."""
    if seconds < 2 * _MINUTE:
        return counted(max(1, round(seconds)), "second")
    return counted(round(seconds / _MINUTE), "minute")


def parse_budget(texts: Sequence[str]) -> Budget:
    """Return the budget that texts such as "10 minutes" state together.

    Raises:
        UsageError: one of them states none, or nothing at all.
    """
    found: dict[str, float] = {}
    dollars = Decimal(0)
    for text in texts:
        match = _AMOUNT.fullmatch(text.strip())
        number = Decimal(re.sub(r"[,_]", "", match[1])) if match else Decimal(0)
        unit = (match[3] if match else "").lower().removesuffix("s")
        if match and match[2]:
            number *= 1_000
        if unit in {"dollar", "usd"} or (match and not unit and "$" in text):
            dollars = number
        elif unit in {"call", "token"}:
            found[f"{unit}s"] = int(number)
        elif unit in _SECONDS:
            found["seconds"] = float(number) * _SECONDS[unit]
        else:
            raise UsageError(f"“{text}” is no budget.", hint=_HINT)
        if number <= 0:
            raise UsageError(f"“{text}” lets no model speak.", hint="Read only: --model none")
    return Budget(
        int(found.get("calls", 0)), int(found.get("tokens", 0)), found.get("seconds", 0.0), dollars
    )


class Spending:
    """What a meeting has used, and what is being used, beside its budget."""

    def __init__(
        self, budget: Budget | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin to count now."""
        self.budget = budget or Budget()
        self._clock = clock
        self._began = clock()
        self._lock = threading.Lock()
        self._reserved = Need()
        self._used = Usage()
        self._aside = Need()
        self._left_out: dict[str, None] = {}

    def set_aside(self, need: Need) -> None:
        """Keep room for what comes last."""
        self._aside = need

    def note(self, what: str) -> None:
        """Remember what was done otherwise because the budget had no room, in words."""
        self._left_out[what] = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was done otherwise, once each."""
        return tuple(f"The budget of {self.budget} was used: {one}." for one in self._left_out)

    def seconds_left(self, *, is_last: bool = False) -> float:
        """Return the seconds until the budget ends, without those that are set aside."""
        if not self.budget.seconds:
            return float("inf")
        aside = 0.0 if is_last else self._aside.seconds
        return max(0.0, self.budget.seconds - aside - (self._clock() - self._began))

    def allows(self, need: Need) -> bool:
        """Whether the budget has room for something more beside what is set aside."""
        with self._lock:
            return self._fits(need + self._aside)

    def reserve(self, need: Need, *, is_last: bool = False) -> bool:
        """Take room for something that begins now; whether there was room.

        Args:
            need: What it is expected to take.
            is_last: Whether it is what room was set aside for.
        """
        with self._lock:
            if not self._fits(need if is_last else need + self._aside):
                return False
            self._reserved += need
            return True

    def settle(self, need: Need, used: Usage | None) -> None:
        """Count what was used in place of what was taken for it."""
        with self._lock:
            self._reserved += Need(-need.calls, -need.tokens, -need.seconds)
            if used:
                self._used += used

    def _fits(self, need: Need) -> bool:
        budget, used, reserved = self.budget, self._used, self._reserved
        tokens = used.prompt_tokens + used.completion_tokens + reserved.tokens + need.tokens
        calls = used.calls + reserved.calls + need.calls
        return not (
            (budget.calls and calls > budget.calls)
            or (budget.tokens and tokens > budget.tokens)
            or need.seconds > self.seconds_left(is_last=True)
            or (budget.dollars and not self._is_affordable(need))
        )

    def _is_affordable(self, need: Need) -> bool:
        """Whether the cost so far, and as much a token for the rest, stays within the budget."""
        used = self._used
        if not used.calls:
            return not self._reserved.calls  # the price is known once one has been made
        tokens = used.prompt_tokens + used.completion_tokens
        if used.cost is None or not tokens:
            return False
        each = used.cost / tokens
        planned = self._reserved.tokens + need.tokens
        return used.cost + each * planned <= self.budget.dollars
