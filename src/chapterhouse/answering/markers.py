"""Citation markers in what a model wrote, and what of them may be believed.

A marker is ``[^document:section]``. Whatever else looks like a citation (``[1]``, ``[^x]``,
``【3】``) is not one and is taken out of the text, so that a reader meets only numbers that this
program gave. In words quoted from a document it is made harmless instead: the brackets are
replaced by look-alikes, for nothing may be taken out of a document's words.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.text.look_alikes import LOOKS_LIKE_A_CITATION, inert

_MARKER: Final = re.compile(r"[ \t]?\[\^([^\[\]\n]{1,400})\]:?")
_NESTED: Final = 5


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation as a model wrote it.

    Attributes:
        position: Offset in the text without its markers, where it stood.
        written: What stood between ``[^`` and ``]``.
    """

    position: int
    written: str


def without_markers(text: str) -> tuple[str, tuple[Marker, ...]]:
    """Return a text without its markers, and the markers with where they stood.

    Several in one pair of brackets, ``[^a:b; ^c:d]``, are told apart.
    """
    kept: list[str] = []
    found: list[Marker] = []
    length = position = 0
    for match in _MARKER.finditer(text):
        before = text[position : match.start()]
        kept.append(before)
        length += len(before)
        position = match.end()
        if match.group().endswith("]:") and before[-1:].isalnum():
            kept.append(":")  # a colon of the sentence, not of a footnote's definition
            length += 1
        names = re.split(r"[;,]\s*\^", match.group(1))
        found += [Marker(length, name.strip()) for name in names if name.strip()]
    kept.append(text[position:])
    return "".join(kept), tuple(found)


def without_look_alikes(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without what only looks like a citation, and what was taken out."""
    found: list[str] = []
    for _ in range(_NESTED):  # what is taken out may have stood inside another
        inner = [match.group().strip() for match in LOOKS_LIKE_A_CITATION.finditer(text)]
        if not inner:
            break
        found += inner
        text = LOOKS_LIKE_A_CITATION.sub("", text)
    return inert(text), tuple(found)


@dataclass(frozen=True, slots=True)
class Place:
    """A place that a prompt named: a document's name there, its section, and what it holds."""

    name: str
    section: str
    number: int


def resolve(written: str, places: Sequence[Place]) -> tuple[int, ...]:
    """Return the numbers of the places that a marker names; none if it names nothing.

    A section may be named by its whole path or by its last headings. A document named without a
    section means all that the prompt showed of it.
    """
    wanted = folded(written)
    by_marker: Mapping[str, tuple[int, ...]] = _by_marker(places)
    return by_marker.get(wanted, ())


def _by_marker(places: Sequence[Place]) -> Mapping[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for place in places:
        headings = place.section.split(" › ") if place.section else []
        paths = (" › ".join(headings[first:]) for first in range(len(headings)))
        markers = {folded(place.name), *(folded(f"{place.name}:{path}") for path in paths)}
        if not headings:
            markers.add(folded(f"{place.name}:"))
        for marker in markers:
            found[marker] = (*found.get(marker, ()), place.number)
    return found


def folded(marker: str) -> str:
    """Return a marker as it is compared: width, case, spaces and a section sign apart."""
    name, colon, section = unicodedata.normalize("NFKC", marker).casefold().partition(":")
    words = " ".join(section.replace("§", " ").replace(">", "›").split())
    return f"{name.strip()}{colon}{words}"
