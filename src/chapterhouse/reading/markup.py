"""reStructuredText, AsciiDoc and Org: headings and code as Markdown, the rest as it stands."""

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent

from chapterhouse.reading.encodings import decode
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.markdown import code_block, first_heading
from chapterhouse.types import ExtractedPage, Extraction

_DEEPEST = 6
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*$")
_SHORT_RULE = 4  # characters, from which an underline may be shorter than its title
_RST_CODE = re.compile(r"[ \t]*\.\. (?:code-block|code|sourcecode|parsed-literal)::[ \t]*(\S*)")
_RST_OPTION = re.compile(r"[ \t]+:[\w-]+:")
_ADOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_ADOC_CODE = re.compile(r"(-{4,}|\.{4,}|`{3,})[ \t]*([\w+#-]*)[ \t]*$")
_ADOC_LANGUAGE = re.compile(r"\[(?=source|listing|literal|,)[^\],]*(?:,[ \t]*([\w+#-]+)[^\]]*)?\]$")
# Lines that open and close other blocks; below a paragraph they would make it a heading.
_ADOC_BLOCK = re.compile(r"(?:={4,}|--)[ \t]*$")
_ADOC_UNDERLINES = "=-~^+"
_ORG_HEADING = re.compile(r"(\*+)[ \t]+(\S.*)")
_ORG_TITLE = re.compile(r"#\+title:[ \t]*(\S.*)", re.IGNORECASE)
_ORG_BEGIN = re.compile(r"[ \t]*#\+begin_(src|example|export)\b[ \t]*(\S*)", re.IGNORECASE)
_ORG_MARK = re.compile(r"[ \t]*(?:#\+(?:begin|end)_\w+|#(?:[ \t]|$))", re.IGNORECASE)
_ORG_END = re.compile(r"[ \t]*#\+end_", re.IGNORECASE)
_ORG_VERBATIM = re.compile(r"[ \t]*:(?: |$)")
_ORG_LINK = re.compile(r"\[\[([^\[\]]+)\]\[([^\[\]]+)\]\]")
_ORG_RULE = re.compile(r"[ \t]*\|[-+]+\|?[ \t]*$")


def read_markup(data: bytes, format_: str) -> Extraction:
    """Read ``rst``, ``adoc`` or ``org``; its title is its first heading."""
    source, notices = decode(data)
    text = "\n".join(_WRITERS[format_](source.expandtabs().split("\n")))
    title = first_heading(text)
    return Extraction((ExtractedPage(text),), format_, METHOD, title=title, notices=notices)


def _rst(lines: list[str]) -> Iterator[str]:
    """Levels of headings are in the order in which their rules come ([reStructuredText])."""
    levels: dict[str, int] = {}
    position = 0
    while position < len(lines):
        line = lines[position]
        if found := _rst_heading(lines, position):
            style, title, position = found
            level = levels.setdefault(style, len(levels) + 1)
            yield _heading(level, title)
        elif code := _RST_CODE.match(line):
            block, position = _indented(lines, position)
            while block and _RST_OPTION.match(block[0]):
                block = block[1:]
            yield _fenced(block, code[1])
        elif line.rstrip().endswith("::") and not line.lstrip().startswith(".."):
            yield line.rstrip().removesuffix("::").rstrip() + ":" * (line.strip() != "::")
            block, position = _indented(lines, position)
            yield _fenced(block, "")
        else:
            yield line
            position += 1


def _rst_heading(lines: list[str], position: int) -> tuple[str, str, int] | None:
    """Return the rules of the heading that begins here, its title, and where it ends."""
    first, second, third = (*lines[position : position + 3], "", "")[:3]
    if _RULE.match(first) and first.rstrip() == third.rstrip() and second.strip():
        if _underlines(first, second.strip()) and not _RULE.match(second):
            return first[0] * 2, second.strip(), position + 3
        return None
    if not first.strip() or first[0] == " " or not _RULE.match(second) or _RULE.match(first):
        return None
    begins = position == 0 or not lines[position - 1].strip() or _RULE.match(lines[position - 1])
    is_title = begins and _underlines(second, first)
    return (second[0], first.strip(), position + 2) if is_title else None


def _underlines(rule: str, title: str) -> bool:
    return len(rule.rstrip()) >= min(_SHORT_RULE, len(title.strip()))


def _indented(lines: list[str], position: int) -> tuple[list[str], int]:
    """Return the lines below this one that are indented more, and where they end."""
    base = _indent(lines[position])
    end = last = position + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > base):
        end += 1
        last = end if lines[end - 1].strip() else last
    return lines[position + 1 : last], last


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _adoc(lines: list[str]) -> Iterator[str]:
    """See [AsciiDoc]: blocks are between two equal lines."""
    position = 0
    language = ""
    while position < len(lines):
        line = lines[position]
        below = lines[position + 1] if position + 1 < len(lines) else ""
        heading = _ADOC_HEADING.match(line)
        if heading:
            marks = heading[1]
            yield _heading(len(marks), heading[2].rstrip().removesuffix(f" {marks}"))
        elif _is_adoc_title(lines, position, below):
            yield _heading(_ADOC_UNDERLINES.index(below[0]) + 1, line.strip())
            position += 1
        elif code := _ADOC_CODE.match(line):
            closing = re.compile(rf"{re.escape(code[1])}[ \t]*$")
            block, position = _until(lines, position, closing)
            yield _fenced(block, code[2] or language)
        elif (attributes := _ADOC_LANGUAGE.match(line.rstrip())) and _ADOC_CODE.match(below):
            language = attributes[1] or ""
            position += 1
            continue
        else:
            yield "" if _ADOC_BLOCK.match(line) else line
        language = ""
        position += 1


def _is_adoc_title(lines: list[str], position: int, below: str) -> bool:
    """Whether the line is a title in the old style: underlined, as long as the line below."""
    title, rule = lines[position].rstrip(), below.rstrip()
    found = _RULE.match(rule)
    return (
        found is not None
        and found[1] in _ADOC_UNDERLINES
        and title[:1].isalnum()
        and abs(len(title) - len(rule)) <= 1
        and (position == 0 or not lines[position - 1].strip() or lines[position - 1][0] in "[:/")
    )


def _org(lines: list[str]) -> Iterator[str]:
    """See [Org]: stars in front of headings; what a title is above all of them."""
    above = 0
    position = 0
    while position < len(lines):
        line = lines[position]
        if heading := _ORG_HEADING.match(line):
            yield _heading(above + len(heading[1]), _org_links(heading[2]))
        elif not above and (title := _ORG_TITLE.match(line)):
            above = 1
            yield _heading(1, title[1])
        elif code := _ORG_BEGIN.match(line):
            block, position = _until(lines, position, _ORG_END)
            yield _fenced(block, code[2] if code[1].lower() == "src" else "")
        elif _ORG_VERBATIM.match(line):
            start = position
            while position + 1 < len(lines) and _ORG_VERBATIM.match(lines[position + 1]):
                position += 1
            block = [_ORG_VERBATIM.sub("", verbatim) for verbatim in lines[start : position + 1]]
            yield _fenced(block, "")
        elif _ORG_RULE.match(line):
            yield line.replace("+", "|")
        elif not _ORG_MARK.match(line):  # neither a comment nor the edge of a block
            yield _org_links(line)
        position += 1


def _org_links(line: str) -> str:
    return _ORG_LINK.sub(r"[\2](\1)", line)


def _until(lines: list[str], position: int, closing: re.Pattern[str]) -> tuple[list[str], int]:
    """Return the lines below this one up to the one that ends the block, and where that is."""
    end = position + 1
    while end < len(lines) and not closing.match(lines[end]):
        end += 1
    return lines[position + 1 : end], end


def _heading(level: int, title: str) -> str:
    return f"\n{'#' * min(level, _DEEPEST)} {title.rstrip()}\n"


def _fenced(lines: Sequence[str], language: str) -> str:
    text = dedent("\n".join(lines)).strip("\n")
    return f"\n{code_block(text, language)}" if text.strip() else ""


_WRITERS = {"rst": _rst, "adoc": _adoc, "org": _org}
