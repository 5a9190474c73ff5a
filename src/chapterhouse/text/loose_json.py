"""JSON as models write it: in the middle of other text, with small mistakes, or cut off.

Code fences, text around the object, comments, commas too many or too few, bare words, line breaks
and quotation marks within strings are all read as they were meant. Time is linear in the text, and
depth is bounded.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 200_000  # characters that are looked at
_DEEPEST: Final = 24
_TRIES: Final = 8  # places at which an object may begin
_ENTRIES: Final = 2_000  # of one object or list

# Where an object may begin: before a key, or at once at its end.
_OPENING: Final = re.compile(r"\{(?=\s*(?:[\"'“}/]|[A-Za-z_]+\s*:))")
_SPACE: Final = re.compile(r"(?:\s+|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z))*")
_NUMBER: Final = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?(?=\s*[,}\]\n/]|\s*\Z)")
_BARE: Final = re.compile(r"[^,:{}\[\]\n\"]*")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ENDS: Final = {'"': '"', "'": "'", "“": "”"}
_STOPS: Final = {mark: re.compile(rf"[{end}\\]") for mark, end in _ENDS.items()}
# What follows a string that has ended; elsewhere its mark is a quotation mark within it.
_AFTER: Final = re.compile(r"[ \t]*(?:[,:}\]\n\r]|//|/\*|\Z)")
_NAMED: Final[Mapping[str, object]] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
}
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Parse:
    """An object that stood in a text, and whether it had an end, rather than being cut off."""

    value: Mapping[str, object]
    whole: bool


def objects_in(text: str) -> Iterator[Parse]:
    """Yield the objects in the first 200,000 characters of ``text``, outermost first, in order."""
    text = text[:LONGEST]
    start = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, start)
        if opening is None:
            return
        reading = _Reading(text, opening.start())
        try:
            value = reading.mapping(0)
        except _TooDeepError:
            start = opening.end()
            continue
        yield Parse(value, reading.whole)
        start = max(reading.place, opening.end())


class _TooDeepError(Exception):
    """Values within values within values."""


class _Reading:
    """A place in a text, moved on by what is read. Every step moves it forward."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.whole = True

    def mapping(self, depth: int) -> dict[str, object]:
        """Read an object; where the text is at an opening brace."""
        found: dict[str, object] = {}
        self.place += 1
        while self._more("}"):
            key = self._key()
            self._skip(_SPACE)
            if self._at() != ":":
                continue  # a key without a value, or no key: what follows may be one
            self.place += 1
            value = self._value(depth + 1)
            if key and len(found) < _ENTRIES:
                found.setdefault(key, value)
        return found

    def _list(self, depth: int) -> list[object]:
        found: list[object] = []
        self.place += 1
        while self._more("]"):
            before = self.place
            value = self._value(depth + 1)
            if self.place == before:
                self.place += 1  # a character that begins nothing
            elif len(found) < _ENTRIES:
                found.append(value)
        return found

    def _more(self, end: str) -> bool:
        """Whether a further entry follows; moves behind the end if not."""
        self._skip(_SPACE)
        while self._at() == ",":
            self.place += 1
            self._skip(_SPACE)
        if self.place >= len(self.text):
            self.whole = False
            return False
        if self.text[self.place] in "}]":  # the wrong one of them ends it too
            self.place += 1 if self.text[self.place] == end else 0
            return False
        return True

    def _value(self, depth: int) -> object:
        if depth > _DEEPEST:
            raise _TooDeepError
        self._skip(_SPACE)
        mark = self._at()
        if mark == "{":
            return self.mapping(depth)
        if mark == "[":
            return self._list(depth)
        if mark in _ENDS:
            return self._string(mark)
        number = _NUMBER.match(self.text, self.place)
        if number:
            self.place = number.end()
            return float(number[0]) if set(number[0]) & set(".eE") else int(number[0])
        bare = self._bare()
        return _NAMED.get(bare.casefold(), bare)

    def _key(self) -> str:
        mark = self._at()
        if mark in _ENDS:
            return self._string(mark)
        key = self._bare()
        if not key and self._at() != ":":
            self.place += 1
        return key

    def _bare(self) -> str:
        return self._skip(_BARE).strip()

    def _string(self, mark: str) -> str:
        start = place = self.place + 1
        stop = _STOPS[mark].search(self.text, place)
        while stop is not None:
            place = stop.end()
            if stop[0] == "\\":
                place += 1
            elif _AFTER.match(self.text, place):
                self.place = place
                return _unescaped(self.text[start : place - 1])
            stop = _STOPS[mark].search(self.text, place)
        self.place = len(self.text)
        self.whole = False
        return _unescaped(self.text[start:])

    def _skip(self, pattern: re.Pattern[str]) -> str:
        """Move behind what a pattern matches here, and return it."""
        start, match = self.place, pattern.match(self.text, self.place)
        self.place = match.end() if match else start
        return self.text[start : self.place]

    def _at(self) -> str:
        return self.text[self.place : self.place + 1] or "\0"


def _unescaped(written: str) -> str:
    if "\\" not in written:
        return written
    text = _ESCAPE.sub(_character, written)
    # Halves of a character that stand side by side are one; alone they are none.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) > 1:
        return chr(int(escape[1:], 16))
    return _SHORT.get(escape, escape)
