"""Elements of a page, in which text can only ever be text."""

import re
from collections.abc import Mapping
from html import escape
from typing import Final

from chapterhouse.text.sanitise import sanitise

_NAME: Final = re.compile(r"[a-z][a-z0-9]*")
_ATTRIBUTE: Final = re.compile(r"[a-z][a-z-]*")
_WITHOUT_END: Final = frozenset({"meta", "br", "hr"})
_NONE: Final[Mapping[str, str]] = {}


class Markup(str):
    """Text that is markup of ours already; any other text is escaped."""

    __slots__ = ()


def element(name: str, *content: "str | Markup", attributes: Mapping[str, str] = _NONE) -> Markup:
    """Return an element: markup as it stands, text and values escaped, empty attributes left out.

    Raises:
        ValueError: a name is none.
    """
    if not _NAME.fullmatch(name) or not all(map(_ATTRIBUTE.fullmatch, attributes)):
        raise ValueError(f"{name} {list(attributes)} are no names of an element.")
    given = "".join(f' {key}="{_escaped(value)}"' for key, value in attributes.items() if value)
    inside = "".join(map(markup, content))
    end = "" if name in _WITHOUT_END else f"{inside}</{name}>"
    return Markup(f"<{name}{given}>{end}")


def html_page(
    title: str, policy: str, style: str, body: Markup, names: Mapping[str, str] = _NONE
) -> str:
    """Return a whole document, which takes nothing from elsewhere; ``names`` are its metadata."""
    stated = {
        "viewport": "width=device-width, initial-scale=1",
        "generator": "Chapterhouse",
        "referrer": "no-referrer",
        **names,
    }
    head = element(
        "head",
        element("meta", attributes={"charset": "utf-8"}),
        element("meta", attributes={"http-equiv": "Content-Security-Policy", "content": policy}),
        *(element("meta", attributes={"name": n, "content": c}) for n, c in stated.items()),
        element("title", title),
        element("style", Markup(style)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, attributes={'lang': 'en'})}\n"


def markup(content: "str | Markup") -> Markup:
    """Return markup as it stands, and text escaped."""
    return content if isinstance(content, Markup) else Markup(_escaped(content))


def joined(*content: "str | Markup") -> Markup:
    """Return several pieces as one."""
    return Markup("".join(map(markup, content)))


def _escaped(text: str) -> str:
    return escape(sanitise(text).text, quote=True)
