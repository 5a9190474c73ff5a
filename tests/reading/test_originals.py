"""What files show, without the readers."""

from collections.abc import Mapping
from email.message import EmailMessage

from tests.reading.conftest import zipped

from chapterhouse.reading.limits import Limits
from chapterhouse.reading.originals import show

PAGE = """<!DOCTYPE html><html><head><title>T</title><style>p { color: red }</style></head><body>
<nav><a href="/">Home</a></nav><script>steal()</script><p>The <b>ferry</b> leaves.</p>
<table><tr><td>Berth</td><td>17</td></tr><tr><td>Fee</td><td>9</td></tr></table>
<p hidden>unseen</p></body></html>"""


def shown(data: bytes, name: str) -> list[tuple[str, list[str]]]:
    return [(page.label, page.text.splitlines()) for page in show(data, name, Limits()).pages]


def test_a_web_page_shows_its_navigation_too_and_no_script() -> None:
    expected = ["Home", "The ferry leaves.", "Berth 17", "Fee 9"]

    assert shown(PAGE.encode(), "a.html") == [("", expected)]


def test_a_message_shows_headers_and_the_alternative_that_says_more() -> None:
    message = EmailMessage()
    message["Subject"] = "Berths"
    message["From"] = "Maria <maria@example.org>"
    message["Date"] = "Mon, 23 Nov 2026 05:00:00 +0000"
    message.set_content("Look at the other one.")
    message.add_alternative("<p>All berths are taken until the end of May.</p>", subtype="html")
    message.add_attachment("The annex.", filename="annex.txt")

    (_, headers), *rest = shown(message.as_bytes(), "a.eml")

    assert headers[0] == "Berths"
    assert rest == [("text/html", ["All berths are taken until the end of May."])]


def test_a_package_shows_each_part_by_its_name(documents: Mapping[str, bytes]) -> None:
    parts = shown(documents["docx"], "a.docx")

    assert parts
    assert all(label.startswith("word/") and lines for label, lines in parts)


def test_parts_behind_a_damaged_one_are_missing_with_a_notice() -> None:
    texts = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": "<manifest/>",
        "content.xml": "<office><p>Whole</p></office>",
        "styles.xml": "<office><p>Torn",
    }
    found = show(zipped(texts, stored=("mimetype",)), "a.odt", Limits())

    assert [page.text.strip() for page in found.pages] == ["Whole"]
    assert "A part of the file cannot be shown" in found.notices[0].sentence


def test_text_is_shown_as_it_stands_up_to_a_bound() -> None:
    assert shown("Füße\n  kalt\n".encode("latin-1"), "a.txt") == [("", ["Füße", "  kalt"])]
    found = show(b"word " * 300_000, "a.txt", Limits())
    assert len(found.pages[0].text) == 1_000_000
    assert "first 1,000,000 characters" in found.notices[0].sentence


def test_a_format_without_text_of_its_own_shows_nothing(documents: Mapping[str, bytes]) -> None:
    assert shown(documents["rtf"], "a.rtf") == []
