"""Text recognition: which engine is asked; tesseract, or a program that answers so; RapidOCR."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading import limits, ocr
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.text import Box
from chapterhouse.reading.pool import ReadingPool

from .conftest import SOAK, codes, picture, png, saved
from .pdf_writer import Page

needs_rapidocr = pytest.mark.skipif(not ocr.has_rapidocr(), reason="the extra ocr is not installed")
LEFT = [
    "The evening ferry leaves the harbour",
    "at half past seven and takes",
    "bicycles on board.",
]
ACCENTS = "Die Fähre für Größere, déjà réservée à Noël."
IMAGE = png(20, 20)


def engine(name: str, confidence: float, *texts: str) -> ocr._Engine:
    return ocr._Engine(lambda _image, _limits: [(text, confidence) for text in texts], name, 0.9)


def use(monkeypatch: pytest.MonkeyPatch, *engines: ocr._Engine) -> None:
    monkeypatch.setattr(ocr, "_engines", lambda: iter(engines))


@needs_rapidocr
def test_a_picture_is_read_in_a_worker_with_its_accents(pool: ReadingPool) -> None:
    extraction = pool.read(picture(Page().lines(72, 100, [*LEFT, ACCENTS])), "a.png")
    assert extraction.pages[0].text.split("\n") == [*LEFT, ACCENTS]
    assert extraction.method.startswith("RapidOCR ")
    assert codes(extraction) == ["ocr"]
    assert not extraction.markdown


@pytest.mark.skipif(not ocr.engine_names(), reason="no OCR engine is installed")
def test_an_image_without_words_says_so(pool: ReadingPool) -> None:
    assert [notice.code for notice in pool.read(png(100, 100), "a.png").notices] == ["no-text"]


def test_without_an_engine_an_image_is_empty_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch)
    extraction = read(png(), "a.png", Limits())
    assert ocr.ocr_image(png()) is None
    assert codes(extraction) == ["ocr-not-installed"]
    assert "-m pip install" in extraction.notices[0].sentence
    assert not any(page.text for page in extraction.pages)


def test_engines_are_asked_until_one_is_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, engine("one", 0.95, "ferry"), engine("two", 0.99, "fairy"))
    assert ocr.ocr_image(IMAGE) == (ocr.Recognition("ferry", 0.95, sure=True, method="one"),)
    for first in ("fcrry", ""):
        use(monkeypatch, engine("one", 0.5, first), engine("two", 0.95, "ferry"))
        assert ocr.ocr_image(IMAGE) == (ocr.Recognition("ferry", 0.95, sure=True, method="two"),)


def test_text_that_no_engine_is_sure_of_is_kept_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(monkeypatch, engine("one", 0.61, "fcrry"), engine("two", 0.5, "fairy"))
    extraction = read(IMAGE, "a.png", Limits())
    assert extraction.pages[0].text == "fcrry"
    assert [(notice.code, notice.sentence) for notice in extraction.notices] == [
        ("ocr-unsure", "Read by OCR, mean confidence 0.61: check it against the original.")
    ]


def test_a_confidence_is_never_rounded_up_to_its_limit() -> None:
    for confidence, shown in ((0.899, "0.89"), (0.9, "0.90"), (0.29, "0.29"), (0.9999, "0.99")):
        notice = ocr.ocr_notice(ocr.Recognition("ferry", confidence, sure=False, method="one"))
        assert notice is not None
        assert f"confidence {shown}:" in notice.sentence


def test_pages_of_an_image_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, engine("one", 0.95, "ferry", "", "boat"))
    extraction = read(IMAGE, "a.png", Limits())
    assert [page.number for page in extraction.pages] == [1, 2, 3]
    assert [notice.page for notice in extraction.notices] == [1, 3]


def test_single_characters_are_no_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, kept in (("O", ""), ("1 1", ""), ("7\n一", ""), ("No", "No")):
        use(monkeypatch, engine("one", 0.95, text))
        (page,) = ocr.ocr_image(IMAGE) or ()
        assert page.text == kept


# --- tesseract -----------------------------------------------------------------------------------

needs_tesseract = pytest.mark.skipif(not ocr.tesseract(), reason="tesseract is not installed")
HEAD = "level page_num block_num par_num line_num word_num left top width height conf text"
SPOKEN = ["The evening ferry leaves the harbour", "at half past seven."]
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
    cached = (ocr.tesseract, ocr.tesseract_languages, ocr.tesseract_method)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


@pytest.mark.usefixtures("stand_in")
def test_what_is_installed_is_named_and_english_comes_first() -> None:
    assert ocr.tesseract_method() == "tesseract 5.3.0"
    assert ocr.tesseract_languages() == "eng+afr+deu+fra"  # no more: each makes it slower


@pytest.mark.usefixtures("stand_in")
def test_lines_and_paragraphs_of_each_page_are_told_apart() -> None:
    page = "1\t{}\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t"
    rows = [HEAD, page.format(1), row(1, 1, 1, "The", 80), row(1, 1, 1, "ferry")]
    rows += [row(1, 1, 2, "leaves"), row(1, 2, 1, "Pier", 100), page.format(2)]
    assert ocr.read_by_tesseract("\n".join(rows).encode(), Limits()) == [
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
    monkeypatch.setattr(limits, "_ask", asked.append)
    with pytest.raises(RejectedError) as caught:
        ocr.read_by_tesseract(image, Limits(ocr_page_seconds=1))
    assert (caught.value.code, words in caught.value.message) == (code, True)
    assert asked == [1]


WORDS = st.lists(
    st.tuples(st.text("abc", min_size=1), st.sampled_from([0, 50, 100]), st.integers(1, 3))
)


@given(WORDS)
def test_every_word_is_kept_and_counts_once(found: list[tuple[str, int, int]]) -> None:
    rows = [row(1, 1, line, text, confidence).split("\t") for text, confidence, line in found]
    text, confidence = ocr._tesseract_page(list(ocr._words(rows)))
    assert text.split() == [text for text, *_ in found]
    assert confidence * 100 == pytest.approx(sum(c for _, c, _ in found) / max(1, len(found)))


@pytest.fixture
def only_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "has_rapidocr", lambda: False)


@needs_tesseract
def test_tesseract_reads_where_nothing_else_is_installed(only_tesseract: None) -> None:
    page = picture(Page().lines(72, 100, SPOKEN).text(72, 200, "A paragraph below."))
    extraction = read(page, "a.png", Limits())
    assert extraction.pages[0].text == "\n".join([*SPOKEN, "", "A paragraph below."])
    assert extraction.method.startswith("tesseract ")
    assert codes(extraction) == ["ocr"]


@needs_tesseract
def test_a_damaged_image_is_unreadable_by_tesseract(only_tesseract: None) -> None:
    with pytest.raises(RejectedError) as caught:
        ocr.ocr_image(png()[:40])
    assert caught.value.code == "unreadable"


# --- RapidOCR ------------------------------------------------------------------------------------

PLACES = st.tuples(st.integers(0, 40), st.integers(0, 60))
LINES = st.lists(st.tuples(PLACES, st.floats(0, 1)), max_size=12)


def line(text: str, left: float, top: float, score: float = 1.0) -> tuple[Box, str, float]:
    return Box(left, top, left + 9.0 * len(text), top + 10.0), text, score


@needs_rapidocr
@given(LINES)
def test_every_line_is_written_once_wherever_it_stands(
    found: list[tuple[tuple[int, int], float]],
) -> None:
    lines = [line(f"line{n}", 30 * x, 20 * y) for n, ((x, y), _) in enumerate(found)]
    assert sorted(ocr._text(lines).split()) == sorted(text for _, text, _ in lines)


@needs_rapidocr
def test_a_wide_gap_parts_paragraphs_and_what_stands_level_is_one_line() -> None:
    lines = [line("one", 0, 0), line("two", 40, 1), line("three", 0, 14), line("four", 0, 60)]
    assert ocr._text(lines) == "one two\nthree\n\nfour"


@needs_rapidocr
def test_pages_are_bounded_and_an_animation_is_its_first_picture() -> None:
    pictures = [png(20, 20)] * 3
    limits = Limits(image_pages=2)
    assert len(list(ocr._pictures(saved(pictures, "TIFF"), limits))) == 2
    assert len(list(ocr._pictures(saved(pictures, "GIF"), limits))) == 1
    for data, own in (
        (png(20, 20), Limits(image_pixels=399)),
        (png(claimed=(50_000, 50_000)), limits),
    ):
        with pytest.raises(RejectedError) as caught:
            read(data, "a.png", own)
        assert caught.value.code == "image-too-large"


@needs_rapidocr
def test_what_is_transparent_is_paper() -> None:
    from PIL import Image  # noqa: PLC0415 - comes with the extra

    written = io.BytesIO()
    Image.new("RGBA", (3, 2), (0, 0, 0, 0)).save(written, "PNG")
    (pixels,) = ocr._pictures(written.getvalue(), Limits())
    assert pixels.shape == (2, 3, 3)
    assert pixels.min() == 255


@needs_rapidocr
@pytest.mark.large
@SOAK
def test_an_upside_down_picture_is_turned(pool: ReadingPool) -> None:
    page = Page()
    for number, line in enumerate(LEFT):
        page.turned(500, 700 - 20 * number, line, 12, (-1, 0, 0, -1))
    assert pool.read(picture(page), "a.png").pages[0].text.split("\n") == LEFT


@needs_rapidocr
@pytest.mark.parametrize("length", [40, 60])
def test_a_damaged_image_is_unreadable(pool: ReadingPool, length: int) -> None:
    with pytest.raises(RejectedError) as caught:
        pool.read(png(100, 100)[:length], "a.png")
    assert caught.value.code == "unreadable"
