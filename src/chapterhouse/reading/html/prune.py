"""What of a web page a person sees, and which part of it is its content."""

import re
from typing import NamedTuple

from chapterhouse.reading.html.furniture import LEAST_PROSE, Node, Sums, sentences

_NOT_SHOWN = (
    "script, style, template, canvas, iframe, object, embed, audio, video, datalist, "
    "link, meta, [hidden], dialog:not([open]), .sr-only, .visually-hidden, .visuallyhidden, "
    ".screen-reader-text, .off-screen, .element-invisible, .modal.hide, .modal.fade"
)
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_ICON = re.compile(r"[a-z_]*|[\W_]*")  # the name of a letter of an icon font, or a sign
_WITHOUT_VALUE = frozenset((
    "button", "color", "file", "hidden", "image", "password", "range", "reset", "submit",
))  # fmt: skip
_BOX = ("\u2610", "\u2612")  # not chosen, chosen
_LEAST_PAGE = 250  # characters
_MOST_OF_PAGE = 0.8
_MOST_OPTIONS = 30  # a longer list of choices shows what is chosen
_LANDMARKS = "[itemprop=articleBody], article, main, [role=main]"
_CONTENT = (
    f"{_LANDMARKS}, #mw-content-text, .mw-parser-output, .entry-content, .post-content, "
    ".article-body, .article-content, .article__body, .story-body, #article-body, #content"
)
_CONTAINERS = frozenset((
    "article", "center", "div", "main", "section", "table", "tbody", "td", "tr",
))  # fmt: skip
_LEAST_CONTENT = 200  # characters
_DOMINANT = 0.75  # share of the prose that the content's element holds
_OWN_PROSE = 400  # characters of prose beside it that are content too
_OWN_SHARE = 0.1  # of the page's prose, beside an element that only its name makes the content
_MARKED = 0.5  # share of the prose that an element marked as the content holds
_HEADED = 0.2  # share of the prose that the only article with a title holds at least
_TRUSTED = float("inf")  # prose beside such an element is none of the content
_TITLES = ("h1", "h2", "h3")  # the highest stands above the text
_LEAST_CELLS = 4
_SOME = 3  # articles in an element beside one are other stories
_FEW_LINKS = 0.05  # share of linked characters of such prose


def drop_unseen(root: Node) -> None:
    """Remove what a browser does not show."""
    for node in root.css(_NOT_SHOWN):
        node.decompose()
    for node in root.css("noscript"):  # doubles where no scripts run, unless it is the page itself
        length = len((node.text() or "").strip())
        if length < _LEAST_PAGE or length < _MOST_OF_PAGE * len((root.text() or "").strip()):
            node.decompose()
    root.unwrap_tags(["noscript"])
    for node in root.css("[style]"):
        if _HIDDEN.search(node.attributes.get("style") or ""):
            node.decompose()
    for node in root.css("[aria-hidden=true]"):  # seen, but not read out: icons, doubles
        if _ICON.fullmatch((node.text() or "").strip()):
            node.decompose()
    for node in root.css("svg"):
        node.replace_with(" ".join(part.text() or "" for part in node.css("text")))


def write_out_controls(root: Node) -> None:
    """Replace the controls of forms by what they show."""
    for node in root.css("input"):
        node.replace_with(_shown(node))
    for node in root.css("select"):
        node.replace_with(f" {_choices(node)} ")
    for node in root.css("button, textarea, output"):
        node.insert_before(" ")
        node.insert_after(" ")
    root.unwrap_tags(["button", "textarea", "output"])


def _shown(control: Node) -> str:
    attributes = control.attributes
    kind = (attributes.get("type") or "text").lower()
    if kind in ("checkbox", "radio"):
        return f" {_BOX['checked' in attributes]} "
    return "" if kind in _WITHOUT_VALUE else f" {attributes.get('value') or ''} "


def _choices(control: Node) -> str:
    options = control.css("option")
    chosen = {option.mem_id for option in options if "selected" in option.attributes}
    chosen = chosen or {option.mem_id for option in options[:1]}
    return " ".join(
        f"{_BOX[option.mem_id in chosen]} {' '.join((option.text() or '').split())}"
        for option in options
        if len(options) <= _MOST_OPTIONS or option.mem_id in chosen
    )


class Mark(NamedTuple):
    """The element that a page marks as its content: its place, 0 for none, and whether surely."""

    place: int
    trusted: bool


def marked(body: Node, sums: Sums) -> Mark:
    """Return the element that the page marks as its content, if it holds half of the prose.

    It is trusted where a landmark says so and not only a name.
    """
    headed = [place for place in _places(body, "article", sums) if _is_headed(place, sums)]
    least = _MARKED * sums.prose[0]
    if len(headed) == 1:
        place = headed[0]  # the article of a page that lists many more
    else:
        places = [place for place in _places(body, _CONTENT, sums) if sums.prose[place] >= least]
        place = min(places, key=lambda place: sums.prose[place], default=0)
    landmark = place > 0 and sums.prose[place] >= least
    return Mark(place, landmark and place in _places(body, _LANDMARKS, sums))


def content_of(body: Node, mark: Mark, sums: Sums) -> Node:
    """Return the smallest element that holds nearly all of the prose of a page without furniture.

    On the way down to it, what stands beside it is dropped, but for prose of its own and for what
    leads to it: sentences and captions between the page's title and the content.
    """
    total = sums.prose[0]
    if total < _LEAST_CONTENT:
        return body
    path = sums.path(mark.place)
    least = _TRUSTED if mark.trusted else max(_OWN_PROSE, _OWN_SHARE * total)
    title = next((sums.tags.index(tag) for tag in _TITLES if tag in sums.tags), len(sums.tags))
    seen: set[str] = set()
    top: int | None = None
    dropped: list[int] = []
    place = 0
    while (child := _next(place, path, sums)) is not None:
        siblings = [other for other in sums.children(place) if other != child]
        own = {other for other in siblings if _is_own(other, child, path, least, sums)}
        for other in siblings:
            if title < min(child, sums.ends[other]) and other < child and other not in own:
                lead = _lead(other, seen, sums)
                own.update({other} if lead else ())
                _drop_all_but(lead, other, sums)
        if own and top is None:
            top, dropped = place, []
        dropped += [other for other in siblings if other not in own]
        place = child
    if top is not None:
        for other in dropped:
            sums.drop(other)
    return sums.nodes[place if top is None else top]


def _lead(place: int, seen: set[str], sums: Sums) -> list[int]:
    """Return the blocks of sentences in an element that say something new."""
    blocks = []
    for inner in range(place, sums.ends[place]):
        if (text := sentences(inner, sums)) and text not in seen:
            seen.add(text)
            blocks.append(inner)
    return blocks


def _drop_all_but(wanted: list[int], place: int, sums: Sums) -> None:
    """Drop what in an element is neither around nor inside of the wanted."""
    around = frozenset().union(*map(sums.path, wanted))
    open_ = [place] if wanted and place not in wanted else []
    while open_:
        for child in list(sums.children(open_.pop())):
            if child not in around:
                sums.drop(child)
            elif child not in wanted:
                open_.append(child)


def _is_own(place: int, child: int, path: frozenset[int], least: float, sums: Sums) -> bool:
    """Whether an element beside the one with the prose is content too."""
    if child not in path:
        alike = sums.tags[place] in ("p", "blockquote") or _is_alike(place, child, sums)
        return _is_content(place, sums, _OWN_PROSE) or (alike and sentences(place, sums) != "")
    if sums.tags[child] == "article" and len(sums.nodes[place].css("article")) >= _SOME:
        return False  # other stories
    return _is_content(place, sums, least)


def _is_alike(place: int, other: int, sums: Sums) -> bool:
    """Whether two elements have one tag and one class, as the parts of a text have."""
    names = [sums.nodes[place].attributes.get("class") for place in (place, other)]
    return sums.tags[place] == sums.tags[other] and names[0] == names[1] and bool(names[0])


def _next(place: int, path: frozenset[int], sums: Sums) -> int | None:
    """Return the child on the path, else the one that holds nearly all of the prose, or None."""
    children = list(sums.children(place))
    whole = sums.prose[place]
    for child in children:
        if child in path:
            return child if sums.prose[child] >= _HEADED * whole else None
    child = max(children, key=lambda child: sums.prose[child], default=0)
    dominates = child and sums.tags[child] in _CONTAINERS and sums.prose[child] >= _DOMINANT * whole
    return child if dominates else None


def _places(body: Node, selector: str, sums: Sums) -> list[int]:
    return [sums.places[node.mem_id] for node in body.css(selector)]


def _is_content(place: int, sums: Sums, least: float) -> bool:
    """Whether an element beside the content is prose, a section or a table, and not links."""
    if sums.linked[place] >= _FEW_LINKS * sums.characters[place]:
        return False
    return sums.prose[place] >= least or (least != _TRUSTED and _is_part(place, sums))


def _is_part(place: int, sums: Sums) -> bool:
    """Whether a short element is a part of a text: a block, a table, or a section with heading."""
    node, tag = sums.nodes[place], sums.tags[place]
    if sums.prose[place] < LEAST_PROSE:
        return _has_table(node)
    if tag in ("header", "figure") or node.css_first("h1") is not None:
        return _has_table(node)
    blocks = ("p", "blockquote", "pre", "ul", "ol")
    return tag in blocks or node.css_first("h2, h3, h4, table, dl") is not None


def _is_headed(place: int, sums: Sums) -> bool:
    if sums.prose[place] < _LEAST_CONTENT:
        return False
    heading = sums.nodes[place].css_first("h1")
    return heading is not None and sums.characters[sums.places[heading.mem_id]] > 0


def _has_table(node: Node) -> bool:
    tables = [node] if node.tag in ("table", "dl") else node.css("table, dl")
    return any(len(table.css("td, dd")) >= _LEAST_CELLS for table in tables)
