"""How what a tool found is told to a model: numbered, escaped, and no longer than agreed.

Text that someone else wrote stands behind the mark of ``text/view.py`` on every line, and names
and questions lose the characters that could open a bracket, so that a heading, a number or a note
can only be ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.text.view import neutralise, prompt_lines

MAXIMUM_CHARACTERS: Final = 12_000  # of a whole result: some 3,000 tokens
_LEAST: Final = 200  # characters of a text that are worth showing alone
_LONGEST_QUERY: Final = 200  # characters of a heading
_LONGEST_PLACE: Final = 300


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that was found: where it stands, its text, and the marker by which it is cited."""

    place: str
    text: str
    marker: str = ""


def shown(text: str, maximum: int = _LONGEST_PLACE) -> str:
    """Return a name or a question on one line, harmless in a prompt."""
    line = neutralise(sanitise_line(text))
    return line if len(line) <= maximum else f"{line[:maximum]}…"


def heading(words: str, query: str) -> str:
    """Return a heading in brackets, which no document can forge."""
    return f'[{words} "{shown(query, _LONGEST_QUERY)}"]'


def numbered(
    title: str,
    found: Sequence[Found],
    notes: Sequence[str] = (),
    maximum: int = MAXIMUM_CHARACTERS,
) -> str:
    """Return results under a heading, best first, as many as there is room for.

    The first is cut rather than left out. What was cut or left out is said at the end.

    Args:
        title: The heading.
        found: What was found.
        notes: What is to be said besides, in sentences.
        maximum: Characters of the results, the heading among them.
    """
    parts, room, cut = [title], maximum - len(title), ""
    for number, one in enumerate(found, start=1):
        cite = f", cite as {one.marker}" if one.marker else ""
        place = f"{number}. {shown(one.place)}{cite}\n"
        text = prompt_lines(sanitise(one.text).text.strip("\n").rstrip())
        free = room - len(place) - 2
        if len(text) > free:
            if number == 1:
                most = max(free, _LEAST)
                cut = f"Of the text of result 1, {most:,} of {len(text):,} characters are shown."
                parts.append(place + text[:most])
            break
        parts.append(place + text)
        room = free - len(text)
    left_out = len(found) - (len(parts) - 1)
    told = [note for note in (cut, _left_out(left_out, maximum), *notes) if note]
    return "\n\n".join([*parts, *(f"({note})" for note in told)])


def _left_out(number: int, maximum: int) -> str:
    if not number:
        return ""
    results = "1 more result was" if number == 1 else f"{number} more results were"
    return f"{results} left out, to stay within {maximum:,} characters. Ask more precisely."
