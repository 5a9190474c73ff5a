"""Pictures of pages stay in memory up to a bound; a span is looked for page by page."""

from collections.abc import Sequence
from concurrent.futures import Future

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.page_views import PageViews, passages_of
from chapterhouse.types import Body, Page, PageView, Passage


class Drawing:
    """Draws eight pages of 40 bytes, and counts."""

    def __init__(self) -> None:
        self.drawn: list[int] = []

    def __call__(self, _data: bytes, page: int, _passages: Sequence[Passage]) -> Future[PageView]:
        self.drawn.append(page)
        future: Future[PageView] = Future()
        future.set_result(PageView(bytes([page]) * 40 if page < 9 else b""))
        return future


def test_the_pictures_that_were_used_last_are_not_drawn_again() -> None:
    drawing = Drawing()
    views = PageViews(drawing, most_bytes=100)

    def see(page: int, sha256: str = "a") -> None:
        assert views.image(sha256, page, bytes) == bytes([page]) * 40

    for page in (1, 2, 1, 2, 1):
        see(page)
    assert drawing.drawn == [1, 2]
    see(3)
    see(1)
    see(2)  # was seen before page 1 was, and had to go
    assert drawing.drawn == [1, 2, 3, 2]
    see(2, "b")
    assert drawing.drawn == [1, 2, 3, 2, 2]


def test_a_picture_that_is_larger_than_all_memory_is_drawn_each_time() -> None:
    drawing = Drawing()
    views = PageViews(drawing, most_bytes=39)
    assert views.image("a", 1, bytes) == views.image("a", 1, bytes) == bytes([1]) * 40
    assert drawing.drawn == [1, 1]


def test_pages_that_are_none_fill_no_memory() -> None:
    drawing = Drawing()
    views = PageViews(drawing)
    assert views.image("a", 9, bytes) == views.image("a", 9, bytes) == b""
    assert drawing.drawn == [9, 9]


@given(st.lists(st.text("ab \n", max_size=6), max_size=6), st.integers(0, 40), st.integers(0, 40))
def test_a_span_is_cut_where_pages_end(texts: list[str], start: int, end: int) -> None:
    pages, position = [], 0
    for number, text in enumerate(texts, 1):
        pages.append(Page(number, "", position, position + len(text)))
        position += len(text)
    text = "".join(texts)
    found = passages_of(Body(text, pages=tuple(pages)), start, end)
    assert "".join("".join(one.text.split()) for one in found) == "".join(text[start:end].split())
    for one in found:
        assert one.before + one.text + one.after == texts[one.page - 1]
    assert [one.page for one in found] == sorted({one.page for one in found})
