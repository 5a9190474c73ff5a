"""Which words of a file's lines stand in the text that was read from it."""

import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from chapterhouse.reading.completeness import WORD, words

Span = tuple[int, int]

_MOST_TRIES = 200  # places of its rarest word at which a line is looked for
_HYPHENS = "-\u00ad\u2010"


class _Token(NamedTuple):
    """A word in a line as it is compared; empty where it ends a word of the line above."""

    span: Span
    word: str


def missing_words(lines: Sequence[str], text: str) -> tuple[tuple[Span, ...], ...]:
    """Return for each line where the words stand that ``text`` does not hold.

    Each word of the text bears out one word of the lines: first those of lines that stand in it
    as a whole, the longest first, then the others in order. So a heading that was dropped is
    missing although its words come in the sentences below it.

    Args:
        lines: What a file shows.
        text: What was read from it.

    Returns:
        Start and end in each line; neighbours with nothing but white space between are one.
    """
    held = words(text)
    known = Counter(held)
    found = [list(_tokens(line)) for line in lines]
    for number, _ in enumerate(lines[:-1]):
        _join_torn(lines[number], found[number], found[number + 1], known)
    whole, left = _whole_lines(found, held)
    return tuple(
        () if number in whole else tuple(_joined(line, _missing(found[number], left)))
        for number, line in enumerate(lines)
    )


def _tokens(line: str) -> Iterator[_Token]:
    folded, places = _folded(line)
    for match in WORD.finditer(folded):
        last = places[match.end() - 1]
        yield _Token((places[match.start()], places[bisect_right(places, last)]), match.group())


def _folded(line: str) -> tuple[str, Sequence[int]]:
    """Return a line as words are compared, and for each of its characters where it comes from."""
    if line.isascii():
        return line.casefold(), range(len(line) + 1)
    folded, places, start = "", list[int](), 0
    for end in range(1, len(line) + 1):
        if end < len(line) and _goes_on(line[end]):
            continue
        piece = unicodedata.normalize("NFKC", line[start:end]).casefold()
        folded += piece
        places += [start] * len(piece)
        start = end
    return folded, [*places, len(line)]


def _goes_on(character: str) -> bool:
    """Whether a character may be composed with the one before it: a mark, or Hangul."""
    return bool(unicodedata.combining(character)) or "\u1160" <= character <= "\u11ff"


def _join_torn(line: str, tokens: list[_Token], below: list[_Token], known: Counter[str]) -> None:
    """Take a word that a hyphen tears over two lines for one, where the text holds it so."""
    if not tokens or not below or line.rstrip()[-1:] not in _HYPHENS:
        return
    whole = tokens[-1].word + below[0].word
    if whole in known:
        tokens[-1] = tokens[-1]._replace(word=whole)
        below[0] = below[0]._replace(word="")


def _whole_lines(
    found: Sequence[Sequence[_Token]], held: Sequence[str]
) -> tuple[set[int], Counter[str]]:
    """Return the lines whose words stand in a row in the text, and the words left over."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place in range(len(held) - 1, -1, -1):  # the first one last, to be taken off
        places[held[place]].append(place)
    used = bytearray(len(held))
    whole: set[int] = set()
    wanted = [[token.word for token in tokens if token.word] for tokens in found]
    for number in sorted(range(len(wanted)), key=lambda number: -len(wanted[number])):
        row = wanted[number]
        if not row:
            whole.add(number)
            continue
        rarest = min(range(len(row)), key=lambda at: len(places.get(row[at], ())))
        known = places.get(row[rarest], [])
        while known and used[known[-1]]:
            known.pop()
        for place in islice(reversed(known), _MOST_TRIES):
            start, end = place - rarest, place - rarest + len(row)
            if start >= 0 and held[start:end] == row and not any(used[start:end]):
                used[start:end] = b"\1" * len(row)
                whole.add(number)
                break
    return whole, Counter(word for word, is_used in zip(held, used, strict=True) if not is_used)


def _missing(tokens: Sequence[_Token], left: Counter[str]) -> Iterator[Span]:
    for token in tokens:
        if token.word and not left[token.word]:
            yield token.span
        elif token.word:
            left[token.word] -= 1


def _joined(line: str, spans: Iterator[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in spans:
        if joined and not line[joined[-1][1] : start].strip():
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
