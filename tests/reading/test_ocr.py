import pytest

from chapterhouse.reading import ocr
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool

from .conftest import SOAK, picture, png, saved
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
    assert [notice.code for notice in extraction.notices] == ["ocr"]
    assert not extraction.markdown


@pytest.mark.large
@SOAK
@needs_rapidocr
def test_a_scanned_pdf_says_how_sure_each_page_is(pool: ReadingPool) -> None:
    scans = [picture(Page().lines(72, 100, LEFT)), picture(Page().text(72, 100, "The end."))]
    extraction = pool.read(saved(scans, "PDF"), "scan.pdf")

    assert [page.text for page in extraction.pages] == ["\n".join(LEFT), "The end."]
    assert [(notice.code, notice.page) for notice in extraction.notices] == [("ocr", 1), ("ocr", 2)]
    assert "RapidOCR" in extraction.method


@pytest.mark.skipif(not ocr.engine_names(), reason="no OCR engine is installed")
def test_an_image_without_words_says_so(pool: ReadingPool) -> None:
    assert [notice.code for notice in pool.read(png(100, 100), "a.png").notices] == ["no-text"]


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
