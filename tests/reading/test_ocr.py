import io

import pypdfium2 as pdfium
import pytest

from chapterhouse.errors import RejectedError
from chapterhouse.reading import ocr, tesseract
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pdf.document import rendered
from chapterhouse.reading.pool import ReadingPool

from .conftest import png
from .pdf_writer import Page, write_pdf

needs_tesseract = pytest.mark.skipif(not tesseract.program(), reason="tesseract is not installed")
needs_rapidocr = pytest.mark.skipif(not ocr.has_rapidocr(), reason="the extra ocr is not installed")
LEFT = [
    "The evening ferry leaves the harbour",
    "at half past seven and takes",
    "bicycles on board.",
]
ACCENTS = "Die Fähre für Größere, déjà réservée à Noël."
IMAGE = png(20, 20)


def picture(page: Page) -> bytes:
    """A page as a PNG, as a scanner would make it."""
    document = pdfium.PdfDocument(write_pdf([page]))
    try:
        opened = document[0]
        return rendered(opened.raw, opened.get_size())
    finally:
        document.close()


def saved(pictures: list[bytes], format_: str) -> bytes:
    """Pictures as the pages of a PDF or a TIFF."""
    from PIL import Image  # noqa: PLC0415 - comes with the extra

    opened = [Image.open(io.BytesIO(picture)) for picture in pictures]
    written = io.BytesIO()
    opened[0].save(
        written, format_, save_all=True, append_images=opened[1:], resolution=200, dpi=(200, 200)
    )
    return written.getvalue()


@pytest.fixture
def only_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "has_rapidocr", lambda: False)


def engine(name: str, confidence: float, *texts: str) -> ocr._Engine:
    return ocr._Engine(lambda _image, _limits: [(text, confidence) for text in texts], name, 0.9)


def use(monkeypatch: pytest.MonkeyPatch, *engines: ocr._Engine) -> None:
    monkeypatch.setattr(ocr, "_engines", lambda: iter(engines))


@needs_rapidocr
def test_a_picture_is_read_in_a_worker_with_its_accents(pool: ReadingPool) -> None:
    extraction = pool.read(picture(Page().lines(72, 100, [*LEFT, ACCENTS])), "a.png")

    assert extraction.pages[0].text.split("\n") == [*LEFT, ACCENTS]
    assert extraction.method.startswith("RapidOCR ")
    assert [notice.code for notice in extraction.notices] == ["ocr"]
    assert not extraction.markdown


@needs_rapidocr
def test_columns_of_a_picture_are_read_one_after_the_other(pool: ReadingPool) -> None:
    left, right = [f"{line} there" for line in LEFT * 3], [f"{line} back" for line in LEFT * 3]
    page = Page().lines(60, 100, left, 10).lines(330, 100, right, 10)

    text = pool.read(picture(page), "a.png").pages[0].text

    assert [line for line in text.split("\n") if line] == left + right


@needs_rapidocr
def test_the_cells_of_a_row_stay_on_its_line(pool: ReadingPool) -> None:
    page = Page()
    for row, (name, value) in enumerate((("Glucose", "118"), ("Iron", "14.2"), ("Zinc", "0.9"))):
        page.text(72, 100 + 16 * row, name).text(300, 100 + 16 * row, value)

    text = pool.read(picture(page), "a.png").pages[0].text

    assert text.split("\n") == ["Glucose 118", "Iron 14.2", "Zinc 0.9"]


@needs_rapidocr
def test_an_upside_down_picture_is_turned(pool: ReadingPool) -> None:
    page = Page()
    for number, line in enumerate(LEFT):
        page.turned(500, 700 - 20 * number, line, 12, (-1, 0, 0, -1))

    assert pool.read(picture(page), "a.png").pages[0].text.split("\n") == LEFT


@needs_rapidocr
def test_a_scanned_pdf_says_how_sure_each_page_is(pool: ReadingPool) -> None:
    scans = [picture(Page().lines(72, 100, LEFT)), picture(Page().text(72, 100, "The end."))]
    extraction = pool.read(saved(scans, "PDF"), "scan.pdf")

    assert [page.text for page in extraction.pages] == ["\n".join(LEFT), "The end."]
    assert [(notice.code, notice.page) for notice in extraction.notices] == [("ocr", 1), ("ocr", 2)]
    assert "RapidOCR" in extraction.method


@needs_rapidocr
def test_every_page_of_a_tiff_is_read(pool: ReadingPool) -> None:
    scans = [picture(Page().text(72, 100, text, 14)) for text in ("One page.", "Two pages.")]
    pages = pool.read(saved(scans, "TIFF"), "a.tif").pages

    assert [(page.text, page.number) for page in pages] == [("One page.", 1), ("Two pages.", 2)]


@needs_tesseract
def test_tesseract_reads_where_nothing_else_is_installed(only_tesseract: None) -> None:
    page = picture(Page().lines(72, 100, LEFT).text(72, 200, "A paragraph below."))
    extraction = read(page, "a.png", Limits())

    assert extraction.pages[0].text == "\n".join([*LEFT, "", "A paragraph below."])
    assert extraction.method.startswith("tesseract ")
    assert [notice.code for notice in extraction.notices] == ["ocr"]


@pytest.mark.skipif(not ocr.engine_names(), reason="no OCR engine is installed")
def test_an_image_without_words_says_so(pool: ReadingPool) -> None:
    assert [notice.code for notice in pool.read(png(100, 100), "a.png").notices] == ["no-text"]


@needs_tesseract
def test_a_damaged_image_is_unreadable_by_tesseract(only_tesseract: None) -> None:
    with pytest.raises(RejectedError) as caught:
        ocr.ocr_image(png()[:40])
    assert caught.value.code == "unreadable"


@needs_rapidocr
@pytest.mark.parametrize("length", [40, 60])
def test_a_damaged_image_is_unreadable(pool: ReadingPool, length: int) -> None:
    with pytest.raises(RejectedError) as caught:
        pool.read(png(100, 100)[:length], "a.png")
    assert caught.value.code == "unreadable"


def test_a_flood_of_pixels_is_never_decoded() -> None:
    with pytest.raises(RejectedError) as caught:
        ocr.ocr_image(png(claimed=(10_000, 10_000)))
    assert caught.value.code == "image-too-large"


def test_without_an_engine_an_image_is_empty_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch)
    extraction = read(png(), "a.png", Limits())

    assert ocr.ocr_image(png()) is None
    assert [notice.code for notice in extraction.notices] == ["ocr-not-installed"]
    assert "-m pip install" in extraction.notices[0].sentence
    assert not any(page.text for page in extraction.pages)


def test_an_engine_that_is_sure_is_the_last_one_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, engine("one", 0.95, "ferry"), engine("two", 0.99, "fairy"))
    assert ocr.ocr_image(IMAGE) == (ocr.Recognised("ferry", 0.95, sure=True, method="one"),)


@pytest.mark.parametrize("first", ["fcrry", ""])
def test_the_next_engine_is_asked_where_one_is_unsure(
    monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    use(monkeypatch, engine("one", 0.5, first), engine("two", 0.95, "ferry"))
    assert ocr.ocr_image(IMAGE) == (ocr.Recognised("ferry", 0.95, sure=True, method="two"),)


def test_text_that_no_engine_is_sure_of_is_kept_with_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(monkeypatch, engine("one", 0.61, "fcrry"), engine("two", 0.5, "fairy"))
    extraction = read(IMAGE, "a.png", Limits())

    assert extraction.pages[0].text == "fcrry"
    assert [(notice.code, notice.sentence) for notice in extraction.notices] == [
        ("ocr-unsure", "Read by OCR, mean confidence 0.61: check it against the original.")
    ]


@pytest.mark.parametrize(
    ("confidence", "shown"), [(0.899, "0.89"), (0.9, "0.90"), (0.29, "0.29"), (0.9999, "0.99")]
)
def test_a_confidence_is_never_rounded_up_to_its_limit(confidence: float, shown: str) -> None:
    page = ocr.Recognised("ferry", confidence, sure=False, method="one")
    notice = ocr.ocr_notice(page)
    assert notice is not None
    assert f"confidence {shown}:" in notice.sentence


def test_pages_of_an_image_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, engine("one", 0.95, "ferry", "", "boat"))
    extraction = read(IMAGE, "a.png", Limits())

    assert [page.number for page in extraction.pages] == [1, 2, 3]
    assert [notice.page for notice in extraction.notices] == [1, 3]


@pytest.mark.parametrize(("text", "kept"), [("O", ""), ("1 1", ""), ("7\n一", ""), ("No", "No")])
def test_single_characters_are_no_writing(
    text: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, engine("one", 0.95, text))
    (page,) = ocr.ocr_image(IMAGE) or ()
    assert page.text == kept
