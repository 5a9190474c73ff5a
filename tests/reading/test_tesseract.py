"""Text recognition by the system's tesseract, and by a program that answers as it does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading import budget, ocr, tesseract
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits

from .conftest import picture, png
from .pdf_writer import Page

needs_tesseract = pytest.mark.skipif(not tesseract.program(), reason="tesseract is not installed")
LEFT = ["The evening ferry leaves the harbour", "at half past seven."]
HEAD = "level page_num block_num par_num line_num word_num left top width height conf text"
PROGRAM = """#!/bin/sh
case "$*" in
  --version) printf 'tesseract 5.3.0\\n leptonica-1.82.0\\n' ;;
  --list-langs) printf 'List of languages (6):\\nosd\\nita\\neng\\ndeu\\nafr\\nfra\\n' ;;
  "stdin stdout -l eng+afr+deu+fra tsv")
    image=$(cat)
    case "$image" in
      slow) exec sleep 20 ;;
      bad) printf 'Hint\\nno such image\\n' >&2; exit 1 ;;
      *) printf '%s\\n' "$image" ;;
    esac ;;
esac
"""


def row(page: int, paragraph: int, line: int, text: str, confidence: float = 90) -> str:
    """A row of a word, as tesseract prints it."""
    return f"5\t{page}\t1\t{paragraph}\t{line}\t1\t0\t0\t9\t9\t{confidence}\t{text}"


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A program on the path that prints the image it is given as its findings."""
    path = tmp_path / "tesseract"
    path.write_text(PROGRAM)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    cached = (tesseract.program, tesseract.languages, tesseract.method)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


@pytest.mark.usefixtures("stand_in")
def test_what_is_installed_is_named_and_english_comes_first() -> None:
    assert tesseract.method() == "tesseract 5.3.0"
    assert tesseract.languages() == "eng+afr+deu+fra"  # no more: each makes it slower


@pytest.mark.usefixtures("stand_in")
def test_lines_and_paragraphs_of_each_page_are_told_apart() -> None:
    rows = [
        HEAD,
        "1\t1\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t",
        row(1, 1, 1, "The", 80),
        row(1, 1, 1, "ferry"),
    ]
    rows += [
        row(1, 1, 2, "leaves"),
        row(1, 2, 1, "Pier", 100),
        "1\t2\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t",
    ]
    assert tesseract.read_pages("\n".join(rows).encode(), Limits()) == [
        ("The ferry\nleaves\n\nPier", 0.9),
        ("", 0.0),
    ]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("image", "code", "words"),
    [(b"bad", "unreadable", "(no such image)"), (b"slow", "timed-out", "more than 1 seconds")],
)
def test_a_failure_says_why(
    image: bytes, code: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr(budget, "_ask", asked.append)
    with pytest.raises(RejectedError) as caught:
        tesseract.read_pages(image, Limits(ocr_page_seconds=1))
    assert (caught.value.code, words in caught.value.message) == (code, True)
    assert asked == [1]


WORDS = st.lists(
    st.tuples(st.text("abc", min_size=1), st.sampled_from([0, 50, 100]), st.integers(1, 3))
)


@given(WORDS)
def test_every_word_is_kept_and_counts_once(found: list[tuple[str, int, int]]) -> None:
    rows = [row(1, 1, line, text, confidence).split("\t") for text, confidence, line in found]
    text, confidence = tesseract._page(list(tesseract._words(rows)))
    assert text.split() == [text for text, *_ in found]
    assert confidence * 100 == pytest.approx(sum(c for _, c, _ in found) / max(1, len(found)))


@pytest.fixture
def only_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "has_rapidocr", lambda: False)


@needs_tesseract
def test_tesseract_reads_where_nothing_else_is_installed(only_tesseract: None) -> None:
    page = picture(Page().lines(72, 100, LEFT).text(72, 200, "A paragraph below."))
    extraction = read(page, "a.png", Limits())

    assert extraction.pages[0].text == "\n".join([*LEFT, "", "A paragraph below."])
    assert extraction.method.startswith("tesseract ")
    assert [notice.code for notice in extraction.notices] == ["ocr"]


@needs_tesseract
def test_a_damaged_image_is_unreadable_by_tesseract(only_tesseract: None) -> None:
    with pytest.raises(RejectedError) as caught:
        ocr.ocr_image(png()[:40])
    assert caught.value.code == "unreadable"
