"""Stances and leanings in the words that models use for them."""

import re
from typing import Final

from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Leaning, Stance

_LOOKED_AT: Final = 200  # characters of what is written
# What is neither, said with a word of one side: "no evidence", "unsupported", "cannot confirm".
_NEITHER: Final = re.compile(
    r"\b(?:silent|neutral|unclear|unsure|uncertain|unknown|undecided|abstain\w*|n/?a|none|mixed|"
    r"partial\w*|unsupported|unrelated|no (?:evidence|opinion|position|stance|view|answer|data)|"
    r"(?:can ?not|can't|unable to|neither|nothing to) \w+|schweigt|unklar|enthält sich)\b",
    re.IGNORECASE,
)
_AGAINST: Final = re.compile(
    r"\b(?:contradict\w*|disagree\w*|refut\w*|oppos\w*|disput\w*|reject\w*|den(?:y|ies|ied)|"
    r"against|contra|con|challeng\w*|objects?|objected|dissent\w*|no|false|wrong|incorrect|"
    r"(?:do|does|did|is|are)(?: not|n't) \w+|not (?:support|agree|confirm|accept)\w*|"
    r"widerspr\w+|lehnt|ablehn\w*|dagegen|gegen|nein|falsch|contre|contra)\b",
    re.IGNORECASE,
)
_FOR: Final = re.compile(
    r"\b(?:support\w*|agree\w*|confirm\w*|accept\w*|concur\w*|endors\w*|affirm\w*|consent\w*|"
    r"corroborat\w*|favou?rs?|favou?rable|for|pro|yes|true|correct|right|"
    r"unterstütz\w*|stimm\w*|zustimm\w*|bestätig\w*|dafür|für|ja|pour|oui)\b",
    re.IGNORECASE,
)


def stance_of(written: str) -> Stance:
    """Return the stance that a model's word or words mean; silent where that cannot be told."""
    side = _side(written)
    if side is None:
        return Stance.SILENT
    return Stance.SUPPORTS if side else Stance.CONTRADICTS


def leaning_of(written: str) -> Leaning:
    """Return the leaning that a model's word or words mean; silent where that cannot be told."""
    side = _side(written)
    if side is None:
        return Leaning.SILENT
    return Leaning.FOR if side else Leaning.AGAINST


def _side(written: str) -> bool | None:
    """Return whether words are for something; of words for both sides the first counts."""
    words = sanitise_line(written[:_LOOKED_AT]).replace("’", "'")
    if _NEITHER.search(words):
        return None
    against, pro = _AGAINST.search(words), _FOR.search(words)
    if against and pro:
        return pro.start() < against.start()
    return None if against is None and pro is None else pro is not None
