"""Whether a sentence states only facts that a quotation states, and denies what it denies.

Words are not compared: who quotes the words for a sentence of their own says that they mean the
same. Numbers, dates, names and denials are what such a sentence must not change.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from chapterhouse.claims.facts import negations
from chapterhouse.claims.features import is_fact, is_stated, stated
from chapterhouse.claims.no_statement import bare, essence
from chapterhouse.claims.statement import Token, read
from chapterhouse.types import Evidence

_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b[\w-]+(?:\.[\w-]+)+/\S+")
# Letters and figures in one word: ISO-8859-1, but not 3rd or 30%.
_CODE: Final = re.compile(r"\b(?=[\w-]*\d)[^\W\d_][\w-]*\w|\b\d+[^\W\d_]{3,}\b")


def states_same_facts(sentence: str, quoted: Sequence[Evidence]) -> bool:
    """Whether every number, date and name of a sentence is quoted, and both deny or neither does.

    Args:
        sentence: One sentence; citation markers in it are ignored.
        quoted: What is quoted for it. Its titles and headings count as quoted for names and dates.
    """
    if not quoted:
        return False
    language = quoted[0].language
    claim = read(essence(bare(sentence)), language)
    known = stated(quoted)
    words = stated([replace(one, title="", section_path=(), date="") for one in quoted])
    if any(one.casefold() not in words.text for one in _ADDRESS.findall(sentence)):
        return False
    if any(one.casefold() not in known.text for one in _CODE.findall(sentence)):
        return False
    for token in filter(_counts, claim.tokens):
        if not is_stated(token, words if token.number else known):
            return False
    denied = any(negations(one.text, one.language) for one in quoted)
    return denied == bool(negations(claim.text, language))


def _counts(token: Token) -> bool:
    number = token.number
    is_pronoun = number is not None and number.value == 1 and not number.unit  # "one of them"
    return is_fact(token) and not is_pronoun
