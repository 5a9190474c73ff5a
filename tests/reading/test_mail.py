from collections.abc import Mapping
from email.message import EmailMessage

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction


def one(data: bytes) -> Extraction:
    return read(data, "a.eml", Limits())


def test_a_message_has_subject_headers_body_and_names_of_attachments(
    documents: Mapping[str, bytes],
) -> None:
    extraction = one(documents["eml"])
    assert extraction.pages[0].text == (
        "# Timetable\n\nFrom: Ada <ada@example.org>  \nTo: bob@example.org  \n"
        "Date: Tue, 18 Nov 2025 10:42:00 +0100\n\nThe ferry leaves at nine.\n"
    )
    assert extraction.title == "Timetable"
    assert extraction.metadata["from"] == "Ada <ada@example.org>"
    (notice,) = extraction.notices
    assert notice.code == "attachments-not-read"
    assert "plan.pdf" in notice.sentence


def test_a_message_in_html_alone_becomes_markdown() -> None:
    message = EmailMessage()
    message["Subject"] = "x"
    message.set_content("<h2>Fares</h2><p>They <b>rise</b>.</p>", subtype="html")
    text = one(message.as_bytes()).pages[0].text
    assert "## Fares" in text
    assert "<" not in text


def test_the_plain_body_is_preferred() -> None:
    message = EmailMessage()
    message["Subject"] = "x"
    message.set_content("plain words")
    message.add_alternative("<p>marked words</p>", subtype="html")
    text = one(message.as_bytes()).pages[0].text
    assert "plain words" in text
    assert "marked" not in text


def test_encoded_headers_and_bodies_are_decoded() -> None:
    message = EmailMessage()
    message["Subject"] = "Fähre für alle"
    message["From"] = "Jürgen <j@example.org>"
    message.set_content("Grüße aus Köln", charset="iso-8859-1", cte="quoted-printable")
    extraction = one(message.as_bytes())
    assert extraction.title == "Fähre für alle"
    assert "Grüße aus Köln" in extraction.pages[0].text
    assert extraction.notices == ()


def test_an_attached_message_is_named_not_read() -> None:
    inner, outer = EmailMessage(), EmailMessage()
    inner["Subject"] = "inner"
    inner.set_content("secret words")
    outer["Subject"] = "outer"
    outer.set_content("see below")
    outer.add_attachment(inner)
    extraction = one(outer.as_bytes())
    assert "secret words" not in extraction.pages[0].text
    assert [notice.code for notice in extraction.notices] == ["attachments-not-read"]


def test_broken_headers_and_charsets_are_endured() -> None:
    extraction = one(
        b"Subject: =?x-none?q?=FF?=\nFrom: <<<>>,;:\nTo: \xff\xfe\nDate: never\n"
        b"Content-Type: text/plain; charset=no-such-thing\n\nGr\xfc\xdfe, wir fahren um neun.\n"
    )
    assert "wir fahren um neun" in extraction.pages[0].text


def test_a_mailbox_line_in_front_is_no_obstacle() -> None:
    extraction = one(b"From ada Tue Nov 18 10:42:00 2025\nSubject: x\nTo: b@c.d\n\nhello\n")
    assert (extraction.format, extraction.title) == ("eml", "x")
