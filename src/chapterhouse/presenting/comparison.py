"""A document beside its file as one page that stands alone: no script, nothing from elsewhere."""

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import resources

from chapterhouse.presenting.markup import Markup, element, html_page, joined
from chapterhouse.types import ComparedPage, Comparison, OriginalLine

_TAKEN, _PARTLY, _MISSING = "taken", "partly", "missing"
_STATUS_TEXTS = {_TAKEN: "taken", _PARTLY: "taken in part", _MISSING: "not taken"}


def comparison_page(found: Comparison) -> str:
    """Return a comparison as a whole HTML document.

    What comes from documents is escaped; the policy allows no script and nothing from elsewhere.
    """
    title = f"Check of {found.document.source}"
    body = element(
        "body",
        element("header", element("h1", title), _facts(found), *_remarks(found)),
        element("main", *(_page(page) for page in found.pages)),
    )
    return html_page(title, _policy(), _style_sheet(), body)


def share_text(share: float | None) -> str:
    """Return the share of words taken as people read it, never rounded up to all."""
    if share is None:
        return "the words of the file cannot be counted"
    return f"{int(share * 1000) / 10:g} % of the words that the file shows"


@cache
def _style_sheet() -> str:
    return resources.files(__package__).joinpath("comparison.css").read_text("utf-8")


@cache
def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(_style_sheet().encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )


# --- what is known of it -----------------------------------------------------------------------


def _facts(found: Comparison) -> Markup:
    document = found.document
    facts = {
        "Title": document.title,
        "Document": document.id,
        "Format": document.format,
        "State": document.status.value,
        "Read with": document.method,
        "Taken": share_text(found.share),
    }
    return element(
        "dl",
        *(element("div", element("dt", name), element("dd", text)) for name, text in facts.items()),
    )


def _remarks(found: Comparison) -> Iterator[Markup]:
    remarks = [notice.sentence for notice in found.document.notices] + list(found.remarks)
    if remarks:
        yield element("ul", *(element("li", sentence) for sentence in remarks))
    if any(line.box for page in found.pages for line in page.lines):
        keys = (
            element("span", _STATUS_TEXTS[name], attributes={"class": name})
            for name in _STATUS_TEXTS
        )
        yield element("p", "Lines of the file: ", *keys, attributes={"class": "legend"})
    elif any(page.lines for page in found.pages):
        mark = element("mark", "Marked")
        yield element("p", mark, " is what the text beside it does not hold.")


# --- side by side ------------------------------------------------------------------------------


def _page(page: ComparedPage) -> Markup:
    name = f"Page {page.number}" if page.number is not None else ""
    return element(
        "section",
        element("h2", name) if name else "",
        element("div", *_original(page, name), attributes=_pane("The file", name)),
        element(
            "div",
            element("h3", "Text in the library"),
            element("pre", page.text) if page.text.strip() else element("p", "None."),
            attributes=_pane("The text", name),
        ),
        attributes={"class": "drawn" if page.image else "written"},
    )


def _pane(what: str, name: str) -> dict[str, str]:
    """Return the attributes of a part that is scrolled by itself, with the keyboard too."""
    label = f"{what}, {name.lower()}" if name else what
    return {"class": "pane", "role": "region", "aria-label": label, "tabindex": "0"}


def _original(page: ComparedPage, name: str) -> Iterator[Markup]:
    yield element("h3", "In the file")
    if page.image:
        yield _picture(page, name)
        if page.number is not None and not page.lines:
            yield element("p", "No text layer: text beside it comes from text recognition.")
        yield from _missing(page)
        return
    for line in page.lines:
        yield element("h4", line.text) if line.heading else element("p", *_marked(line))
    if not page.lines:
        yield element("p", "It has no text that can be shown here.")


def _picture(page: ComparedPage, name: str) -> Markup:
    width, height = page.size
    encoded = base64.b64encode(page.image).decode()
    image = element(
        "image",
        attributes={
            "href": f"data:{page.media_type};base64,{encoded}",
            "width": str(width),
            "height": str(height),
        },
    )
    label = f"{name} as it is in the file" if name else "The image"
    return element(
        "svg",
        image,
        *(_box(line, width, height) for line in page.lines if line.box),
        attributes={"viewbox": f"0 0 {width} {height}", "role": "img", "aria-label": label},
    )


def _box(line: OriginalLine, width: int, height: int) -> Markup:
    left, top, right, bottom = line.box or (0, 0, 0, 0)
    state = _state(line)
    return element(
        "rect",
        element("title", f"{_STATUS_TEXTS[state]}: {line.text}"),
        attributes={
            "class": state,
            "x": f"{left * width:.1f}",
            "y": f"{top * height:.1f}",
            "width": f"{(right - left) * width:.1f}",
            "height": f"{(bottom - top) * height:.1f}",
        },
    )


def _state(line: OriginalLine) -> str:
    if not line.missing:
        return _TAKEN
    return _MISSING if line.wholly else _PARTLY


def _missing(page: ComparedPage) -> Iterator[Markup]:
    """Say in words what the boxes say in colours."""
    lines = [line for line in page.lines if line.missing]
    if lines:
        yield element("h4", "Not taken, or not wholly")
        yield element("ul", *(element("li", *_marked(line)) for line in lines))


def _marked(line: OriginalLine) -> Iterator[Markup]:
    end = 0
    for start, stop in line.missing:
        yield joined(line.text[end:start], element("mark", line.text[start:stop]))
        end = stop
    yield joined(line.text[end:])
