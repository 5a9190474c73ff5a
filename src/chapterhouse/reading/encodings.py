"""Bytes to text: byte order mark, strict UTF-8, UTF-16 and 32 by their zeros, then a guess."""

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from chapterhouse import lazy
from chapterhouse.reading.detect import BYTE_ORDER_MARKS, wide_encoding
from chapterhouse.text.counting import counted
from chapterhouse.types import Notice

if TYPE_CHECKING:
    import charset_normalizer
else:
    charset_normalizer = lazy("charset_normalizer")

_SAMPLE = 65_536
_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
_MOST_WORDS = 2_000  # different ones
# Letters beyond ASCII by language, with where they stand where that tells them from those that
# kindred tables have in their place.
_FRENCH = r"[âéêëîïôœûüÿ]|\B(?:è(?=[b-df-hj-np-tv-z]+[eé]|s\b)|æ)|[àù]\b|ç(?=[aàâou])"
_PORTUGUESE = r"[áàâéêíóôúü]|ã(?=[eio]|s?\b)|õ(?=e)|ç(?=[aáâãoóõuú])"
_WESTERN = (
    "[äöüßé]",  # German
    _FRENCH,
    "[áéíñóúü]",  # Spanish
    _PORTUGUESE,
    r"[àèéìòù]\b",  # Italian
    "[åäöé]",  # Swedish, Finnish
    "[åæøéèòóô]",  # Danish, Norwegian
    "[áèéëïóöü]",  # Dutch
    r"[àèéíïòóúü]|ç(?=[aàoòóuú]|s?\b)",  # Catalan
)
_CENTRAL = (
    "[ąćęłńóśźż]",  # Polish
    "[áčďéěíňóřšťúůýž]",  # Czech
    "[áäčďéíĺľňóôŕšťúýž]",  # Slovak
    "[áéíóöőúüű]",  # Hungarian
    "[ăâîşţșț]",  # Romanian
    "[čćđšž]",  # Croatian, Slovene
)
_TURKISH = r"[çıöşüâî]|\Bğ"
_BALTIC = ("[ąčęėįšųūž]", "[āčēģīķļņšūž]", "[äõöüšž]")  # Lithuanian, Latvian, Estonian
# In this order, in which equals are taken.
_TABLES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cp1252", _WESTERN),
    ("cp1250", _CENTRAL),
    ("iso8859_2", _CENTRAL),
    ("cp1254", (_TURKISH,)),
    ("cp1252", ("[áéíóúýþæöð]", "[äõöüšž]")),  # Icelandic, Estonian
    ("cp1257", _BALTIC),
    ("iso8859_13", _BALTIC),
    ("iso8859_4", _BALTIC),
    ("iso8859_15", _WESTERN),
    ("mac_roman", _WESTERN),
    ("cp850", _WESTERN),
    ("cp852", _CENTRAL),
    ("mac_latin2", _CENTRAL),
)
# Of a text with words and names of several languages; left out are letters that stand for a
# frequent one of Hungarian, Turkish, Romanian or Portuguese in a kindred table.
_MIXED = ("[äöüßéèêëàâçñóíáúôûîïåæøòùìœ]",)
_MIXED_TABLES = tuple((name, _MIXED) for name in ("cp1252", "iso8859_15", "mac_roman", "cp850"))
_MIXED_SHARE = 0.95  # what such a possible word counts
ENCODINGS = frozenset(encoding for encoding, _ in _TABLES)
_BEFORE_WORDS = "„“”‚‘’«»‹›¿¡–—…•\u00a0\u00ad"
_AFTER_WORDS = "„“”‚‘’«»‹›–—…•™®°²³ªº\u00a0\u00ad"
_ALONE = frozenset(_BEFORE_WORDS + _AFTER_WORDS + "§£€©¹¼½¾±×÷·µ¶†‡‰¢¥¤¨´¸¬¦")
_BETWEEN = re.compile("[’‘–—…·\u00a0\u00ad]")
_LONG_RUN = re.compile(r"[^\x00-\x7f]{4}")  # as other scripts have them
_ESCAPED = (
    (b"\x1b$B", "iso2022_jp"),
    (b"\x1b$@", "iso2022_jp"),
    (b"\x1b$)C", "iso2022_kr"),
)
_GUESS_BYTES = 262_144
_RARELY = 100  # bytes beyond ASCII for each that means nothing in the stated encoding
# What people wrote files in; without this list the guesser takes short texts for rarities.
_CANDIDATES = [
    *(f"cp{number}" for number in (1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258)),
    *(f"iso8859_{number}" for number in (2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)),
    *("koi8_r", "koi8_u", "mac_roman", "mac_cyrillic", "mac_latin2", "cp437", "cp850", "cp852"),
    *("cp855", "cp866", "cp874", "tis_620", "kz1048", "ptcp154"),
    *("big5", "gb18030", "gbk", "hz", "cp932", "shift_jis", "shift_jis_2004", "euc_jp"),
    *("euc_jis_2004", "cp949", "euc_kr", "johab"),
]
# What people mean by an encoding's name or write where they say or seem to use another:
# https://encoding.spec.whatwg.org/#names-and-labels
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    **dict.fromkeys(("iso8859-11", "tis-620", "windows-874"), "cp874"),
    "iso-8859-8-i": "iso8859-8",
    "x-mac-cyrillic": "mac-cyrillic",
    **dict.fromkeys(("gb2312", "gbk", "x-gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "x-sjis", "windows-31j", "shift_jis_2004"), "cp932"),
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_NOT_OF_FILES = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-7"})
# What people call the languages that a table is for, beginnings of names first to last.
_FAMILIES = (
    (("cp1250", "iso8859-2", "cp852", "mac-latin2"), "Central European"),
    (("iso8859-16",), "Romanian"),
    (("cp1254", "iso8859-9"), "Turkish"),
    (("cp1257", "iso8859-13", "iso8859-4"), "Baltic"),
    (("iso8859-10",), "Nordic"),
    (("cp1251", "iso8859-5", "koi8", "mac-cyrillic", "cp855", "cp866", "ptcp154"), "Cyrillic"),
    (("kz1048",), "Kazakh"),
    (("cp1253", "iso8859-7"), "Greek"),
    (("cp1255", "iso8859-8"), "Hebrew"),
    (("cp1256", "iso8859-6"), "Arabic"),
    (("cp1258",), "Vietnamese"),
    (("cp874", "tis-620"), "Thai"),
    (("big5",), "traditional Chinese"),
    (("gb", "hz"), "Chinese"),
    (("cp932", "shift_jis", "euc_ji", "euc_jp"), "Japanese"),
    (("cp949", "euc_kr", "johab"), "Korean"),
)
_WRITTEN = (("iso8859-", "ISO 8859-"), ("cp125", "Windows-125"), ("cp874", "Windows-874"),
            ("cp932", "Shift JIS"), ("cp949", "Windows-949"), ("cp", "DOS code page "),
            ("mac-", "Macintosh "))  # fmt: skip
# Signs that the Windows tables have where ISO 8859 has control codes, which nobody writes.
_WINDOWS_SIGNS = {
    byte: sign
    for byte in range(0x80, 0xA0)
    if not (sign := bytes([byte]).decode("cp1252", "replace")).isalpha()
    and sign == bytes([byte]).decode("cp1250", "replace") != "\ufffd"
}
_LIKELY = 0.9  # of the words with signs beyond ASCII; fewer are possible only in a wrong table


class Fit(NamedTuple):
    """A table and the share of the words with signs beyond ASCII that are possible in it."""

    encoding: str
    share: float


def best_fit(data: bytes) -> Fit:
    """Return the table of the Latin script that fits these bytes best."""
    words = Counter(_WORD.findall(data[:_SAMPLE])).most_common(_MOST_WORDS)
    best = Fit(_TABLES[0][0], 0.0)
    for tables, worth in ((_TABLES, 1.0), (_MIXED_TABLES, _MIXED_SHARE)):
        for encoding, languages in tables:
            share = worth * _possible_share(words, encoding, languages)
            best = Fit(encoding, share) if share > best.share else best
            if best.share == 1:
                return best
    return best


def _possible_share(
    words: Sequence[tuple[bytes, int]], encoding: str, languages: Sequence[str]
) -> float:
    """Return the share of words that are possible in the language that has most of them."""
    decoded = [(word.decode(encoding, "replace"), number) for word, number in words]
    spelled = [(parts, number) for word, number in decoded if (parts := _parts(word)) is not None]
    most = max(
        sum(
            number
            for parts, number in spelled
            if all(letters.sub("", part).isascii() for part in parts)
        )
        for letters in map(re.compile, languages)
    )
    return most / max(1, sum(number for _, number in words))


def _parts(word: str) -> list[str] | None:
    """Return what stands between the signs of a word in small letters; None for no word."""
    if _ALONE.issuperset(word):
        return []
    inner = word.lstrip(_BEFORE_WORDS).rstrip(_AFTER_WORDS)
    has_odd_capital = any(
        letter > "\x7f" and letter.isupper() and before.islower()
        for before, letter in pairwise(inner)
    )
    if _LONG_RUN.search(inner) or has_odd_capital:
        return None
    return _BETWEEN.split(inner.replace("İ", "i").lower())


def decode(data: bytes) -> tuple[str, tuple[Notice, ...]]:
    """Return the text with plain line ends and without NULs, and what was uncertain about it."""
    text, notices = _decode(data)
    return _plain(text), notices


def decode_stated(data: bytes, label: str) -> tuple[str, tuple[Notice, ...]]:
    """Return the text by the encoding that a file states, taken as browsers take its name.

    Where the text is UTF-8 all the same, or the encoding unknown or clearly another, it is as if
    nothing were stated.
    """
    encoding = _named(label)
    if not encoding:
        return decode(data)
    if not data.isascii():
        with suppress(UnicodeDecodeError):
            data.decode("utf-8")
            return decode(data)
    text = data.decode(encoding, "replace")
    wrong = text.count("\ufffd")
    if wrong and _RARELY * wrong > sum(byte > 0x7F for byte in data):  # noqa: PLR2004 - beyond ASCII
        return decode(data)
    return _plain(_with_signs(text, encoding)), (_undecodable(wrong, encoding),) if wrong else ()


def _named(label: str) -> str:
    """Return the encoding that people mean by a label, or nothing where Python has none."""
    known = _SUPERSETS.get(label.lower(), label)
    try:
        name = codecs.lookup(known).name
        "".encode(name)  # some codecs are from bytes to bytes
    except (LookupError, ValueError):
        return ""
    return "" if name in _NOT_OF_FILES else _SUPERSETS.get(name, name)


def _with_signs(text: str, encoding: str) -> str:
    """Read the control codes of ISO 8859 as the quotation marks and dashes of Windows."""
    return text.translate(_WINDOWS_SIGNS) if encoding.startswith("iso8859") else text


def _plain(text: str) -> str:
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> tuple[str, tuple[Notice, ...]]:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _strict_or_replaced(data[len(mark) :], encoding)
    head = data[:_GUESS_BYTES]
    for escape, encoding in _ESCAPED if b"\x1b" in head else ():  # one byte is found faster
        if escape in head:
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
    encoding = _superset(data, _guess(data[:_GUESS_BYTES]))
    text = _with_signs(data.decode(encoding, "replace"), encoding)
    sentence = (
        f"It states no encoding and is not UTF-8; it was read as {_in_words(encoding)}. "
        "If letters look wrong, save it as UTF-8 and add it again."
    )
    notices = [Notice("encoding-guessed", sentence)]
    if wrong := text.count("\ufffd"):
        notices.append(_undecodable(wrong, encoding))
    return text, tuple(notices)


def _guess(data: bytes) -> str:
    latin = best_fit(data)
    if latin.share >= _LIKELY:
        return latin.encoding
    best = charset_normalizer.from_bytes(data, cp_isolation=_CANDIDATES).best()
    return latin.encoding if best is None or best.encoding in ENCODINGS else best.encoding


def _superset(data: bytes, encoding: str) -> str:
    """Return the larger table that people take an encoding for, where it reads every byte."""
    larger = _SUPERSETS.get(codecs.lookup(encoding).name, encoding)
    try:
        data.decode(larger)
    except UnicodeDecodeError:
        return encoding
    return larger


def _in_words(encoding: str) -> str:
    """Return what an encoding is for and its usual name: ``Central European (ISO 8859-2)``."""
    name = codecs.lookup(encoding).name
    if name.startswith("utf"):
        return name.upper()
    found = (family for beginnings, family in _FAMILIES if name.startswith(beginnings))
    written = next(
        (f"{new}{name[len(old) :]}" for old, new in _WRITTEN if name.startswith(old)), ""
    )
    return f"{next(found, 'Western European')} ({written or name.replace('_', '-').upper()})"


def _undecodable(count: int, encoding: str) -> Notice:
    count_text = counted(count, "character")
    sentence = f"{count_text} could not be decoded as {_in_words(encoding)}."
    return Notice("undecodable-characters", sentence)
