"""Single values of what a model gives: texts, options, stances, ids, however they are written."""

import re
from collections.abc import Mapping
from typing import Final

from pydantic import ValidationInfo

from chapterhouse.council.meeting.options import is_for
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import DissentReason, Leaning, Stance

LOOKED_AT: Final = 200  # values on the way to the one that is meant
LONGEST_NAME: Final = 400  # characters of an option or a member
_LONGEST_TEXT: Final = 4_000  # characters of a position or a reason
_LONGEST_LINE: Final = 2_000
_WORDED: Final = ("text", "claim", "statement", "sentence", "content", "reason", "question")
_CLAIM_ID: Final = re.compile(
    r"(?<![^\W_])c(?:laim)?[ #:_-]{0,2}0{0,6}(\d{1,6})(?!\d)", re.IGNORECASE
)

Entry = Mapping[object, object]


def shorten(text: str, most: int) -> str:
    """Return a text cut at its last whole word within ``most`` characters."""
    if len(text) <= most:
        return text
    shortened_text = text[: most - 1]
    return f"{shortened_text.rpartition(' ')[0] or shortened_text}…"


def words_in(value: object) -> str:
    """Return the words of what should be a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(words_in, value[:LOOKED_AT])))
    if isinstance(value, Mapping):
        words = next((value[key] for key in _WORDED if isinstance(value.get(key), str)), "")
        return f"{words}{markers_in(value)}" if words else ""
    return ""


def markers_in(entry: Entry) -> str:
    """Return the markers of citations that a model wrote apart from its sentence."""
    cited = entry.get("citations") or entry.get("sources")
    names = [cited] if isinstance(cited, str) else cited if isinstance(cited, list) else ()
    written = [name.strip("[]^ ") for name in names[:LOOKED_AT] if isinstance(name, str)]
    return "".join(f" [^{name}]" for name in written if ":" in name and "]" not in name)


def to_text(value: object) -> str:
    """Return a text of several lines, bounded."""
    return shorten(sanitise(words_in(value)).text.strip(), _LONGEST_TEXT)


def to_line(value: object, most: int = _LONGEST_LINE) -> str:
    """Return a text on one line, bounded."""
    return shorten(sanitise_line(words_in(value)), most)


def to_option(value: object, info: ValidationInfo) -> str:
    """Return an option as the council spells it, where it is known; empty for none of them."""
    written = words_in(value)
    options = info.context if info.context is not None else [written]
    return next((to_line(one, LONGEST_NAME) for one in options if _fold(one) == _fold(written)), "")


def _fold(option: str) -> str:
    return sanitise_line(option).casefold().strip(" .\"'“”")


def to_stance(value: object) -> Stance:
    """Return a stance by its name, or by what the words say."""
    name = str(value).strip().lower()
    if name in set(Stance):
        return Stance(name)
    return {True: Stance.SUPPORTS, False: Stance.CONTRADICTS, None: Stance.SILENT}[is_for(value)]


def to_leaning(value: object) -> Leaning:
    """Return a leaning by its name, or by what the words say."""
    name = str(value).strip().lower()
    if name in set(Leaning):
        return Leaning(name)
    return {True: Leaning.FOR, False: Leaning.AGAINST, None: Leaning.SILENT}[is_for(value)]


def to_reason(value: object) -> DissentReason | None:
    """Return a reason for dissent by its name; None for anything else."""
    name = str(value).strip().lower().replace(" ", "-").replace("_", "-")
    return DissentReason(name) if name in set(DissentReason) else None


def claim_ids(value: object) -> tuple[str, ...]:
    """Return the ids of claims that stand in what a model wrote, such as ``c3`` for "[C3]"."""
    if isinstance(value, list):
        found = [name for entry in value[:LOOKED_AT] for name in claim_ids(entry)]
        return tuple(dict.fromkeys(found))
    written = sanitise_line(str(value))[:400] if isinstance(value, (str, int)) else ""
    if written.isascii() and written.isdecimal():
        return (f"c{int(written)}",)
    return tuple(dict.fromkeys(f"c{int(number)}" for number in _CLAIM_ID.findall(written)))
