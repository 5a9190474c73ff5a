"""Whole parts of passages: a sentence with what it needs to be understood.

The items of a list go with the line that leads in to them, code with the sentence before it, a
sentence that points back with the one it points to, a heading with what follows it. A part is
one or two spans of its document, shown one behind the other; nothing in them is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from chapterhouse.text.language_data import points_back
from chapterhouse.text.markdown import MARKED, PLAIN, plain_text, table_cells
from chapterhouse.text.sentences import sentence_spans
from chapterhouse.types import Hit, Kind, Range

_REACH: Final = 1_500  # characters on either side of a sentence that are looked at
_LONGEST_LEAD: Final = 60  # words
_HEADING_WORDS: Final = 12
_LEAD_INS: Final = 3  # that lead in to one another
_TABLE_WORDS: Final = 60  # of a table behind what leads in to it
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•‣▪]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+\S")
_CODE: Final = re.compile(r"(?:\t| {4,})\S")
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
_QUOTES: Final = re.compile(r"\s*(?:>\s*)+")
_HASHES: Final = re.compile(r"\s*#{1,6}\s+")
# A plus before a number is its sign.
_BULLET: Final = re.compile(r"\s*(?:[-*•‣▪]|\+(?!\s*[\d.,$€£]))[ \t]+")
_LEADS_IN: Final = (":", "：")
_ENDS: Final = (".", "!", "?", "…", "。", "！", "？", ";", "؟")


@dataclass(frozen=True, slots=True)
class Part:
    """What is quoted.

    Attributes:
        hit: Where it was found.
        spans: One or two spans of the document's text, in order.
        core: The span of the sentence for which it was chosen.
        shown: Items of its list that are shown, and all that it has; (0, 0) where it is none.
        header: The heading row of the table of which it is a row; or empty.
        columns: Numbers of the columns that were asked about.
    """

    hit: Hit
    spans: tuple[Range, ...]
    core: Range
    shown: tuple[int, int] = (0, 0)
    header: str = ""
    columns: frozenset[int] = frozenset()

    def text(self, body: str) -> str:
        """Return the part as it is shown, out of its document's text."""
        return "\n".join(
            as_shown(body[slice(*span)], self.hit.document.format, self.header, self.columns)
            for span in self.spans
        )


def items_in(text: str) -> int:
    """Return the number of items of a list in a text."""
    return sum(_ITEM.match(line) is not None for line in text.splitlines())


def is_self_contained(text: str, core: Range) -> bool:
    """Whether a sentence says something by itself: no heading, and nothing that leads in."""
    line = text.rfind("\n", 0, core[0]) + 1, _line_end(text, core[1])
    return not _leads_in(text[slice(*core)]) and (
        _ITEM.match(text, *line) is not None or not _is_heading(text, core, line)
    )


def _leads_in(sentence: str) -> bool:
    return sentence.rstrip("*_ ").endswith(_LEADS_IN)


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def sentence_alone(_text: str, hit: Hit, core: Range, _all_items: int = 0) -> Part:
    """Return a sentence as a part, without what it needs."""
    return Part(hit, (core,), core)


def whole_part(text: str, hit: Hit, core: Range, all_items: int = 0) -> Part:
    """Return the part of a document's text that a sentence needs.

    Args:
        text: The document's canonical text, or what of it is at hand.
        hit: Where the sentence was found.
        core: The sentence, from its first to its last visible character.
        all_items: Show so many words of the list that the sentence begins or belongs to; 0 shows
            only the item itself.
    """
    return _complete(text, _with_its_needs(text, hit, core, all_items))


def _with_its_needs(  # noqa: PLR0911 - one return a form
    text: str, hit: Hit, core: Range, all_items: int
) -> Part:
    start, end = core
    if text.startswith("|", text.rfind("\n", 0, start) + 1):
        return Part(hit, (core,), core)
    low, high = max(start - _REACH, 0), min(end + _REACH, len(text))
    lines = _lines(text, low, high)
    at = next((n for n, line in enumerate(lines) if line[0] <= start < line[1]), None)
    if at is None:
        return Part(hit, (core,), core)
    if _ITEM.match(text, lines[at][0], lines[at][1]):
        return _item(text, hit, core, lines, at, all_items)
    if _is_code(text, lines[at], hit):
        return _code(text, hit, core, lines, at)
    if _leads_in(text[start:end]) or _is_heading(text, core, lines[at]):
        return _with_what_follows(text, hit, core, all_items)
    if points_back(text[start:end], hit.document.language):
        before = _sentence_before(text, low, start)
        return Part(hit, ((before[0], end) if before else core,), core)
    return Part(hit, (core,), core)


def _lines(text: str, low: int, high: int) -> list[Range]:
    """Return the lines between two places, without their line feeds."""
    first = text.rfind("\n", 0, low) + 1
    found: list[Range] = []
    while first < high:
        stop = _line_end(text, first)
        found.append((first, stop))
        first = stop + 1
    return found


def _item(
    text: str, hit: Hit, core: Range, lines: Sequence[Range], at: int, all_items: int
) -> Part:
    """Return an item with what leads in to its list, and with as many of the others as wanted."""
    items, lead_line = _list_around(text, lines, at)
    own = next((n for n, item in enumerate(items) if item[0] <= core[0] < item[1]), None)
    if own is None:
        return Part(hit, (core,), core)
    items[own] = items[own][0], max(items[own][1], core[1])
    lead = _lead(text, lead_line) if lead_line else None
    first = last = own
    words = len(text[slice(*items[own])].split())
    while all_items:  # grows on both sides while there is room
        below = last + 1 < len(items) and len(text[slice(*items[last + 1])].split())
        above = first > 0 and len(text[slice(*items[first - 1])].split())
        if below and words + below <= all_items:
            last, words = last + 1, words + below
        elif above and words + above <= all_items:
            first, words = first - 1, words + above
        else:
            break
    span = items[first][0], items[last][1]
    shown = (last - first + 1, len(items)) if len(items) > 1 else (0, 0)
    if lead is None:
        return Part(hit, (span,), core, shown)
    if first == 0:
        return Part(hit, ((lead[0], span[1]),), core, shown)
    return Part(hit, (lead, span), core, shown)


def _complete(text: str, part: Part, depth: int = _LEAD_INS) -> Part:
    """Return a part, with what follows where its end leads in to that."""
    start, end = part.spans[-1]
    if not depth or text.startswith("|", start) or not _leads_in(text[start:end]):
        return part
    further = _with_what_follows(text, part.hit, (start, end), 0, depth - 1)
    count, every = part.shown
    added = text[end : further.spans[-1][1]].splitlines()
    count = min(count + sum(_ITEM.match(line) is not None for line in added), every)
    return replace(part, spans=(*part.spans[:-1], further.spans[-1]), shown=(count, every))


def _list_around(text: str, lines: Sequence[Range], at: int) -> tuple[list[Range], Range | None]:
    """Return the items of the list of a line, and the line before the first."""
    within = _of_list(text, lines)
    first = at
    while first > 0 and within[first - 1]:
        first -= 1
    last = at
    while last + 1 < len(lines) and within[last + 1]:
        last += 1
    items: list[Range] = []
    for start, stop in lines[first : last + 1]:
        if _ITEM.match(text, start, stop):
            items.append((start, stop))
        elif items and text[start:stop].strip():
            items[-1] = (items[-1][0], stop)
    before = first - 1
    while before >= 0 and not text[slice(*lines[before])].strip():
        before -= 1
    trimmed = [_trim(text, item) for item in items]
    return trimmed, lines[before] if before >= 0 else None


def _of_list(text: str, lines: Sequence[Range]) -> list[bool]:
    """Return of each line whether it is an item, goes on with one, or is empty between two."""
    found: list[bool] = []
    for at, (start, stop) in enumerate(lines):
        own = _ITEM.match(text, start, stop) is not None
        if not own and not text[start:stop].strip():
            around = [n for n in (at - 1, at + 1) if 0 <= n < len(lines)]
            own = len(around) == 2 and all(  # noqa: PLR2004 - one on either side
                _ITEM.match(text, *lines[n]) or text.startswith((" ", "\t"), lines[n][0])
                for n in around
            )
        elif not own and at and found[-1]:
            above = text[slice(*lines[at - 1])].strip()
            goes_on = above and not text.startswith(("#", "|", "```", "~~~", ">"), start)
            own = bool(goes_on) or text.startswith(("  ", "\t"), start)
        found.append(own)
    return found


def _lead(text: str, line: Range) -> Range | None:
    """Return the last sentence of a line, where it leads in to what follows."""
    spans = list(sentence_spans(text, *line))
    if not spans:
        return None
    start, end = _trim(text, spans[-1])
    found = text[start:end]
    leads = _leads_in(found) and len(found.split()) <= _LONGEST_LEAD
    return (start, end) if leads and not found.startswith(("#", "|")) else None


def _with_what_follows(
    text: str, hit: Hit, core: Range, all_items: int, depth: int = _LEAD_INS
) -> Part:
    """Return a heading or what leads in, with the list, code, table or sentence that follows."""
    start, end = core
    lines = _lines(text, end, min(end + _REACH, len(text)))[1:]
    after = next((n for n, line in enumerate(lines) if text[slice(*line)].strip()), None)
    if after is None:
        return Part(hit, (core,), core)
    first = lines[after]
    if _ITEM.match(text, *first):
        found = _item(text, hit, first, lines, after, max(all_items, 1))
        found = _complete(text, found, depth)
        return Part(hit, ((start, found.spans[-1][1]),), core, found.shown)
    if text.startswith("|", first[0]):
        stop, shown = _table(text, lines, after, max(all_items, _TABLE_WORDS))
        return Part(hit, ((start, stop),), core, shown)
    if _is_code(text, first, hit):
        code = _code(text, hit, _trim(text, first), lines, after)
        return Part(hit, ((start, code.spans[-1][1]),), core)
    following = _next_sentence(text, end, min(end + _REACH, len(text))) or core
    further = Part(hit, (following,), following)
    if depth and following != core and _leads_in(text[slice(*following)]):
        further = _with_what_follows(text, hit, following, all_items, depth - 1)
    return Part(hit, ((start, further.spans[-1][1]),), core, further.shown)


def _table(text: str, lines: Sequence[Range], at: int, words: int) -> tuple[int, tuple[int, int]]:
    """Return where the rows end of a table that are shown, and how many of all rows these are."""
    rows = list(takewhile(lambda line: text.startswith("|", line[0]), lines[at:]))
    rows = rows[:1] + rows[2:]  # without the row of lines below the heading
    shown_rows = 1
    for row in rows[1:]:
        words -= len(text[slice(*row)].replace("|", " ").split())
        if words < 0 and shown_rows > 1:
            break
        shown_rows += 1
    stop = _trim(text, rows[shown_rows - 1])[1]
    return stop, (shown_rows - 1, len(rows) - 1) if shown_rows < len(rows) else (0, 0)


def _is_code(text: str, line: Range, hit: Hit) -> bool:
    fenced = _FENCE.match(text, *line) is not None
    return hit.chunk.kind is Kind.CODE or fenced or _CODE.match(text, *line) is not None


def _code(text: str, hit: Hit, core: Range, lines: Sequence[Range], at: int) -> Part:
    """Return lines of code with the sentence that leads in to them."""
    fenced = _FENCE.match(text, *lines[at]) is not None
    before = at - 1
    while before >= 0 and not fenced and _continues(text, lines, before):
        before -= 1
    while before >= 0 and not text[slice(*lines[before])].strip():
        before -= 1
    after = at
    if fenced:
        inside = range(at + 1, len(lines))
        after = next((n for n in inside if _FENCE.match(text, *lines[n])), at)
    else:
        while after + 1 < len(lines) and _CODE.match(text, *lines[after + 1]):
            after += 1
    indented = fenced or _CODE.match(text, *lines[at])
    end = max(core[1], lines[after][1]) if indented else core[1]
    lead = _lead(text, lines[before]) if before >= 0 else None
    return Part(hit, (_trim(text, (lead[0] if lead else core[0], end)),), core)


def _continues(text: str, lines: Sequence[Range], at: int) -> bool:
    """Whether a line is indented code, or empty below such a line."""
    if not text[slice(*lines[at])].strip():
        return at > 0 and _CODE.match(text, *lines[at - 1]) is not None
    return _CODE.match(text, *lines[at]) is not None


def _is_heading(text: str, core: Range, line: Range) -> bool:
    """Whether a sentence is a line of its own that says nothing by itself."""
    shown = text[slice(*core)].strip()
    alone = not text[line[0] : core[0]].strip() and not text[core[1] : line[1]].strip()
    short = len(shown.split()) <= _HEADING_WORDS
    bold = shown.startswith("**") and shown.endswith("**")
    marked = text.startswith("#", line[0])  # "## 9. Force Majeure" begins with a number
    return marked or (alone and short and (bold or not shown.endswith(_ENDS)))


def _sentence_before(text: str, low: int, start: int) -> Range | None:
    """Return the sentence before one in the same paragraph, where it is short enough."""
    begin = max(text.rfind("\n\n", low, start) + 2, low) if "\n\n" in text[low:start] else low
    spans = list(sentence_spans(text, begin, start))
    if begin == low and low > 0:
        spans = spans[1:]  # the first may be half of one
    if not spans:
        return None
    found = _trim(text, spans[-1])
    plain = text[slice(*found)]
    usable = plain and not plain.startswith(("#", "|")) and len(plain.split()) <= _LONGEST_LEAD
    return found if usable else None


def _next_sentence(text: str, end: int, high: int) -> Range | None:
    found = (_trim(text, span) for span in sentence_spans(text, end, high))
    return next((own for own in found if own[0] < own[1] and text[own[0]] not in "#|"), None)


def _trim(text: str, span: Range) -> Range:
    start, end = span
    shown = text[start:end]
    begin = start + len(shown) - len(shown.lstrip())
    return begin, max(begin, start + len(shown.rstrip()))


# --- how it reads --------------------------------------------------------------------------------


def as_shown(
    quote: str, format_: str = "md", header: str = "", asked: frozenset[int] = frozenset()
) -> str:
    """Return a quotation without the marks of Markdown; lists and code keep their lines.

    Marks that are the text itself, as in a plain text, stay.

    Args:
        quote: The characters of the document.
        format_: Of the document.
        header: The heading row of the table of which the quotation is a row.
        asked: Numbers of the columns that were asked about: they and the first are shown, the
            rest is left out; none shows all.
    """
    if quote.startswith("|"):
        return "\n".join(
            _row(line, format_, header, asked) if line.startswith("|") else _plain(line, format_)
            for line in quote.splitlines()
        )
    return "\n".join(_joined(quote, format_))


def _joined(quote: str, format_: str) -> Iterator[str]:
    """Yield the lines of a quotation, those of one paragraph as one."""
    paragraph: list[str] = []
    in_code = False
    for line in quote.splitlines():
        fence = format_ not in PLAIN and _FENCE.match(line) is not None
        in_code = in_code != fence
        as_it_is = line.startswith("|") or _CODE.match(line) or in_code
        ends = as_it_is or _ITEM.match(line) or fence or not line.strip()
        if ends and paragraph:
            yield _plain(" ".join(paragraph), format_)
            paragraph = []
        if fence or not line.strip():
            continue
        if not as_it_is:
            paragraph.append(line.strip())
        elif not line.startswith("|") or in_code:
            yield line.rstrip()
        elif any(map(str.isalnum, line)):  # not the line below a heading row
            yield _row(line, format_, "", frozenset())
    if paragraph:
        yield _plain(" ".join(paragraph), format_)


def _plain(text: str, format_: str) -> str:
    """Return a line or paragraph without what its reader set before it; bullets are alike."""
    bullet = _BULLET.match(text)
    begin = bullet.end() if bullet else 0
    for mark, is_there in ((_QUOTES, format_ in MARKED), (_HASHES, format_ not in PLAIN)):
        found = mark.match(text, begin) if is_there else None
        begin = found.end() if found else begin
    return ("- " if bullet else "") + plain_text(text[begin:], format_)


def _row(row: str, format_: str, header: str, asked: frozenset[int]) -> str:
    cells = table_cells(row, format_)
    names = table_cells(header, format_) if header else []
    if len(names) != len(cells):
        return " · ".join(filter(None, cells))
    shown_columns = asked | {0} if asked - {0} else frozenset(range(len(cells)))
    return " · ".join(
        f"{name}: {cell}" if name else cell
        for number, (name, cell) in enumerate(zip(names, cells, strict=True))
        if cell and number in shown_columns
    )
