"""Messages and mailboxes."""

from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading import outlook
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.mail import attachments, parse
from chapterhouse.reading.ole import CompoundFile, compound_file
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


def written(plain: str = "", *more: str, html: str = "", inline: bool = False) -> bytes:
    """A message of alternatives, or of texts that are shown one behind the other."""
    made = EmailMessage()
    made["Subject"] = "x"
    made.set_content(plain or html, subtype="plain" if plain else "html")
    for text in (*more, *([html] if plain and html else [])):
        kind = "html" if text.startswith("<") else "plain"
        if inline:
            made.add_attachment(text, subtype=kind, disposition="inline")
        else:
            made.add_alternative(text, subtype=kind)
    return made.as_bytes()


LONG = "The ferry leaves at nine. " * 9


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            written(html="<h2>Fares</h2><p>They <b>rise</b>.</p>"),
            "# x\n\n## Fares\n\nThey **rise**.\n",
        ),
        (written("plain words", html="<p>marked words</p>"), "# x\n\nplain words\n"),
        (written("No HTML here.", html=f"<p>{LONG}</p>"), f"# x\n\n{LONG.strip()}\n"),
        (
            written("one", "two", "<p>and a note</p>", inline=True),
            "# x\n\none\n\ntwo\n\nand a note\n",
        ),
        (
            (
                b"Subject: =?utf-8?q?F=C3=A4hre?=\nFrom: =?utf-8?q?J=C3=BCrgen?= <j@x.org>\n"
                b"Content-Type: text/plain; charset=iso-8859-1\n"
                b"Content-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe\n"
            ),
            "# F\xe4hre\n\nFrom: J\xfcrgen <j@x.org>\n\nGr\xfc\xdfe\n",
        ),
        (
            (
                b"Subject: Fares\nFrom: ann@x.test bo@x.test\n"
                b"To: =?utf-8?q?J=C3=B6rg?= <j@x.test>, a@b <c@x.test>\n\nThe fares.\n"
            ),
            (
                "# Fares\n\nFrom: ann@x.test bo@x.test  \nTo: J\xf6rg <j@x.test>, a@b <c@x.test>\n"
                "\nThe fares.\n"
            ),
        ),
        (
            b"From ada Tue Nov 18 10:42:00 2025\nSubject: x\nTo: b@c.d\n\nhello\n",
            "# x\n\nTo: b@c.d\n\nhello\n",
        ),
    ],
    ids=range(7),
)
def test_a_message_is_its_subject_headers_and_text(data: bytes, text: str) -> None:
    extraction = one(data)
    assert (extraction.format, extraction.pages[0].text) == ("eml", text)
    assert extraction.notices == ()


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


def letter(subject: str, text: str) -> bytes:
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
    letters = [
        letter("Berths", "From here on it costs 80 euros.\n"),
        letter("Re: Berths", "Thanks.\n"),
    ]
    found = opened(mailbox(*letters)).members
    assert [one.path for one in found] == ["00001 berths.eml", "00002 re-berths.eml"]
    assert [one.data.rstrip() for one in found] == [one.rstrip() for one in letters]
    assert "From here on it costs" in opened(found[0].data, found[0].path).pages[0].text


def test_a_mailbox_is_known_by_its_content() -> None:
    data = mailbox(letter("One", "1"), letter("Two", "2"))
    assert opened(data, "archive.txt").format == "mbox"
    assert opened(data.replace(b"\n", b"\r\n"), "archive").format == "mbox"
    assert opened(b"no separator").format == "txt"
    text = "Dear Bob,\n\nFrom my side all is well since 2020 or so.\n\nAda\n"
    for one in (mailbox(letter("One", "1")), letter("News", text)):
        assert opened(one, "letter.eml").format == "eml"
    broken = b"Subject: =?utf-8?b?\xff\nFrom: <<<>>,;:\nDate: never\n\nText.\n"
    found = opened(mailbox(letter("", "Text.\n"), broken)).members
    assert found[0].path == "00001 message.eml"
    assert found[1].path.startswith("00002 ")


# --- Outlook messages, and the compound files that they are --------------------------------------

FILE = "__attach_version1.0_#0000000{}/__substg1.0_{}"
STREAMS = {
    "__properties_version1.0": b"x",
    "__substg1.0_1035001F": "<a@b>\0".encode("utf-16-le"),
    "__substg1.0_1039001E": b"<c@d>\r\n <e@f>\0",
    FILE.format(0, "37010102"): b"first content",
    FILE.format(0, "3707001F"): "Pl\u00e4ne.txt".encode("utf-16-le"),
    FILE.format(1, "37010102"): b"second",
    FILE.format(1, "3704001E"): b"SHORT.TXT",
}


def test_attachments_of_outlook_have_name_and_content() -> None:
    assert list(outlook.attachments(compound_file(STREAMS))) == [
        ("Pl\u00e4ne.txt", b"first content"),
        ("SHORT.TXT", b"second"),
    ]


INSIDE = "__attach_version1.0_#00000000/__substg1.0_3701000D/"


def forwarding(name: str, inner: dict[str, bytes]) -> bytes:
    """A message that carries an object."""
    return compound_file(
        {
            "__properties_version1.0": bytes(32),
            "__substg1.0_0037001F": "Fwd: the ferry".encode("utf-16-le"),
            f"{INSIDE.partition('/')[0]}/__substg1.0_3001001F": name.encode("utf-16-le"),
        }
        | {INSIDE + path: content for path, content in inner.items()}
    )


@pytest.mark.parametrize(
    ("name", "path"),
    [("The ferry", "The ferry.msg"), ("", "Timetable.msg"), ("a/b.msg", "a/b.msg")],
)
def test_a_message_inside_is_a_message_of_its_own(name: str, path: str) -> None:
    inner = {
        "__properties_version1.0": bytes(24),
        "__substg1.0_0037001F": "Timetable".encode("utf-16-le"),
        "__substg1.0_1000001F": "The ferry leaves at nine.".encode("utf-16-le"),
        FILE.format(0, "37010102"): b"At nine.",
        FILE.format(0, "3707001F"): "nine.txt".encode("utf-16-le"),
    }
    outer = read(forwarding(name, inner), "a.msg", Limits())
    (member,) = outer.members
    assert member.path == path
    assert path in outer.pages[0].text
    found = read(member.data, member.path, Limits())
    assert found.title == "Timetable"
    assert "The ferry leaves at nine." in found.pages[0].text
    assert [(one.path, one.data) for one in found.members] == [("nine.txt", b"At nine.")]


def test_an_object_of_another_program_is_a_file() -> None:
    ((name, content),) = outlook.attachments(forwarding("Sheet", {"Workbook": b"cells"}))
    assert name == "Sheet"
    assert CompoundFile(content).read("Workbook") == b"cells"


def test_a_message_whose_parts_share_bytes_is_refused() -> None:
    """Streams that all point to the same sectors would fill the memory."""
    shared = {str(n): b"" for n in range(60)} | {"a": bytes(9_000)}
    data = bytearray(forwarding("", shared))
    first = data.index("a\0".encode("utf-16-le").ljust(64, b"\0"))
    for n in range(60):
        place = data.index(f"{n}\0".encode("utf-16-le").ljust(64, b"\0"))
        data[place + 116 : place + 128] = data[first + 116 : first + 128]
    with pytest.raises(RejectedError, match="twice"):
        list(outlook.attachments(bytes(data)))


def test_a_real_message_inside_is_read_like_itself(data_folder: Path) -> None:
    folder = data_folder / "documents" / "docling-groundtruth" / "email" / "sources"
    data = (folder / "msg_with_attachment.msg").read_bytes()
    file = CompoundFile(data)
    inner = {path: file.read(path) for path in file.names() if "nameid" not in path}
    stated = inner["__properties_version1.0"]
    inner["__properties_version1.0"] = stated[:24] + stated[32:]
    (member,) = read(forwarding("x", inner), "a.msg", Limits()).members
    assert read(member.data, "a.msg", Limits()) == read(data, "a.msg", Limits())


def test_a_message_states_its_thread() -> None:
    assert outlook.thread(compound_file(STREAMS)) == {
        "message-id": "<a@b>",
        "references": "<c@d> <e@f>",
    }


def test_streams_are_found_by_path_whatever_their_case() -> None:
    file = CompoundFile(compound_file(STREAMS))
    assert sorted(file.names()) == sorted(STREAMS)
    assert file.read(FILE.format(0, "37010102").upper()) == b"first content"
    assert file.read("absent") == b""


def test_damage_ends_in_a_reason() -> None:
    data = compound_file(STREAMS)
    for end in range(0, len(data) - 4096, 1024):
        with pytest.raises(RejectedError, match="damaged"):
            list(outlook.attachments(data[:end]))


def test_real_messages(data_folder: Path) -> None:
    folder = data_folder / "documents" / "docling-groundtruth" / "email" / "sources"
    data = (folder / "msg_with_attachment.msg").read_bytes()
    assert dict(outlook.attachments(data)).keys() == {"test.txt", "report.pdf"}
    found = read(data, "a.msg", Limits())
    assert {member.path for member in found.members} == {"test.txt", "report.pdf"}
    assert "Attachments: " in found.pages[0].text
    assert not found.notices
    assert not list(outlook.attachments((folder / "msg_simple.msg").read_bytes()))


@pytest.mark.parametrize("data", [b"", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"x" * 600])
def test_what_is_no_message_is_told(data: bytes) -> None:
    with pytest.raises(RejectedError):
        outlook.thread(data)


NAMES = st.text(st.characters(codec="utf-16-le", exclude_characters="/\0"), min_size=1, max_size=15)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
SIZES = st.sampled_from([0, 1, 64, 65, 4095, 4096, 9000])


def apart(paths: list[str]) -> bool:
    """Whether no path leads through another one, and none differs by case alone."""
    folded = {path.casefold() for path in paths}
    above = {"/".join(p.split("/")[:n]) for p in folded for n in range(1, p.count("/") + 1)}
    return len(folded) == len(paths) and not folded & above


@given(st.lists(PATHS, unique=True, max_size=6).filter(apart), st.data())
def test_streams_come_out_as_they_went_in(paths: list[str], data: st.DataObject) -> None:
    streams = {path: bytes([n]) * data.draw(SIZES) for n, path in enumerate(paths)}
    file = CompoundFile(compound_file(streams))
    assert {path: file.read(path) for path in file.names()} == streams
