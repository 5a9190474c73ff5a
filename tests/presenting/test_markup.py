"""Elements of a page, in which text can only ever be text."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.presenting.markup import Markup, element, joined, markup
from chapterhouse.text.sanitise import sanitise


class _Read(HTMLParser):
    """Collects what a browser would see of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> _Read:
    parser = _Read()
    parser.feed(page)
    parser.close()
    return parser


HOSTILE = st.text(st.sampled_from("<>&\"'/=ab script\u202e\x1b;#&lt;"), max_size=60)


@given(HOSTILE, HOSTILE)
def test_text_and_attributes_are_read_back_and_are_nothing_else(text: str, value: str) -> None:
    found = read(element("p", text, attributes={"title": value}))
    seen = sanitise(value).text
    assert found.tags == [("p", [("title", seen)] if value else [])]
    assert found.text == sanitise(text).text


def test_markup_stands_as_it_is_and_is_not_escaped_twice() -> None:
    inner = element("em", "a < b")
    assert element("p", inner, " & c") == "<p><em>a &lt; b</em> &amp; c</p>"
    assert markup(inner) is inner
    assert joined(inner, "<") == f"{inner}&lt;"
    assert isinstance(joined("<"), Markup)


def test_elements_without_content_have_no_end() -> None:
    assert element("br") == "<br>"
    assert element("meta", attributes={"charset": "utf-8"}) == '<meta charset="utf-8">'


@pytest.mark.parametrize(
    ("name", "attributes"),
    [("p onclick", {}), ("P", {}), ("p", {"on click": "x"}), ("p", {'a"': "x"}), ("", {})],
)
def test_names_are_ours_alone(name: str, attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="no names"):
        element(name, attributes=attributes)
