import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.html.page import decode_html, is_too_deep, strip_tags

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
