"""How much text, how much of it linked and how much prose every element of a page holds.

All is counted in one pass over the tree: to ask each element for its text costs as many passes
as the tree is deep.
"""

from collections.abc import Iterator
from typing import Any

Node = Any  # selectolax.lexbor.LexborNode

LEAST_PROSE = 25  # characters of a block that counts as prose
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "dd", "details", "div", "dl", "dt", "fieldset",
    "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
_PROSE = frozenset(("p", "pre", "blockquote", "li", "td", "dd", "h2", "h3", "div"))


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
