from collections.abc import Mapping
from email.message import EmailMessage

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.mail import attachments, parse
from chapterhouse.types import Extraction


def one(data: bytes) -> Extraction:
    return read(data, "a.eml", Limits())


def test_a_message_has_subject_headers_body_and_names_of_attachments(
    documents: Mapping[str, bytes],
) -> None:
    extraction = one(documents["eml"])
    assert extraction.pages[0].text == (
        "# Timetable\n\nFrom: Ada <ada@example.org>  \nTo: bob@example.org  \n"
        "Date: Tue, 18 Nov 2025 10:42:00 +0100  \nAttachments: plan.pdf\n\n"
        "The ferry leaves at nine.\n"
    )
    assert extraction.title == "Timetable"
    assert extraction.metadata["from"] == "Ada <ada@example.org>"
    assert [member.path for member in extraction.members] == ["plan.pdf"]


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


def test_an_attached_message_is_a_file_in_the_message() -> None:
    inner, outer = EmailMessage(), EmailMessage()
    inner["Subject"] = "inner"
    inner.set_content("secret words")
    outer["Subject"] = "outer"
    outer.set_content("see below")
    outer.add_attachment(inner)
    extraction = one(outer.as_bytes())
    assert "secret words" not in extraction.pages[0].text
    (member,) = extraction.members
    assert member.path == "inner.eml"
    assert b"secret words" in member.data


def test_broken_headers_and_charsets_are_endured() -> None:
    extraction = one(
        b"Subject: =?x-none?q?=FF?=\nFrom: <<<>>,;:\nTo: \xff\xfe\nDate: never\n"
        b"Content-Type: text/plain; charset=no-such-thing\n\nGr\xfc\xdfe, wir fahren um neun.\n"
    )
    assert "wir fahren um neun" in extraction.pages[0].text


def test_no_address_of_a_header_that_breaks_the_grammar_is_lost() -> None:
    text = (
        one(
            b"From: ann@x.test bo@x.test\nTo: =?utf-8?q?J=C3=B6rg?= <j@x.test>, a@b <c@x.test>\n"
            b"Subject: Fares\n\nThe fares.\n"
        )
        .pages[0]
        .text
    )
    assert "From: ann@x.test bo@x.test  \n" in text
    assert "To: J\u00f6rg <j@x.test>, a@b <c@x.test>\n" in text


def test_a_mailbox_line_in_front_is_no_obstacle() -> None:
    extraction = one(b"From ada Tue Nov 18 10:42:00 2025\nSubject: x\nTo: b@c.d\n\nhello\n")
    assert (extraction.format, extraction.title) == ("eml", "x")


def test_a_message_keeps_its_place_in_a_thread() -> None:
    extraction = one(
        b"Subject: Re: x\nFrom: a@b.c\nMessage-ID: <2@b.c>\nIn-Reply-To: <1@b.c>\n"
        b"References: <0@b.c>\n <1@b.c>\nDate: Tue, 18 Nov 2025 10:42:00 +0100\n\nyes\n"
    )
    assert dict(extraction.metadata) == {
        "from": "a@b.c",
        "author": "a@b.c",
        "date": "Tue, 18 Nov 2025 10:42:00 +0100",
        "message-id": "<2@b.c>",
        "in-reply-to": "<1@b.c>",
        "references": "<0@b.c> <1@b.c>",
    }


def test_all_texts_of_a_mixed_message_are_read() -> None:
    message = EmailMessage()
    message["Subject"] = "x"
    message.set_content("before the picture")
    message.add_attachment("after the picture", disposition="inline")
    message.add_attachment("<p>and a note</p>", subtype="html", disposition="inline")
    assert one(message.as_bytes()).pages[0].text == (
        "# x\n\nbefore the picture\n\nafter the picture\n\nand a note\n"
    )


def test_a_plain_stub_gives_way_to_what_it_stands_for() -> None:
    message = EmailMessage()
    message["Subject"] = "x"
    message.set_content("Your program shows no HTML.")
    message.add_alternative(f"<p>{'The ferry leaves at nine. ' * 9}</p>", subtype="html")
    text = one(message.as_bytes()).pages[0].text
    assert "The ferry leaves" in text
    assert "no HTML" not in text


def test_attachments_have_name_and_content() -> None:
    inner, outer = EmailMessage(), EmailMessage()
    inner["Subject"] = "inner"
    inner.set_content("secret words")
    inner.add_attachment(b"deep", maintype="application", subtype="pdf", filename="deep.pdf")
    outer.set_content("see below")
    outer.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="Pläne.pdf")
    outer.add_attachment(b"x", maintype="image", subtype="png", disposition="inline", cid="<1>")
    outer.add_attachment(b"s", maintype="application", subtype="pgp-signature")
    outer.add_attachment(inner)
    found = list(attachments(parse(outer.as_bytes())))
    assert [name for name, _ in found] == ["Pläne.pdf", "inner.eml"]
    assert found[0][1] == b"%PDF-"
    assert "secret words" in one(found[1][1]).pages[0].text
    read = one(outer.as_bytes())
    assert [(member.path, member.data) for member in read.members] == found
    assert "Attachments: Pläne.pdf, inner.eml" in read.pages[0].text
