"""From what a reader extracted to the canonical text of a document, its title, date and fields."""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import unquote

from chapterhouse.text.markdown import blocks, sections
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import Body, Document, Extraction, Notice, Page, Section

_TITLE_MAXIMUM = 200
_DATE: Final = re.compile(r"((?:1[5-9]|20|21)\d\d)(?:-(\d\d)(?:-(\d\d))?)?(?=T\d|(?![\w-]))")
_DATE_IN_NAME: Final = re.compile(
    r"(?<![^\W_])(?:19|20)\d\d"
    r"(?:([-_])(?:0[1-9]|1[0-2])(?:\1(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)"
)

_WORD: Final = re.compile(r"\w+")
_ENCODED: Final = re.compile(r"[^%]*(?:%[0-9A-Fa-f]{2}[^%]*)+")
_PATH_WORD: Final = re.compile(r"[^\s/]+")


def compose(extraction: Extraction) -> tuple[Body, tuple[Notice, ...]]:
    """Join cleaned pages into one text, and find its sections and the removed characters.

    Pages follow one another and cover the text where the format has pages.
    """
    parts: list[str] = []
    pages: list[Page] = []
    position = removed = unknown = 0
    for extracted in extraction.pages:
        clean = sanitise(extracted.text)
        removed += clean.removed
        unknown += clean.unknown
        text = clean.text.strip("\n")
        if parts and text:
            text = "\n\n" + text
        if extracted.number is not None:
            label = sanitise_line(extracted.label)
            pages.append(Page(extracted.number, label, position, position + len(text)))
        parts.append(text)
        position += len(text)
    text = "".join(parts)
    whole = (Section(0, 0, (), 0, len(text)),) if text else ()
    parted = sections(text, blocks(text)) if extraction.markdown else whole
    return Body(text, parted, tuple(pages)), tuple(_notices(removed - unknown, unknown))


def _notices(invisible: int, unknown: int) -> Iterator[Notice]:
    found = ((invisible, "invisible"), (unknown, "control or private"))
    counts = " and ".join(f"{number:,} {kind}" for number, kind in found if number)
    if counts:
        was = "character was" if invisible + unknown == 1 else "characters were"
        shown = " Fonts may show control and private ones as signs." if unknown else ""
        yield Notice("invisible-characters", f"{counts} {was} removed.{shown}")


def choose_title(extraction: Extraction, body: Body, stem: str) -> str:
    """Return the best title: front matter, the file's own, its only top heading, its name."""
    if named := _shorten(front_matter(body.text).get("title", "")):
        return named
    if stated := _shorten(extraction.title):
        return stated
    top = [section for section in body.sections if section.level == 1]
    if len(top) == 1 or (top and top[0].start == 0):
        return _shorten(top[0].path[-1])
    return _shorten(re.sub(r"[_\-\s]+", " ", decoded_name(stem))) or stem


def decoded_name(name: str) -> str:
    """Return the name of a file that was written as in an address, ``Terms%202025``, in words."""
    if _ENCODED.fullmatch(name):
        with suppress(UnicodeDecodeError):
            return unquote(name, errors="strict")
    return name


def _shorten(title: str) -> str:
    return sanitise_line(title)[:_TITLE_MAXIMUM].rstrip()


def names_text(document: Document) -> str:
    """Return by which words a document goes, each once: title, folders, file, aliases, tags."""
    return " ".join(filter(None, (document.title, other_names(document))))


def stated_names(document: Document) -> str:
    """Return what a document's folders, file, aliases and tags call it."""
    path = document.source.rsplit(".", 1)[0] if "." in document.source[-6:] else document.source
    stated = (document.metadata.get(name, "") for name in ("aliases", "tags"))
    return " ".join(filter(None, (decoded_name(path), *stated)))


def other_names(document: Document) -> str:
    """Return by which words that its title lacks a document goes, each once."""
    known = frozenset(_WORD.findall(document.title.casefold()))
    return " ".join(
        word
        for word in dict.fromkeys(_PATH_WORD.findall(stated_names(document)))
        if not known.issuperset(_WORD.findall(word.casefold()))
    )


def stated_date(document: Document) -> str:
    """Return the day that a document states for itself, ``YYYY-MM-DD`` or a part; or empty.

    Where its metadata state none, the one date in its file's name counts.
    """
    for name in ("date", "published", "modified", "created"):
        stated = document.metadata.get(name, "").strip()
        with suppress(ValueError):  # as some days are none
            if match := _DATE.match(stated):
                year, month, day = match.groups()
                date(int(year), int(month or 1), int(day or 1))
                return match.group()
        if name == "date" and stated and document.format == "eml":
            with suppress(ValueError):
                return parsedate_to_datetime(stated).date().isoformat()
            return ""
    file_name = document.source.rpartition("/")[2]
    in_name = {found.group() for found in _DATE_IN_NAME.finditer(file_name)}
    return in_name.pop().replace("_", "-") if len(in_name) == 1 else ""


def written_at(document: Document) -> int:
    """Return when a document was written, seconds since 1970.

    That is the stated day, the last day of a stated month or year, or where it states none the time
    of its file.
    """
    stated = stated_date(document)
    if not stated:
        return document.modified
    year, month, day = (*map(int, stated.split("-")), 0, 0)[:3]
    month = month or 12
    day = day or monthrange(year, month)[1]
    return int(datetime(year, month, day, tzinfo=UTC).timestamp())


# --- front matter --------------------------------------------------------------------------------

# The lines between ``---`` at the top of a curated document: names with values or lists. Read is a
# subset of YAML that people write by hand; what is more than that is left alone. What is written
# means the same to any reader of YAML.
FRONT_MATTER: Final = re.compile(r"\A\s*---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
LONGEST: Final = 20_000  # characters; more is not front matter
_LINE: Final = re.compile(r"([A-Za-z][\w\- ]{0,40}?)[ \t]*:[ \t]*(.*)")
_ENTRY: Final = re.compile(r"[ \t]*-[ \t]+(.+)")
_DOUBLE: Final = r'"((?:[^"\\]|\\.)*)"'
_SINGLE: Final = r"'((?:[^']|'')*)'"
_QUOTED: Final = re.compile(rf"(?:{_DOUBLE}|{_SINGLE})[ \t]*(?:#.*)?")
_ITEM: Final = re.compile(rf"[ \t]*(?:{_DOUBLE}|{_SINGLE})[ \t]*(?=,|\Z)|[^,]+")
_ESCAPED: Final = re.compile(r'\\(["\\])')
# What means the same with and without quotes, to us and to every other reader of YAML.
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*")
_TYPED: Final = re.compile(
    r"[\d_.]+(?:e\d+)?|0[xo]\w+|true|false|yes|no|on|off|null|y|n", re.IGNORECASE
)
_NAMES_LINE: Final = re.compile(r"\s*\*\*(?:Key Terms|Also Known As)\*\*: [^\n]*(?:\n|\Z)")
_NAME: Final = re.compile(r"[a-z]\w{0,39}", re.ASCII)


def front_matter(text: str) -> dict[str, str]:
    """Return the fields of a document's front matter by lower-case name; lists joined by ", ".

    A document without front matter has none.
    """
    entries, _ = split_front_matter(text)
    joined = {entry.name: ", ".join(field_values(entry)) for entry in entries if entry.name}
    return {name: value for name, value in joined.items() if value}


@dataclass(frozen=True, slots=True)
class Entry:
    """One field as it is written: its name as it is read, and its lines without the last end.

    Lines that are no field (comments, nested mappings) belong to the field above them; those
    before the first have the name "".
    """

    name: str
    lines: str


def split_front_matter(text: str) -> tuple[tuple[Entry, ...], str]:
    """Return the fields at the top of a text as they are written, and the text behind them."""
    match = FRONT_MATTER.match(text[:LONGEST])
    if match is None:
        return (), text
    found: list[tuple[str, list[str]]] = []
    for line in match.group(1).splitlines():
        field = None if _ENTRY.fullmatch(line) else _LINE.fullmatch(line)
        if field is not None:
            found.append((_folded(field.group(1)), [line]))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            found.append(("", [line]))
    entries = tuple(Entry(name, "\n".join(lines)) for name, lines in found)
    return entries, text[match.end() :]


def body_start(text: str) -> int:
    """Return where a curated document's own text begins: behind front matter and lines of names.

    What stands before it describes the document and is no statement of it. 0 where a text has no
    front matter.
    """
    match = FRONT_MATTER.match(text[:LONGEST])
    if match is None:
        return 0
    end = match.end()
    while (line := _NAMES_LINE.match(text, end)) is not None:
        end = line.end()
    return end


def join_front_matter(entries: Iterable[Entry], text: str) -> str:
    """Return ``text`` with these fields above it; the opposite of `split_front_matter`."""
    lines = [entry.lines for entry in entries]
    return "\n".join(("---", *lines, "---", text)) if lines else text


def field_values(entry: Entry) -> tuple[str, ...]:
    """Return the values of one field, several where it is a list."""
    first, *others = entry.lines.splitlines()
    field = _LINE.fullmatch(first)
    values = _values(field.group(2)) if field else []
    for line in others:
        item = _ENTRY.fullmatch(line)
        if item is None:
            break
        values.append(_plain(item.group(1)))
    return tuple(value for value in values if value)


def make_entry(name: str, value: str | Sequence[str]) -> Entry:
    """Return a field that reads back as exactly this value, whatever is in it.

    Values are cleaned as names are: one line, nothing invisible.

    Raises:
        ValueError: the name has more than lower-case letters, digits and underscores.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"A field cannot be called {name!r}.")
    if isinstance(value, str):
        return Entry(name, f"{name}: {_written(value)}".rstrip())
    items = ", ".join(written for item in value if (written := _written(item)))
    return Entry(name, f"{name}: [{items}]")


def _folded(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def _written(value: str) -> str:
    """Return a value as YAML: in quotes unless it is the same without."""
    clean = sanitise_line(value)
    if not clean or (_PLAIN.fullmatch(clean) and not _TYPED.fullmatch(clean)):
        return clean
    escaped = clean.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _values(text: str) -> list[str]:
    stripped = text.strip()
    if stripped.startswith("[") and stripped.endswith("]"):
        parts = (match.group() for match in _ITEM.finditer(stripped[1:-1]))
        return [_plain(part) for part in parts if part.strip()]
    return [_plain(stripped)] if stripped else []


def _plain(value: str) -> str:
    """Return a value without its quotes, or the comment behind it."""
    stripped = value.strip()
    quoted = _QUOTED.fullmatch(stripped)
    if quoted and quoted.group(1) is not None:
        return _ESCAPED.sub(r"\1", quoted.group(1))
    if quoted:
        return quoted.group(2).replace("''", "'")
    if stripped[:1] in {'"', "'"} and stripped.endswith(stripped[0]) and len(stripped) > 1:
        return stripped[1:-1]  # not YAML, but clear
    return re.sub(r"\s+#.*", "", stripped)
