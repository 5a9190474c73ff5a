"""Which lists of an OpenDocument file are numbered, and the numbers of its headings.

The numbers stand nowhere in the file; whoever shows it counts ([OpenDocument 1.3] part 3, 16.30
and 19.880).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from xml.etree.ElementTree import Element

from chapterhouse.reading.odf_blocks import STYLE, TEXT

_ROMAN: Final = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MOST_NUMBER: Final = 4_000  # above, Roman numbers and letters are written in digits
_LETTERS: Final = 26


@dataclass(frozen=True, slots=True)
class _Level:
    """How headings of one level are numbered."""

    form: str
    prefix: str
    suffix: str
    shown: int  # levels in a number
    start: int


@dataclass(slots=True)
class HeadingNumbers:
    """Counts the headings of a document.

    Attributes:
        levels: How those of each level are numbered, from 1.
        counts: How many there were of each level below the last one of the level above.
    """

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    def next(self, heading: Element, level: int) -> str:
        """Return the number of the next heading, with a blank behind it; empty without one."""
        own = self.levels.get(level)
        if own is None or heading.get(f"{TEXT}is-list-header") == "true":
            return ""
        started = heading.get(f"{TEXT}restart-numbering") == "true"
        before = None if started else self.counts.get(level)
        first = number_in(heading, f"{TEXT}start-value", own.start) if started else own.start
        self.counts = {name: count for name, count in self.counts.items() if name < level}
        self.counts[level] = first if before is None else before + 1
        shown = range(max(level - own.shown + 1, 1), level + 1)
        known = {place: self.levels[place] for place in shown if place in self.levels}
        written = (
            write(self.counts.get(place, known[place].start), known[place].form) for place in known
        )
        number = ".".join(filter(None, written))
        return f"{own.prefix}{number}{own.suffix.strip()} " if number and own.form else ""


def heading_numbers(styles: Element | None) -> HeadingNumbers:
    """Return what counts the headings of a document whose ``styles.xml`` this is."""
    found = styles.iter(f"{TEXT}outline-level-style") if styles is not None else ()
    return HeadingNumbers(
        {
            number_in(level, f"{TEXT}level", 1): _Level(
                level.get(f"{STYLE}num-format", ""),
                level.get(f"{STYLE}num-prefix", "").lstrip(),
                level.get(f"{STYLE}num-suffix", ""),
                number_in(level, f"{TEXT}display-levels", 1),
                number_in(level, f"{TEXT}start-value", 1),
            )
            for level in found
        }
    )


def numbered_levels(roots: Iterable[Element]) -> frozenset[tuple[str, int]]:
    """Return the list styles, each with those of its levels that are numbers."""
    return frozenset(_numbered(roots))


def _numbered(roots: Iterable[Element]) -> Iterator[tuple[str, int]]:
    for root in roots:
        for style in root.iter(f"{TEXT}list-style"):
            for level in style.iter(f"{TEXT}list-level-style-number"):
                if level.get(f"{STYLE}num-format", "1"):
                    yield style.get(f"{STYLE}name", ""), number_in(level, f"{TEXT}level", 1)


def number_in(element: Element, name: str, otherwise: int) -> int:
    """Return the number that an attribute holds."""
    value = element.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 7 else otherwise  # noqa: PLR2004 - no count


def write(number: int, form: str) -> str:
    """Return a number in one of the forms ``1``, ``a``, ``A``, ``i`` and ``I``; empty without."""
    if not form or form not in "aAiI" or not 0 < number < _MOST_NUMBER:
        return str(number) if form else ""
    small = _roman(number) if form in "iI" else _letters(number)
    return small.upper() if form.isupper() else small


def _roman(number: int) -> str:
    written = ""
    for value, sign in _ROMAN:
        while number >= value:
            written, number = written + sign, number - value
    return written


def _letters(number: int) -> str:
    written = ""
    while number:
        number, last = divmod(number - 1, _LETTERS)
        written = chr(ord("a") + last) + written
    return written
