"""What of a page a person sees, and which part of it is its content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from tests.reading.html.pages import BODY, LEAD, SENTENCES, page_with, text_of

from chapterhouse.reading.html.furniture import Node, Sums
from chapterhouse.reading.html.page import decode_html, is_too_deep, strip_tags
from chapterhouse.reading.html.prune import (
    content_of,
    drop_unseen,
    marked,
    write_out_controls,
)

SHOWN = st.lists(
    st.sampled_from(("<p>seen</p>", "<p hidden>gone</p>", "<div style='display:none'>gone</div>",
                     "<p style='color:red; DISPLAY : none;'>gone</p>", "<!-- gone -->",
                     "<p style='visibility:hidden'>gone</p>", "<template>gone</template>",
                     "<noscript>gone</noscript>", "<style>gone</style>",
                     "<script>gone</script>", "<b aria-hidden=true>home_work</b>", "<i>seen</i>")),
    max_size=9,
)  # fmt: skip


def body_of(html: str) -> Node:
    return LexborHTMLParser(f"<body>{html}").body


@given(SHOWN)
def test_what_is_seen_stays_and_nothing_else(parts: list[str]) -> None:
    body = body_of("".join(parts))
    drop_unseen(body)
    assert (body.text() or "").count("seen") == sum("seen" in part for part in parts)
    assert "gone" not in (body.text() or "")
    assert "home_work" not in (body.text() or "")


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_of_many_choices_only_what_is_chosen_is_shown(chosen: list[bool]) -> None:
    options = "".join(f"<option {'selected' * own}>c{n}" for n, own in enumerate(chosen))
    body = body_of(f"<select>{options}</select>")
    write_out_controls(body)
    words = (body.text() or "").split()
    wanted = [f"c{n}" for n, own in enumerate(chosen) if own] or ["c0"]  # the first by default
    ticked = [words[place + 1] for place, word in enumerate(words) if word == "\u2612"]
    assert ticked == wanted
    assert words.count("\u2610") == (len(chosen) - len(wanted)) * (len(chosen) <= 30)


@pytest.mark.parametrize(
    ("shell", "tag", "trusted"),
    [
        ("<article><h1>Boats</h1>{}</article>", "article", True),
        ("<main>{}</main>", "main", True),
        ("<div id=content>{}</div>", "div", False),  # only a name
        ("<div>{}</div>", "body", False),
        ("<main>Menu</main>{}", "body", False),  # holds none of the prose
    ],
)
def test_an_element_is_marked_as_the_content(shell: str, tag: str, *, trusted: bool) -> None:
    sums = Sums(body_of(shell.format(BODY)))
    mark = marked(sums.nodes[0], sums)
    assert (sums.tags[mark.place], mark.trusted) == (tag, trusted)


def test_the_content_is_the_smallest_element_with_the_prose() -> None:
    body = body_of(f"<div><div id=inner>{BODY}</div><div>Short</div></div>")
    sums = Sums(body)
    assert content_of(body, marked(body, sums), sums).attributes["id"] == "inner"
    short = body_of("<div><div>Too little to choose.</div></div>")
    sums = Sums(short)
    assert content_of(short, marked(short, sums), sums) == short


@pytest.mark.parametrize(
    "lead",
    [
        f"<div><h1>A quay</h1></div><div class=standfirst>{LEAD}</div>",
        f"<header><h1>A quay</h1><p>{LEAD}</p><span>By A. Smith</span></header>",
        f"<h1>A quay</h1><div><figure><img src=x><figcaption>{LEAD}</figcaption></figure></div>",
        f"<h1>A quay</h1><div><ul><li>{LEAD}</ul></div>",
    ],
    ids=range(4),
)
@pytest.mark.parametrize("shell", ["<article>{}</article>", "<div>{}</div>"])
def test_what_leads_from_the_title_to_the_text_stays(lead: str, shell: str) -> None:
    menu = (
        "<nav><a href=/>Home</a></nav><p>All news of the coast, every day but Sunday, for you.</p>"
    )
    text = text_of(f"{menu}{lead}{shell.format(f'<div>{BODY}</div>')}<footer>x</footer>")
    assert text.count(LEAD) == 1
    assert text.index(LEAD) < text.index("Part 0")
    assert "Home" not in text
    assert "By A. Smith" not in text


def test_short_prose_with_links_and_parts_like_the_longest_stay() -> None:
    short = f"<p>Beside it: {LEAD} <a href=/x>More about the quay</a>.</p>"
    box = f"<div class=part>{LEAD} It will take years.</div>"
    text = text_of(f"<nav>x</nav><div>{short}<div class=part>{BODY}</div>{box}</div>")
    assert "Beside it" in text
    assert "It will take years." in text


def test_an_article_with_a_title_is_kept_alone_unless_the_prose_stands_elsewhere() -> None:
    others = "".join(f"<article><p>Other {n}: {SENTENCES}</p></article>" for n in range(5))
    text = page_with(f"<article><h1>Boats</h1>{BODY}</article><article>{others}</article>")
    assert "Part 3" in text
    assert "Other" not in text
    text = page_with(
        f"<article><h1>Boats</h1><p>{SENTENCES}</p></article>",
        *(f"<div><p>Part {number}: {SENTENCES}</p></div>" for number in range(5)),
    )
    assert all(f"Part {number}" in text for number in range(5))
    assert "Part 3" in text_of(f"<noscript><h1>A quay</h1>{BODY}</noscript><div id=app></div>")
    assert "pixel" not in text_of(f"<noscript>pixel {SENTENCES}</noscript>{BODY}")


def test_a_form_shows_its_labels_and_what_is_filled_in() -> None:
    text = text_of(
        "<form><fieldset><legend>Claim</legend><label>Name <input value='A. Smith'></label>"
        "<label><input type=checkbox checked>by post</label>"
        "<label><input type=checkbox>by wire</label><input type=hidden value=token>"
        "<select><option>cod<option selected>eel</select>"
        "<textarea>Lost at sea.</textarea><button>Send</button></fieldset></form>"
    )
    assert (
        " ".join(text.split())
        == "**Claim** Name A. Smith ☒ by post ☐ by wire ☐ cod ☒ eel Lost at sea. Send"
    )


# --- sums ---

MARKUP = st.lists(
    st.sampled_from(
        ("<div>", "</div>", "<p>", "<a href=x>", "</a>", "<span>", "</span>", "<ul><li>", "</ul>",
         "<table><tr><td>", "</table>", "<!-- x -->", " ", "word", "a sentence of some length. ")
    ),
    max_size=40,
).map("".join)  # fmt: skip


def sums_of(html: str) -> Sums:
    return Sums(LexborHTMLParser(f"<body>{html}").body)


def columns(sums: Sums) -> tuple[list[int], ...]:
    return sums.characters, sums.linked, sums.links, sums.own, sums.prose


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


# --- decoding, depth, and bare texts --------------------------------------------------------------

RUSSIAN = "Лодка стоит у причала, и на ней никого нет. " * 5


@pytest.mark.parametrize(
    ("encoding", "label", "word", "codes"),
    [
        ("utf-8", "utf-8", "café", []),
        ("cp1252", "iso-8859-1", "café", []),
        ("cp1251", "windows-1251", "лодка", []),
        ("gb18030", "gb2312", "小船", []),
        ("cp932", "Shift_JIS", "小船", []),
        ("koi8-r", "koi8-r", "лодка", []),
        ("utf-8-sig", "latin1", "café", []),  # a mark goes before what is declared
        ("utf-16", "utf-8", "café", []),
        ("utf-8", "windows-1251", "café", []),  # UTF-8 is UTF-8 whatever it declares
        ("cp1251", "", RUSSIAN, ["encoding-guessed"]),
        ("cp1252", "no-such-encoding", "café crème brûlée", ["encoding-guessed"]),
        ("cp1252", "ascii", "café crème brûlée", None),
        ("cp1252", "utf-8", "café crème brûlée", None),
    ],
)
def test_a_page_is_read_by_its_mark_as_utf_8_as_declared_or_by_a_guess(
    encoding: str, label: str, word: str, codes: list[str] | None
) -> None:
    html = f'<html><head><meta http-equiv=x content="text/html; charset={label}"></head><p>{word}'
    text, notices = decode_html(html.replace('; charset="', '"').encode(encoding))
    assert codes is None or word in text
    assert "\ufeff" not in text
    assert codes is None or [notice.code for notice in notices] == codes


def test_depth() -> None:
    for html, deep in (
        ("<div>" * 1_001, True),
        ("<div>" * 999 + "</div>" * 999, False),
        ("<div></div>" * 5_000, False),
        ("<br>" * 5_000, False),
        ("<li>" * 5_000, False),
        ("<path/>" * 5_000, False),
        ("</a>" * 200_000 + "<div>" * 1_500, True),
    ):
        assert is_too_deep(html) is deep, html[:20]


def test_stripping_keeps_text_and_drops_what_is_not_shown() -> None:
    html = (
        "<head><title>t</title></head><p>a<b>b</b> &amp; c</p><script>x<p>y</script><!-- z --><p>d"
    )
    assert strip_tags(html) == "ab & c\n\nd"


@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<b>", "<!--", "-->", "<script>", "</script>", "<", ">", "&lt", " "]
        )
    ),
    st.text(alphabet=st.characters(exclude_characters="<&\r\0", exclude_categories=["Cs"])),
)
def test_stripping_never_fails_and_keeps_text_without_tags(parts: list[str], text: str) -> None:
    assert "\n\n\n" not in strip_tags("".join(parts) + "end")
    assert strip_tags(f"<p>{text}</p>").split() == text.split()
