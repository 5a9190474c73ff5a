"""A mailbox is as many documents as it has messages."""

from email.message import EmailMessage

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction


def mail(subject: str, text: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ada@x.org", "bob@x.org", subject
    message["Date"] = "Mon, 04 May 2026 10:00:00 +0000"
    message.set_content(text)
    return message.as_bytes()


def mailbox(*messages: bytes) -> bytes:
    head = b"From ada@x.org Mon May  4 10:00:00 2026\n"
    return b"\n".join(head + one.replace(b"\nFrom ", b"\n>From ") + b"\n" for one in messages)


def opened(data: bytes, name: str = "old.mbox") -> Extraction:
    return read(data, name, Limits())


def test_each_message_comes_out_as_it_went_in() -> None:
    letters = [mail("Berths", "From here on it costs 80 euros.\n"), mail("Re: Berths", "Thanks.\n")]
    found = opened(mailbox(*letters)).members
    assert [one.path for one in found] == ["00001 berths.eml", "00002 re-berths.eml"]
    assert [one.data.rstrip() for one in found] == [one.rstrip() for one in letters]
    assert "From here on it costs" in opened(found[0].data, found[0].path).pages[0].text


def test_a_mailbox_is_known_by_its_content() -> None:
    data = mailbox(mail("One", "1"), mail("Two", "2"))
    assert opened(data, "archive.txt").format == "mbox"
    assert opened(data.replace(b"\n", b"\r\n"), "archive").format == "mbox"
    one = mailbox(mail("One", "1"))
    assert opened(one, "letter.eml").format == "eml"
    assert len(opened(one).members) == 1


def test_a_letter_that_begins_a_paragraph_with_from_is_one_letter() -> None:
    text = "Dear Bob,\n\nFrom my side all is well since 2020 or so.\n\nAda\n"
    assert opened(mail("News", text), "letter.eml").format == "eml"


def test_a_message_without_a_subject_or_with_a_broken_one_has_a_name() -> None:
    broken = b"Subject: =?utf-8?b?\xff\nFrom: a@x.org\n\nText.\n"
    found = opened(mailbox(mail("", "Text.\n"), broken)).members
    assert found[0].path == "00001 message.eml"
    assert found[1].path.startswith("00002 ")


def test_a_mailbox_without_a_separator_is_none() -> None:
    assert opened(b"no separator").format == "txt"
