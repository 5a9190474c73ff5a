"""What of a web page is its content: navigation, advertisement and the like are cut away.

The tree is cut in place. A page without any sign of boilerplate, as people write by hand, loses
nothing but what is not shown.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

Node = Any  # selectolax.lexbor.LexborNode

_NOT_SHOWN = (
    "script, style, noscript, template, svg, canvas, iframe, object, embed, audio, video, dialog, "
    "select, input, button, textarea, datalist, link, meta, [hidden], [aria-hidden=true], "
    "[style*='display:none'], [style*='display: none'], "
    "[style*='visibility:hidden'], [style*='visibility: hidden']"
)
_FURNITURE = (
    "nav, footer, aside, menu, [role=navigation], [role=banner], [role=contentinfo], "
    "[role=complementary], [role=search], [role=menu], [role=menubar], [role=dialog], "
    "[role=alert], [role=toolbar], form"
)
_CONTENT = (
    "[itemprop=articleBody], article, main, [role=main], #mw-content-text, .mw-parser-output, "
    ".entry-content, .post-content, .article-body, .article-content, .article__body, .story-body, "
    "#article-body, #content"
)
_NOISE = re.compile(
    r"(?:^|[\s_-])(?:ad|ads|advert\w*|banner|breadcrumbs?|byline|bottom-bar|comments?|commentlist|"
    r"cookies?|consent|copyright|disqus|dropdown|footer|follow|gdpr|hidden|jump-?to|legal|login|"
    r"masthead|menu|meta|metadata|modal|most-?(?:read|popular|viewed)|nav\w*|newsletter|noprint|"
    r"outbrain|pager|pagination|paywall|popup|print-only|promo\w*|publish\w*|rail|rating|read-?more|"
    r"recirc\w*|recommend\w*|related\w*|replies|respond|screen-reader\w*|share\w*|sharing|sidebar|"
    r"signup|skip-?(?:link|to)\w*|social\w*|sponsor\w*|sr-only|subscri\w*|subnav|taboola|tags?|taglist|"
    r"teaser|toc|toolbar|tooltip|topbar|trending|tweet|visually-?hidden|widget\w*|author-?\w*|"
    r"more-(?:from|on|stories)|next|prev|previous|also|caption|credit|editsection)(?:$|[\s_-])",
    re.IGNORECASE,
)
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "fieldset",
    "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_LEAST_PROSE = 25  # characters of a block that counts as prose
_DOMINANT = 0.75  # share of the prose that the content's element holds
_LEAST_CONTENT = 200  # characters


def drop_unseen(root: Node) -> None:
    """Remove what a browser does not show, and controls."""
    _drop(root.css(_NOT_SHOWN))


def prune(body: Node) -> Node:
    """Return the element that holds the content of a page, cut down to it."""
    if not _has_furniture(body):
        return body
    total = len(_text(body))
    _drop(node for node in body.css(_FURNITURE) if len(_text(node)) < 0.5 * total)
    _drop(node for node in body.css("header") if not _in_content(node))
    content = _content(body)
    whole = len(_text(content))
    _drop(node for node in _noisy(content) if len(_text(node)) < 0.4 * whole)
    _drop(_link_lists(content))
    return content


def _drop(nodes: Iterable[Node]) -> None:
    for node in list(nodes):
        node.decompose()


def _text(node: Node) -> str:
    return " ".join((node.text() or "").split())


def _has_furniture(body: Node) -> bool:
    if body.css_first("nav, footer, aside, header, [role=navigation], [role=banner]") is not None:
        return True
    return next(_noisy(body), None) is not None


def _noisy(root: Node) -> Iterator[Node]:
    for node in root.css("[class], [id]"):
        if node.tag in ("body", "html", "main", "article", "h1", "table", "tr", "td", "th", "pre"):
            continue
        attributes = node.attributes
        name = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        if _NOISE.search(name) and node.tag not in ("em", "strong", "b", "i", "a", "code"):
            yield node


def _in_content(node: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag in ("article", "main"):
            return True
        parent = parent.parent
    return False


def _content(body: Node) -> Node:
    """Return the smallest element that holds nearly all of the page's prose."""
    weights = _weights(body)
    total = weights.get(body.mem_id, 0.0)
    if total < _LEAST_CONTENT:
        return body
    marked = [node for node in body.css(_CONTENT) if weights.get(node.mem_id, 0.0) >= 0.5 * total]
    headed = [node for node in body.css("article") if _is_headed(node, weights)]
    if len(headed) == 1:
        marked = headed  # the article of a page that lists many more
    node = min(marked, key=lambda node: weights[node.mem_id]) if marked else body
    while True:
        child = max(_children(node), key=lambda c: weights.get(c.mem_id, 0.0), default=None)
        if child is None or child.tag not in (
            "div",
            "section",
            "article",
            "main",
            "table",
            "tbody",
            "tr",
            "td",
            "center",
        ):
            return node
        if weights.get(child.mem_id, 0.0) < _DOMINANT * weights[node.mem_id]:
            return node
        node = child


def _is_headed(article: Node, weights: dict[int, float]) -> bool:
    heading = article.css_first("h1")
    named = heading is not None and bool(_text(heading))
    return named and weights.get(article.mem_id, 0.0) >= _LEAST_CONTENT


def _children(node: Node) -> Iterator[Node]:
    child = node.child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


def _weights(body: Node) -> dict[int, float]:
    """Return the characters of prose outside links in each element above it."""
    weights: dict[int, float] = {}
    for block in body.css("p, pre, blockquote, li, td, dd, h2, h3, div"):
        length = _own_length(block)
        if length < _LEAST_PROSE:
            continue
        node = block
        while node is not None:
            weights[node.mem_id] = weights.get(node.mem_id, 0.0) + length
            if node.mem_id == body.mem_id:
                break
            node = node.parent
    return weights


def _own_length(block: Node) -> int:
    """Return the length of a block's text outside of blocks and links in it."""
    length = 0
    child = block.child
    while child is not None:
        if child.is_text_node:
            length += len((child.text_content or "").strip())
        elif child.tag != "a" and child.tag not in _BLOCKS:
            length += len((child.text() or "").strip()) - sum(len(a.text()) for a in child.css("a"))
        child = child.next
    return length


def _link_lists(content: Node) -> Iterator[Node]:
    """Yield lists and boxes that are little but links."""
    for node in content.css("ul, ol, div, section, dl"):
        links = node.css("a")
        if len(links) < 2:  # noqa: PLR2004 - a link is no list
            continue
        length = len(_text(node))
        linked = sum(len(_text(link)) for link in links)
        if linked > 0.7 * length and length < 1_500 and node.css_first("p, pre, table") is None:  # noqa: PLR2004
            yield node
