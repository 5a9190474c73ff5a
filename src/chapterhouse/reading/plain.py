"""Plain text, Markdown and program code: the text as it stands."""

import platform
import re
from typing import Final

from chapterhouse.reading.encodings import decode
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import ExtractedPage, Extraction

METHOD = f"Python {platform.python_version()}"
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,}|~{3,})", re.MULTILINE)
_BACKTICKS = re.compile(r"`{3,}")
_WORD = re.compile(r"[^\W\d_]+")
# Words that stand beside the number of a page.
_NUMBERING = re.compile(
    "pages?|of|pp?|pg|seiten?|von|s|sur|de|páginas?|pág|pagin[ae]|di|van|sida|av|side|strona|z|"
    "strana|stránka|oldal|стр|страница|из|сторінка|з|sayfa|σελίδα|από|頁|页|第|共|ページ|페이지|"
    "صفحة|من|עמוד|מתוך"
)
_TITLE_WINDOW = 4_000

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
_LETTER_ENDINGS: Final = frozenset("eoaºª")

# The marks of curated documents: where a page, slide or sheet of the original begins.
_MARK = re.compile(
    r"<!-- (?:(?P<kind>page|slide) (?P<number>[1-9]\d{0,6})(?:: (?P<label>\S[^\n]{0,199}?))?"
    r"|sheet (?P<sheet>\S[^\n]{0,199}?)) -->[ \t]*"
)
_LINE_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKED: Final = "<!-- "


def read_text(data: bytes) -> Extraction:
    """Read plain text; nothing in it is taken for a heading."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(text),), "txt", METHOD, markdown=False, notices=notices)


def read_markdown(data: bytes) -> Extraction:
    """Read Markdown; its title is its first heading, its pages are those that it marks."""
    text, notices = decode(data)
    pages, kind = marked_pages(text)
    title = first_heading(text)
    return Extraction(pages, "md", METHOD, page_kind=kind, title=title, notices=notices)


def read_code(data: bytes, language: str) -> Extraction:
    """Read a program as one fenced block."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(code_block(text, language)),), "code", METHOD, notices=notices)


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


def first_heading(text: str) -> str:
    """Return the first heading near the beginning and outside code blocks, or nothing."""
    head = text[:_TITLE_WINDOW]
    fence = _FENCE.search(head)
    found = _HEADING.search(head, 0, fence.start() if fence else len(head))
    return found[1].strip() if found else ""


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
    if text.casefold() in _ENDINGS or not _POWER.search(before[-20:]):
        return False
    return text.casefold() not in _LETTER_ENDINGS or not before[-1:].isdigit()


def _written(text: str, table: dict[int, int], mark: str) -> str:
    if all(ord(character) in table for character in text):
        return text.translate(table)
    return f"{mark}({text})"
