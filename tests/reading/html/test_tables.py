"""Tables of pages: spanned cells are repeated, and tables for layout are dissolved."""

import pytest

from chapterhouse.reading.html.page import read_html

# What would hang fails by the clock of pytest-timeout.
pytestmark = pytest.mark.timeout(120)

ARTICLE = " ".join(
    f"Sentence number {number} of the article says something." for number in range(20)
)


def text_of(body: str) -> str:
    html = f"<html><body>{body}</body></html>"
    return read_html(html.encode()).pages[0].text


def test_a_table_with_spans_is_filled() -> None:
    text = text_of(
        "<table><caption>Catch</caption><tr><th>Place<th colspan=2>Fish</tr>"
        "<tr><td rowspan=2>Quay<td>cod<td>3</tr><tr><td>eel<td>4</tr></table>"
    )

    assert text.split("\n") == [
        "Catch",
        "",
        "| Place | Fish | Fish |",
        "| --- | --- | --- |",
        "| Quay | cod | 3 |",
        "| Quay | eel | 4 |",
    ]


def test_a_row_that_ends_under_a_tall_cell_is_filled() -> None:
    text = text_of("<table><tr><th>a<th>b</tr><tr><td>1<td rowspan=2>2</tr><tr><td>3</tr></table>")

    assert text.split("\n")[2:] == ["| 1 | 2 |", "| 3 | 2 |"]


def test_a_table_used_for_layout_is_dissolved() -> None:
    text = text_of(
        f"<table><tr><td><p>menu</p></td><td><h1>Boats</h1><p>{ARTICLE}</p></td></tr></table>"
    )

    assert text == f"menu\n\n# Boats\n\n{ARTICLE}"


@pytest.mark.parametrize("span", ["100000000", "0", "-3", "two", "", "٣"])
def test_a_strange_span_does_no_harm(span: str) -> None:
    text = text_of(
        f"<table><tr><td colspan='{span}'>a</td><td>b</td></tr><tr><td>c<td>d</tr></table>"
    )

    assert "| c | d |" in text
    assert len(text) < 2_000
