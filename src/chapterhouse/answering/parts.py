"""Parts of an answer: a sentence with only what it needs to be understood, and how it reads.

An item of a list goes with the line that leads in to it, what leads in with what follows it, code
with the sentence before it, a row with the heading row of its table. A part is one or two spans of
its document, shown one behind the other; nothing in them is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from chapterhouse.text.counting import count_words
from chapterhouse.text.markdown import MARKED, PLAIN, plain_text, sentence_spans, table_cells
from chapterhouse.types import Hit, Kind, Range

_REACH: Final = 1_500  # characters on either side of a sentence that are looked at
_LONGEST_LEAD: Final = 30  # words
_HEADING_WORDS: Final = 12
_CREDIT_WORDS: Final = 4  # fewer without an end say nothing anywhere
_LEAD_INS: Final = 3  # that lead in to one another
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•‣▪]|\(?\d{1,3}[.)]|\(?(?:[a-z]|[ivx]{2,5})[.)])[ \t]+\S")
_CODE: Final = re.compile(r"(?:\t| {4,})\S")
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
_QUOTES: Final = re.compile(r"\s*(?:>\s*)+")
_HASHES: Final = re.compile(r"\s*#{1,6}\s+")
_ESCAPE: Final = re.compile(r"\s*\\(?=#|[|>]|`{3}|~{3})")
# A plus before a number is its sign.
_BULLET: Final = re.compile(r"\s*(?:[-*•‣▪]|\+(?!\s*[\d.,$€£]))[ \t]+")
_LEADS_IN: Final = (":", "：")
_ENDS: Final = (".", "!", "…", "。", "！", ";", "؟", ")")
_QUESTION: Final = ("?", "？", "؟")
# "Deadline: 3 May" is as short as a heading, and says something; "Clause 3" does not.
_STATES: Final = re.compile(r"\w:\s+\S|(?:\S+\s+){5}.*\d|\d.*(?:\s+\S+){5}")
_SAYS_SOMETHING: Final = re.compile(r"[^\W_]")
_PICTURE: Final = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_REFERENCES: Final = re.compile(r"\[\d+\]")  # to notes
# "By: J. Smith", "Name: ____", "/s/ J. Smith", dots to write on.
_FORM: Final = re.compile(
    r"_{3,}|\.{6,}|…{3,}|(?:^|\s)/s/\s|(?im:^\W*by\s*:|\bin witness whereof\b)"
)


@dataclass(frozen=True, slots=True)
class Part:
    """What is quoted.

    Attributes:
        spans: One or two spans of the document's text, in order.
        core: The span of the sentence for which it was chosen.
        shown: Items of its list that are shown, and all that it has; (0, 0) where it is none.
        header: The heading row of the table of which it is a row; or empty.
        columns: Numbers of the columns that were asked about.
        note: By what it was chosen, where that was computed; or empty.
    """

    hit: Hit
    spans: tuple[Range, ...]
    core: Range
    shown: tuple[int, int] = (0, 0)
    header: str = ""
    columns: frozenset[int] = frozenset()
    note: str = ""

    def text(self, body: str) -> str:
        """Return the part as it is shown, out of its document's text."""
        return "\n".join(
            render_part(body[slice(*span)], self.hit.document.format, self.header, self.columns)
            for span in self.spans
        )


def part_of(text: str, hit: Hit, core: Range, words: int) -> Part | None:
    """Return the part that a sentence needs; None where it says nothing.

    A heading, a question, a line of a form and what leads in to nothing say nothing.

    Args:
        core: The sentence, from its first to its last visible character.
        words: At most so many of a list or table behind what leads in to it.
    """
    start, end = core
    own = text[start:end]
    if not _SAYS_SOMETHING.search(_REFERENCES.sub("", _PICTURE.sub("", own))):
        return None
    lines = _lines(text, max(start - _REACH, 0), min(end + _REACH, len(text)))
    at = next((n for n, line in enumerate(lines) if line[0] <= start < line[1]), None)
    if own.startswith("|") or at is None:
        return Part(hit, (core,), core)
    is_item = _ITEM.match(text, *lines[at]) is not None
    if not is_item and _is_code(text, lines[at], hit):
        return _code(text, hit, core, lines, at)
    if _leads_in(own):
        return _with_what_follows(text, hit, core, words - count_words(own))
    asks = own.rstrip("*_ ").endswith(_QUESTION)
    if asks or _FORM.search(own) or (not is_item and _is_heading(text, core, lines[at])):
        return None
    return _item(text, hit, core, lines, at) if is_item else Part(hit, (core,), core)


def _leads_in(sentence: str) -> bool:
    return sentence.rstrip("*_ ").endswith(_LEADS_IN)


def _is_heading(text: str, core: Range, line: Range) -> bool:
    """Whether a sentence says nothing by itself: a line of its own, or a credit."""
    shown = text[slice(*core)].strip()
    if text.startswith("#", line[0]):  # "## 9. Force Majeure" begins with a number
        return True
    alone = not text[line[0] : core[0]].strip() and not text[core[1] : line[1]].strip()
    count = len(shown.split())
    alone = alone or count < _CREDIT_WORDS  # "Photo: J. Smith/Agency" behind a sentence
    short = count <= _HEADING_WORDS and not _STATES.search(shown)
    bold = shown.startswith("**") and shown.endswith("**")
    return alone and short and (bold or not shown.rstrip('*_"”’» ').endswith(_ENDS))


def _item(text: str, hit: Hit, core: Range, lines: Sequence[Range], at: int) -> Part:
    """Return an item with what leads in to its list."""
    items, lead_line = _list_around(text, lines, at)
    lead = _lead(text, lead_line) if lead_line else None
    own = next((n for n, item in enumerate(items) if item[0] <= core[0] < item[1]), None)
    shown = (1, len(items)) if own is not None and len(items) > 1 else (0, 0)
    if lead is None:
        return Part(hit, (core,), core, shown)
    if own == 0:
        return Part(hit, ((lead[0], core[1]),), core, shown)
    return Part(hit, (lead, core), core, shown)


def _with_what_follows(
    text: str, hit: Hit, core: Range, words: int, depth: int = _LEAD_INS
) -> Part | None:
    """Return what leads in with the list, code, table or sentence behind it; None without any."""
    start, end = core
    lines = _lines(text, end, min(end + _REACH, len(text)))
    after = next(
        (n for n, line in enumerate(lines) if text[slice(*line)].strip() and line[0] >= end), None
    )
    following = _next_sentence(text, end, min(end + _REACH, len(text)))
    if after is None or following is None:
        return None
    first = lines[after]
    if following[0] < first[0]:  # in the same line
        after = None
    if after is not None and (_ITEM.match(text, *first) or text.startswith("|", first[0])):
        stop, shown = _as_many(text, _rows(text, lines, after), words)
        return Part(hit, ((start, stop),), core, shown) if stop else None
    if after is not None and _is_code(text, first, hit):
        code = _code(text, hit, _trim(text, first), lines, after)
        return Part(hit, ((start, code.spans[-1][1]),), core)
    if text.startswith("#", following[0]):
        return None
    if _leads_in(text[slice(*following)]):
        further = _with_what_follows(text, hit, following, words, depth - 1) if depth else None
        return Part(hit, ((start, further.spans[-1][1]),), core, further.shown) if further else None
    return Part(hit, ((start, following[1]),), core)


def _rows(text: str, lines: Sequence[Range], at: int) -> list[Range]:
    """Return the items of a list, or the rows of a table; its heading row is one with the first."""
    first = lines[at][0]
    if not text.startswith("|", first):
        return [item for item in _list_around(text, lines, at)[0] if item[0] >= first]
    rows = list(takewhile(lambda line: text.startswith("|", line[0]), lines[at:]))
    return [(rows[0][0], rows[min(2, len(rows) - 1)][1]), *rows[3:]]


def _as_many(text: str, rows: Sequence[Range], words: int) -> tuple[int, tuple[int, int]]:
    """Return where the rows or items end that fit, and how many of all these are.

    The last of them is none that leads in to further ones; (0, …) where all of them do.
    """
    count = 0
    for start, end in rows:
        words -= count_words(text[start:end].replace("|", " "))
        if words < 0 and count:
            break
        count += 1
    while count and _leads_in(text[slice(*_trim(text, rows[count - 1]))]):
        count -= 1
    stop = _trim(text, rows[count - 1])[1] if count else 0
    return stop, (count, len(rows)) if count < len(rows) else (0, 0)


def _next_sentence(text: str, end: int, high: int) -> Range | None:
    found = (_trim(text, span) for span in sentence_spans(text, end, high))
    return next((own for own in found if own[0] < own[1]), None)


def _lines(text: str, low: int, high: int) -> list[Range]:
    """Return the lines between two places, without their line feeds."""
    first = text.rfind("\n", 0, low) + 1
    found: list[Range] = []
    while first < high:
        stop = _line_end(text, first)
        found.append((first, stop))
        first = stop + 1
    return found


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


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


def _trim(text: str, span: Range) -> Range:
    start, end = span
    shown = text[start:end]
    begin = start + len(shown) - len(shown.lstrip())
    return begin, max(begin, start + len(shown.rstrip()))


# --- how it reads --------------------------------------------------------------------------------


def render_part(
    quote: str, format_: str = "md", header: str = "", asked: frozenset[int] = frozenset()
) -> str:
    """Return a quotation without the marks of Markdown; lists and code keep their lines.

    Marks that are the text itself, as in a plain text, stay.

    Args:
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
    escape = None if format_ in PLAIN else _ESCAPE.match(text, begin)
    if escape:
        return ("- " if bullet else "") + plain_text(text[escape.end() :], format_)
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
