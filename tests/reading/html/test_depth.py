import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.html.page import decode_html, is_too_deep, strip_tags


@pytest.mark.parametrize(
    ("encoding", "label"),
    [
        ("utf-8", "utf-8"),
        ("cp1252", "iso-8859-1"),
        ("cp1251", "windows-1251"),
        ("gb18030", "gb2312"),
        ("cp932", "Shift_JIS"),
        ("koi8-r", "koi8-r"),
    ],
)
def test_the_declared_encoding_is_used(encoding: str, label: str) -> None:
    word = {"cp1251": "лодка", "koi8-r": "лодка", "gb18030": "小船", "cp932": "小船"}.get(
        encoding, "café"
    )
    html = (
        f'<html><head><meta http-equiv=x content="text/html; charset={label}"></head><p>{word}</p>'
    )

    assert word in decode_html(html.encode(encoding))[0]


def test_a_mark_goes_before_what_is_declared() -> None:
    text, notices = decode_html("\ufeff<meta charset=latin1><p>café".encode())

    assert text.endswith("café")
    assert not text.startswith("\ufeff")
    assert notices == ()


def test_utf_16_with_its_mark() -> None:
    assert decode_html("\ufeff<p>café".encode("utf-16-le"))[0] == "<p>café"


def test_what_is_utf_8_is_read_so_whatever_it_declares() -> None:
    assert "café" in decode_html("<meta charset=windows-1251><p>café".encode())[0]


@pytest.mark.parametrize("label", ["no-such-encoding", "ascii", "utf-8"])
def test_a_wrong_declaration_is_passed_over(label: str) -> None:
    text, _ = decode_html(
        f"<meta charset={label}><p>caf\xe9 cr\xe8me br\xfbl\xe9e".encode("cp1252")
    )

    assert "br" in text


def test_an_undeclared_encoding_is_guessed_with_a_notice() -> None:
    russian = "Лодка стоит у причала, и на ней никого нет. " * 5
    text, notices = decode_html(f"<p>{russian}".encode("cp1251"))

    assert "Лодка" in text
    assert [notice.code for notice in notices] == ["encoding-guessed"]


@pytest.mark.parametrize(
    ("html", "deep"),
    [
        ("<div>" * 1_001, True),
        ("<div>" * 999 + "</div>" * 999, False),
        ("<div></div>" * 5_000, False),
        ("<br>" * 5_000, False),
        ("<li>" * 5_000, False),
        ("<path/>" * 5_000, False),
        ("</a>" * 200_000 + "<div>" * 1_500, True),
    ],
    ids=range(7),
)
def test_depth(html: str, *, deep: bool) -> None:
    assert is_too_deep(html) is deep


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
    )
)
def test_stripping_never_fails(parts: list[str]) -> None:
    assert "\n\n\n" not in strip_tags("".join(parts) + "end")


@given(st.text(alphabet=st.characters(exclude_characters="<&\r\0", exclude_categories=["Cs"])))
def test_text_without_tags_is_kept(text: str) -> None:
    assert strip_tags(f"<p>{text}</p>").split() == text.split()
