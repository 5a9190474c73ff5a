"""What files show, without the readers."""

from collections.abc import Mapping
from email.message import EmailMessage

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


def test_text_is_shown_as_it_stands_up_to_a_bound() -> None:
    assert shown("Füße\n  kalt\n".encode("latin-1"), "a.txt") == [("", ["Füße", "  kalt"])]
    found = show(b"word " * 300_000, "a.txt", Limits())
    assert len(found.pages[0].text) == 1_000_000
    assert "first 1,000,000 characters" in found.notices[0].sentence


def test_an_office_file_shows_nothing(documents: Mapping[str, bytes]) -> None:
    for format_ in ("rtf", "docx", "ods"):
        assert shown(documents[format_], f"a.{format_}") == [], format_
