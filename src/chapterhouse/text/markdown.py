"""The shape of Markdown-like text: headings, tables, fenced code, paragraphs, sentences.

Only as much of CommonMark as is needed to cut and to cite: ATX and setext headings, fences, pipe
tables. Everything is found by offset, nothing is rewritten.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from chapterhouse import lazy_pattern
from chapterhouse.types import Section

ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DELIMITER_ROW = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_NOT_A_TITLE = re.compile(r"\s*(?:[-*+>|]|\d+[.)]\s|#|`{3}|~{3})")
_ESCAPE = r"\\([!-/:-@\[-`{-~])"
_LITERAL = re.compile(rf"{_ESCAPE}|(?<!`)(?P<ticks>`{{1,9}})(?!`)([^`\n]+)(?<!`)(?P=ticks)(?!`)")
_WEB_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:https?|mailto|ftp):[^)\s]*\)")
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^)]*\)")
# Between letters and digits a mark is none: 5*3*2, snake_case; scripts without spaces apart. Nor is
# it before a point or a slash: *.bak, **/*.log. A mark that nothing closes stays.
_IN_WORD = "0-9A-Za-z\u00aa-\u1fff"
_BEGINS = r"(?=[\w\"'“‘«(\[¿¡„$€£*_\ue000-\uf8ff])"
_EMPHASIS = tuple(
    re.compile(
        rf"(?<![{_IN_WORD}{mark}])({mark}{{1,3}}){_BEGINS}(?!{mark})"
        rf"([^{mark}]{{1,1000}})(?<!\s)\1(?![{_IN_WORD}{mark}])"
    )
    for mark in (r"\*", "_")
)
_DUNDER = re.compile(r"__\w+__")
_SIGN = re.compile(r"[\\`*_\[]")
_PRIVATE = "\ue000"  # which no sanitised text has
# Whose reader writes emphasis and links as Markdown; in other formats such marks are the text.
_EMPHASISED = frozenset({"md", "doc", "epub", "msg", "ppt", "rtf"})
# Whose reader writes code, quotations and backslashes so.
MARKED = _EMPHASISED | {"html"}
PLAIN = frozenset({"txt", "srt", "vtt"})  # which have no headings and no fences either

CELL = re.compile(r"(?<!\\)\|")


class BlockKind(StrEnum):
    """What a block of text is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines of one kind with the blank lines after it; blocks cover the text.

    ``level`` and ``title`` belong to headings; ``body_start`` is where a table's rows begin.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""
    body_start: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int  # behind the line feed
    text: str

    @property
    def blank(self) -> bool:
        return not self.text.strip()


def _lines(text: str) -> list[_Line]:
    lines, start = [], 0
    for line in text.split("\n"):
        end = min(start + len(line) + 1, len(text))
        lines.append(_Line(start, end, line))
        start = end
    if len(lines) > 1 and lines[-1].start == lines[-1].end:
        lines.pop()
    return lines


def plain_title(markdown: str) -> str:
    """Return a heading's text without emphasis, links and escapes."""
    return plain_text(markdown, "md")


def plain_text(text: str, format_: str) -> str:
    """Return text of a document as one line without what its format's reader wrote as Markdown."""
    shown = (text[one.start : one.end] for one in inline_parts(text, format_))
    return " ".join("".join(shown).split())


class Emphasis(StrEnum):
    """How words stand out, called as HTML calls it."""

    STRONG = "strong"
    STRESS = "em"
    CODE = "code"


class Inline(NamedTuple):
    """Characters ``[start, end)`` of a text that are words and no marks."""

    start: int
    end: int
    emphasis: tuple[Emphasis, ...] = ()


_Left = tuple[int, int, tuple[Emphasis, ...]]
_STRENGTHS = ((Emphasis.STRESS,), (Emphasis.STRONG,), (Emphasis.STRONG, Emphasis.STRESS))


def inline_parts(text: str, format_: str) -> list[Inline]:
    """Return what is left of text without what its format's reader wrote as Markdown, in order."""
    is_marked = format_ in MARKED
    if not (_SIGN.search(text) if is_marked else format_ == "docx" and "](" in text):
        return [Inline(0, len(text))]
    marked = _Marked(text)
    if is_marked:
        marked.take_out(_LITERAL, _literal)  # what is escaped or code has no marks in it
    else:  # links are the only marks
        marked.take_out(_WEB_LINK, _linked)
    before = ""
    while format_ in _EMPHASISED and before != marked.text:  # one within another
        before = marked.text
        marked.take_out(_LINK, _linked)
        for pattern in _EMPHASIS:
            marked.take_out(pattern, _emphasised)
    return list(marked.parts())


class _Marked:
    """A text whose marks are taken out pattern by pattern; each character knows where it stood."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places = list(range(len(text)))
        self._literals: dict[int, int] = {}  # where each begins and ends
        self._emphasis: dict[int, tuple[Emphasis, ...]] = {}

    def take_out(self, pattern: re.Pattern[str], left: Callable[[re.Match[str]], _Left]) -> None:
        """Leave a part of each match; of a literal one character that is no mark."""
        texts: list[str] = []
        places: list[int] = []
        at = 0
        for found in pattern.finditer(self.text):
            start, end, emphasis = left(found)
            inside = self._places[start:end]
            for place in inside if emphasis else ():
                self._emphasis[place] = (*emphasis, *self._emphasis.get(place, ()))
            texts += (self.text[at : found.start()], self.text[start:end])
            if pattern is _LITERAL:
                self._literals[start] = end
                texts[-1], inside = _PRIVATE, inside[:1]
            places += self._places[at : found.start()] + inside
            at = found.end()
        if at:
            self.text = "".join((*texts, self.text[at:]))
            self._places = places + self._places[at:]

    def parts(self) -> Iterator[Inline]:
        """Yield the characters that are left, those that stand out alike together."""
        start = end = 0
        emphasis: tuple[Emphasis, ...] = ()
        for place in (*self._places, -1):
            found = self._emphasis.get(place, ())
            if place != end or found != emphasis:
                if start < end:
                    yield Inline(start, end, emphasis)
                start, emphasis = place, found
            end = self._literals.get(place, place + 1)


def _literal(found: re.Match[str]) -> _Left:
    """Return what is shown of a character that is escaped, or of code, without spaces around it."""
    if found[1]:
        return *found.span(1), ()
    code, start = found[3], found.start(3)
    first = start + len(code) - len(code.lstrip()) if code.strip() else start
    return first, first + len(code.strip() or code), (Emphasis.CODE,)


def _linked(found: re.Match[str]) -> _Left:
    return *found.span(1), ()


def _emphasised(found: re.Match[str]) -> _Left:
    if _DUNDER.fullmatch(found[0]):  # ``__init__`` is a name
        return *found.span(), ()
    return *found.span(2), _STRENGTHS[len(found[1]) - 1]


def table_cells(row: str, format_: str = "md") -> list[str]:
    """Return the cells of a table's row without what its document's reader wrote as Markdown."""
    inner = row.strip().removeprefix("|").removesuffix("|")
    cells = (cell.replace("\\|", "|") for cell in CELL.split(inner))
    return [plain_text(cell, format_) for cell in cells]


def table_header(text: str, position: int) -> str:
    """Return the heading row of the table whose row begins at ``position``; empty without one.

    A row without names is none.
    """
    header, end = "", position
    below = _line_at(text, text.find("\n", position) + 1)
    while "|" in (line := _line_at(text, end)):
        if _DELIMITER_ROW.match(below):
            header = line
        below = line
        end = text.rfind("\n", 0, end)
        if end < 0:
            break
    return header.strip() if any(map(str.isalnum, header)) else ""


def _line_at(text: str, position: int) -> str:
    """Return the line that holds ``position``, or that ends there."""
    end = text.find("\n", position)
    return text[text.rfind("\n", 0, position) + 1 : end if end >= 0 else len(text)]


def blocks(text: str) -> tuple[Block, ...]:
    """Cut ``text`` into blocks that follow one another and cover it."""
    lines = _lines(text) if text else []
    found = []
    position = 0
    while position < len(lines):
        stop, kind, level, title, body = _block_at(lines, position)
        while stop < len(lines) and lines[stop].blank:
            stop += 1
        start, end = lines[position].start, lines[stop - 1].end
        found.append(Block(kind, start, end, level, title, body))
        position = stop
    return tuple(found)


def _block_at(lines: list[_Line], position: int) -> tuple[int, BlockKind, int, str, int]:
    """Return where the block at ``position`` stops, its kind, level, title and body start."""
    line = lines[position]
    heading = ATX.match(line.text)
    if heading:
        title = plain_title(heading.group(2) or "")
        return position + 1, BlockKind.HEADING, len(heading.group(1)), title, 0
    fence = FENCE.match(line.text)
    if fence:
        return _fence_end(lines, position, fence.group(1)), BlockKind.CODE, 0, "", 0
    if _is_table(lines, position):
        stop = position + 2
        while stop < len(lines) and "|" in lines[stop].text:
            stop += 1
        body = lines[position + 2].start if position + 2 < len(lines) else lines[position + 1].end
        return stop, BlockKind.TABLE, 0, "", body
    if _is_setext(lines, position):
        level = 1 if "=" in lines[position + 1].text else 2
        return position + 2, BlockKind.HEADING, level, plain_title(line.text), 0
    return _paragraph_end(lines, position), BlockKind.PARAGRAPH, 0, "", 0


def _fence_end(lines: list[_Line], position: int, mark: str) -> int:
    for index in range(position + 1, len(lines)):
        closing = lines[index].text.strip()
        if len(closing) >= len(mark) and not closing.strip(mark[0]):
            return index + 1
    return len(lines)


def _is_table(lines: list[_Line], position: int) -> bool:
    return (
        position + 1 < len(lines)
        and "|" in lines[position].text
        and "|" in lines[position + 1].text
        and _DELIMITER_ROW.match(lines[position + 1].text) is not None
    )


def _is_setext(lines: list[_Line], position: int) -> bool:
    return (
        position + 1 < len(lines)
        and not lines[position].blank
        and len(lines[position].text) <= 200  # noqa: PLR2004 - a title, not a paragraph
        and _SETEXT.match(lines[position + 1].text) is not None
        and _NOT_A_TITLE.match(lines[position].text) is None
        and (position == 0 or lines[position - 1].blank)
    )


def _paragraph_end(lines: list[_Line], position: int) -> int:
    stop = position + 1
    while stop < len(lines) and not lines[stop].blank:
        text = lines[stop].text
        if ATX.match(text) or FENCE.match(text) or _is_table(lines, stop):
            break
        stop += 1
    return stop


def sections(text: str, found: tuple[Block, ...]) -> tuple[Section, ...]:
    """Return the sections that the headings among ``found`` open; they cover ``text``."""
    if not text:
        return ()
    result: list[Section] = []
    trail: list[tuple[int, str]] = []
    start, level = 0, 0
    path: tuple[str, ...] = ()
    for block in found:
        if block.kind is not BlockKind.HEADING or not block.title:
            continue
        if block.start > start:
            result.append(Section(len(result), level, path, start, block.start))
        while trail and trail[-1][0] >= block.level:
            trail.pop()
        trail.append((block.level, block.title))
        start, level, path = block.start, block.level, tuple(title for _, title in trail)
    result.append(Section(len(result), level, path, start, len(text)))
    return tuple(result)


# --- sentences ----------------------------------------------------------------------------------

# Rules, not a model: the same text gives the same sentences everywhere, at some ten megabytes a
# second. A sentence ends at a terminator and what closes behind it, when what follows can start a
# sentence; at a blank line; at the end of a heading; and at a line that starts a list item, table
# row or heading. Known abbreviations, initials, numbers and ordinals do not end one, nor does a
# short word before a number ("Misd. 2"); nothing ends one inside a table row. Chinese and Japanese
# terminators need no space behind them.
_ABBREVIATION_LIST = """
    mr mrs ms dr prof sr jr st vs etc e.g eg i.e ie cf al misd fig figs eq eqs sec ch vol no nos
    pp ed eds
    inc ltd co corp dept est approx gen col sgt capt lt rev hon jan feb mar apr jun jul aug sep
    sept oct nov dec mon tue wed thu fri sat sun a.m p.m u.s u.k ph.d m.d b.a m.a art para
    bzw ca evtl ggf inkl max min nr str tel usw vgl z.b d.h u.a s.o o.ä abs bsp hr fr
    av env p.ex c.-à-d mme mlle ej pág sra dra ud uds ecc sig pag dott bijv blz mevr dhr
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
# "am 3. Oktober": an ordinal number before one of these is part of a date. Listed are the languages
# that set a point behind it: German, Danish, Norwegian, Icelandic, Finnish, Estonian, Latvian,
# Czech, Slovak, Slovene, Croatian.
_MONTH_LIST = """
    jan feb mär apr jun jul aug sep sept okt nov dez januar jänner februar märz maerz april mai juni
    juli august september oktober november dezember marts mars maj desember december janúar febrúar
    apríl maí júní júlí ágúst október nóvember jaanuar veebruar märts aprill juuni juuli oktoober
    detsember ledna února března dubna května června července srpna září října listopadu prosince
    januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra
    januarja februarja aprila maja junija julija avgusta oktobra siječnja veljače ožujka travnja
    svibnja lipnja srpnja kolovoza rujna listopada studenog studenoga prosinca
"""
_MONTH = (
    rf"\s+(?i:{'|'.join(_MONTH_LIST.split())}"
    r"|(?:tammi|helmi|maalis|huhti|touko|kesä|heinä|elo|syys|loka|marras|joulu)kuu(?:ta|n|ssa)?"
    r"|(?:janvār|februār|aprīl|maij|jūnij|jūlij|august|septembr|oktobr|novembr|decembr)(?:is|ī)"
    r"|mart[sā])(?!\w)"
)
_MONTHS = lazy_pattern(_MONTH)
# Ends of lines that go on: before a day, before the number of "No.", before the name of "St.".
_OPEN = lazy_pattern(
    rf"(?:,|(?<![^\W_])[a-zß-ÿ]{{1,5}})[ ]*\n[ ]*\d{{1,2}}(?:\.{_MONTH}|[ ][^\W\d_]{{3}})"
    r"|\b(?i:nos?|nr)\.[ ]*\n[ ]*\d(?!\d?[.)][ ])|\b(?:[Ss]te?|[DM]rs?|Prof)\.[ ]*\n[ ]*[^\W\d_]"
)
_OPEN_WITHIN = 24  # characters at the end of a line and the beginning of the next
_TERMINATOR = lazy_pattern(
    # Spaces follow. Only from the start of a run of marks: a long one would be tried at each.
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s)"
    r"|[。！？｡]+[」』”’）\]]*"  # no space needed
    r"|\n(?=[ \t]*\n)"  # a blank line
    r"|\n(?=[ \t]*(?:[-*+•‣▪][ \t]|\(?(?:\d{1,3}|[a-z])[.)][ \t]|\||#{1,6}[ \t]|>))"
    r"|(?m:^)#{1,6}[ \t][^\n]*(?=\n)"  # a heading, whether a blank line follows or not
)
_LAST_WORD = re.compile(r"[\w.\-]+$")
_NEXT = re.compile(r"\s*([\"'“‘«(\[*_]*)(.)", re.DOTALL)
_SHORT = re.compile(r"[^\W\d_]{1,4}")
_BEFORE_NUMBER = re.compile(r"\s+\d")
_INITIAL = re.compile(r"(?:^|\.)[^\W\d_]$")
_LOOK_BACK = 24


def goes_on(line: str, following: str) -> bool:
    """Whether a line cannot end before the next: that begins with a day, or this ends in "No."."""
    return _OPEN.search(f"{line[-_OPEN_WITHIN:]}\n{following[:_OPEN_WITHIN]}") is not None


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets behind each sentence and its trailing white space; the last is ``end``."""
    previous = start
    for match in _TERMINATOR.finditer(text, start, end):
        if match.start() < previous or not _ends_sentence(text, match, end):
            continue
        boundary = match.end()
        while boundary < end and text[boundary].isspace():
            boundary += 1
        if text[previous : match.end()].strip() and boundary < end:
            yield boundary
            previous = boundary
    if previous < end:
        yield end


def sentence_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of ``text[start:end]`` as spans that follow one another and cover it."""
    previous = start
    for boundary in sentence_ends(text, start, end):
        yield previous, boundary
        previous = boundary


def _ends_sentence(text: str, match: re.Match[str], end: int) -> bool:
    mark = match.group()
    if mark[0] in "\n#":
        above = text[max(0, match.start() - _OPEN_WITHIN) : match.start()].rpartition("\n")[2]
        return mark[0] == "#" or not goes_on(above, text[match.end() : match.end() + _OPEN_WITHIN])
    if text.startswith("|", text.rfind("\n", 0, match.start()) + 1):
        return False
    if mark[0] not in ".!?…":  # a mark that needs no space
        return True
    following = _NEXT.match(text, match.end(), end)
    if following and following.group(2).islower():
        return False
    if following is None or mark[0] != "." or mark.startswith(".."):
        return True
    before = _LAST_WORD.search(text, max(0, match.start() - _LOOK_BACK), match.start())
    return before is None or not _is_abbreviated(text, before, match.end())


def _is_abbreviated(text: str, before: re.Match[str], following: int) -> bool:
    word = before.group().casefold().strip(".-_")
    if word in _ABBREVIATIONS or _INITIAL.search(word):
        return True
    if _SHORT.fullmatch(word) and _BEFORE_NUMBER.match(text, following):
        return True
    if not word.isdecimal() or len(word) > 2:  # noqa: PLR2004 - "in 2019. The" ends a sentence
        return False
    return _starts_line(text, before.start()) or _MONTHS.match(text, following) is not None


def _starts_line(text: str, position: int) -> bool:
    line = text.rfind("\n", 0, position) + 1
    return not text[line:position].strip(" \t>*-#")
