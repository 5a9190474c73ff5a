"""Running headers, footers and page numbers of a PDF: what repeats at the edge of its pages.

A line is dropped only where nothing is lost with it: it says exactly what the same edge said on
the page before, or it counts the pages. Where the pages are filled from one template, such as
invoices printed to one file, almost everything looks like a running line, and much less is
taken for one. What was dropped is kept in a notice.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from chapterhouse.reading.pdf.page import Line, PageLayout
from chapterhouse.types import Notice

_EDGE = 0.12  # share of the page's height at its top and bottom where running lines stand
_LEAST_PAGES = 3  # on which the same line must stand
_STEP = 2  # pages from one occurrence to the next: left and right pages may differ
_LEVEL = 6.0  # points by which its height may differ
_MANY = 0.4  # share of the pages with one line in the body, by which a template is known
_MOST = 0.6  # likewise for a line whose digits differ
_NEARLY_ALL = 0.9  # share of the pages on which a running line of such pages stands
_MOST_NAMED = 20  # running lines that the notice quotes
_LONGEST_NAMED = 200
_LEADING = 1.6  # sizes of the letters from one line of a paragraph to the next
_FULL = 0.8  # share of the widest line of the page that a line within a sentence has
_SENTENCE_ENDS = (".", "!", "?", ":", "…")
_DIGITS = re.compile(r"\d+")
_NUMERAL = r"\d{1,4}|[ivxlc]{1,7}"
_WORD = r"(?:page|seite|página|pagina|pág\.|pag\.|s\.|p\.|side|sida|strona|стр\.)"
_OF = r"\s*(?:of|von|de|di|sur|van|av|z|из|/)\s*\d{1,4}"
_BARE = re.compile(rf"[-–—|\s]*(?P<number>{_NUMERAL})[-–—|\s]*", re.IGNORECASE)
_STATED = re.compile(
    rf"(?:{_WORD}\s*[-–—|:]?\s*(?P<number>{_NUMERAL})(?:{_OF})?|(?P<other>{_NUMERAL}){_OF})[-–—|\s]*",
    re.IGNORECASE,
)
_STATED_AT_END = re.compile(rf"(?P<rest>.*[\s–—|,-]){_STATED.pattern}", re.IGNORECASE)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

Place = tuple[int, int]  # number of the page from 0, number of the line on it


class _Numbered(NamedTuple):
    """A line that may count the pages: its number less the page's, and the text beside it."""

    number: str
    offset: int
    rest: str
    stated: bool  # whether it says that the number is a page's


class _Edge(NamedTuple):
    place: Place
    line: Line


def running_lines(pages: Sequence[PageLayout]) -> tuple[frozenset[Place], tuple[Notice, ...]]:
    """Return the places of the lines that say nothing new, and a notice that quotes them."""
    edges = list(_edge_lines(pages))
    filled = _is_filled_template(pages)
    counting = dict(_counting(edges, filled=filled))
    others = [edge for edge in edges if edge.place not in counting]
    least = max(_LEAST_PAGES, _NEARLY_ALL * len(pages)) if filled else _LEAST_PAGES
    repeated = frozenset(_repeated(others, least))
    sentence = " ".join(_sentences(edges, counting, repeated))
    notices = (Notice("running-lines", sentence),) if sentence else ()
    return repeated.union(counting), notices


def _edge_lines(pages: Sequence[PageLayout]) -> Iterator[_Edge]:
    for number, page in enumerate(pages):
        for index, line in enumerate(page.lines):
            apart = _is_at_edge(line, page) and not line.table and not line.sideways
            if apart and not _runs_on(page.lines, index):
                yield _Edge((number, index), line)


def _is_at_edge(line: Line, page: PageLayout) -> bool:
    return not _EDGE < line.box.middle / page.height < 1 - _EDGE


def _runs_on(lines: Sequence[Line], index: int) -> bool:
    """Whether the line shares a sentence of the body with the line before or after it.

    A header may stand above the middle of a sentence, too, but not as near to it and as wide.
    """
    width = max(line.box.width for line in lines if not line.table)
    near = pairwise(lines[max(0, index - 1) : index + 2])
    return any(_is_sentence(one, other, width) for one, other in near)


def _is_sentence(one: Line, other: Line, width: float) -> bool:
    """Whether one sentence goes on from a line to the next, in one paragraph of this width."""
    leading = other.box.top - one.box.top
    return (
        not (one.table or other.table or len(one.parts) > 1)
        and (one.size, one.bold, one.sideways) == (other.size, other.bold, other.sideways)
        and 0 < leading <= _LEADING * one.size
        and one.box.width >= _FULL * width
        and other.text[:1].islower()
        and not one.text.endswith(_SENTENCE_ENDS)
    )


def _masked(text: str) -> str:
    return _DIGITS.sub("0", text).casefold()


def _is_filled_template(pages: Sequence[PageLayout]) -> bool:
    """Whether many pages have a line of the body in common, or nearly no body.

    With other digits the line must stand on most of the pages: headings have numbers too.
    """
    exact: Counter[str] = Counter()
    masked: Counter[str] = Counter()
    bare = 0
    for page in pages:
        body = {line.text for line in page.lines if not _is_at_edge(line, page)}
        exact.update(text for text in body if len(text) > 1)
        masked.update({_masked(text) for text in body if len(text) > 1})
        bare += 2 * sum(map(len, body)) < sum(len(line.text) for line in page.lines)
    return any(
        count >= max(_LEAST_PAGES, share * len(pages))
        for count, share in (
            (max(exact.values(), default=0), _MANY),
            (max(masked.values(), default=0), _MOST),
            (bare, _MANY),
        )
    )


def _counting(edges: Sequence[_Edge], *, filled: bool) -> Iterator[tuple[Place, _Numbered]]:
    """Yield places and numbers of lines whose number grows with the pages, their text the same.

    In a filled template a number may count invoices as well as pages: there it must say that it
    is a page's, or be the number of the page itself, alone.
    """
    found: defaultdict[tuple[int, str], list[tuple[Place, _Numbered]]] = defaultdict(list)
    for edge in edges:
        numbered = _numbered(edge)
        if numbered is None:
            continue
        alone = not numbered.rest and numbered.offset == 1
        if not filled or numbered.stated or alone:
            found[numbered.offset, numbered.rest].append((edge.place, numbered))
    for places in found.values():
        if len({page for (page, _), _ in places}) >= _LEAST_PAGES:
            first = min(place for place, _ in places)
            yield from (each for each in places if not (each[1].rest and each[0] == first))


def _numbered(edge: _Edge) -> _Numbered | None:
    page, line = edge.place[0], edge.line
    if whole := _STATED.fullmatch(line.text):
        return _counted(whole, page, "", stated=True)
    if whole := _BARE.fullmatch(line.text):
        return _counted(whole, page, "", stated=False)
    if ending := _STATED_AT_END.fullmatch(line.text):
        return _counted(ending, page, ending["rest"], stated=True)
    for alone, rest in ((line.parts[:1], line.parts[1:]), (line.parts[-1:], line.parts[:-1])):
        if rest and (number := _BARE.fullmatch(alone[0])):
            return _counted(number, page, " ".join(rest), stated=False)
    return None


def _counted(match: re.Match[str], page: int, rest: str, *, stated: bool) -> _Numbered:
    found = match.groupdict()
    number = found["number"] or found.get("other") or "0"
    return _Numbered(number, _value(number.lower()) - page, rest.casefold(), stated)


def _value(text: str) -> int:
    if text.isdecimal():
        return int(text)
    values = [_ROMAN[letter] for letter in text] + [0]
    return sum(-one if one < other else one for one, other in pairwise(values))


def _repeated(edges: Sequence[_Edge], least: float) -> Iterator[Place]:
    """Yield all but the first of the lines that say the same at one height, page after page.

    Where other pages have other digits in the line, those that agree do so by chance.
    """
    alike: defaultdict[str, list[_Edge]] = defaultdict(list)
    for edge in edges:
        alike[_masked(edge.line.text)].append(edge)
    for group in alike.values():
        for near in _at_one_height(group):
            if len({edge.line.text for edge in near}) == 1:
                yield from _in_a_row([edge.place for edge in near], least)


def _at_one_height(group: Sequence[_Edge]) -> Iterator[list[_Edge]]:
    ordered = sorted(group, key=lambda edge: edge.line.box.middle)
    near: list[_Edge] = []
    for edge in ordered:
        if near and edge.line.box.middle - near[-1].line.box.middle > _LEVEL:
            yield near
            near = []
        near.append(edge)
    if near:
        yield near


def _in_a_row(places: Sequence[Place], least: float) -> Iterator[Place]:
    """Yield all but the first of each run of places on enough pages that follow one another."""
    run: list[Place] = []
    for place in [*sorted(places), None]:
        if place is not None and (not run or place[0] - run[-1][0] <= _STEP):
            run.append(place)
            continue
        if len({page for page, _ in run}) >= least:
            yield from run[1:]
        run = [] if place is None else [place]


def _sentences(
    edges: Sequence[_Edge], counting: Mapping[Place, _Numbered], repeated: frozenset[Place]
) -> Iterator[str]:
    """Say what was dropped: page numbers, lines with page numbers, the same lines with pages."""
    bare: defaultdict[int, list[str]] = defaultdict(list)
    for each in counting.values():
        if not each.rest:
            bare[each.offset].append(each.number)
    if bare:
        ranges = ", ".join(f"{numbers[0]} to {numbers[-1]}" for numbers in bare.values())
        yield f"The page numbers {ranges} are not in the text."
    named = [edge for edge in edges if edge.place in counting and counting[edge.place].rest]
    if named:
        example = f"“{named[0].line.text[:_LONGEST_NAMED]}” on page {named[0].place[0] + 1}"
        yield (
            f"{len(named):,} running headers or footers with page numbers are not in the text, "
            f"as {example}."
        )
    pages: defaultdict[str, list[int]] = defaultdict(list)
    for (page, index), line in edges:
        if (page, index) in repeated:
            pages[line.text].append(page + 1)
    if pages:
        quoted = "; ".join(_quoted(pages))
        yield f"{len(repeated):,} running headers and footers are not in the text: {quoted}."


def _quoted(pages: Mapping[str, Sequence[int]]) -> Iterator[str]:
    for text, found in list(pages.items())[:_MOST_NAMED]:
        times = f"{len(found)} times, pages {found[0]} to {found[-1]}"
        yield f"“{text[:_LONGEST_NAMED]}” ({times if len(found) > 1 else f'page {found[0]}'})"
    if len(pages) > _MOST_NAMED:
        yield f"and {len(pages) - _MOST_NAMED} more"
