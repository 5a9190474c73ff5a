from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from chapterhouse.reading.html.furniture import Sums

MARKUP = st.lists(
    st.sampled_from(
        (
            "<div>",
            "</div>",
            "<p>",
            "<a href=x>",
            "</a>",
            "<span>",
            "</span>",
            "<ul><li>",
            "</ul>",
            "<table><tr><td>",
            "</table>",
            "<!-- x -->",
            " ",
            "word",
            "a sentence of some length. ",
        )
    ),
    max_size=40,
).map("".join)


def sums_of(html: str) -> Sums:
    return Sums(LexborHTMLParser(f"<body>{html}").body)


def columns(sums: Sums) -> tuple[list[int], ...]:
    return sums.characters, sums.linked, sums.links, sums.own, sums.prose


def test_text_is_summed_from_the_inside_out() -> None:
    sums = sums_of(
        "<div><p>This is prose with  one <a>link</a>, and more of it.</p><h2>x</h2></div>"
    )

    assert sums.tags == ["body", "div", "p", "a", "h2"]
    assert [sums.linked[place] for place in (0, 2, 3)] == [5, 5, 0]
    assert sums.prose[:3] == [41, 41, 41]
    assert list(sums.children(1)) == [2, 4]
    assert sums.path(3) == {1, 2, 3}


@given(MARKUP)
def test_what_an_element_holds_is_what_its_children_hold_and_its_own_text(html: str) -> None:
    sums = sums_of(html)

    for place, node in enumerate(sums.nodes):
        inside = [sums.characters[child] for child in sums.children(place)]
        own = node.text(deep=False).strip()
        assert sums.characters[place] - sum(inside) == (
            len(" ".join(own.split())) + 1 if own else 0
        )
        assert len(node.css("*")) == sums.ends[place] - place


@given(MARKUP, st.integers(1, 40))
def test_after_a_drop_the_sums_are_those_of_the_page_without_it(html: str, place: int) -> None:
    sums = sums_of(html)
    place = 1 + place % len(sums.nodes)
    if place >= len(sums.nodes):
        return
    end = sums.ends[place]
    sums.drop(place)
    again = Sums(sums.nodes[0])

    left = [other for other in range(len(sums.nodes)) if not place <= other < end]
    assert [[column[other] for other in left] for column in columns(sums)] == list(columns(again))
