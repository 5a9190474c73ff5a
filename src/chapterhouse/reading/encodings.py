"""Bytes to text: byte order mark, strict UTF-8, UTF-16 and 32 by their zeros, then a guess."""

import codecs

from chapterhouse.reading.signatures import wide_encoding
from chapterhouse.text.counting import counted
from chapterhouse.types import Notice

# UTF-32 first: its little-endian mark begins like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPED = (
    (b"\x1b$B", "iso2022_jp"),
    (b"\x1b$@", "iso2022_jp"),
    (b"\x1b$)C", "iso2022_kr"),
)
_GUESS_BYTES = 262_144
# What people wrote files in; without this list the guesser takes short texts for rarities.
_CANDIDATES = [
    *(f"cp{number}" for number in (1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258)),
    *(f"iso8859_{number}" for number in (2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)),
    *("koi8_r", "koi8_u", "mac_roman", "mac_cyrillic", "mac_latin2", "cp437", "cp850", "cp852"),
    *("cp855", "cp866", "cp874", "tis_620", "kz1048", "ptcp154"),
    *("big5", "gb18030", "gbk", "hz", "cp932", "shift_jis", "shift_jis_2004", "euc_jp"),
    *("euc_jis_2004", "cp949", "euc_kr", "johab"),
]
# Letters and marks of Western European languages in Windows-1252. Left out are those that stand
# for a frequent letter of Hungarian, Turkish or Romanian in the kindred encodings.
_WESTERN = frozenset(
    "äöüßÄÖÜéèêëàâçñóíáúôûîïåæøÉÈÊÀÂÇÑÓÍÁÚÔÎÅÆØãÃòìùœŒ€£§°©®±²³µ·½¼×«»„“”‚‘’–—…•™¡¿ªº\u00a0"
)
_CZECH = frozenset("èìù")
_FOREIGN_SHARE = 0.3  # of all letters; in Cyrillic, Greek or Hebrew nearly all are beyond ASCII


def decode(data: bytes) -> tuple[str, tuple[Notice, ...]]:
    """Return the text with plain line ends and without NULs, and what was uncertain about it."""
    text, notices = _decode(data)
    if "\0" in text:
        text = text.replace("\0", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, notices


def _decode(data: bytes) -> tuple[str, tuple[Notice, ...]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict_or_replaced(data[len(mark) :], encoding)
    for escape, encoding in _ESCAPED:
        if escape in data[:_GUESS_BYTES]:
            try:
                return data.decode(encoding), ()
            except UnicodeDecodeError:
                break
    if b"\0" in data and (encoding := wide_encoding(data)):
        return _strict_or_replaced(data, encoding)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        return _nearly_utf8(data, error) or _guessed(data)


def _strict_or_replaced(data: bytes, encoding: str) -> tuple[str, tuple[Notice, ...]]:
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        return text, (_undecodable(text.count("\ufffd"), encoding),)


def _nearly_utf8(data: bytes, error: UnicodeDecodeError) -> tuple[str, tuple[Notice, ...]] | None:
    """Take a text for UTF-8 if nearly all of its non-ASCII characters are valid UTF-8.

    A text cut off inside a character, or with one stray byte, is no other encoding.
    """
    text = data.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    right = sum(byte >= 0xC2 for byte in data[:_GUESS_BYTES]) - wrong  # noqa: PLR2004 - lead bytes
    cut_off = error.start >= len(data) - 3 and error.reason == "unexpected end of data"
    if not (cut_off and right > 0) and right < 20 * wrong:
        return None
    return text, (_undecodable(wrong, "utf-8"),)


def _guessed(data: bytes) -> tuple[str, tuple[Notice, ...]]:
    encoding = "cp1252"
    if not _is_western(data[:_GUESS_BYTES]):
        from charset_normalizer import from_bytes  # noqa: PLC0415 - slow to import, rarely needed

        best = from_bytes(data[:_GUESS_BYTES], cp_isolation=_CANDIDATES).best()
        encoding = best.encoding if best is not None else encoding
    text = data.decode(encoding, "replace")
    sentence = f"It states no encoding and is not UTF-8; it was read as {encoding}."
    notices = [Notice("encoding-guessed", sentence)]
    if wrong := text.count("\ufffd"):
        notices.append(_undecodable(wrong, encoding))
    return text, tuple(notices)


def _is_western(data: bytes) -> bool:
    """Tell whether all letters beyond ASCII are such as Western languages have, and few."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return False
    beyond = [character for character in text if character > "\x7f"]
    found = set(beyond)
    if found - _WESTERN or ("ø" in found and found & _CZECH):
        return False
    letters = sum(character.isalpha() for character in text)
    return sum(map(str.isalpha, beyond)) <= max(1, _FOREIGN_SHARE * letters)


def _undecodable(count: int, encoding: str) -> Notice:
    told = counted(count, "character")
    return Notice("undecodable-characters", f"{told} could not be decoded as {encoding}.")
