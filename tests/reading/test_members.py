"""Long texts come in parts, and nothing of them is lost."""

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.limits import Limits
from chapterhouse.reading.members import in_parts
from chapterhouse.types import ExtractedPage, Extraction

PAGES = st.lists(st.text(alphabet="ab \n", max_size=40), min_size=1, max_size=6)


def extraction(*texts: str, markdown: bool = False) -> Extraction:
    pages = tuple(ExtractedPage(text, number) for number, text in enumerate(texts, 1))
    return Extraction(pages, "txt", "test", markdown=markdown)


@given(PAGES, st.integers(1, 30))
def test_the_parts_together_are_the_whole(texts: list[str], most: int) -> None:
    found = in_parts(extraction(*texts), "a.txt", Limits(text_characters=most))
    kept = [page.text for page in found.pages]
    further = [member.data.decode().replace("\n\n", "") for member in found.members]
    whole = "".join(texts)
    assert "".join([*kept, *further]).replace("\n", "") == whole.replace("\n", "")
    assert sum(map(len, kept)) <= most or len(texts) == len(kept) == 1
    assert bool(found.members) == (len(whole) > most)


def test_pages_stay_whole_and_keep_their_numbers() -> None:
    found = in_parts(extraction("One.", "Two.", "Three."), "a.b.pdf", Limits(text_characters=9))
    assert [(page.text, page.number) for page in found.pages] == [("One.", 1), ("Two.", 2)]
    assert [(one.path, one.data) for one in found.members] == [("a.b part 2 of 2.txt", b"Three.")]


def test_a_cut_falls_behind_a_line() -> None:
    found = in_parts(extraction("aaaa\nbbbb\ncccc", markdown=True), "a", Limits(text_characters=12))
    assert found.pages[0].text == "aaaa\nbbbb\n"
    assert [(one.path, one.data) for one in found.members] == [("a part 2 of 2.md", b"cccc")]
