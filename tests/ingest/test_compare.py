"""Documents beside their files: the whole way through a worker, over a real library."""

import os
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest
from tests.reading.pdf_writer import Page, write_pdf

from chapterhouse.errors import NotFoundError, RejectedError, UsageError
from chapterhouse.ingest.compare import compare
from chapterhouse.library import Library
from chapterhouse.presenting.comparison import comparison_page
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Body, Comparison, Document, Scope

LINES = ["The ferry leaves at nine.", "Dogs travel free of charge.", "Bicycles cost two crowns."]


class FewDocuments:
    """The part of a store that a comparison asks."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        self.contents = contents

    def content(self, sha256: str, _scope: Scope) -> bytes | None:
        return self.contents.get(sha256)

    def roots(self) -> tuple[tuple[str, str], ...]:
        return ()


def document(source: str, format_: str) -> Document:
    return Document(
        "fares-1a2b3c4d", source, f"/{source}", "", format_, "", "a" * 64, "b" * 64, 1, 0
    )


def compared(data: bytes, text: str, name: str = "fares.pdf", pages: str = "") -> Comparison:
    from chapterhouse.types import Page as Stretch  # noqa: PLC0415 - beside the writer's

    body = Body(text, pages=(Stretch(1, "", 0, len(text)),))
    known = document(name, name.rpartition(".")[2].replace("htm", "html"))
    store = FewDocuments({known.sha256: data})
    return compare(known, body, store, Limits(), pages)  # type: ignore[arg-type]  # all it asks


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "home") as library:
        yield library


def add(library: Library, folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
        os.utime(folder / name, (1_600_000_000, 1_600_000_000))
    library.documents.add(folder)


def test_a_line_that_was_not_taken_gets_a_red_box_where_it_stands() -> None:
    data = write_pdf([Page().lines(72, 100, LINES, step=200)])

    found = compared(data, f"{LINES[0]}\n\n{LINES[2]}")

    (page,) = found.pages
    assert [line.wholly for line in page.lines] == [False, True, False]
    assert [line.text for _, line in found.missing] == [LINES[1]]
    left, top, right, bottom = page.lines[1].box or (0, 0, 0, 0)
    assert top < 300 / 792 < bottom + 0.01
    assert left == pytest.approx(72 / 612, abs=0.01)
    html = comparison_page(found)
    assert html.count('<rect class="taken"') == 2
    width, height = page.size
    place = f'x="{left * width:.1f}" y="{top * height:.1f}"'
    assert f'<rect class="missing" {place}' in html
    assert right > left
    assert found.share is not None
    assert 0.6 < found.share < 0.7


def test_a_document_as_it_was_read_misses_nothing(library: Library, tmp_path: Path) -> None:
    message = EmailMessage()
    message["Subject"] = "Berths"
    message.set_content("All berths are taken.")
    files = {
        "fares.pdf": write_pdf([Page().lines(72, 100, LINES), Page().lines(72, 100, LINES[::-1])]),
        "notes.md": b"# Fares\n\nA *crossing* costs nine crowns.\n",
        "berths.eml": message.as_bytes(),
    }
    add(library, tmp_path / "papers", files)

    for name in files:
        found = library.documents.compare(name)
        assert found.missing == ()
        assert found.share == 1.0
        assert found.remarks == ()
    assert [page.number for page in library.documents.compare("fares.pdf").pages] == [1, 2]


def test_what_was_pruned_from_a_web_page_is_marked(library: Library, tmp_path: Path) -> None:
    page = (
        "<html><body><nav><a href='/a'>Timetable</a> <a href='/b'>Contact</a></nav><article>"
        f"<h1>Fares</h1><p>{' '.join(LINES) * 5}</p></article></body></html>"
    )
    add(library, tmp_path / "papers", {"fares.html": page.encode()})

    found = library.documents.compare("fares.html")

    assert [line.text for _, line in found.missing] == ["Timetable Contact"]
    assert "<mark>Timetable Contact</mark>" in comparison_page(found)


def test_the_bytes_kept_are_compared_when_the_file_has_changed(
    library: Library, tmp_path: Path
) -> None:
    add(library, tmp_path / "papers", {"notes.txt": LINES[0].encode()})
    (tmp_path / "papers" / "notes.txt").write_text("Another text.")

    assert [line.text for line in library.documents.compare("notes.txt").pages[0].lines] == [
        LINES[0]
    ]


def test_pages_are_chosen_and_bounds_said() -> None:
    data = write_pdf([Page().text(72, 100, f"Day {number}") for number in range(1, 56)])

    assert compared(data, "Day 1").remarks == (
        "Pages 1 to 50 of 55 shown; choose others with --pages.",
    )
    found = compared(data, "Day 1", pages="54-60")
    assert [page.number for page in found.pages] == [54, 55]
    assert compared(data, "Day 1", pages="3").remarks[0].startswith("Page 3 of 55 shown")


@pytest.mark.parametrize("pages", ["0", "9-3", "x", "1-51", "56", "-3", "1-2-3"])
def test_pages_that_cannot_be_are_refused(pages: str) -> None:
    data = write_pdf([Page().text(72, 100, "Day")])

    with pytest.raises(UsageError):
        compared(data, "Day", pages=pages)


def test_pages_are_of_pdf_files_only() -> None:
    with pytest.raises(UsageError, match="PDF"):
        compared(b"Day", "Day", "a.txt", pages="1")


def test_a_broken_pdf_gives_a_clear_error() -> None:
    with pytest.raises(RejectedError, match="cannot be opened as a PDF"):
        compared(b"%PDF-1.7\nnothing", "Day")


def test_another_file_that_cannot_be_opened_leaves_its_text() -> None:
    found = compared(b"PK\x03\x04torn", "Day", "a.docx")

    assert found.pages[0].text == "Day"
    assert found.remarks[0].startswith("The file is not shown: ")


def test_an_image_stands_beside_its_text() -> None:
    from chapterhouse.reading.pdf.document import png  # noqa: PLC0415 - to make one

    data = png(bytes(12), 4, 3, 4)

    (page,) = compared(data, "Day", "a.png").pages

    assert (page.image, page.media_type, page.size) == (data, "image/png", (4, 3))
    tiff = compared(b"II*\0" + bytes(100), "Day", "a.tiff")
    assert tiff.pages[0].image == b""
    assert "open it beside this page" in tiff.remarks[0]


def test_without_the_bytes_it_says_what_to_do() -> None:
    known = document("gone.pdf", "pdf")
    with pytest.raises(NotFoundError, match="neither in its folder nor kept"):
        compare(replace(known), Body("Day"), FewDocuments({}), Limits())  # type: ignore[arg-type]
