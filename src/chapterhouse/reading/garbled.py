"""Text that was decoded by the wrong table: told by its letters, and decoded again.

Three kinds. Bytes of another alphabet read as Western European give words of accented letters
alone (``Êîìïàíèÿ`` for ``Компания``), which no language writes. UTF-8 read so gives pairs such as
``Ã©``. And what went through a broken font or table is full of characters that stand for nothing,
or of ideographs that nobody uses.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import replace

from chapterhouse.types import Extraction, Notice

# What Windows-1252 shows for the bytes beyond ASCII, and Latin-1 where that shows nothing.
_BYTES = {bytes([byte]).decode("latin-1"): byte for byte in range(256)} | {
    sign: byte for byte in range(0x80, 0xA0) if (sign := bytes([byte]).decode("cp1252", "ignore"))
}
_HIGH = re.escape("".join(sign for sign in _BYTES if sign > "\x7f"))
_RUN = re.compile(f"[{_HIGH}]{{3,}}")
_PAIRS = re.compile(f"[{_HIGH}]{{2,}}")
_STORED = re.compile(f"[\x00-\x7f{_HIGH}]+")
_BEYOND = re.compile(r"[^\x00-\x7e]+")
_BETWEEN = "\n\x1e\n"  # between pages, a line of its own that no decoding changes
_LINE = re.compile(r"[^\n]+")
_RUN_SHARE = 1 / 3  # of letters in a run; the rest may be signs
_LINE_LETTERS = 6  # in such runs of a line that is taken for garbled
_LINE_DIFFERENT = 3  # letters in them: "ßßß" repeated is nobody's Russian
_LINE_SHARE = 0.5  # of its letters
_SHARE = 0.05  # of the letters of a text that is called garbled
_PAIRS_ENOUGH = 3
_PAIRS_SHARE = 0.9  # of the letters beyond ASCII
_LOST_SHARE = 0.1  # of a run; some programs drop bytes that Windows-1252 does not use
# The commonest ideographs; any Chinese or Japanese prose of some length has several in a hundred.
_IDEOGRAPHS = frozenset(
    "的一是不了人我在有他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可"
    "里后么心多天而能好都然没日于起還这個國時來們為說會對過學後麼沒於本月見行手事者方用分部同長高"
    "年度間使法定成表新全体作公水市第内場合理業政数民主義無明，。"
)
# Tables of other alphabets, the commonest signs of the languages written in them, and what share
# of the signs beyond ASCII those are in prose.
_ALPHABETS = (
    (("cp1251", "koi8_r", "cp866", "mac_cyrillic", "iso8859_5"), "оеаинтсрвлкмдпуяі", 0.8),
    (("cp1253", "iso8859_7"), "αοιετσνηυρπκμλςάίόέή", 0.8),
    (("cp1255", "iso8859_8"), "יוהלארתבמשנםדקע", 0.8),
    (("cp1256", "iso8859_6"), "اليمنورتبةعدسفهكق", 0.8),
    (("cp874",), "านรอกเงมยลวด่้ั", 0.6),
    (("cp932", "euc_jp"), "のにはをたがでてとしれさあいるらンスルートイ", 0.4),
    (("gb18030", "big5"), _IDEOGRAPHS, 0.3),
    (("cp949",), "이다는에의을가고하지한로도사기은를서자어인", 0.4),
)
_FITS = 0.6  # of that share, where the table is the right one
_IDEOGRAPH_RUN = re.compile("[\u4e00-\u9fff]+")
_IDEOGRAPHS_ENOUGH = 200
_RARE_SHARE = 0.01
_SYLLABLE = re.compile("[\uac00-\ud7a3]")
_SYLLABLE_BYTES = 2  # of those that KS X 1001 has; Python writes others by their letters
_RARE_SYLLABLES = 10
_SYLLABLES_SHARE = 0.02
_NOTHING_SHARE = 0.1
_NOTHING_ENOUGH = 20
_UNRECOGNISED = (
    "Its text, or much of it, is gibberish: its encoding was not recognised. Save it as UTF-8 in "
    "a program that shows it right and add it again."
)
_WHY = {
    "pdf": "Part of its text is not what its pages show: fonts have a wrong or no map of "
    "characters. Check it against the original."
}
_NO_CHARACTERS = frozenset({"Co", "Cn", "Cs", "Cc"})


def is_garbled(text: str) -> bool:
    """Tell whether a noticeable part of a text is no text of any language."""
    wrong = sum(_count(line) for line in _garbled_lines(text))
    if wrong >= _LINE_LETTERS and wrong >= _SHARE * _count(text):
        return True
    return bool(_mistaken_utf8(text)) or _is_undecodable(text) or _has_rare_ideographs(text)


def legible(extraction: Extraction) -> Extraction:
    """Repair what was decoded by the wrong table, or say that much of the text is no text."""
    joined = _BETWEEN.join((extraction.title, *(page.text for page in extraction.pages)))
    if extraction.format == "pdf" and _has_rare_syllables(joined):
        notice = Notice("garbled-text", _WHY["pdf"])
        return replace(extraction, notices=(*extraction.notices, notice))
    if not is_garbled(joined):
        return extraction
    title, *texts = repair(joined).split(_BETWEEN)
    if is_garbled("\n".join(texts)) or len(texts) != len(extraction.pages):
        notice = Notice("garbled-text", _WHY.get(extraction.format, _UNRECOGNISED))
        others = (one for one in extraction.notices if one.code != "encoding-guessed")
        return replace(extraction, notices=(*others, notice))
    sentence = "Its text was stored in another encoding than it states; it was decoded again."
    notices = (*extraction.notices, Notice("encoding-guessed", sentence))
    texted = zip(extraction.pages, texts, strict=True)
    pages = tuple(replace(page, text=text) for page, text in texted)
    return replace(extraction, title=title, pages=pages, notices=notices)


def repair(text: str) -> str:
    """Decode again what was decoded by the wrong table; the same text where nothing fits."""
    if mistaken := _mistaken_utf8(text):
        return _PAIRS.sub(lambda run: mistaken.get(run[0], run[0]), text)
    lines = _garbled_lines(text)
    wrong = sum(map(_count, lines))
    if wrong < max(_LINE_LETTERS, _SHARE * _count(text)):
        return text
    encoding = _encoding("\n".join(lines))
    if not encoding:
        return text
    # Where most is wrong the short lines are too.
    chosen = None if wrong >= _LINE_SHARE * _count(text) else frozenset(lines)

    def again(line: re.Match[str]) -> str:
        is_wrong = chosen is None or line[0] in chosen
        return decoded_again(line[0], encoding) if is_wrong else line[0]

    return _LINE.sub(again, text)


def decoded_again(text: str, encoding: str) -> str:
    """Return text that was decoded as Windows-1252 as it is in its own encoding."""
    return _STORED.sub(lambda part: _bytes(part[0]).decode(encoding, "replace"), text)


def _count(text: str) -> int:
    return sum(map(str.isalpha, text))


def _garbled_lines(text: str) -> list[str]:
    """Return the lines most of whose letters stand in runs of letters beyond ASCII."""
    if not _RUN.search(text):
        return []
    return [line for line in _LINE.findall(text) if _is_garbled_line(line)]


def _is_garbled_line(line: str) -> bool:
    runs = [run for run in _RUN.findall(line) if _count(run) >= _RUN_SHARE * len(run)]
    if len(set("".join(runs))) < _LINE_DIFFERENT:
        return False
    wrong = sum(map(_count, runs))
    return wrong >= _LINE_LETTERS and wrong >= _LINE_SHARE * _count(line)


def _encoding(sample: str) -> str:
    """Return the encoding by which wrongly decoded text shows the commonest letters, or nothing."""
    stored = _bytes("".join(_STORED.findall(sample)))
    best, best_fit = "", _FITS
    for encodings, common, usual in _ALPHABETS:
        for encoding in encodings:
            beyond = [sign for sign in stored.decode(encoding, "replace") if sign > "\x7f"]
            share = sum(sign in common for sign in beyond) / max(1, len(beyond))
            if share / usual > best_fit:
                best, best_fit = encoding, share / usual
    return best


def _mistaken_utf8(text: str) -> dict[str, str]:
    """Return what runs of UTF-8 read as Western European stand for, where nearly all are such."""
    if not _PAIRS.search(text):
        return {}
    runs = Counter(_PAIRS.findall(text))
    found = {}
    for run in runs:
        decoded = _bytes(run).decode("utf-8", "replace")
        if decoded.count("\ufffd") <= _LOST_SHARE * len(decoded):
            found[run] = decoded
    number = sum(runs[run] for run in found)
    letters = _count("".join(_BEYOND.findall(text)))
    explained = sum(runs[run] * _count(run) for run in found)
    return found if number >= _PAIRS_ENOUGH and explained >= _PAIRS_SHARE * letters else {}


def _bytes(text: str) -> bytes:
    """Return the bytes that Windows-1252 or Latin-1 showed so."""
    return bytes(map(_BYTES.__getitem__, text))


def _is_undecodable(text: str) -> bool:
    """Tell whether many characters are private, unassigned or replacements."""
    beyond = Counter("".join(_BEYOND.findall(text)))
    nothing = sum(
        number
        for sign, number in beyond.items()
        if sign == "\ufffd" or unicodedata.category(sign) in _NO_CHARACTERS
    )
    visible = len(text) - sum(map(text.count, " \n\t|-#"))
    return nothing >= max(_NOTHING_ENOUGH, _NOTHING_SHARE * visible)


def _has_rare_ideographs(text: str) -> bool:
    """Tell whether ideographs lack those that every text has, as bytes read as UTF-16 do."""
    ideographs = _IDEOGRAPH_RUN.findall(text)
    total = sum(map(len, ideographs))
    if total < _IDEOGRAPHS_ENOUGH:
        return False
    return sum(sign in _IDEOGRAPHS for run in ideographs for sign in run) < _RARE_SHARE * total


def _has_rare_syllables(text: str) -> bool:
    """Tell whether Korean has many syllables beyond the 2,350 of KS X 1001, as wrong fonts give.

    Only lists of syllables have as many; so this is asked of PDFs alone.
    """
    syllables = Counter(_SYLLABLE.findall(text))
    rare = sum(
        number for sign, number in syllables.items() if len(sign.encode("euc_kr")) > _SYLLABLE_BYTES
    )
    return rare >= max(_RARE_SYLLABLES, _SYLLABLES_SHARE * syllables.total())
