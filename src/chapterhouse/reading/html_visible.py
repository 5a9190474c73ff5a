"""What of a web page a person sees: scripts and hidden parts go, controls become their text."""

import re
from typing import Any

Node = Any  # selectolax.lexbor.LexborNode

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


def drop_unseen(root: Node) -> None:
    """Remove what a browser does not show."""
    for node in root.css(_NOT_SHOWN):
        node.decompose()
    _drop_doubles_for_no_scripts(root)
    for node in root.css("[style]"):
        if _HIDDEN.search(node.attributes.get("style") or ""):
            node.decompose()
    for node in root.css("[aria-hidden=true]"):  # seen, but not read out: icons, doubles
        if _ICON.fullmatch((node.text() or "").strip()):
            node.decompose()
    for node in root.css("svg"):
        node.replace_with(" ".join(part.text() or "" for part in node.css("text")))


def _drop_doubles_for_no_scripts(root: Node) -> None:
    """Drop what is shown where no scripts run, unless it is the page itself."""
    for node in root.css("noscript"):
        length = len((node.text() or "").strip())
        if length < _LEAST_PAGE or length < _MOST_OF_PAGE * len((root.text() or "").strip()):
            node.decompose()
    root.unwrap_tags(["noscript"])


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
