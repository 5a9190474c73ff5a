"""Which language a text is in, as an ISO 639-1 code.

A look at the script settles Chinese, Japanese, Korean and most languages with a script of their
own; py3langid decides the rest. Below the length at which it can be trusted the answer is empty.
"""

import re
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

_SAMPLE = 4_000
_MINIMUM_LETTERS = 20
_EAST = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")
_NOISE = re.compile(r"[\W\d_]+|https?://\S+")
_EAST_SHARE = 0.2


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def detect(text: str) -> str:
    """Return the language of the beginning of ``text``, or an empty string."""
    letters = _NOISE.sub(" ", text[:_SAMPLE]).strip()
    east = script_language(letters)
    if east:
        return east
    if len(letters) < _MINIMUM_LETTERS:
        return ""
    language, probability = _identifier().classify(letters)
    return str(language) if probability >= 0.5 else ""  # noqa: PLR2004 - more likely than not


def script_language(text: str) -> str:
    """Return zh, ja or ko when enough of ``text`` is written in their scripts, else nothing."""
    total = len(text)
    if not total or text.isascii():
        return ""
    kana, hangul, han = (len(script.findall(text)) for script in (_KANA, _HANGUL, _EAST))
    if kana + hangul + han < _EAST_SHARE * total:
        return ""
    if hangul > kana + han:
        return "ko"
    return "ja" if kana * 10 > han else "zh"
