"""What in a text looks like a citation of ours, and is none."""

import re
from typing import Final

# Numbers in brackets of any kind, letters with numbers as notes have them, and stray footnotes.
LOOKS_LIKE_A_CITATION: Final = re.compile(
    r"[ \t]?(?:\[(?:\^[^\]\n]{0,400}|(?:[a-z]{0,12}[ .]?)?\d{1,4}(?:[ ]?[,;–-][ ]?\d{1,4}){0,20}"
    r"|doc [^\[\]\n]{0,400})\]|[【〔［][^【】〔〕［］\n]{1,80}[】〕］])",
    re.IGNORECASE,
)
_IN_WORDS: Final = {"[": "⟦", "]": "⟧", "【": "⟦", "】": "⟧", "〔": "⟦", "〕": "⟧"}
_TABLE: Final = str.maketrans(_IN_WORDS | {"［": "⟦", "］": "⟧"})


def inert(text: str) -> str:
    """Return words of a document in which nothing looks like a citation of ours."""
    before = ""
    while before != text:  # one inside another
        before = text
        text = LOOKS_LIKE_A_CITATION.sub(lambda match: match.group().translate(_TABLE), text)
    return text


def without_brackets(text: str) -> str:
    """Return a text in which all brackets are of the kind that ``inert`` makes of some."""
    return text.translate(_TABLE)
