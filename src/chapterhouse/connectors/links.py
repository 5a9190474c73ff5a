"""Lists of pages, as people write and paste them.

One address a line, with a title behind a bar if wanted; Markdown's lists and links too::

    # Ferry authority
    https://example.org/rules.pdf | Rules of carriage
    - [Timetable](https://example.org/timetable)
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.connectors.urls import URL_REFUSED, parse_url
from chapterhouse.errors import RejectedError
from chapterhouse.text.sanitise import sanitise_line

_LONGEST_LINE: Final = 10_000
_LONGEST_TITLE: Final = 200
_LINE_END = re.compile("\r\n|\r|\n")
_COMMENT: Final = ("#", "<!--", "---", "===", "```")
_MARKER = re.compile(r"\A(?:(?:[-*+•]|[0-9]{1,6}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?")
# An address may hold parentheses in pairs, as Wikipedia's do.
_MARKDOWN = re.compile(
    r"(?<!!)\[([^\[\]]{0,500})\]\([ \t]*"
    r"(?:<([^<>]{1,5000})>|((?:[^()\s<>]|\([^()\s<>]{0,500}\))+))"
    r"(?:[ \t]+\"[^\"]{0,500}\")?[ \t]*\)"
)
_TITLED = re.compile(r"[ \t]\|(?:[ \t]|$)")
_ADDRESS = re.compile(r"<?https?://|\[[^\[\]]{0,500}\]\(<?https?://", re.IGNORECASE)
_USER = re.compile(r"//[^/@\s]{0,200}@")
_WORDS_BEHIND = re.compile(r"https?://\S+[ \t]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Link:
    """A page of a list.

    Attributes:
        url: Its address in normal form.
        line: Where it stands first, from 1.
        title: What the list calls it; empty where it says nothing.
    """

    url: str
    line: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class LinkProblem:
    """A line that gives no page: its number from 1, its text as it can be shown, and why."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class LinkList:
    """The pages of a list, each once and in its order, and the lines that gave none."""

    links: tuple[Link, ...] = ()
    problems: tuple[LinkProblem, ...] = ()


def parse_links(text: str) -> LinkList:
    """Return the pages that ``text`` lists. No line makes it fail: bad ones become problems.

    An address that stands twice counts once, with the first title that it is given.
    """
    found: dict[str, Link] = {}
    problems = []
    for number, line in enumerate(_LINE_END.split(text.removeprefix("\ufeff")), start=1):
        for written, title in _find_addresses(line.strip()):
            try:
                url = _normal(written)
            except RejectedError as error:
                problems.append(LinkProblem(number, _shown(line), error.message))
                continue
            known = found.get(url, Link(url, number))
            found[url] = replace(known, title=known.title or title)
    return LinkList(tuple(found.values()), tuple(problems))


def is_list(text: str) -> bool:
    """Whether a text lists pages and says nothing else, headings apart."""
    lines = (line.strip() for line in _LINE_END.split(text.removeprefix("\ufeff")))
    entries = (line for line in lines if line and not line.startswith(_COMMENT))
    begins = [bool(_ADDRESS.match(_MARKER.sub("", line, count=1))) for line in entries]
    return bool(begins) and all(begins)


def _find_addresses(line: str) -> list[tuple[str, str]]:
    """Return the addresses of a line as they are written, and their titles."""
    if not line or line.startswith(_COMMENT):
        return []
    if len(line) > _LONGEST_LINE:
        return [(line, "")]  # too long for an address, and told so
    line = _MARKER.sub("", line, count=1)
    links = _MARKDOWN.findall(line)
    if links:
        return [(inside or bare, _title(title)) for title, inside, bare in links]
    url, *titles = _TITLED.split(line, maxsplit=1)
    return [(url, _title("".join(titles)))]


def _normal(written: str) -> str:
    """Return an address in normal form."""
    url = written.strip()
    if url.startswith("<") and url.endswith(">"):
        url = url[1:-1]
    if _WORDS_BEHIND.match(url):
        sentence = "Something stands behind the address; a title stands behind ' | '."
        raise RejectedError(URL_REFUSED, sentence)
    return parse_url(url).url


def _title(text: str) -> str:
    return sanitise_line(text)[:_LONGEST_TITLE]


def _shown(line: str) -> str:
    shown = _USER.sub("//…@", sanitise_line(line[:_LONGEST_LINE]))  # it may be a password
    return shown if len(shown) <= _LONGEST_TITLE else f"{shown[:_LONGEST_TITLE]}…"
