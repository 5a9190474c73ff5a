"""Names: others for the same thing, as documents give them; those by which others mention one.

Abbreviations stand beside their long form in brackets; other names follow "also known as"; curated
documents list them and their key terms on lines of their own.

Source for abbreviations: Schwartz and Hearst, Pacific Symposium on Biocomputing 2003.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

from chapterhouse import lazy_pattern
from chapterhouse.text.canonical import front_matter
from chapterhouse.types import Alias, AliasKind

_LONGEST: Final = 80  # characters of a name
_MOST_WORDS: Final = 6
_MOST_PLAIN_WORDS: Final = 3  # of a name without capitals
_MOST: Final = 2_000  # pairs of one document; more are a register, not names in passing
_SHORT: Final = re.compile(r"[^\W_][\w&/.\-]{1,10}")
_BRACKETED: Final = re.compile(r"(?<=\s)\(([^()\n]{2,80})\)")
_AROUND: Final = 140  # characters looked at before and behind a mark
# Behind these a new statement starts: a name does not reach over them.
_BREAK: Final = lazy_pattern(
    r"\n[ \t]*(?=[\n>#|*+\-]|\d{1,2}[.)])|[|;:!?]|(?<=[a-zß-ÿ]{2})\.(?=\s)"
)
_WORD: Final = re.compile(r"[^\W_][\w'’&/.\-]*")
# Each is looked for first, and the names then in the few words around it: linear in any text.
_KNOWN_AS: Final = re.compile(
    r"(?<!\w)(?:also (?:known|referred to) as|also called|a\.?k\.?a\.?(?=[ \n])"
    r"|auch bekannt als|auch genannt|également appelée?s?|aussi connue?s? sous le nom de)(?!\w)",
    re.IGNORECASE,
)
# Said of many things, so only what stands as a name beside a name counts.
_FORMERLY: Final = re.compile(r"[,(] ?(?:formerly(?: known as)?|früher|anciennement)(?= )")
_NAME_WORD: Final = re.compile(r"[\w\-’']+")
_NAME_AFTER: Final = re.compile(r"[^\W_][\w\-’']*(?:[ \n][\w\-’']+){0,4}")
_JOINTS: Final = frozenset(("is", "was", "are", "were", "ist", "sind", "est", "sont"))
_ARTICLE: Final = re.compile(r"^(?:the|an?|die|der|das|le|la|les)[ \n]+", re.IGNORECASE)
_LISTED: Final = re.compile(
    r"^[ \t>*_\-]*(?P<label>also known as|aliases|key terms|auch bekannt als|schlüsselbegriffe)"
    r"[*_]*[ \t]*:[*_]*[ \t]*(?P<names>[^\n]{1,2000})",
    re.IGNORECASE | re.MULTILINE,
)
_LABELS: Final = {
    **dict.fromkeys(("also known as", "aliases", "auch bekannt als"), AliasKind.ALSO_KNOWN_AS),
    **dict.fromkeys(("key terms", "schlüsselbegriffe"), AliasKind.KEY_TERM),
    "keywords": AliasKind.KEY_TERM,  # of front matter; in a text they are anyone's
}
_LONGEST_LIST: Final = 2_000  # characters
_SEPARATOR: Final = re.compile(r"[;,|·•]")
_MARKS: Final = " \t\n.*_`\"'“”„«»()[]"
_STARTER_WORDS: Final = """
    the a an this that these those of in on for and or by with from to is are was were be our
    it they he she we you i who which what its their his her sometimes often now also
    der die das den dem des ein eine im am von und oder für mit er sie es wir ist sind war wird
    le la les un une des du de et ou il elle ils elles qui est sont
"""
_STARTERS: Final = frozenset(_STARTER_WORDS.split())
LONGEST_NAME: Final = 8  # words
_LONGEST_PLAIN: Final = 4  # words, in text whose capitals say nothing
_LEAST_SINGLE: Final = 4  # letters of a name of one word
_PLAIN_WORD: Final = re.compile(r"[^\W_]+")
_BRACKETS: Final = re.compile(r"\s*\([^()]*\)\s*$")
# Looking behind changes no match: it saves trying again from every letter of a word.
_FILE_NAME: Final = re.compile(r"(?<![\w\-])[\w\-]+(?:\.[\w\-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}(?!\w)")


def find_aliases(title: str, text: str) -> tuple[Alias, ...]:
    """Return every pair of names that a document gives for one thing, each once, in order."""
    found = chain(_abbreviations(text), _known_as(text), _listed(title, text))
    return tuple(islice(dict.fromkeys(filter(_makes_sense, found)), _MOST))


def fold_name(name: str) -> str:
    """Return a name in the form in which names are compared."""
    return " ".join(name.casefold().split())


def _makes_sense(alias: Alias) -> bool:
    names = alias.name, alias.other
    fits = all(1 < len(name) <= _LONGEST and len(name.split()) <= _MOST_WORDS for name in names)
    return fits and fold_name(alias.name) != fold_name(alias.other)


def _abbreviations(text: str) -> Iterator[Alias]:
    for match in _BRACKETED.finditer(text):
        inside = match.group(1).strip(_MARKS)
        before = _statement_before(text, match.start())
        if _is_short(inside):
            if long := _long_form(inside, before):
                short = inside[:-1] if _is_plural(inside) else inside
                yield Alias(short, long, AliasKind.ABBREVIATION)
            continue
        words = _WORD.findall(before)
        if words and before.rstrip().endswith(words[-1]) and _is_short(words[-1]):
            long = _long_form(words[-1], inside)
            if long and len(long) >= len(inside) - 2:  # the bracket is the long form and no more
                yield Alias(words[-1], long, AliasKind.ABBREVIATION)


def _statement_before(text: str, end: int) -> str:
    """Return what stands before ``end`` in the same statement, on one line."""
    before = _BREAK.split(text[max(0, end - _AROUND) : end])[-1]
    return before.replace("\n", " ")


def _is_short(word: str) -> bool:
    capitals = sum(character.isupper() for character in word)
    return bool(_SHORT.fullmatch(word)) and capitals >= 2 and not word.isdecimal()  # noqa: PLR2004 - one capital is any name


def _is_plural(short: str) -> bool:
    return len(short) > 2 and short.endswith("s") and short[:-1].isupper()  # noqa: PLR2004 - "Is"


def _long_form(short: str, before: str) -> str:
    """Return the shortest end of ``before`` that spells ``short``; nothing where none does.

    The letters of the short form are met from right to left, the first at the start of a word.
    """
    letters = [letter.casefold() for letter in short if letter.isalnum()]
    if _is_plural(short):
        letters.pop()
    folded = [character.casefold() for character in before]  # "ß" becomes two, in one place
    position = len(before)
    for number, letter in enumerate(reversed(letters), start=1):
        position -= 1
        first = number == len(letters)
        while position >= 0 and (
            folded[position] != letter
            or (first and position > 0 and before[position - 1].isalnum())
        ):
            position -= 1
        if position < 0:
            return ""
    long = before[position:].strip(_MARKS + ",;:")
    enough = len(short) < len(long) and len(long.split()) <= min(len(letters) + 5, len(letters) * 2)
    return long if enough and long.casefold().split()[0] not in _STARTERS else ""


def _known_as(text: str) -> Iterator[Alias]:
    for mark, only_names in ((_KNOWN_AS, False), (_FORMERLY, True)):
        for match in mark.finditer(text):
            name = _name_at_end(_statement_before(text, match.start()))
            if not name or (only_names and not name[0].isupper()):
                continue
            after = text[match.end() : match.end() + _AROUND].lstrip(_MARKS)
            other = _NAME_AFTER.match(_ARTICLE.sub("", after, count=1).lstrip(_MARKS))
            if other and (not only_names or other.group()[0].isupper()):
                called = _name_at_start(other.group(), other.string[other.end() :])
                yield Alias(name, called, AliasKind.ALSO_KNOWN_AS)


def _name_at_end(before: str) -> str:
    """Return the name with which a stretch of prose ends; nothing where it cannot be told.

    Where it ends with a capitalised word those before it belong to it, else the few words back to
    a function word: half a name would be met in questions about something else.
    """
    words = before.split()
    while words and (words[-1] in {"(", ","} or words[-1] in _JOINTS):
        words.pop()
    name_words: list[str] = []
    for number, part in enumerate(reversed(words[-_MOST_WORDS:])):
        word = (part if number else part.rstrip(_MARKS + ",")).lstrip(_MARKS)
        if not _NAME_WORD.fullmatch(word) or word.casefold() in _STARTERS:
            break
        if name_words and name_words[-1][0].isupper() and not word[0].isupper():
            break
        name_words.insert(0, word)
        if word != part and number:  # a quotation or emphasis begins with it
            break
    known = name_words and (name_words[-1][0].isupper() or len(name_words) <= _MOST_PLAIN_WORDS)
    return " ".join(name_words) if known and not name_words[0].isdecimal() else ""


def _name_at_start(words: str, behind: str) -> str:
    """Return the name with which ``words`` begin, as above; ``behind`` is what follows them."""
    parts = words.split()
    capitals = parts[0][0].isupper()
    name_words = [parts[0]]
    for word in parts[1:]:
        fits = word[0].isupper() or word[0].isdecimal() if capitals else True
        if not fits or word.casefold() in _STARTERS:
            break
        name_words.append(word)
    ends = len(name_words) < len(parts) or not behind or not behind[0].isspace()
    known = capitals or (ends and len(name_words) <= _MOST_PLAIN_WORDS)
    return " ".join(name_words) if known else ""


def _listed(title: str, text: str) -> Iterator[Alias]:
    """Yield the names in front matter and on lines of their own."""
    lines = [(match["label"], match["names"]) for match in _LISTED.finditer(text)]
    for label, listed in (*front_matter(text).items(), *lines):
        kind = _LABELS.get(label.casefold().replace("_", " ").replace("-", " "))
        if kind is None or not title:
            continue
        names = (name.strip(_MARKS) for name in _SEPARATOR.split(listed[:_LONGEST_LIST]))
        yield from (Alias(name, title, kind) for name in names if name)


def fold_words(text: str) -> str:
    """Return the words of a name in the form in which names are looked up."""
    return " ".join(_PLAIN_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def names_of(title: str, source: str, others: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the folded names by which other documents may mention a document.

    What stands in brackets at the end of its title tells it from others of its name and may be
    left out. ``source`` is its file's name with or without folders.
    """
    file_name = source.rpartition("/")[2]
    stem = file_name.rpartition(".")[0]
    names = map(fold_words, (title, _BRACKETS.sub("", title), file_name, stem, *others))
    return tuple(dict.fromkeys(name for name in names if _is_distinct(name)))


def _is_distinct(name: str) -> bool:
    words = name.split()
    single = len(words) == 1 and len(name) >= _LEAST_SINGLE and not name.isdecimal()
    return single or 1 < len(words) <= LONGEST_NAME


def names_in(text: str) -> tuple[str, ...]:
    """Return every run of words in ``text`` that may be a name, folded, in order.

    A name begins with a capital or a digit; in a script without capitals with any letter. File
    names are found however they are written.
    """
    found = dict.fromkeys(_runs(text))
    files = (fold_words(match.group()) for match in _FILE_NAME.finditer(text))
    found.update((name, None) for name in files if _is_distinct(name))
    return tuple(found)


def _runs(text: str) -> list[str]:
    words = _PLAIN_WORD.findall(unicodedata.normalize("NFKC", text))
    folded = [word.casefold() for word in words]
    beginnings = [place for place, word in enumerate(words) if not word[0].islower()]
    # Where most words may begin a name, as in Arabic or in capitals, there would be too many.
    longest = LONGEST_NAME if len(beginnings) * 2 <= len(words) else _LONGEST_PLAIN
    runs: list[str] = []
    for start in beginnings:
        run = folded[start]
        if _is_distinct(run):
            runs.append(run)
        for word in folded[start + 1 : start + longest]:
            run = f"{run} {word}"
            runs.append(run)
    return runs
