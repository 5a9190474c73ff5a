"""RTF files, made ready for the all-in-one library: plain bytes, and no text that was deleted."""

import re
from collections.abc import Iterator
from typing import Final

_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_MAC: Final = re.compile(rb"\A(\{\\rtf\d?)\\mac\b")
_TOKEN: Final = re.compile(
    rb"\\(?P<word>[a-zA-Z]+)(?P<number>-?\d+)? ?|\\'[0-9a-fA-F]{2}|\\[^a-zA-Z]|[{}]|[^\\{}]+|\\",
    re.DOTALL,
)
# Deleted by a tracked change, or moved away ([RTF 1.9.1], Track Changes).
_DELETED: Final = frozenset({b"deleted", b"mvf"})
_SIGNS: Final = frozenset(
    b"u par line tab emdash endash emspace enspace qmspace bullet lquote rquote ldblquote"
    b" rdblquote".split()
)


def prepare(data: bytes) -> bytes:
    """Return a file with bytes beyond ASCII written as RTF should, and tracked changes accepted.

    The library drops such bytes, does not know Mac Roman, and shows deleted text.
    """
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        data = _BEYOND_ASCII.sub(lambda byte: b"\\'%02x" % byte[0][0], data)
    data = _MAC.sub(rb"\1\\ansi\\ansicpg10000", data, count=1)
    if any(b"\\" + word in data for word in _DELETED):
        data = b"".join(_without_deleted(data))
    return data


def _without_deleted(data: bytes) -> Iterator[bytes]:
    """Yield the file piece by piece without the text of deleted runs; formatting stays."""
    deleted, groups = False, list[bool]()
    place = 0
    while token := _TOKEN.match(data, place):
        place, text, word = token.end(), token[0], token["word"]
        if text == b"{":
            groups.append(deleted)
        elif text == b"}":
            deleted = groups.pop() if groups else False
        elif word in _DELETED:
            deleted = token["number"] != b"0"
        elif word == b"plain":
            deleted = False
        elif word == b"bin":  # so many bytes of anything
            end = place + max(int(token["number"] or 0), 0)
            text, place = b"" if deleted else text + data[place:end], end
        elif deleted and (word in _SIGNS or (not word and text != b"\\*")):
            continue
        yield text
