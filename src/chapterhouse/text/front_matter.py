"""The lines between ``---`` at the top of a curated document: names with values or lists.

It is a subset of YAML that people write by hand; what is more than that is left alone.
"""

import re
from typing import Final

FRONT_MATTER: Final = re.compile(r"\A\s*---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LONGEST: Final = 20_000  # characters; more is not front matter
_LINE: Final = re.compile(r"([A-Za-z][\w\- ]{0,40}?)[ \t]*:[ \t]*(.*)")
_ENTRY: Final = re.compile(r"[ \t]*-[ \t]+(.+)")


def front_matter(text: str) -> dict[str, str]:
    """Return the fields of a document's front matter by lower-case name; lists joined by ", ".

    A document without front matter has none.
    """
    match = FRONT_MATTER.match(text[:_LONGEST])
    if match is None:
        return {}
    fields: dict[str, list[str]] = {}
    name = ""
    for line in match.group(1).splitlines():
        entry = _ENTRY.fullmatch(line)
        if entry and name:
            fields[name].append(_plain(entry.group(1)))
            continue
        field = _LINE.fullmatch(line)
        if field is None:
            name = ""  # a nested mapping, a comment, or nothing
            continue
        name = field.group(1).strip().lower().replace(" ", "_").replace("-", "_")
        fields[name] = _values(field.group(2))
    return {name: ", ".join(values) for name, values in fields.items() if any(values)}


def _values(text: str) -> list[str]:
    stripped = text.strip()
    if stripped.startswith("[") and stripped.endswith("]"):
        return [_plain(part) for part in stripped[1:-1].split(",") if part.strip()]
    return [_plain(stripped)] if stripped else []


def _plain(value: str) -> str:
    """Return a value without its quotes, or the comment behind it."""
    stripped = value.strip()
    if stripped[:1] in {'"', "'"} and stripped.endswith(stripped[0]) and len(stripped) > 1:
        return stripped[1:-1]
    return re.sub(r"\s+#.*", "", stripped)
