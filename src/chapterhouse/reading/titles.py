"""Whether the title that a file states of itself is one, or what a program left there."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_FILE_NAME = re.compile(
    r"\.(?:docx?|dotx?|xlsx?|pptx?|od[tsp]|rtf|txt|html?|pdf|tmp)\s*$", re.IGNORECASE
)
# What programs and templates write where nobody wrote a title, in the languages of their menus.
_PLACEHOLDER = re.compile(
    r"(?:microsoft (?:word|excel|powerpoint)|(?:microsoft )?(?:power ?point )?"
    r"(?:presentation|präsentation|présentation|presentación|presentazione|apresentação)|"
    r"powerpoint[- ](?:presentation|präsentation)|présentation powerpoint|"
    r"document|dokument|documento|book|mappe|classeur|libro|untitled|unbenannt|sans titre|"
    r"sin título|senza titolo|sem título|no title|title|titel|titre|slide|folie|diapositive)"
    r"[ \d()]*",
    re.IGNORECASE,
)
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_MANY_WORDS = 2  # a stated title of so many words need not occur in the text
_MANY_SIGNS = 3
_WINDOW = 20_000


def believable_title(stated: str, text: str) -> bool:
    """Tell whether a stated title says what the text is about.

    Names of files and what programs put there do not; a single word must occur in the text.

    Args:
        stated: The title as the file's properties state it.
        text: The text of the document, of which the beginning counts.
    """
    title = " ".join(stated.split())
    if _PLACEHOLDER.fullmatch(title) or _FILE_NAME.search(title):
        return False
    words = _words(title)
    if not any(map(str.isalpha, title)):
        return False
    beginning = text[:_WINDOW]
    if title.casefold() in beginning.casefold() or len(_IDEOGRAPH.findall(title)) > _MANY_SIGNS:
        return True
    return len(words) >= _MANY_WORDS or set(words) <= set(_words(beginning))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
