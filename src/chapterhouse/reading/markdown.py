"""Markdown as readers write it: tables, code, page marks, raised text, headings; and titles."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from chapterhouse.text.canonical import body_start
from chapterhouse.text.markdown import BlockKind, blocks, goes_on, plain_title
from chapterhouse.text.sanitise import sanitise, sanitise_line
from chapterhouse.types import ExtractedPage

_BACKTICKS = re.compile(r"`{3,}")
_WORD = re.compile(r"[^\W\d_]+")
# Words that stand beside the number of a page.
_NUMBERING = re.compile(
    "pages?|of|pp?|pg|seiten?|von|s|sur|de|páginas?|pág|pagin[ae]|di|van|sida|av|side|strona|z|"
    "strana|stránka|oldal|стр|страница|из|сторінка|з|sayfa|σελίδα|από|頁|页|第|共|ページ|페이지|"
    "صفحة|من|עמוד|מתוך"
)
_TITLE_WINDOW = 4_000
# A line that may be a title: words, no label with its value, no sentence.
_TITLE_LINE = re.compile(r"(?=.*[^\W\d_]{2})[^:]{2,119}[^.:;,!\s]")
_MARKED_LINE = re.compile(r"\s*(?:[-*+•>|<!\[](?!\*)|\d{1,3}[.)]\s(?!\S+ \d{4}\b))")
# Raised and lowered text without its place: 2 to the power of 31 would read as 231.
_RAISED: Final = str.maketrans(
    "0123456789+-−=()abcdefghijklmnoprstuvwxyz",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ",
)
_LOWERED: Final = str.maketrans(
    "0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
)
# 1st, XXe, no, Mme, trademarks: what is raised belongs to the word. A letter behind a variable,
# a number or a bracket is a power.
_POWER: Final = re.compile(r"(?:(?:^|[^\W_]*\d|\W)[a-z]?|\))\Z")
_ENDINGS: Final = frozenset(
    ("st", "nd", "rd", "th", "er", "re", "ère", "ème", "ième", "nde", "de", "os", "tm", "sm", "md")
)
_LONGEST_POWER: Final = 3  # letters
_LETTER_ENDINGS: Final = frozenset("eoaºª")
# The marks of curated documents: where a page, slide or sheet of the original begins.
_MARK = re.compile(
    r"<!-- (?:(?P<kind>page|slide) (?P<number>[1-9]\d{0,6})(?:: (?P<label>\S[^\n]{0,199}?))?"
    r"|sheet (?P<sheet>\S[^\n]{0,199}?)) -->[ \t]*"
)
_LINE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKED: Final = "<!-- "
_BEGINS_BLOCK: Final = re.compile(r"(?=#{1,6}(?:\s|$)|[|>]|`{3}|~{3}|=+\s*$|-{2,}\s*$)")
_BEGINS_LINE: Final = re.compile(r"^( {0,3})(?=#{1,6}(?:[ \t]|$)|`{3}|~{3})", re.MULTILINE)


def marked_pages(text: str) -> tuple[tuple[ExtractedPage, ...], str]:
    """Cut Markdown at its page marks, which go; return the pages and what they are called.

    A mark stands on a line of its own outside code: ``<!-- page 3 -->``, ``<!-- slide 3 -->`` or
    ``<!-- slide 3: Title -->``, ``<!-- sheet Sales -->``. Those of another kind than the first
    stay as they are. What stands before the first mark belongs to no page.
    """
    pages: list[ExtractedPage] = []
    kind = fence = label = ""
    number: int | None = None
    lines: list[str] = []
    for line in text.splitlines(keepends=True) if _MARKED in text else ():
        fence = fence_after(fence, line)
        mark = None if fence else _MARK.fullmatch(line.rstrip("\n"))
        found = (mark["kind"] or "sheet") if mark else ""
        if mark is None or (kind and found != kind):
            lines.append(line)
            continue
        if kind or "".join(lines).strip():
            pages.append(ExtractedPage("".join(lines), number, label))
        kind, lines = found, []
        number = int(mark["number"]) if mark["number"] else (number or 0) + 1
        label = mark["label"] or mark["sheet"] or ""
    if not kind:
        return (ExtractedPage(text),), ""
    return (*pages, ExtractedPage("".join(lines), number, label)), kind


def page_mark(kind: str, number: int, label: str = "") -> str:
    """Return the mark that `marked_pages` reads as this page; its label is one line of text."""
    shown = sanitise_line(label).replace("-->", "->")[:200].strip()
    if kind == "sheet":
        return f"<!-- sheet {shown or number} -->"
    return f"<!-- {kind} {number}{': ' if shown else ''}{shown} -->"


def is_page_mark(line: str) -> bool:
    """Whether a line of Markdown would be read as a page mark."""
    return _MARK.fullmatch(line.rstrip("\n")) is not None


def running_text(text: str) -> str:
    """Return a header or footer on one line, or nothing where it only numbers the pages."""
    line = " ".join(text.split())
    words = _WORD.findall(line.casefold())
    return "" if all(map(_NUMBERING.fullmatch, words)) else line


def fence_after(fence: str, line: str) -> str:
    """Return the code fence that is open behind a line, given the one that was before it."""
    if fence:
        closing = line.strip()
        closes = len(closing) >= len(fence) and not closing.strip(fence[0])
        return "" if closes else fence
    found = _LINE_FENCE.match(line)
    return found[1] if found else ""


def joined(blocks: Iterable[str]) -> str:
    """Return blocks with a line between them, empty ones left out."""
    text = "\n\n".join(block.rstrip("\n") for block in blocks if block)
    return f"{text}\n" if text else ""


def first_heading(text: str, lowest: int = 6) -> str:
    """Return what heads a text: its one top heading, else a line above the headings, or the first.

    Looked for near the beginning; empty where there is no heading. ``lowest`` is the level down to
    which the first of several may be it.
    """
    head = text[body_start(text) :][:_TITLE_WINDOW]
    found = blocks(head)
    headings = [block for block in found if block.kind is BlockKind.HEADING and block.title]
    if not headings:
        return ""
    top = [block for block in headings if block.level == 1]
    if len(top) == 1 or (top and top[0] is found[0]):
        return top[0].title
    is_paragraph = found[0].kind is BlockKind.PARAGRAPH
    line = _first_line(head[: found[0].end]) if is_paragraph else ""
    return line or (headings[0].title if headings[0].level <= lowest else "")


def _first_line(paragraph: str) -> str:
    """Return the line that a paragraph is, or the two where the first cannot end: a title's."""
    lines = paragraph.strip().split("\n")
    if len(lines) > 1 and goes_on(lines[0], lines[1]):
        lines[:2] = [f"{lines[0].rstrip()} {lines[1].lstrip()}"]
    title = plain_title(lines[0])
    is_title = len(lines) == 1 and _TITLE_LINE.fullmatch(title) and not _MARKED_LINE.match(lines[0])
    return title if is_title else ""


def escaped(paragraph: str) -> str:
    """Return a paragraph of text such that Markdown takes its first sign for nothing else.

    A heading or the line below one, code, a quotation, the row of a table; an item that somebody
    typed is one.
    """
    return "\\" + paragraph if _BEGINS_BLOCK.match(paragraph) else paragraph


def escaped_lines(text: str) -> str:
    """Return plain text such that none of its lines is a heading or opens code.

    People quote in it, and draw tables, as Markdown does.
    """
    return _BEGINS_LINE.sub(r"\1\\", text)


def code_block(text: str, language: str) -> str:
    """Return text as a Markdown code block whose fence is longer than any run of backticks."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{language}\n{text}{end}{fence}\n" if text.strip() else ""


def raised(text: str, before: str) -> str:
    """Return raised text as it reads in a line; ``before`` is what stands before it."""
    plain = text.strip()
    if not any(map(str.isalnum, plain)) or plain.startswith("["):  # a mark, a note's number
        return text
    if plain.isalpha() and not _is_power(plain, before):
        return text
    return _written(plain, _RAISED, "^")


def lowered(text: str) -> str:
    """Return lowered text as it reads in a line."""
    plain = text.strip()
    return _written(plain, _LOWERED, "_") if any(map(str.isalnum, plain)) else text


def _is_power(text: str, before: str) -> bool:
    if len(text) > _LONGEST_POWER or text.casefold() in _ENDINGS:  # a word is legible as it is
        return False
    if not _POWER.search(before[-20:]):
        return False
    return text.casefold() not in _LETTER_ENDINGS or not before[-1:].isdigit()


def _written(text: str, table: dict[int, int], mark: str) -> str:
    if all(ord(character) in table for character in text):
        return text.translate(table)
    return f"{mark}({text})"


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table: as wide as the widest row, the first row on top."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = [_line(rows[0], width), "|" + " --- |" * width]
    lines.extend(_line(row, width) for row in rows[1:])
    return "\n".join(lines) + "\n"


def escape_cell(cell: str) -> str:
    """Return text that stays inside one cell."""
    if "\n" in cell or "\r" in cell:
        cell = " ".join(cell.split())
    return cell.replace("|", "\\|") if "|" in cell else cell


def _line(row: Iterable[str], width: int) -> str:
    cells = [escape_cell(cell) for cell in row]
    cells.extend("" for _ in range(width - len(cells)))
    return "| " + " | ".join(cells) + " |"


# --- titles --------------------------------------------------------------------------------------

# Whether the title that a file states of itself is its title, judged by its text. Programs write
# what they like there: the name of a template, of the file or of another document, letters in the
# wrong code page, the alphabet backwards.
_SINGLE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # scripts without spaces: each character
_COUNTED = re.compile(rf"[{_SINGLE}]|[^\W_{_SINGLE}]+")
_LONGEST = 300
_SHORTEST = 3
_HEAD = 20_000  # characters of the text that are looked at
_LEAST_TEXT = 600  # characters, from which a text says something about its title
_DISTINCTIVE = 4  # letters of a word that stands in few texts by chance
_KNOWN = 0.3  # share of a title's telling words that its text knows
_PARTS = re.compile(r"\s+[|–—»•·-]\s+|\s*::\s*|\s*\|\s*")
_FILE = r"docx?|dotx?|pptx?|xlsx?|pdf|tex|dvi|indd|qx[dp]|od[tps]|rtf|txt|html?|pub|wpd|p65|pmd|fm"
_PLACEHOLDER = re.compile(
    r"\W*(?:(?:untitled|unbenannt|sans titre|sin título|senza titolo|no title|anonymous)"
    r"(?:[ -]?(?:document|dokument|page|\d+))*"
    r"|(?:(?:page |document )?title|document|dokument|home|index|new page|slide|page|presentation"
    r"|(?:front |inside )?cover(?: page)?|deckblatt|titelblatt|page de garde|copertina|portada)"
    r"[ -]*\d*|(?:microsoft )?powerpoint[ -]pr\w+|microsoft (?:word|excel|powerpoint) - .*"
    r"|pr[eäé]senta\w+(?: powerpoint)?|(?:documento|book|mappe|classeur|libro|folie|diapositive)"
    rf"[ \d()]*|.*\.(?:{_FILE})|print|layout \d+)\W*",
    re.IGNORECASE,
)
# UTF-8 that was read as another encoding, and bytes that no encoding explained.
_MISREAD = re.compile("[ÃÂÐÑ][\u0080-\u00bf\u0152-\u0178\u2018-\u2122]|\ufffd|[\u0080-\u009f]")
_ROWS = (
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiop",
    "qwertzuiop",
    "asdfghjkl",
    "zxcvbnm",
    "yxcvbnm",
)
_RUN = 5  # letters in the order of the alphabet or the keyboard, which no word has
_TYPED = re.compile(
    "|".join(
        sorted(
            {
                run
                for row in _ROWS
                for place in range(len(row) - _RUN + 1)
                for run in (row[place : place + _RUN], row[place : place + _RUN][::-1])
            }
        )
    )
)
_VOWELLESS = re.compile(r"\b(?=[a-z]{7,}\b)[^aeiouy]+\b", re.IGNORECASE)


def believable_title(stated: str, text: str) -> bool:
    """Whether a stated title fits a text.

    It must look like a title, and one of its parts (before or behind the name of a site) must
    share a telling word with the text, where there is enough text to tell.
    """
    title = " ".join(stated.split())
    if not _SHORTEST <= len(title) <= _LONGEST or not any(map(str.isalpha, title)):
        return False
    if _PLACEHOLDER.fullmatch(title) or _MISREAD.search(title) or _is_typed_at_random(title):
        return False
    if len(text) < _LEAST_TEXT:
        return True
    parts = [part for part in _PARTS.split(title) if part]
    head = text[:_HEAD].casefold()
    if any(_fits(part, head) for part in parts):
        return True
    head = unicodedata.normalize("NFKC", head)
    return any(_fits(part, head) for part in parts)


def _is_typed_at_random(title: str) -> bool:
    return bool(_VOWELLESS.search(title) or _TYPED.search(title.lower()))


def _fits(part: str, known: str) -> bool:
    """Whether the text knows a good part of the telling words."""
    words = count(part)
    distinctive = [word for word in words if len(word) >= _DISTINCTIVE or not word.isascii()]
    distinctive = distinctive or list(words)
    return sum(word in known for word in distinctive) >= max(1, _KNOWN * len(distinctive))


def count(text: str) -> Counter[str]:
    """Count the words of a text: runs of letters and digits, case folded, compatibly composed.

    What cannot be seen parts no words, as it is not in the library's text.
    """
    return Counter(_COUNTED.findall(unicodedata.normalize("NFKC", sanitise(text).text).casefold()))
