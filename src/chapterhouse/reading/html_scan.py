"""HTML without a tree: decoding, depth of nesting, and text by stripping tags, all in linear time.

Tree builders take quadratic time on very deep nesting, so the depth is looked at first.
"""

import codecs
import html
import re
from itertools import accumulate
from operator import sub

from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.types import Notice

DEEPEST = 1_000  # elements inside elements; browsers stop at 512
_HEAD = 4_096  # bytes in which an encoding may be declared; the standard asks for 1,024
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w:.-]+)", re.IGNORECASE)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WIDE = ("utf-16", "unicode")  # what a declaration in ASCII cannot mean
_TAG = re.compile(r"<!--|<(/?)([a-zA-Z][^\s/<>]*)([^<>]*)>")
_ANY_TAG = re.compile(r"</?[a-zA-Z]")
_STEP = {2: 1, 3: -1}  # by the length of its beginning: a tag opens or closes an element
_VOID = frozenset((
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
))  # fmt: skip
# Elements that the parser closes by itself: many of them in a row are no nesting.
_SELF_CLOSING = frozenset((
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "rp",
    "rt",
))  # fmt: skip
_RAW = frozenset((
    "script", "style", "template", "noscript", "svg", "iframe", "object", "math", "head",
))  # fmt: skip
_INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike",
    "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
))  # fmt: skip
_SPACES = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r"\n\s*\n+")


def decode_html(data: bytes) -> tuple[str, tuple[Notice, ...]]:
    """Return the text of an HTML file, by its mark, as UTF-8, as declared, or by a guess."""
    if data.startswith(_MARKS):
        return decode(data)
    declared = _CHARSET.search(data[:_HEAD]) or _XML_ENCODING.search(data[:_HEAD])
    label = declared.group(1).decode("ascii", "replace").lower() if declared else ""
    if not label or label.startswith(_WIDE):
        return decode(data)
    return decode_stated(data, label)


def is_too_deep(text: str, limit: int = DEEPEST) -> bool:
    """Whether elements stand more than ``limit`` deep in one another."""
    if _ceiling(text, limit) <= limit:
        return False  # not even if no element were closed by itself
    depth = 0
    for closing, name, rest in _TAG.findall(text):
        known = name.lower()
        if not known or known in _VOID or known in _SELF_CLOSING or rest.endswith("/"):
            continue
        depth = max(0, depth - 1) if closing else depth + 1
        if depth > limit:
            return True
    return False


def _ceiling(text: str, limit: int) -> int:
    """Return a number of elements that stand in one another at most, found without their names."""
    tags = _ANY_TAG.findall(text)
    if len(tags) <= limit:
        return len(tags)
    sums = list(accumulate(map(_STEP.__getitem__, map(len, tags))))
    ceiling = max(sums) - min(0, *sums)
    return ceiling if ceiling <= limit else max(map(sub, sums, accumulate(sums, min, initial=0)))


def stripped(text: str) -> str:
    """Return the text between the tags, one line a block, without what is not shown."""
    parts: list[str] = []
    place = 0
    hidden = ""  # the element whose content is passed over
    while (tag := _TAG.search(text, place)) is not None:
        if not hidden:
            parts.append(html.unescape(text[place : tag.start()]))
        place = tag.end()
        name = (tag.group(2) or "").lower()
        if not name:  # a comment
            end = text.find("-->", place)
            place = len(text) if end < 0 else end + 3
        elif hidden:
            hidden = "" if tag.group(1) and name == hidden else hidden
        elif name in _RAW and not tag.group(1) and not tag.group(3).endswith("/"):
            hidden = name
        elif name not in _INLINE:
            parts.append("\n")
    if not hidden:
        parts.append(html.unescape(text[place:]))
    return _EMPTY_LINES.sub("\n\n", _SPACES.sub(" ", "".join(parts))).strip()
