"""How long an answer takes beside the search it begins with, and beside a model's own time.

    python benchmarks/answer_time.py [--write] [FOLDER ...]

Every question of the folders (two open natural ones) is searched for and then asked once, warm and
in process, without a model and with one that takes .3 seconds, which are taken off. The parts are
clocked inside the answer without a model.
"""

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

sys.path.append(str(Path(__file__).parent / "natural"))

from chapterhouse.answering import extractive, respond
from chapterhouse.library import Library
from chapterhouse.models.built_in import BuiltInEncoder
from chapterhouse.models.scripted import ScriptedModel, Step
from libraries import ask_model, opened
from measuring import Bar, Machine, Row, Table, finish, percentile
from questions import read_questions

FOLDERS: Final = ("site-policies", "manual")
WARM: Final = 10
ALL: Final = "all"
OVERHEAD: Final = 60.0  # milliseconds around a model's own time
TAKES: Final = 0.3  # seconds of a model, less than any does
_WRITTEN: Final = "That is in the settings of your account [1]. It takes thirty days at most [2]."
# What is clocked: where it stands, and what it is called. Each is inside ``ask``.
PARTS: Final = (
    (respond, "search", "retrieval"),
    (extractive, "make_screen", "sentences judged and chosen"),
    (BuiltInEncoder, "embed_passages", "of it, vectors of sentences"),
    (extractive, "choose", "of it, choosing"),
    (extractive, "_compose", "citations"),
)


@dataclass(frozen=True, slots=True)
class Taken:
    """Milliseconds of one question by part, by the clock, and of the processor."""

    wall: Mapping[str, float]
    cpu: float


@contextmanager
def clocked(spent: dict[str, float]) -> Iterator[None]:
    """Note what each part takes, in milliseconds, while the block runs."""

    def around(call: Callable[..., Any], name: str) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return call(*given, **named)
            finally:
                spent[name] += (time.perf_counter() - began) * 1e3

        return timed

    with ExitStack() as stack:
        for owner, attribute, name in PARTS:
            part = around(getattr(owner, attribute), name)
            stack.enter_context(patch.object(owner, attribute, part))
        yield


def measure(folder: str) -> Iterator[tuple[Taken, Taken, Taken]]:
    """Yield the search for every question of a folder, its answer, and a model's."""
    asked = [question.question for question in read_questions(folder)]
    with opened(folder, "built-in") as library:
        for text in asked[:WARM]:
            quote(library, text)
        # Not one behind the other: the second would find the question's vectors in memory.
        searched = [timed(library.search.hits, text) for text in asked]
        quoted = [timed(partial(quote, library), text) for text in asked]
        written = [timed(partial(write, library), text) for text in asked]
        yield from zip(searched, quoted, written, strict=True)


def timed(call: Callable[[str], object], text: str) -> Taken:
    """Return what a question takes, and its parts."""
    wall: defaultdict[str, float] = defaultdict(float)
    with clocked(wall):
        began, worked = time.perf_counter(), time.process_time()
        call(text)
        wall[ALL] = (time.perf_counter() - began) * 1e3
        return Taken(wall, (time.process_time() - worked) * 1e3)


def quote(library: Library, text: str) -> object:
    """Ask without a model, and remember nothing."""
    return library.answers.ask(text, model="none", remember=False, use_cache=False)


def write(library: Library, text: str) -> object:
    """Ask a model that takes a fixed time and writes two sentences, which are streamed."""
    model = ScriptedModel([Step(_WRITTEN, seconds=TAKES)])
    return ask_model(library, text, model, emit=lambda _: None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--write", action="store_true", help="keep the result")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = Machine()
    taken = [pair for folder in chosen.folders for pair in measure(folder)]
    note = " ".join(__doc__.split("\n\n")[2].split())
    setting = machine.setting()
    around = _middle(one.wall[ALL] for _, _, one in taken) - TAKES * 1e3
    bars = [Bar("around a model's own time, p50 ms", round(around, 1), most=OVERHEAD)]
    found = tables(taken)
    return finish(
        "answer_time", "Time of an answer", bars, found, setting, (note,), write=chosen.write
    )


def tables(taken: Sequence[tuple[Taken, Taken, Taken]]) -> list[Table]:
    """Return medians of searches, of answers and of their parts."""
    searched, told, written = (list(own) for own in zip(*taken, strict=True))
    rows: list[Row] = [
        ("search", _middle(one.wall[ALL] for one in searched), _middle(o.cpu for o in searched)),
        ("ask", _middle(one.wall[ALL] for one in told), _middle(one.cpu for one in told)),
        (
            "ask over search",
            _middle(two.wall[ALL] / one.wall[ALL] for one, two, _ in taken),
            _middle(two.cpu / one.cpu for one, two, _ in taken),
        ),
        (
            "around a model's own time",
            _middle(one.wall[ALL] for one in written) - TAKES * 1e3,
            _middle(one.cpu for one in written),
        ),
    ]
    parts: list[Row] = [
        (name, *(percentile([one.wall.get(name, 0.0) for one in told], p) for p in (0.5, 0.95)))
        for _, _, name in PARTS
    ]
    return [
        Table(
            f"{len(taken)} questions",
            ("p50", "by the clock, ms", "of the processor, ms"),
            tuple(rows),
        ),
        Table("Parts of an answer", ("part", "p50 ms", "p95 ms"), tuple(parts)),
    ]


def _middle(values: Iterable[float]) -> float:
    return percentile(list(values), 0.5)


if __name__ == "__main__":
    sys.exit(main())
