"""What stands on a web page around its content: menus, notices, lists of other pages.

All sums are counted in one pass over the tree: to ask each element for its text costs as many
passes as the tree is deep.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

Node = Any  # selectolax.lexbor.LexborNode

LEAST_PROSE = 25  # characters of a block that counts as prose
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "fieldset",
    "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_PROSE = frozenset(("p", "pre", "blockquote", "li", "td", "dd", "h2", "h3", "div"))
_FURNITURE = (
    "nav, footer, aside, menu, [role=navigation], [role=banner], [role=contentinfo], "
    "[role=complementary], [role=search], [role=menu], [role=menubar], [role=dialog], "
    "[role=alert], [role=toolbar]"
)
# Read of names in lower case.
_NOISE = re.compile(
    r"(?<![^\s_-])(?:ad|ads|advert\w*|banner|breadcrumbs?|byline|bottom-bar|comments?|commentlist|"
    r"cookies?|consent|copyright|disqus|dropdown|footer|follow|gdpr|hidden|jump-?to|legal|login|"
    r"masthead|menu|meta|metadata|modal|most-?(?:read|popular|viewed)|nav\w*|newsletter|noprint|"
    r"outbrain|pager|pagination|paywall|popup|print-only|promo\w*|publish\w*|rail|rating|read-?more|"
    r"recirc\w*|recommend\w*|related\w*|replies|respond|screen-reader\w*|share\w*|sharing|sidebar|"
    r"signup|skip-?(?:link|to)\w*|social\w*|sponsor\w*|sr-only|subscri\w*|subnav|taboola|tags?|taglist|"
    r"teaser|toc|toolbar|tooltip|topbar|trending|tweet|visually-?hidden|widget\w*|author-?\w*|"
    r"more-(?:from|on|stories)|next|prev|previous|also|caption|credit|editsection)(?![^\s_-])"
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
_CONTROLS = frozenset(("input", "textarea", "select", "button", "form"))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SENTENCE_END = re.compile(r"[.!?…。！？]['\"”’)\]]*(?:\s|$)")
_SENTENCES = 100  # characters of a block of sentences
_FEWER_LINKS = 0.3  # share of linked characters of such a block
_AMOUNT = re.compile(r"\d[.,]\d\d\b|[$€£¥]\s?\d|\d\s?[$€£¥]")
_SHORT = 150  # characters of a label that says no sentence
_FORM = 1_000  # characters of a form for searching, signing up or replying
_LABEL_LINKED = 0.25  # share of linked characters of a short label
_LINKED = 0.5  # share of linked characters of what is no content
_LIST_LINKED = 0.7
_TEASER_LINKED = 0.2  # share of linked characters of a list of teasers
_SEVERAL = 3  # items of such a list
_LIST = 1_500  # characters of a list of links
_CAPTION = 40  # characters of a caption that says nothing new where it is a part of another
_HALF = 0.5  # of a page: a landmark that holds it is no furniture
_NEARLY_ALL = 0.8  # of a page


class Sums:
    """The sums of the elements below a root, by their position in the order of the document.

    The root is at 0, and every element before those that it holds.
    """

    def __init__(self, root: Node) -> None:
        self.nodes: list[Node] = root.css("*")  # itself first
        self.tags: list[str] = [node.tag for node in self.nodes]
        self.places = {node.mem_id: place for place, node in enumerate(self.nodes)}
        self._parents = [0, *[self.places[node.parent.mem_id] for node in self.nodes[1:]]]
        texts = [node.text(deep=False) for node in self.nodes]
        self.characters = [  # of text, with what is inside
            0 if not text or text.isspace() else _length(text) for text in texts
        ]
        self.linked = [0] * len(self.nodes)  # of these, inside links
        self.links = [0] * len(self.nodes)  # how many
        self.own = self.characters.copy()  # characters outside of blocks in it
        self.prose = [0] * len(self.nodes)  # characters of blocks of prose, links left out
        self.ends = list(range(1, len(self.nodes) + 1))  # where what is inside ends
        self._unlinked = self.own.copy()
        self._left = self.tags.copy()
        self._add_up()

    def _add_up(self) -> None:
        characters, linked, links, ends = self.characters, self.linked, self.links, self.ends
        own, unlinked, prose = self.own, self._unlinked, self.prose
        for place in range(len(self.tags) - 1, 0, -1):
            parent, tag, length = self._parents[place], self.tags[place], characters[place]
            if ends[parent] == parent + 1:  # its last child
                ends[parent] = ends[place]
            is_link = tag == "a"
            links[parent] += links[place] + is_link
            if not length:
                continue
            if unlinked[place] >= LEAST_PROSE and tag in _PROSE:
                prose[place] += unlinked[place]
            characters[parent] += length
            linked[parent] += length if is_link else linked[place]
            if tag not in BLOCKS:
                own[parent] += own[place]
                unlinked[parent] += 0 if is_link else unlinked[place]
            prose[parent] += prose[place]
        prose[0] += _counted(self.tags[0], unlinked[0])

    def children(self, place: int) -> Iterator[int]:
        """Yield the positions of the elements directly in one."""
        end = self.ends[place]
        place += 1
        while place < end:
            if self._left[place]:
                yield place
            place = self.ends[place]

    def tags_in(self, place: int) -> frozenset[str]:
        """Return the tags of an element and of those in it that were not dropped."""
        return frozenset(self._left[place : self.ends[place]])

    def path(self, place: int) -> frozenset[int]:
        """Return the positions from below the root down to one; none for the root."""
        found = set()
        while place:
            found.add(place)
            place = self._parents[place]
        return frozenset(found)

    def drop(self, place: int) -> None:
        """Cut an element off the tree, and what it holds off the sums."""
        tag, length, prose = self.tags[place], self.characters[place], self.prose[place]
        in_links, links = self.linked[place], self.links[place]
        own, unlinked = (0, 0) if tag in BLOCKS else (self.own[place], self._unlinked[place])
        parent = place if length or links or tag == "a" else 0
        while parent:
            if self.tags[parent] == "a":
                in_links, unlinked = length, 0
                links += parent == place
            parent = self._parents[parent]
            if own:
                prose += self._shorten(parent, own, unlinked)
            if self.tags[parent] in BLOCKS:
                own = unlinked = 0
            self.characters[parent] -= length
            self.linked[parent] -= in_links
            self.links[parent] -= links
            self.prose[parent] -= prose
        end = self.ends[place]
        self._left[place:end] = [""] * (end - place)
        self.nodes[place].decompose()

    def _shorten(self, place: int, own: int, unlinked: int) -> int:
        """Take text off that is an element's own; return how much less of prose that makes."""
        before = _counted(self.tags[place], self._unlinked[place])
        self.own[place] -= own
        self._unlinked[place] -= unlinked
        return before - _counted(self.tags[place], self._unlinked[place])


def _counted(tag: str, unlinked: int) -> int:
    return unlinked if tag in _PROSE and unlinked >= LEAST_PROSE else 0


def _length(text: str) -> int:
    """Return the characters of a text, runs of white space as one, and a space behind it."""
    text = text.strip()
    return 1 + (len(" ".join(text.split())) if "  " in text else len(text))


def drop_furniture(body: Node, sums: Sums) -> bool:
    """Cut away what is navigation by its landmark, its links or its controls.

    Returns whether the page had any sign of such parts; without one nothing is cut.
    """
    landmark = body.css_first("nav, footer, aside, header, [role=navigation], [role=banner]")
    if landmark is None and next(_noisy(body), None) is None:
        return False
    total = sums.characters[0]
    _drop(body.css(_FURNITURE), sums, lambda place: sums.characters[place] < _HALF * total)
    _drop(body.css("header"), sums, lambda place: not _is_of_content(place, sums))
    _drop(body.css("form"), sums, lambda place: _is_small_form(place, sums))
    _drop(_noisy(body), sums, lambda place: _is_furniture(place, sums, total))
    _drop(body.css("ul, ol, div, section, dl"), sums, lambda place: _is_link_list(place, sums))
    _drop_repeated_lists(body, sums)
    for link in body.css("a"):  # around a picture, and not in a block that says something about it
        around = link.parent
        is_alone = around is None or sums.characters[sums.places[around.mem_id]] < LEAST_PROSE
        if is_alone and not sums.characters[sums.places[link.mem_id]]:
            link.decompose()
    _drop_repeated_captions(body, sums)
    return True


def text_of(node: Node) -> str:
    """Return the text of an element, runs of white space as single spaces."""
    return " ".join((node.text() or "").split())


def sentences(place: int, sums: Sums) -> str:
    """Return an element's own text if it is sentences and not links, else nothing."""
    length = sums.own[place]
    if length < _SENTENCES or sums.linked[place] >= _FEWER_LINKS * length:
        return ""
    text = _own_text(sums.nodes[place])
    return text if len(text) >= _SENTENCES and _SENTENCE_END.search(text) else ""


def _own_text(block: Node) -> str:
    """Return a block's text outside of blocks in it."""
    parts = []
    child = block.child
    while child is not None:
        if child.is_text_node:
            parts.append(child.text_content or "")
        elif child.tag not in BLOCKS:
            text = child.text() or ""
            if len(text) < _SENTENCES or child.css_first("p, div, li, td") is None:
                parts.append(text)
        child = child.next
    return " ".join("".join(parts).split())


def _drop(nodes: Iterable[Node], sums: Sums, unwanted: Callable[[int], bool]) -> None:
    """Drop the unwanted of some elements, given in their order; first all are judged."""
    places = []
    end = 0
    for node in nodes:
        place = sums.places[node.mem_id]
        if place >= end and unwanted(place):
            places.append(place)
            end = sums.ends[place]
    for place in places:
        sums.drop(place)


def _noisy(root: Node) -> Iterator[Node]:
    """Yield the elements whose name makes them worth a look."""
    for node in root.css("[class], [id]"):
        attributes = node.attributes
        noise = _is_noise(attributes.get("class") or "", attributes.get("id") or "")
        if noise and node.tag not in _NEVER_NOISE:
            yield node


@lru_cache(maxsize=4_096)  # a page has hundreds of elements and few names
def _is_noise(class_: str, id_: str) -> bool:
    return _NOISE.search(f"{class_} {id_}".lower()) is not None


def _is_furniture(place: int, sums: Sums, total: int) -> bool:
    """Whether an element of such a name is links, a label, a form or a thread of comments."""
    node, length = sums.nodes[place], sums.characters[place]
    inside = sums.tags_in(place)
    if not length:
        return "img" not in inside
    if length >= _NEARLY_ALL * total or "table" in inside or "dl" in inside:
        return False
    thread = [sums.characters[sums.places[comment.mem_id]] for comment in node.css(_COMMENT)]
    if sums.linked[place] >= _LINKED * length or sum(thread[1:] and thread) > _HALF * length:
        return True
    if length < _FORM and not inside.isdisjoint(_CONTROLS):
        return True
    headed = not inside.isdisjoint(_HEADINGS)
    if headed and length < _FORM:
        return _leads_elsewhere(place, sums)
    return length < _SHORT and not headed and _is_label(place, sums)


def _leads_elsewhere(place: int, sums: Sums) -> bool:
    """Whether every heading in an element is a link, as above the beginnings of other articles."""
    node = sums.nodes[place]
    headings = [sums.places[heading.mem_id] for heading in node.css(", ".join(_HEADINGS))]
    away = {sums.places[link.mem_id] for link in node.css("a[href]:not([href^='#'])")}
    return bool(headings) and all(
        not away.isdisjoint(sums.path(heading))
        or (
            sums.linked[heading] + 1 >= sums.characters[heading]
            and not away.isdisjoint(range(heading, sums.ends[heading]))
        )
        for heading in headings
    )


def _is_label(place: int, sums: Sums) -> bool:
    """Whether a short text is no sentence but credits, links or a time."""
    node = sums.nodes[place]
    if _SENTENCE_END.search(text_of(node)):
        return False
    attributes = node.attributes
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split()
    if any(_LABEL.fullmatch(name) for name in names) or node.css_first("time, img") is not None:
        return True
    return sums.linked[place] > _LABEL_LINKED * sums.characters[place]


def _is_small_form(place: int, sums: Sums) -> bool:
    form = sums.nodes[place]
    return sums.characters[place] < _FORM and form.css_first("table, dl, p, legend") is None


def _is_link_list(place: int, sums: Sums) -> bool:
    """Whether a list or box is little but links; one link is no list."""
    length = sums.characters[place]
    if sums.links[place] < 2 or length >= _LIST:  # noqa: PLR2004 - see above
        return False
    if sums.linked[place] <= _LIST_LINKED * length:
        return False
    node = sums.nodes[place]
    if node.css_first("p, pre, table") is not None:
        return False
    links = [link for link in node.css("a") if sums.characters[sums.places[link.mem_id]]]
    # All of an offer lead to one page, and one of them names an amount.
    leads_to_one = len({link.attributes.get("href") for link in links}) == 1
    return not (leads_to_one and any(_AMOUNT.search(link.text()) for link in links))


def _drop_repeated_lists(body: Node, sums: Sums) -> None:
    """Drop lists of links, with or without teasers, that stand in a page twice: above and below."""
    found: dict[str, list[int]] = {}
    for node in body.css("ul, ol"):
        place = sums.places[node.mem_id]
        items = sum(sums.characters[item] > 0 for item in sums.children(place))
        linked = sums.linked[place] > _TEASER_LINKED * sums.characters[place]
        if items >= _SEVERAL and sums.links[place] >= items and linked:
            found.setdefault(text_of(node), []).append(place)
    for places in found.values():
        for place in places if len(places) > 1 else ():
            sums.drop(place)


def _drop_repeated_captions(body: Node, sums: Sums) -> None:
    """Drop captions that say what another has said, as those of galleries do."""
    seen: list[str] = []
    captions = [sums.places[node.mem_id] for node in body.css("figcaption, [class*=caption]")]
    for place, following in zip(captions, [*captions[1:], len(sums.nodes)], strict=False):
        if following < sums.ends[place]:
            continue  # what it says is said by a caption in it
        text = text_of(sums.nodes[place])
        if text in seen or (len(text) >= _CAPTION and any(text in other for other in seen)):
            sums.drop(place)
        seen.append(text)


def _is_of_content(place: int, sums: Sums) -> bool:
    """Whether a header is inside of an article, or holds a title and a sentence."""
    parent = sums.nodes[place].parent
    while parent is not None:
        if parent.tag in ("article", "main"):
            return True
        parent = parent.parent
    if sums.nodes[place].css_first("h1") is None:
        return False
    return any(sentences(inner, sums) for inner in range(place, sums.ends[place]))
