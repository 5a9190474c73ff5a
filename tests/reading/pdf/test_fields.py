import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.pdf_writer import HEIGHT, WIDTH, Page, write_pdf

from chapterhouse.reading.pdf import document, fields
from chapterhouse.reading.pdf.document import read_pdf

CHECK = "/FT /Btn /AS /{} /V /{} /AP << /N << /Yes 3 0 R /Off 3 0 R >> >>"


def text_of(*pages: Page) -> str:
    return "\n\n".join(page.text for page in read_pdf(write_pdf(list(pages)), "form.pdf").pages)


def words_of(page: Page) -> str:
    return " ".join(text_of(page).split())


def test_values_of_fields_follow_their_labels() -> None:
    page = Page().text(72, 120, "Name").text(72, 160, "Born").text(300, 160, "in")
    page.field(320, 148, "place", "/FT /Tx /V (Hull)")
    page.field(110, 108, "n", "/FT /Tx /V (A. Smith)")
    page.field(110, 148, "born", "/FT /Tx /V (12 May 1987)")
    assert words_of(page) == "Name A. Smith Born 12 May 1987 in Hull"
    page = Page().text(72, 120, "Reason").text(72, 200, "Signed in Hull")
    page.field(72, 128, "reason", "/FT /Tx /Ff 4096 /V (Lost at\\rsea)", width=300)
    assert words_of(page) == "Reason Lost at sea Signed in Hull"
    page = Page().text(72, 120, "Claim").field(300, 400, "f7", "/FT /Tx /TU (Berth) /V (East 4)")
    assert "Berth: East 4" in text_of(page)  # its own, where none is printed


def test_boxes_and_choices_show_what_is_chosen() -> None:
    page = Page().text(92, 120, "by post").text(92, 140, "by wire")
    page.field(72, 110, "a", CHECK.format("Yes", "Yes"), width=12)
    page.field(72, 130, "b", CHECK.format("Off", "Off"), width=12)
    assert words_of(page) == "☒ by post ☐ by wire"
    page = Page().text(72, 120, "Fish").text(72, 160, "Days")
    page.field(110, 108, "fish", "/FT /Ch /Ff 131072 /Opt [(cod) (eel)] /V (eel)")
    page.field(110, 148, "days", "/FT /Ch /Ff 2097152 /Opt [(Mon) (Tue) (Wed)] /V [(Mon) (Wed)]")
    assert words_of(page) == "Fish eel Days Mon, Wed"


def test_secrets_and_hidden_fields_are_not_read() -> None:
    page = Page().text(72, 120, "Word").field(110, 108, "w", "/FT /Tx /Ff 8192 /V (hush)")
    page.annotation("Widget", 72, 200, 90, 14, "/T (h) /FT /Tx /V (unseen) /F 2")
    assert text_of(page) == "Word"


def test_notes_and_stamps_are_read_where_they_stand_and_notes_that_open_below() -> None:
    page = Page().text(72, 120, "Above").text(72, 300, "Below")
    page.annotation("FreeText", 72, 180, 200, 20, "/Contents (Typed on the page)")
    page.annotation("Stamp", 72, 220, 200, 20, "/Contents (PAID 12 May)")
    page.annotation("Text", 400, 290, 20, 20, "/Contents (Second note)")
    page.annotation("Highlight", 72, 110, 50, 20, "/T (Ada) /Contents (Is this right?)")
    text = text_of(page)
    body, notes = " ".join(text.split()).split(" Note by", 1)
    assert body == "Above Typed on the page PAID 12 May Below"
    assert notes == " Ada: Is this right? Note: Second note"
    assert "#" not in text


def test_a_page_with_too_much_on_it_keeps_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page().text(72, 120, "Name").text(72, 160, "Born")
    page.field(110, 108, "n", "/FT /Tx /V (A. Smith)").field(110, 148, "b", "/FT /Tx /V (1987)")
    monkeypatch.setattr(fields, "_MOST_PAIRS", 1)  # more than can be placed
    assert words_of(page) == "Name n: A. Smith Born b: 1987"
    monkeypatch.setattr(document, "MOST_CHARACTERS", 3)
    assert text_of(page) == "Name\nBorn\nn: A. Smith\nb: 1987"


POINTS = st.tuples(st.integers(20, WIDTH - 140), st.integers(20, HEIGHT - 40))


@given(st.lists(st.integers(20, WIDTH - 140), max_size=8), st.lists(POINTS, max_size=8))
def test_every_value_is_read_once_wherever_it_stands(
    words: list[int], values: list[tuple[int, int]]
) -> None:
    page = Page()
    for number, x in enumerate(words):
        page.text(x, 100 + 60 * number, f"word{number}")
    for number, (x, y) in enumerate(values):
        page.field(x, y, f"f{number}", f"/FT /Tx /V (value{number})")
    text = text_of(page)
    assert all(text.count(f"value{number}") == 1 for number in range(len(values)))
    assert all(text.count(f"word{number}") == 1 for number in range(len(words)))
