"""A document beside its file as one page: whole, escaped, without script."""

import base64
import hashlib
import re

from chapterhouse.presenting.comparison import comparison_page, share_text
from chapterhouse.types import ComparedPage, Comparison, Document, Notice, OriginalLine, Status

HOSTILE = (
    "</pre><script>alert(1)</script>\"'><img src=https://x.example onerror=alert(1)>\u202e&amp;"
)
DOCUMENT = Document(
    id="fares-1a2b3c4d",
    source=f"papers/{HOSTILE}",
    location="/papers/fares.pdf",
    title=HOSTILE,
    format="pdf",
    method=HOSTILE,
    sha256="0" * 64,
    text_sha256="0" * 64,
    size=1,
    modified=0,
    status=Status.PARTIAL,
    notices=(Notice("page-unreadable", HOSTILE),),
)
LINES = (
    OriginalLine("Taken", box=(0.1, 0.2, 0.5, 0.3)),
    OriginalLine("Fee 17", ((4, 6),), box=(0.1, 0.4, 0.5, 0.5)),
    OriginalLine(HOSTILE, ((0, len(HOSTILE)),), wholly=True, box=(0.1, 0.6, 0.5, 0.7)),
)
DRAWN = ComparedPage(3, LINES, HOSTILE, b"\x89PNG", "image/png", (200, 100))
WRITTEN = ComparedPage(None, (OriginalLine(HOSTILE, heading=True), *LINES), HOSTILE)


def test_hostile_names_and_texts_stay_text() -> None:
    for page in (DRAWN, WRITTEN):
        html = comparison_page(Comparison(DOCUMENT, (page,), 0.5, (HOSTILE,)))

        assert "<script" not in html
        assert "<img" not in html
        assert "\u202e" not in html
        assert html.count("<pre>") == html.count("</pre>") == 1
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_the_policy_allows_the_style_of_the_page_its_images_and_nothing_else() -> None:
    html = comparison_page(Comparison(DOCUMENT, (DRAWN,)))
    style = re.search(r"<style>(.*)</style>", html, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()

    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )
    assert f'content="{policy}"'.replace("'", "&#x27;") in html
    assert "style=" not in html
    addresses = re.findall(r'(?:href|src)="([^"]*)"', html)
    assert addresses == [f"data:image/png;base64,{base64.b64encode(DRAWN.image).decode()}"]


def test_lines_are_boxes_on_the_picture_and_what_is_missing_is_said_in_words() -> None:
    html = comparison_page(Comparison(DOCUMENT, (DRAWN,), 0.5))

    boxes = re.findall(r'<rect class="(\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', html)
    assert boxes == [
        ("taken", "20.0", "20.0", "80.0"),
        ("partly", "20.0", "40.0", "80.0"),
        ("missing", "20.0", "60.0", "80.0"),
    ]
    assert "<li>Fee <mark>17</mark></li>" in html
    assert "<title>taken in part: Fee 17</title>" in html


def test_the_state_notices_and_share_stand_at_the_top() -> None:
    html = comparison_page(Comparison(DOCUMENT, (WRITTEN,), 0.9996, ("Only page 3 shown.",)))
    top = html[: html.index("<main>")]

    assert "<dd>partial</dd>" in top
    assert "Only page 3 shown." in top
    assert "99.9 %" in top


def test_a_share_is_never_rounded_up_to_all() -> None:
    assert share_text(0.99999) == "99.9 % of the words that the file shows"
    assert share_text(1.0) == "100 % of the words that the file shows"
    assert "cannot be counted" in share_text(None)


def test_a_page_without_a_text_layer_says_where_its_text_comes_from() -> None:
    scanned = ComparedPage(1, (), "Recognised", b"\x89PNG", "image/png", (2, 2))

    assert "comes from text recognition" in comparison_page(Comparison(DOCUMENT, (scanned,)))
