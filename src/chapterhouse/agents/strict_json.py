"""JSON in which nothing is lost on the way: no key twice, no half characters, no numbers beyond."""

import json
import math
from collections.abc import Iterator
from typing import Any, Final

from chapterhouse.agents.council_problems import Code, CouncilProblem, Path

MAXIMUM_BYTES: Final = 1_000_000


class _Pairs(list[tuple[str, Any]]):
    """An object as JSON spells it, before keys given twice are lost."""


def decode(data: bytes) -> str | CouncilProblem:
    """Return the text of a file, or why it has none."""
    if len(data) > MAXIMUM_BYTES:
        sentence = f"It has more than {MAXIMUM_BYTES:,} bytes."
        return CouncilProblem((), Code.NOT_JSON, sentence, "Make it shorter.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        sentence = f"It is not UTF-8 (line {line})."
        return CouncilProblem((), Code.NOT_JSON, sentence, "Save it as UTF-8.")


def load(text: str) -> tuple[object, tuple[CouncilProblem, ...]]:
    """Return the value that ``text`` holds and what is wrong with its spelling.

    Of a key that stands twice the first counts. None stands for what cannot be read at all.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_Pairs, parse_constant=_refuse, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        hint = "JSON wants double quotes, a comma between entries and none behind the last."
        sentence = f"It is not JSON: {error.msg} ({where})."
        return None, (CouncilProblem((), Code.NOT_JSON, sentence, hint),)
    except (ValueError, RecursionError) as error:
        sentence = f"It is not JSON: {error}."
        return None, (CouncilProblem((), Code.NOT_JSON, sentence, "See docs/councils.md."),)
    return _plain(value), tuple(_misspelt(value, ()))


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written} is too large")
    return number


def _misspelt(value: object, path: Path) -> Iterator[CouncilProblem]:
    if isinstance(value, str) and not is_text(value):
        yield CouncilProblem(path, Code.TYPE, "It holds half of a character.", "Write it out.")
    elif isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, below in value:
            if not is_text(key):
                sentence = "A key holds half of a character."
                yield CouncilProblem(path, Code.TYPE, sentence, "Rename it.")
                continue
            if key in seen:
                sentence = f"'{key}' stands there twice."
                hint = "Leave one of them out."
                yield CouncilProblem((*path, key), Code.DUPLICATE, sentence, hint)
            seen.add(key)
            yield from _misspelt(below, (*path, key))
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _misspelt(entry, (*path, number))


def is_text(value: str) -> bool:
    """Whether every character is whole; JSON can spell halves."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        found: dict[str, Any] = {}
        for key, below in value:
            if is_text(key):
                found.setdefault(key, _plain(below))
        return found
    return [_plain(entry) for entry in value] if isinstance(value, list) else value
