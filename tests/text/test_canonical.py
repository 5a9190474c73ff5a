"""From extraction to canonical text."""

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.text.canonical import choose_title, compose
from chapterhouse.text.sanitise import sanitise
from chapterhouse.types import ExtractedPage, Extraction


def extraction(*pages: str, numbered: bool = True, **fields: object) -> Extraction:
    made = tuple(
        ExtractedPage(text, number if numbered else None) for number, text in enumerate(pages, 1)
    )
    return Extraction(made, "txt", "test", **fields)  # type: ignore[arg-type]  # of the test's making


@given(st.lists(st.text(), max_size=6))
def test_pages_follow_one_another_and_hold_their_text(pages: list[str]) -> None:
    body, _ = compose(extraction(*pages))
    assert len(body.pages) == len(pages)
    assert "".join(body.text[page.start : page.end] for page in body.pages) == body.text
    for page, text in zip(body.pages, pages, strict=True):
        assert body.text[page.start : page.end].strip("\n") == sanitise(text).text.strip("\n")


@given(st.lists(st.text(), max_size=6))
def test_sections_cover_the_text(pages: list[str]) -> None:
    body, _ = compose(extraction(*pages))
    assert "".join(body.text[s.start : s.end] for s in body.sections) == body.text


def test_plain_text_has_no_headings() -> None:
    body, _ = compose(extraction("# not a heading\n\ntext", numbered=False, markdown=False))
    assert [section.path for section in body.sections] == [()]


def test_hidden_characters_are_reported() -> None:
    _, notices = compose(extraction("a\u202eb\U000e0041"))
    assert [notice.code for notice in notices] == ["invisible-characters"]
    assert notices[0].sentence.startswith("2 ")


def test_the_title_is_what_the_document_says() -> None:
    def title(text: str, stated: str = "") -> str:
        made = extraction(text, numbered=False, title=stated)
        return choose_title(made, compose(made)[0], "my_file-name")

    assert title("---\ntitle: 'Front'\n---\n# Heading") == "Front"
    assert title("# Heading\n\ntext", "Stated") == "Stated"
    assert title("# Heading\n\ntext") == "Heading"
    assert title("text only") == "my file name"


def test_what_may_have_been_visible_is_not_called_invisible() -> None:
    extraction = Extraction((ExtractedPage("a\u200bb\x12c\ue000d"),), "txt", "")
    (notice,) = compose(extraction)[1]
    sentence = (
        "1 invisible and 2 control or private characters were removed. "
        "Fonts may show control and private ones as signs."
    )
    assert notice.sentence == sentence
