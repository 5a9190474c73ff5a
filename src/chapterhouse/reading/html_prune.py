"""What of a web page is its content: navigation, advertisement and the like are cut away.

The tree is cut in place. Nothing is cut for its name: the names that authors give to elements
only say where to look for links without prose, controls, or threads of comments. A page without
any sign of boilerplate, as people write by hand, loses nothing.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

Node = Any  # selectolax.lexbor.LexborNode
Weights = dict[int, float]  # characters of prose in an element, by its memory

_FURNITURE = (
    "nav, footer, aside, menu, [role=navigation], [role=banner], [role=contentinfo], "
    "[role=complementary], [role=search], [role=menu], [role=menubar], [role=dialog], "
    "[role=alert], [role=toolbar]"
)
_LANDMARKS = "[itemprop=articleBody], article, main, [role=main]"
_CONTENT = (
    f"{_LANDMARKS}, #mw-content-text, .mw-parser-output, .entry-content, .post-content, "
    ".article-body, .article-content, .article__body, .story-body, #article-body, #content"
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
# Whole names of the small print around an article: who wrote it, where to share it.
_LABEL = re.compile(
    r"(?:[a-z0-9]+[-_]+)*(?:byline|credits?|share|sharing|social|tags?|breadcrumbs?|advert\w*|ads?|"
    r"disclaimer|metadata|meta|author|follow|pager|pagination|next|prev|previous|comments?|"
    r"subscribe|newsletter|sponsor(?:ed)?)"
    r"(?:[-_](?:text|label|wrapper|container|list|links?|bar|box|icons?|inner|info|name|date|count|"
    r"source|item|title|line|area|button|btn|buttons))*",
    re.IGNORECASE,
)
_NEVER_NOISE = frozenset((
    "body", "html", "main", "article", "h1", "table", "tr", "td", "th", "pre", "em", "strong", "b",
    "i", "a", "code",
))  # fmt: skip
_COMMENT = "[class~=comment], [class~=comment-body], [id^=comment-]"
_CONTROLS = "input, textarea, select, button, form"
_SENTENCE_END = re.compile(r"[.!?…。！？]['\"”’)\]]*(?:\s|$)")
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "fieldset",
    "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_CONTAINERS = frozenset((
    "article", "center", "div", "main", "section", "table", "tbody", "td", "tr",
))  # fmt: skip
_SENTENCES = 100  # characters of a block of sentences
_FEWER_LINKS = 0.3  # share of linked characters of such a block
_LEAST_PROSE = 25  # characters of a block that counts as prose
_LEAST_CONTENT = 200  # characters
_SHORT = 150  # characters of a label that says no sentence
_FORM = 1_000  # characters of a form for searching, signing up or replying
_DOMINANT = 0.75  # share of the prose that the content's element holds
_OWN_PROSE = 400  # characters of prose beside it that are content too
_OWN_SHARE = 0.1  # of the page's prose, beside an element that only its name makes the content
_MARKED = 0.5  # share of the prose that an element marked as the content holds
_HEADED = 0.2  # share of the prose that the only article with a title holds at least
_TRUSTED = float("inf")  # prose beside such an element is none of the content
_LEAST_CELLS = 4
_FEW_LINKS = 0.05  # share of linked characters of such prose
_LABEL_LINKED = 0.25  # share of linked characters of a short label
_LINKED = 0.5  # share of linked characters of what is no content
_LIST_LINKED = 0.7


def drop_furniture(body: Node) -> bool:
    """Cut away what is navigation by its landmark, its links or its controls.

    Returns whether the page had any sign of such parts; without one nothing is cut.
    """
    if not _has_furniture(body):
        return False
    total = len(text_of(body))
    _drop(node for node in body.css(_FURNITURE) if len(text_of(node)) < 0.5 * total)
    _drop(node for node in body.css("header") if not _in_content(node))
    _drop(node for node in body.css("form") if _is_small_form(node))
    _drop(_named_furniture(body, total))
    _drop(_link_lists(body))
    _drop(link for link in body.css("a") if _is_lone_picture(link))
    _drop_repeated_captions(body)
    return True


def prose(body: Node, weights: Weights) -> Iterator[str]:
    """Yield the sentences of a page without its furniture, those inside a trusted landmark.

    Links, labels and short blocks are none.
    """
    goal = _marked(body, weights) if weights.get(body.mem_id) else None
    root = goal if goal is not None and _is_trusted(goal, body, weights) else body
    for block in root.css("p, pre, blockquote, li, td, dd, div, section"):
        text = _own_text(block)
        sentences = len(text) >= _SENTENCES and _SENTENCE_END.search(text)
        if sentences and _linked(block) < _FEWER_LINKS * len(text):
            yield text


def text_of(node: Node) -> str:
    """Return the text of an element, runs of white space as single spaces."""
    return " ".join((node.text() or "").split())


def _drop(nodes: Iterable[Node]) -> None:
    for node in list(nodes):
        node.decompose()


def _has_furniture(body: Node) -> bool:
    if body.css_first("nav, footer, aside, header, [role=navigation], [role=banner]") is not None:
        return True
    return next(_noisy(body), None) is not None


def _noisy(root: Node) -> Iterator[Node]:
    """Yield the elements whose name makes them worth a look."""
    for node in root.css("[class], [id]"):
        if node.tag not in _NEVER_NOISE:
            attributes = node.attributes
            if _NOISE.search(f"{attributes.get('class') or ''} {attributes.get('id') or ''}"):
                yield node


def _named_furniture(body: Node, total: int) -> Iterator[Node]:
    inside: set[int] = set()
    for node in _noisy(body):
        if node.mem_id not in inside and _is_furniture(node, total):
            inside.update(part.mem_id for part in node.css("[class], [id]"))
            yield node


def _is_furniture(node: Node, total: int) -> bool:
    """Whether an element of such a name is links, a label, a form or a thread of comments."""
    text = text_of(node)
    if not text:
        return node.css_first("img") is None
    if len(text) >= 0.8 * total or node.css_first("table, dl") is not None:
        return False
    if _linked(node) >= _LINKED * len(text):
        return True
    thread = [text_of(comment) for comment in node.css(_COMMENT)]
    if len(thread) > 1 and sum(map(len, thread)) > 0.5 * len(text):
        return True
    if len(text) < _FORM and node.css_first(_CONTROLS) is not None:
        return True
    headed = node.css_first("h1, h2, h3, h4") is not None
    return len(text) < _SHORT and not headed and _is_label(node, text)


def _is_label(node: Node, text: str) -> bool:
    """Whether a short text is no sentence but credits, links or a time."""
    if _SENTENCE_END.search(text):
        return False
    attributes = node.attributes
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split()
    if any(_LABEL.fullmatch(name) for name in names) or node.css_first("time, img") is not None:
        return True
    return _linked(node) > _LABEL_LINKED * len(text)


def _is_small_form(form: Node) -> bool:
    text = text_of(form)
    return len(text) < _FORM and form.css_first("table, dl, p, legend") is None


def _linked(node: Node) -> int:
    return sum(len(text_of(link)) for link in node.css("a"))


def _is_lone_picture(link: Node) -> bool:
    """Whether a link is around a picture, and not in a block that says something about it."""
    if (link.text() or "").strip():
        return False
    return link.parent is None or len(text_of(link.parent)) < _LEAST_PROSE


def _drop_repeated_captions(body: Node) -> None:
    """Drop captions that say exactly what another says, as those of galleries do."""
    said: set[str] = set()
    inside: set[int] = set()
    for caption in body.css("figcaption, [class*=caption]"):
        if caption.mem_id in inside:
            continue
        inside.update(part.mem_id for part in caption.css("*"))
        text = text_of(caption)
        if text in said:
            caption.decompose()
        said.add(text)


def _in_content(node: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag in ("article", "main"):
            return True
        parent = parent.parent
    return False


def content_of(body: Node, weights: Weights) -> Node:
    """Return the smallest element that holds nearly all of the prose of a page without furniture.

    On the way down to it, what stands beside it is dropped, but for prose of its own.
    """
    total = weights.get(body.mem_id, 0.0)
    if total < _LEAST_CONTENT:
        return body
    goal = _marked(body, weights)
    path = _path(goal, body)
    trusted = goal is not None and _is_trusted(goal, body, weights)
    least = _TRUSTED if trusted else max(_OWN_PROSE, _OWN_SHARE * total)
    top: Node | None = None
    dropped: list[Node] = []
    node = body
    while (child := _next(node, path, weights)) is not None:
        beside = [other for other in _children(node) if other.mem_id != child.mem_id]
        needed = least if child.mem_id in path else _OWN_PROSE
        own = {other.mem_id for other in beside if _is_content(other, weights, needed)}
        if own and top is None:
            top, dropped = node, []
        dropped += [other for other in beside if other.mem_id not in own]
        node = child
    if top is not None:
        _drop(dropped)
    return top or node


def _next(node: Node, path: frozenset[int], weights: Weights) -> Node | None:
    """Return the child on the path, else the one that holds nearly all of the prose, or None."""
    children = list(_children(node))
    for child in children:
        if child.mem_id in path:
            enough = weights.get(child.mem_id, 0.0) >= _HEADED * weights[node.mem_id]
            return child if enough else None
    child = max(children, key=lambda c: weights.get(c.mem_id, 0.0), default=None)
    if child is None or child.tag not in _CONTAINERS:
        return None
    return child if weights.get(child.mem_id, 0.0) >= _DOMINANT * weights[node.mem_id] else None


def _marked(body: Node, weights: Weights) -> Node | None:
    """Return the element that the page marks as its content, if it holds half of the prose."""
    total = weights[body.mem_id]
    headed = [node for node in body.css("article") if _is_headed(node, weights)]
    if len(headed) == 1:
        return headed[0]  # the article of a page that lists many more
    marked = [
        node for node in body.css(_CONTENT) if weights.get(node.mem_id, 0.0) >= _MARKED * total
    ]
    return min(marked, key=lambda node: weights[node.mem_id], default=None)


def _is_trusted(goal: Node, body: Node, weights: Weights) -> bool:
    """Whether a landmark says that an element is the content, and half of the prose agrees."""
    if weights[goal.mem_id] < _MARKED * weights[body.mem_id]:
        return False
    return goal.mem_id in {node.mem_id for node in body.css(_LANDMARKS)}


def _path(node: Node | None, body: Node) -> frozenset[int]:
    """Return the elements from below the body down to one."""
    found = set()
    while node is not None and node.mem_id != body.mem_id:
        found.add(node.mem_id)
        node = node.parent
    return frozenset(found)


def _is_content(node: Node, weights: Weights, least: float) -> bool:
    """Whether an element beside the content is prose, a section or a table, and not links."""
    weight = weights.get(node.mem_id, 0.0)
    if weight < least and (least == _TRUSTED or not _is_part(node, weight)):
        return False
    return _linked(node) < _FEW_LINKS * len(text_of(node))


def _is_part(node: Node, weight: float) -> bool:
    """Whether a short element is a part of a text: a block, a table, or a section with heading."""
    if weight < _LEAST_PROSE:
        return _has_table(node)
    if node.tag in ("header", "figure") or node.css_first("h1") is not None:
        return _has_table(node)
    blocks = ("p", "blockquote", "pre", "ul", "ol")
    return node.tag in blocks or node.css_first("h2, h3, h4, table, dl") is not None


def _has_table(node: Node) -> bool:
    tables = [node] if node.tag in ("table", "dl") else node.css("table, dl")
    return any(len(table.css("td, dd")) >= _LEAST_CELLS for table in tables)


def _is_headed(article: Node, weights: Weights) -> bool:
    heading = article.css_first("h1")
    named = heading is not None and bool(text_of(heading))
    return named and weights.get(article.mem_id, 0.0) >= _LEAST_CONTENT


def _children(node: Node) -> Iterator[Node]:
    child = node.child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


def weights_of(body: Node) -> Weights:
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


def _own_text(block: Node) -> str:
    """Return a block's text outside of blocks in it."""
    parts = []
    child = block.child
    while child is not None:
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif child.tag not in _BLOCKS:
            text = child.text() or ""
            if len(text) < _SENTENCES or child.css_first("p, div, li, td") is None:
                parts.append(text)
        child = child.next
    return " ".join("".join(parts).split())


def _link_lists(content: Node) -> Iterator[Node]:
    """Yield lists and boxes that are little but links."""
    for node in content.css("ul, ol, div, section, dl"):
        links = node.css("a")
        if len(links) < 2:  # noqa: PLR2004 - a link is no list
            continue
        length = len(text_of(node))
        few = length < 1_500 and node.css_first("p, pre, table") is None  # noqa: PLR2004
        if few and _linked(node) > _LIST_LINKED * length:
            yield node
