"""Running headers, footers and page numbers of a PDF: what repeats at the edge of its pages.

A line is dropped only where nothing is lost with it: it says exactly what the same edge said on
the page before, or it counts the pages. Where the pages are filled from one template, such as
invoices printed to one file, almost everything looks like a running line, and much less is
taken for one. What was dropped is kept in a notice.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from chapterhouse.reading.pdf_page import Line, PageLayout
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
    counting = frozenset(_counting(edges, filled=filled))
    others = [edge for edge in edges if edge.place not in counting]
    least = max(_LEAST_PAGES, _NEARLY_ALL * len(pages)) if filled else _LEAST_PAGES
    repeated = frozenset(_repeated(others, least))
    dropped = counting | repeated
    return dropped, tuple(_notices(edge for edge in edges if edge.place in dropped))


def _edge_lines(pages: Sequence[PageLayout]) -> Iterator[_Edge]:
    for number, page in enumerate(pages):
        for index, line in enumerate(page.lines):
            if _is_at_edge(line, page) and not line.table and not line.sideways:
                yield _Edge((number, index), line)


def _is_at_edge(line: Line, page: PageLayout) -> bool:
    return not _EDGE < line.box.middle / page.height < 1 - _EDGE


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


def _counting(edges: Sequence[_Edge], *, filled: bool) -> Iterator[Place]:
    """Yield the lines whose number grows with the pages and whose other text stays the same.

    In a filled template a number may count invoices as well as pages: there it must say that it
    is a page's, or be the number of the page itself, alone.
    """
    found: defaultdict[tuple[int, str], list[tuple[Place, bool]]] = defaultdict(list)
    for edge in edges:
        numbered = _numbered(edge)
        if numbered is None:
            continue
        alone = not numbered.rest and numbered.offset == 1
        if not filled or numbered.stated or alone:
            key = (numbered.offset, numbered.rest)
            found[key].append((edge.place, bool(numbered.rest)))
    for places in found.values():
        if len({page for (page, _), _ in places}) >= _LEAST_PAGES:
            first = min(place for place, _ in places)
            yield from (place for place, named in places if not (named and place == first))


def _numbered(edge: _Edge) -> _Numbered | None:
    page, line = edge.place[0], edge.line
    if whole := _STATED.fullmatch(line.text):
        return _Numbered(_value(whole) - page, "", stated=True)
    if whole := _BARE.fullmatch(line.text):
        return _Numbered(_value(whole) - page, "", stated=False)
    if ending := _STATED_AT_END.fullmatch(line.text):
        return _Numbered(_value(ending) - page, ending["rest"].casefold(), stated=True)
    for alone, rest in ((line.parts[:1], line.parts[1:]), (line.parts[-1:], line.parts[:-1])):
        if rest and (number := _BARE.fullmatch(alone[0])):
            return _Numbered(_value(number) - page, " ".join(rest).casefold(), stated=False)
    return None


def _value(match: re.Match[str]) -> int:
    found = match.groupdict()
    text = (found["number"] or found.get("other") or "0").lower()
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


def _notices(dropped: Iterable[_Edge]) -> Iterator[Notice]:
    """Yield one notice that says what was dropped, the same texts with their pages."""
    pages: defaultdict[str, list[int]] = defaultdict(list)
    texts: dict[str, str] = {}
    for (page, _), line in dropped:
        key = _masked(line.text)
        texts.setdefault(key, line.text)
        pages[key].append(page + 1)
    if not pages:
        return
    count = sum(map(len, pages.values()))
    named = "; ".join(_quoted(texts, pages))
    sentence = f"{count:,} running headers, footers and page numbers are not in the text: {named}."
    yield Notice("running-lines", sentence)


def _quoted(texts: Mapping[str, str], pages: Mapping[str, Sequence[int]]) -> Iterator[str]:
    for key in list(texts)[:_MOST_NAMED]:
        where = f"page {pages[key][0]}"
        if len(pages[key]) > 1:
            where = f"{len(pages[key])} times, pages {pages[key][0]} to {pages[key][-1]}"
        yield f"“{texts[key][:_LONGEST_NAMED]}” ({where})"
    if len(texts) > _MOST_NAMED:
        yield f"and {len(texts) - _MOST_NAMED} more"
