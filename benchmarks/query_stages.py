"""Where the time of a retrieval goes, and what memory a process holds."""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from chapterhouse.retrieval.pipeline import Sources
from chapterhouse.types.engines import VectorLayer

REST = "everything else: question, fusing, reranking, choosing"
ALL = "all, clocks included"


class Stages:
    """Sources with a clock on everything that is looked up through them."""

    def __init__(self, sources: Sources) -> None:
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._questions: list[dict[str, float]] = []
        self.sources = replace(
            sources,
            **{
                field.name: self._clocked(getattr(sources, field.name), field.name)
                for field in fields(sources)
            },
        )

    def around(self, search: Callable[[str], object]) -> Callable[[str], object]:
        """Return ``search`` with its own clock."""

        def timed(text: str) -> object:
            self._spent.clear()
            began = time.perf_counter()
            found = search(text)
            total = (time.perf_counter() - began) * 1e3
            rest = total - sum(self._spent.values())
            self._questions.append({**self._spent, REST: rest, ALL: total})
            return found

        return timed

    def times(self) -> dict[str, list[float]]:
        """Return the milliseconds of each question by stage, 0 where it was not needed."""
        names = {name for question in self._questions for name in question} - {REST, ALL}
        ordered = [*sorted(names), REST, ALL]
        return {name: [question.get(name, 0.0) for question in self._questions] for name in ordered}

    def _clocked(self, part: Any, name: str) -> Any:
        if isinstance(part, VectorLayer):
            embedder = _Clocked(part.embedder, "embedder", self._timed)
            return replace(part, embedder=embedder, index=_Clocked(part.index, name, self._timed))
        if part is None or callable(part):
            return part and self._timed(part, name)
        return _Clocked(part, name, self._timed)

    def _timed(self, call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*arguments)
            finally:
                self._spent[name] += (time.perf_counter() - began) * 1e3

        return timed


class _Clocked:
    """A part whose methods are clocked under their names."""

    def __init__(self, part: Any, name: str, timed: Callable[..., Any]) -> None:
        self._part = part
        self._name = name
        self._timed = timed

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._part, method)
        return self._timed(found, f"{self._name}.{method}") if callable(found) else found


def resident() -> tuple[float, float]:
    """Return the megabytes this process holds of its own, and of mapped files; 0 off Linux."""
    try:
        text = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return 0.0, 0.0
    found = dict(line.split(":", 1) for line in text.splitlines() if line.startswith("Rss"))
    own, mapped = (int(found[name].split()[0]) * 1024 / 1e6 for name in ("RssAnon", "RssFile"))
    return own, mapped
