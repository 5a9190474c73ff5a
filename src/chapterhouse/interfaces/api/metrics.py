"""What a server has done, in numbers without names: for Prometheus' text format."""

from bisect import bisect_left
from collections import Counter, defaultdict
from typing import Final

# Whatever else a client sends is counted together: its words are no labels.
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds


class Metrics:
    """Counts requests. Belongs to one event loop."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self.in_progress = 0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; its route is the pattern of its address, never the address itself."""
        known = method if method in _METHODS else "other"  # a client may make names up
        self._requests[known, route, status] += 1
        self._buckets[route, bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[route] += seconds

    def text(self) -> str:
        """Return all of it, one metric a line."""
        lines = ["# TYPE chapterhouse_requests_total counter"]
        for (method, route, status), number in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"chapterhouse_requests_total{{{labels}}} {number}")
        lines.append("# TYPE chapterhouse_request_seconds histogram")
        for route in sorted(self._seconds):
            lines += self._histogram(route)
        lines.append("# TYPE chapterhouse_requests_in_progress gauge")
        lines.append(f"chapterhouse_requests_in_progress {self.in_progress}")
        return "\n".join(lines) + "\n"

    def _histogram(self, route: str) -> list[str]:
        name, total = "chapterhouse_request_seconds", 0
        lines = []
        for place, bound in enumerate((*map(str, _BOUNDS), "+Inf")):
            total += self._buckets[route, place]
            lines.append(f'{name}_bucket{{route="{route}",le="{bound}"}} {total}')
        lines.append(f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}')
        return [*lines, f'{name}_count{{route="{route}"}} {total}']
