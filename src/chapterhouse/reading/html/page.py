"""Web pages to Markdown: headings, tables, lists and code of what a page is about.

Tree builders take quadratic time on very deep nesting, so the depth is looked at first, without
a tree, in linear time.
"""

import codecs
import html
import re
from itertools import accumulate
from operator import sub
from typing import Any

import html_to_markdown
import selectolax.lexbor

from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.reading.html.furniture import Sums, drop_furniture, text_of
from chapterhouse.reading.html.prune import (
    content_of,
    drop_unseen,
    marked,
    write_out_controls,
)
from chapterhouse.reading.html.tables import plain_captions, plain_tables
from chapterhouse.reading.markdown import believable_title, first_heading, lowered, raised
from chapterhouse.types import ExtractedPage, Extraction, Notice

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
_INTERNAL_SUBSET = re.compile(
    r"\A(.{0,2000}?<!DOCTYPE[^\[>]{0,500})\[[^\]]{0,100000}\]\s*>", re.IGNORECASE | re.DOTALL
)
_OPTIONS = html_to_markdown.ConversionOptions(
    compact_tables=True,
    autolinks=False,
    expand_abbreviations=False,
    extract_metadata=False,
    include_blockquote_citations=False,
    bullets="-",
    skip_images=True,
    preprocessing=html_to_markdown.PreprocessingOptions(enabled=False),  # pruned already
)
_RETAINED_AS_TEXT = [
    "a", "b", "strong", "i", "em", "u", "s", "del", "ins", "span", "font", "mark", "small", "big",
    "tt", "sub", "sup", "abbr", "acronym", "cite", "q", "dfn", "var", "time", "label", "bdi",
    "bdo", "center", "picture", "data", "address",
]  # fmt: skip
_LITTLE = 250  # characters: less than this may be a page that is all menu
_MUCH_MORE = 4
_LONGEST_VALUE = 300
_FILE_NAME = re.compile(r"\S+\.\w{3,4}")
_WORD = re.compile(r"\w+")
_NEARLY_ALL = 0.8  # of the words of a picture's text
_BLANK_LINES = re.compile(r"\n{3,}")


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


def strip_tags(text: str) -> str:
    """Return the text between the tags, one line a block, without what is not shown."""
    parts: list[str] = []
    place = 0
    hidden = ""  # the element whose content is ignored
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


def read_html(data: bytes) -> Extraction:
    """Read a web page to Markdown: its content, without navigation and what is not shown."""
    text, notices = decode_html(data)
    text = _INTERNAL_SUBSET.sub(r"\1>", text)
    if is_too_deep(text):
        sentence = f"Elements stand more than {DEEPEST:,} deep: only the bare text was kept."
        notices = (*notices, Notice("layout-skipped", sentence))
        page = ExtractedPage(strip_tags(text))
        return Extraction((page,), "html", "tags stripped", markdown=False, notices=notices)
    parser = selectolax.lexbor.LexborHTMLParser(text)
    stated = _stated(parser)
    metadata = _metadata(parser, stated)
    title = ""
    if parser.body is not None:
        drop_unseen(parser.body)
        _write_out_raised(parser.body)
        title = _title(parser, _first(stated, "og:title"), parser.body.text(separator=" ") or "")
    content, left_out = _content(parser, text)
    if "\ufffd" not in title + content:  # the bad bytes are in what is not shown
        notices = tuple(one for one in notices if one.code != "undecodable-characters")
    return Extraction(
        pages=(ExtractedPage(content),),
        format="html",
        method=f"html-to-markdown {html_to_markdown.__version__}",
        title=title or first_heading(content, lowest=1),
        metadata=metadata,
        notices=(*notices, *left_out),
    )


def _content(parser: Any, text: str) -> tuple[str, tuple[Notice, ...]]:
    """Return the content of what a page shows; all where pruning leaves next to nothing."""
    body = parser.body
    if body is None:
        return "", ()
    sums = Sums(body)
    seen = sums.characters[0]
    has_furniture = drop_furniture(body, sums)
    mark = marked(body, sums)
    if has_furniture:
        body = content_of(body, mark, sums)
    shown = sums.characters[sums.places[body.mem_id]]
    if shown < _LITTLE and seen > _MUCH_MORE * shown:
        parser = selectolax.lexbor.LexborHTMLParser(text)
        body, shown = parser.body, seen
        drop_unseen(body)
        _write_out_raised(body)
    if seen <= shown:
        return _markdown(parser, body), ()
    sentence = (
        f"{seen - shown:,} of its {seen:,} characters were taken for navigation, lists of links or "
        "the like, and left out."
    )
    return _markdown(parser, body), (Notice("navigation-left-out", sentence),)


def _markdown(parser: Any, content: Any) -> str:
    write_out_controls(content)
    _write_out_images(content)
    for link in content.css("a"):
        if not link.text():
            link.decompose()  # converted, its address would stay
    plain_captions(parser, content)
    plain_tables(parser, content)
    content.unwrap_tags(_RETAINED_AS_TEXT)
    markdown = html_to_markdown.convert(content.html or "", _OPTIONS).content or ""
    return _BLANK_LINES.sub("\n\n", markdown).strip()


def _write_out_raised(content: Any) -> None:
    """Put raised and lowered texts into the line, so that 2 to the power of 31 is not 231."""
    for node in content.css("sup, sub"):
        if node.css_first("sup, sub, p, div, table, math") not in (None, node):
            continue
        text = node.text()
        before = node.prev.text() if node.prev is not None else ""
        written = raised(text, before) if node.tag == "sup" else lowered(text)
        if written != text:
            node.replace_with(written)


def _write_out_images(content: Any) -> None:
    """Put the text that stands for a picture in its place, unless it is a file's name.

    What the page says in other places, all words or nearly all, is not said again.
    """
    seen: set[str] = set()
    for image in content.css("img"):
        stated = " ".join((image.attributes.get("alt") or "").split())
        words = _WORD.findall(stated.casefold())
        if words and not seen:
            seen.update(_WORD.findall(text_of(content).casefold()))
        known = sum(word in seen for word in words) >= _NEARLY_ALL * len(words)
        seen.update(words)
        image.replace_with("" if known or _FILE_NAME.fullmatch(stated) else stated)


def _title(parser: Any, stated: str, shown: str) -> str:
    """Return the first title that the page states of itself and its text bears out."""
    nodes = (parser.css_first(selector) for selector in ("head title", "title"))
    titles = [stated, *(text_of(node) for node in nodes if node is not None)]
    return next((title for title in dict.fromkeys(titles) if believable_title(title, shown)), "")


def _metadata(parser: Any, stated: dict[str, str]) -> dict[str, str]:
    root, time = parser.css_first("html"), parser.css_first("time[datetime]")
    links = parser.css("link[rel=canonical], link[rel=license], a[rel=license]")
    found = {
        "author": _first(stated, "author", "article:author"),
        "date": _first(stated, "article:published_time", "date", "dcterms.date", "datePublished")
        or ((time.attributes.get("datetime") or "") if time is not None else ""),
        "language": (root.attributes.get("lang") or "") if root is not None else "",
        "description": _first(stated, "description", "og:description"),
        "url": _link(links, "canonical") or _first(stated, "og:url"),
        "license": _link(links, "license"),
    }
    return {key: value[:_LONGEST_VALUE] for key, value in found.items() if value}


def _link(links: list[Any], relation: str) -> str:
    for link in links:
        attributes = link.attributes
        address = (attributes.get("href") or "").strip()
        if attributes.get("rel") == relation and address:
            return address if len(address) <= _LONGEST_VALUE else ""  # cut, it leads elsewhere
    return ""


def _stated(parser: Any) -> dict[str, str]:
    """Return the first content of each name or property that the page's metadata have."""
    stated: dict[str, str] = {}
    for node in parser.css("meta[content]"):
        attributes = node.attributes
        for key in ("name", "property", "itemprop"):
            stated.setdefault(attributes.get(key) or "", attributes["content"] or "")
    return stated


def _first(stated: dict[str, str], *names: str) -> str:
    values = (" ".join(stated.get(name, "").split()) for name in names)
    return next(filter(None, values), "")
