"""Which of the texts of a message is read where they differ, and invitations in it."""

import struct
from datetime import UTC, datetime
from email.message import EmailMessage

import pytest

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.ole import compound_file
from chapterhouse.types import Extraction


def one(data: bytes, name: str = "a.eml") -> Extraction:
    return read(data, name, Limits())


def letter(plain: str, html: str, *, related: bool = False) -> str:
    made = EmailMessage()
    made.set_content(plain)
    made.add_alternative(html, subtype="html")
    if related:
        made.get_payload()[1].add_related(b"\x89PNG\r\n\x1a\n", "image", "png", cid="<a>")  # type: ignore[union-attr, index]
    return one(made.as_bytes()).pages[0].text


TICKET = "<p>Ticket 4471 for the ferry is paid; it leaves on 12 March at 9:15.</p>"
LETTER = "Dear Ada, the ferry leaves at nine on Monday and costs 12 euros for each of us. See you!"


@pytest.mark.parametrize(
    "stub",
    [
        "Please view this message in HTML.",
        "This is an HTML message. To see it, use a mail program that shows HTML (Outlook 2016).",
        "Diese E-Mail ist im HTML-Format. Bitte verwenden Sie ein anderes Programm.",
        "Votre logiciel de messagerie ne peut pas afficher ce message. Ouvrez-le ailleurs.",
        "Su programa de correo no admite este formato; abra el mensaje en un navegador.",
        "このメールはHTML形式です。対応するソフトでご覧ください。",
        "此邮件无法正常显示，请在浏览器中查看。",
        "Это письмо можно прочитать только в браузере: https://x.test/4471",
        "Your ticket is in the other part of this message.",
    ],
)
def test_a_stub_gives_way_to_the_html(stub: str) -> None:
    for related in (False, True):
        text = letter(stub, TICKET, related=related)
        assert "Ticket 4471" in text
        assert "9:15" in text
        assert stub not in text


@pytest.mark.parametrize(
    ("plain", "html"),
    [
        (LETTER, f"<p>{LETTER}</p>"),
        (LETTER, f"<table><tr><td><b>{LETTER}</b></td></tr></table><p>Unsubscribe here</p>"),
        ("HTML is a language; XML is another one.", "<h1>HTML is a language; XML is another</h1>"),
        ("Die Fähre legt um neun ab.\n\n-- \nBo", "<div>Die <i>Fähre</i> legt um neun ab.</div>"),
        (
            "渡し船は九時に\n出ます。運賃は十二です。",
            "<p>渡し船は九時に出ます。<b>運賃</b>は十二。</p>",
        ),
        ("เรือออกเวลาเก้าโมง\nทุกวัน", "<p>เรือออกเวลา<b>เก้าโมง</b>ทุกวัน</p>"),
        ("See <https://x.test/a> for fares.", '<a href="https://x.test/a">See</a> for fares.'),
        ("Ok.", '<img src="https://x.test/pixel.gif">'),
    ],
)
def test_plain_text_with_the_same_words_is_read(plain: str, html: str) -> None:
    assert letter(plain, html) == plain + "\n"


@pytest.mark.parametrize("html", ["<p>Open it in a browser.</p>", TICKET])
def test_both_are_read_where_each_states_something_of_its_own(html: str) -> None:
    text = letter("Code 88213 opens gate 4 until Friday, the guard has the spare key.", html)
    assert text.startswith("Code 88213 opens gate 4")
    assert text.endswith(html[3:-4] + "\n")


def test_what_is_for_other_programs_is_not_read() -> None:
    made = EmailMessage()
    made.set_content("Please view this message in HTML.")
    made.add_alternative("<html amp4email><script></script><p>Ticket 1</p>", subtype="x-amp-html")
    made.add_alternative(f"<title>Mail</title>{TICKET}", subtype="html")
    assert one(made.as_bytes()).pages[0].text.startswith("Ticket 4471 for")


# --- invitations ---------------------------------------------------------------------------------

EVENT = (
    "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nDTSTART:20261123T090000Z\r\n"
    "DTEND:20261123T103000Z\r\nSUMMARY:Crew meeting\r\nLOCATION:Pier 3\r\n"
    "ORGANIZER;CN=Ada Berg:mailto:ada@x.test\r\nATTENDEE;CN=Bo:mailto:bo@x.test\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n"
)
READ = (
    "## Crew meeting\n\nWhen: 2026-11-23 09:00 to 10:30 (UTC)  \nWhere: Pier 3  \n"
    "Organizer: Ada Berg <ada@x.test>  \nAttendees: Bo <bo@x.test>"
)


@pytest.mark.parametrize("kind", ["text/calendar", "text/x-vcalendar"])
def test_an_invitation_is_read_as_a_calendar_wherever_it_is_in_the_text(kind: str) -> None:
    subtype = kind.partition("/")[2]
    alone, alternative, mixed = EmailMessage(), EmailMessage(), EmailMessage()
    alone.set_content(EVENT, subtype=subtype)
    alternative.set_content("Bring the chart, please, and the two keys.")
    alternative.add_alternative("<p>Bring the chart, please, and the two keys.</p>", subtype="html")
    alternative.add_alternative(EVENT, subtype=subtype)
    mixed.set_content("<p>Bring the chart, please, and the two keys.</p>", subtype="html")
    mixed.add_attachment(EVENT, subtype=subtype, disposition="inline")
    for made in (alone, alternative, mixed):
        text = one(made.as_bytes()).pages[0].text
        assert text.rstrip().endswith(READ)
        assert made is alone or text.startswith("Bring the chart, please, and the two keys.")


@pytest.mark.parametrize(
    ("kind", "name", "path"),
    [
        ("text/calendar", "invite.ics", "invite.ics"),
        ("application/ics", "Termin.txt", "Termin.txt.ics"),
        ("text/calendar", "", "invitation.ics"),
        ("application/octet-stream", "meeting.ics", "meeting.ics"),
    ],
)
def test_an_attached_invitation_is_a_calendar(kind: str, name: str, path: str) -> None:
    maintype, _, subtype = kind.partition("/")
    for disposition in ("attachment", "inline"):
        made = EmailMessage()
        made.set_content("You are invited.")
        content = EVENT.encode()
        made.add_attachment(content, maintype, subtype, disposition=disposition, filename=name)
        if maintype == "application" and subtype == "ics":
            made.get_payload()[1]["Content-ID"] = "<a>"  # type: ignore[index]
        found = one(made.as_bytes())
        if maintype == "text" and disposition == "inline":
            assert found.pages[0].text.rstrip().endswith(READ)
        else:
            (member,) = found.members
            assert member.path == path
            assert one(member.data, member.path).pages[0].text == READ


def ticks(hour: int, minute: int) -> int:
    passed = datetime(2026, 11, 23, hour, minute, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)
    return int(passed.total_seconds()) * 10**7


START, END = ticks(9, 0), ticks(10, 30)


@pytest.mark.parametrize(
    ("kind", "names", "times", "text"),
    [
        (
            "IPM.Schedule.Meeting.Request",
            {0x8208: 0, 0x820D: 1, 0x820E: 2},
            {0x8001: START, 0x8002: END},
            "When: 2026-11-23 09:00 to 10:30 (UTC)  \nWhere: Pier 3, deck B",
        ),
        (
            "IPM.Appointment",
            {0x8208: 0},
            {0x60: START},
            "When: 2026-11-23 09:00 (UTC)  \nWhere: Pier",
        ),
        (
            "IPM.Schedule.Meeting.Canceled",
            {},
            {0x60: START},
            "When: 2026-11-23 09:00 (UTC)  \nStatus: CANCELLED",
        ),
        ("IPM.Schedule.Meeting.Resp.Pos", {}, {0x60: 2**63}, ""),
        ("IPM.Note", {0x8208: 0}, {0x60: START}, ""),
    ],
)
def test_an_invitation_of_outlook_says_when_and_where(
    kind: str, names: dict[int, int], times: dict[int, int], text: str
) -> None:
    rows = [struct.pack("<HHIQ", 0x40, number, 6, value) for number, value in times.items()]
    data = compound_file(
        {
            "__properties_version1.0": bytes(32) + b"".join(rows) + b"cut",
            "__substg1.0_001A001F": kind.encode("utf-16-le"),
            "__substg1.0_0037001F": "Crew meeting".encode("utf-16-le"),
            "__substg1.0_1000001F": "Bring the chart.".encode("utf-16-le"),
            "__substg1.0_8000001F": "Pier 3, deck B".encode("utf-16-le"),
            "__nameid_version1.0/__substg1.0_00030102": b"".join(
                struct.pack("<IHH", number, 6, index) for number, index in names.items()
            ),
        }
    )
    found = one(data, "a.msg").pages[0].text
    assert "Bring the chart." in found
    assert ("When:" in found) is bool(text)
    assert text in found
    assert not text or "## Crew meeting" in found


STUB = "Open this message in a program that shows it as its sender wrote it."
PLAIN = "__substg1.0_1000001F"
NEWS = "<meta charset='cp1251'><p>Паром отходит в 9:40 от причала 4.</p>"


def compressed(rtf: bytes) -> bytes:
    """RTF as a message stores it, without compression ([MS-OXRTFCP] 2.1.3.1)."""
    return struct.pack("<2I4sI", len(rtf) + 12, len(rtf), b"MELA", 0) + rtf


@pytest.mark.parametrize(
    ("streams", "has", "lacks"),
    [
        ({"10130102": NEWS.encode("cp1251")}, "Паром отходит в 9:40", STUB),
        ({"1013001F": NEWS.encode("utf-16-le")}, "Паром отходит в 9:40", STUB),
        ({"10090102": compressed(rb"{\rtf1\ansi The ferry leaves at 9:40.}")}, "at 9:40", STUB),
        ({}, STUB, "9:40"),
    ],
)
def test_of_a_message_of_outlook_no_stub_is_read(
    streams: dict[str, bytes], has: str, lacks: str
) -> None:
    stored = {"__properties_version1.0": bytes(32)}
    stored |= {f"__substg1.0_{name}": content for name, content in streams.items()}
    text = one(compound_file(stored | {PLAIN: STUB.encode("utf-16-le")}), "a.msg").pages[0].text
    assert has in text
    assert lacks not in text
    # Where the plain text has something of its own, both are read.
    own = "Order 12 goes to Bergen on the second of May, with the crates of the Lofoten mill."
    text = one(compound_file(stored | {PLAIN: own.encode("utf-16-le")}), "a.msg").pages[0].text
    assert own in text
    assert not streams or has in text


def test_words_of_a_body_are_whole_but_for_code_and_a_signature() -> None:
    torn = "The inter-\nnational board meets.\n"
    code = "```\nboat = crew-\nlist\n```\n"
    rest = "\n    return deck-\n    hand\n\n> an inter-\n> national board\n\n-- \n"
    rest += "Harbour Com-\nmittee\n"
    whole = "The international\nboard meets.\n"
    eml = f"Subject: x\nFrom: a@example.org\nTo: b@example.org\n\n{torn}{code}{torn}{rest}"
    assert f"{whole}{code}{whole}{rest}".strip() in one(eml.encode(), "a.eml").pages[0].text
    stored = {"__properties_version1.0": bytes(32), PLAIN: torn.encode("utf-16-le")}
    assert whole.strip() in one(compound_file(stored), "a.msg").pages[0].text
