"""Citation markers in what a model wrote, and what of them may be believed.

A marker is ``[^document:section]``. Models write it in many ways (``[1]`` for the first block,
``[document]``, ``(document)``, ``【1】``, ``[^document:1]``): all that name something the model was
given are read. Whatever else looks like a citation is taken out of the text, so that a reader
meets only numbers that this program gave. In words quoted from a document it is made harmless
instead: the brackets are replaced by look-alikes, for nothing may be taken out of a document's
words.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.text.look_alikes import LOOKS_LIKE_A_CITATION, inert

_MARKER: Final = re.compile(r"[ \t]?\[\^([^\[\]\n]{1,400})\]:?")
_NESTED: Final = 5
_DIGITS: Final = 4  # of a block's number
_SQUARE: Final = re.compile(
    r"[\[【]\^?(?:(?:doc|source|quelle)s?[ :]+)?([^\[\]【】\n^]{1,400}?)(?:†[^\[\]【】]{0,80})?"
    r"[\]】](?!\()",
    re.IGNORECASE,
)
# In round brackets stands much else: only the whole name of a document, and where a clause ends.
_ROUND: Final = re.compile(r"\(([^()\n]{3,400})\)(?=\s*(?:[.,;:!?…。，；]|$|[\[(]))", re.MULTILINE)


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


def as_markers(text: str, places: Sequence["Place"]) -> str:
    """Return a text in which every way of citing one of ``places`` is a marker."""

    def marker(match: re.Match[str]) -> str:
        names = [name.strip().lstrip("^") for name in re.split(r"[;,]\s*", match.group(1))]
        if resolve(match.group(1), places):
            names = [match.group(1)]
        elif not all(resolve(name, places) for name in names):
            return match.group()
        return "".join(f"[^{name}]" for name in names)

    return _ROUND.sub(
        lambda match: match.group() if match.group(1).isdigit() else marker(match),
        _SQUARE.sub(marker, text),
    )


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
    section, or with a number for one, means all that the prompt showed of it; a number alone is
    that of a block, from 1.
    """
    wanted = folded(written)
    if wanted.isdecimal() and len(wanted) <= _DIGITS:
        return tuple(place.number for place in places if place.number + 1 == int(wanted))
    by_marker: Mapping[str, tuple[int, ...]] = _by_marker(places)
    name, _, section = wanted.partition(":")
    return by_marker.get(wanted) or (by_marker.get(name, ()) if section.isdecimal() else ())


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
