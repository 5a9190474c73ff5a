"""Names: of a file as it is shown, and of the document it becomes."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from chapterhouse.text.sanitise import INVISIBLE_RANGES

SLUG_MAXIMUM = 40
_UNNAMED = "document"
_DIGITS = re.compile(r"0*(\d+)")
_SENT = re.compile(r"^upload/[0-9a-f]{8}/")  # what was sent has a folder of its own
# Joiners and variation selectors: part of how words and emoji are written, and no disguise.
_DROPPED = re.compile("[\u200c\u200d\ufe0e\ufe0f]")
_INVISIBLE = re.compile(
    "[\t\n\u2028\u2029"
    + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in INVISIBLE_RANGES)
    + "]"
)
_WRITTEN_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
_SURROGATES = range(0xD800, 0xE000)
_ENCODED_BYTE = range(0xDC80, 0xDD00)  # PEP 383: bytes of a file name that are not UTF-8


def printable_name(name: str) -> str:
    r"""Return a file name as it can be stored and shown: NFC, nothing in it invisible.

    What cannot be seen is written out, so that a name cannot pass for another: a line feed as
    ``\u000a``, a byte that is not UTF-8 as ``\xff``.
    """
    if name.isascii() and name.isprintable():  # most names are, and a folder has thousands
        return name
    return _INVISIBLE.sub(_escape, _DROPPED.sub("", unicodedata.normalize("NFC", name)))


def storable_path(path: str) -> str:
    r"""Return an absolute path as text that can be stored: stray bytes as ``\xff``."""
    if path.isascii() or not any(ord(character) in _SURROGATES for character in path):
        return path
    return "".join(map(_escape_byte, path))


def system_path(path: str) -> str:
    r"""Return a stored path as the system spells it: ``\xff`` as the stray byte it stands for."""
    return _WRITTEN_BYTE.sub(lambda match: chr(0xDC00 + int(match.group(1), 16)), path)


def source_name(label: str, parts: Sequence[str]) -> str:
    """Return how a file is cited: the label of its root and the path below it, with ``/``."""
    return "/".join(printable_name(part) for part in (label, *parts))


@lru_cache(maxsize=1 << 14)  # a list is asked for again and again, and sorted by this each time
def natural_key(path: str) -> str:
    """Return what orders names as people do: 2 before 10, no capitals first, folders whole."""
    numbered = _DIGITS.sub(lambda found: f"{len(found[1]):03}{found[1]}", path.casefold())
    return numbered.replace("/", "\0")


def given_name(source: str) -> str:
    """Return a source as people named it: of what was sent without the mark that we gave it."""
    return _SENT.sub("", source)


def slug(text: str) -> str:
    """Return ``text`` in kebab case, at most ``SLUG_MAXIMUM`` characters, never empty.

    Latin letters lose their accents; letters of other scripts stay as they are.
    """
    words = "".join(map(_slug_character, unicodedata.normalize("NFKC", text).casefold()))
    kebab = "-".join(words.split())
    if len(kebab) > SLUG_MAXIMUM:
        whole, dash, _ = kebab[: SLUG_MAXIMUM + 1].rpartition("-")
        kebab = whole if dash else kebab[:SLUG_MAXIMUM]
    return kebab or _UNNAMED


def document_id(source: str) -> str:
    """Return the id of the document of ``source``: a slug of its name, and 32 bits of its hash.

    The same source gives the same id on every machine.
    """
    stem = source.rpartition("/")[2]
    stem = stem.rpartition(".")[0] or stem
    return f"{slug(stem)}-{hashlib.sha256(source.encode()).hexdigest()[:8]}"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code in _ENCODED_BYTE:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - the BMP


def _escape_byte(character: str) -> str:
    code = ord(character)
    if code in _SURROGATES and code not in _ENCODED_BYTE:
        return f"\\u{code:04x}"  # half of a pair, which no system here gives, but a caller may
    return f"\\x{code - 0xDC00:02x}" if code in _ENCODED_BYTE else character


def _slug_character(character: str) -> str:
    """Return a letter, digit or mark as it stands in a slug, and a space for anything else."""
    base = unicodedata.normalize("NFKD", character)
    if base[0].isascii():
        letters = "".join(part for part in base if part.isascii() and part.isalnum())
        return letters or " "
    return character if unicodedata.category(character)[0] in "LNM" else " "


NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
_NAME = re.compile(NAME_PATTERN)


def valid_name(name: str) -> bool:
    """Whether ``name`` can name a workspace or shelf: a folder anywhere, a word in a command."""
    return _NAME.fullmatch(name) is not None


_TOOL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def is_tool_name(name: str) -> bool:
    """Whether every service of models takes a tool of this name."""
    return _TOOL_NAME.fullmatch(name) is not None


def page_name(kind: str, number: int | None, label: str) -> str:
    """Return a page, slide or sheet as people call it, or empty where there is no number.

    A sheet is known by its name, a slide by its number; a page by its place in the file, with what
    is printed on it where that is something else.
    """
    if number is None:
        return ""
    if kind == "sheet" and label:
        return f"sheet {label}"
    printed = f" (labelled {label})" if kind == "page" and label not in {"", str(number)} else ""
    return f"{kind or 'page'} {number}{printed}"
