"""HTML to Markdown: the content of a page with its headings, tables, lists and code."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import html_to_markdown
import selectolax.lexbor

from chapterhouse.reading.completeness import missing
from chapterhouse.reading.html_furniture import drop_furniture, text_of
from chapterhouse.reading.html_prune import content_of, marked, prose
from chapterhouse.reading.html_scan import DEEPEST, decode_html, is_too_deep, stripped
from chapterhouse.reading.html_sums import Sums
from chapterhouse.reading.html_tables import plain_captions, plain_tables
from chapterhouse.reading.html_visible import drop_unseen, write_out_controls
from chapterhouse.reading.titles import believable_title
from chapterhouse.reading.words import count
from chapterhouse.types import ExtractedPage, Extraction, Notice

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
_KEPT_AS_TEXT = [
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


def read_html(data: bytes, name: str) -> Extraction:  # noqa: ARG001 - as every Reader
    """Read a web page to Markdown: its content, without navigation and what is not shown.

    Args:
        data: The bytes of the file.
        name: Its name; not used, the page says what it is.
    """
    text, notices = decode_html(data)
    text = _INTERNAL_SUBSET.sub(r"\1>", text)
    if is_too_deep(text):
        sentence = f"Elements stand more than {DEEPEST:,} deep: only the bare text was kept."
        notices = (*notices, Notice("layout-skipped", sentence))
        page = ExtractedPage(stripped(text))
        return Extraction((page,), "html", "tags stripped", markdown=False, notices=notices)
    parser = selectolax.lexbor.LexborHTMLParser(text)
    stated = _stated(parser)
    metadata = _metadata(parser, stated)
    title = ""
    if parser.body is not None:
        drop_unseen(parser.body)
        title = _title(parser, _first(stated, "og:title"), parser.body.text(separator=" ") or "")
    content, left_out = _content(parser, text)
    return Extraction(
        pages=(ExtractedPage(content),),
        format="html",
        method=f"html-to-markdown {html_to_markdown.__version__}",
        title=title,
        metadata=metadata,
        notices=(*_of_shown(notices, title + content), *left_out),
    )


def whole_markdown(text: str) -> str:
    """Return all that the HTML of a book shows as Markdown; nothing in it is navigation."""
    if is_too_deep(text):
        return stripped(text)
    parser = selectolax.lexbor.LexborHTMLParser(text)
    if parser.body is None:
        return ""
    drop_unseen(parser.body)
    return _markdown(parser, parser.body)


def _of_shown(notices: Sequence[Notice], text: str) -> Iterator[Notice]:
    """Leave out the notice of bad bytes that stand in scripts, comments and what is not shown."""
    whole = "\ufffd" not in text
    return (each for each in notices if not (whole and each.code == "undecodable-characters"))


def _content(parser: Any, text: str) -> tuple[str, tuple[Notice, ...]]:
    """Return the content of what a page shows; all where pruning leaves next to nothing."""
    body = parser.body
    if body is None:
        return "", ()
    sums = Sums(body)
    seen = sums.characters[0]
    has_furniture = drop_furniture(body, sums)
    mark = marked(body, sums)
    visible = count("\n".join(prose(body, mark, sums)))
    if has_furniture:
        body = content_of(body, mark, sums)
    kept = sums.characters[sums.places[body.mem_id]]
    if kept < _LITTLE and seen > _MUCH_MORE * kept:
        parser = selectolax.lexbor.LexborHTMLParser(text)
        body, kept = parser.body, seen
        drop_unseen(body)
    markdown = _markdown(parser, body)
    short = missing(visible, "html", (ExtractedPage(markdown),))
    return markdown, (*_left_out(seen - kept, seen), *short)


def _left_out(characters: int, seen: int) -> Iterator[Notice]:
    if characters > 0:
        sentence = (
            f"{characters:,} of its {seen:,} characters were taken for navigation, lists of links "
            "or the like, and left out."
        )
        yield Notice("navigation-left-out", sentence)


def _markdown(parser: Any, content: Any) -> str:
    write_out_controls(content)
    _write_out_images(content)
    for link in content.css("a"):
        if not link.text():
            link.decompose()  # converted, its address would stay
    content.unwrap_tags(_KEPT_AS_TEXT)
    plain_captions(parser, content)
    plain_tables(parser, content)
    markdown = html_to_markdown.convert(content.html or "", _OPTIONS).content or ""
    return _BLANK_LINES.sub("\n\n", markdown).strip()


def _write_out_images(content: Any) -> None:
    """Put the text that stands for a picture in its place, unless it is a file's name.

    What the page says in other places, all words or nearly all, is not said again.
    """
    said: set[str] = set()
    for image in content.css("img"):
        stated = " ".join((image.attributes.get("alt") or "").split())
        words = _WORD.findall(stated.casefold())
        if words and not said:
            said.update(_WORD.findall(text_of(content).casefold()))
        known = sum(word in said for word in words) >= _NEARLY_ALL * len(words)
        said.update(words)
        image.replace_with("" if known or _FILE_NAME.fullmatch(stated) else stated)


def _title(parser: Any, stated: str, shown: str) -> str:
    """Return the first title that the page states of itself and its text bears out.

    Args:
        parser: The page.
        stated: What its metadata call it.
        shown: Its text.
    """
    nodes = (parser.css_first(selector) for selector in ("head title", "title"))
    titles = [stated, *(text_of(node) for node in nodes if node is not None)]
    heading = parser.css_first("h1")
    title = next((title for title in dict.fromkeys(titles) if believable_title(title, shown)), "")
    return title or (text_of(heading) if heading is not None else "")


def _metadata(parser: Any, stated: dict[str, str]) -> dict[str, str]:
    root = parser.css_first("html")
    links = parser.css("link[rel=canonical], link[rel=license], a[rel=license]")
    found = {
        "author": _first(stated, "author", "article:author"),
        "date": _first(stated, "article:published_time", "date", "dcterms.date", "datePublished")
        or _time(parser),
        "language": (root.attributes.get("lang") or "") if root is not None else "",
        "description": _first(stated, "description", "og:description"),
        "url": _link(links, "canonical") or _first(stated, "og:url"),
        "license": _link(links, "license"),
    }
    return {key: value[:_LONGEST_VALUE] for key, value in found.items() if value}


def _time(parser: Any) -> str:
    node = parser.css_first("time[datetime]")
    return (node.attributes.get("datetime") or "") if node is not None else ""


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
