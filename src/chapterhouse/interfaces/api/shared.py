"""What all processes of a server count together. Belongs to one event loop."""

import math
import os
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from chapterhouse.interfaces.api.problems import Refusal
from chapterhouse.store.shared import SharedDatabase


def is_alive(process: int) -> bool:
    """Whether a process of this server lives."""
    with suppress(OSError):  # there is none, or it is somebody else's by now
        os.kill(process, 0)
        return True
    return False


_TAKE: Final = """
INSERT INTO bucket VALUES (:name, :now + :interval)
ON CONFLICT (name) DO UPDATE SET full_at = max(full_at, :now) + :interval
WHERE full_at - :now <= :slack RETURNING full_at
"""
_BETWEEN_CLEANINGS: Final = 1_000  # tokens


class RateLimit:
    """A bucket of ``burst`` tokens for each caller, of which a request takes one.

    The ``kind`` tells buckets of several limits apart. All processes have the same ``clock``.
    """

    def __init__(
        self,
        shared: SharedDatabase,
        kind: str,
        per_second: float,
        burst: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shared = shared
        self._kind = kind
        self._interval = 1 / per_second
        self._slack = (burst - 1) / per_second
        self._clock = clock
        self._taken = 0

    def take(self, name: str) -> None:
        """Take a token from the bucket of ``name``; refuse where it is empty, and until when."""
        now, name = self._clock(), f"{self._kind} {name}"
        values = {"name": name, "now": now, "interval": self._interval, "slack": self._slack}
        is_taken = bool(self._shared.rows(_TAKE, values))
        self._taken += 1
        if self._taken % _BETWEEN_CLEANINGS == 0:
            self._shared.rows("DELETE FROM bucket WHERE full_at < ?", (now,))
        if is_taken:
            return
        ((full_at,),) = self._shared.rows("SELECT full_at FROM bucket WHERE name = ?", (name,))
        seconds = max(1, math.ceil(full_at - self._slack - now))
        raise Refusal(429, "Too many requests.", headers={"Retry-After": str(seconds)})


# Whatever else a client sends is counted together: its words are no labels.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_COUNT: Final = """
INSERT INTO request VALUES (?, ?, ?, ?, 1, ?)
ON CONFLICT DO UPDATE SET number = number + 1, seconds = seconds + excluded.seconds
"""
_MOVE: Final = "UPDATE process SET in_progress = in_progress + ? WHERE id = ?"


class Metrics:
    """Counts requests of all processes, without names, for Prometheus' text format."""

    def __init__(self, shared: SharedDatabase) -> None:
        self._shared = shared
        shared.rows("INSERT OR REPLACE INTO process VALUES (?, 0)", (os.getpid(),))

    def begin(self) -> None:
        """Count a request that is in progress from now on, until it is counted as answered."""
        self._shared.rows(_MOVE, (1, os.getpid()))

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that has ended; its route is the pattern of its address."""
        known = method if method in _METHODS else "other"  # a client may make names up
        row = (known, route, status, bisect_left(_BOUNDS, seconds), seconds)
        self._shared.rows(_COUNT, row)
        self._shared.rows(_MOVE, (-1, os.getpid()))

    def in_progress(self) -> int:
        """Return how many requests are being answered."""
        statement = "SELECT id, in_progress FROM process WHERE in_progress"
        found = self._shared.rows(statement)
        return sum(number for process, number in found if is_alive(process))

    def text(self) -> str:
        """Return all of it, one metric a line."""
        requests: Counter[tuple[str, str, int]] = Counter()
        buckets: Counter[tuple[str, int]] = Counter()
        times: defaultdict[str, float] = defaultdict(float)
        for method, route, status, bound, number, seconds in self._shared.rows(
            "SELECT * FROM request"
        ):
            requests[method, route, status] += number
            buckets[route, bound] += number
            times[route] += seconds
        lines = ["# TYPE chapterhouse_requests_total counter"]
        for (method, route, status), number in sorted(requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"chapterhouse_requests_total{{{labels}}} {number}")
        lines.append("# TYPE chapterhouse_request_seconds histogram")
        for route, seconds in sorted(times.items()):
            name, total = "chapterhouse_request_seconds", 0
            for place, limit in enumerate((*map(str, _BOUNDS), "+Inf")):
                total += buckets[route, place]
                lines.append(f'{name}_bucket{{route="{route}",le="{limit}"}} {total}')
            lines.append(f'{name}_sum{{route="{route}"}} {seconds:.6f}')
            lines.append(f'{name}_count{{route="{route}"}} {total}')
        lines.append("# TYPE chapterhouse_requests_in_progress gauge")
        lines.append(f"chapterhouse_requests_in_progress {self.in_progress()}")
        return "\n".join(lines) + "\n"
