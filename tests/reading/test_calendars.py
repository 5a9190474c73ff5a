from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reading.conftest import codes

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction

CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
X-WR-CALNAME:Harbour
X-WR-CALDESC:What happens\\, and when
BEGIN:VTIMEZONE
TZID:Europe/Berlin
BEGIN:STANDARD
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:1@example.org
DTSTART;TZID=Europe/Berlin:20261123T090000
DTEND;TZID=Europe/Berlin:20261123T103000
RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20270131T000000Z
EXDATE;TZID=Europe/Berlin:20261207T090000
SUMMARY:Crew mee
 ting\\; fähre
LOCATION:Pier 3\\, room "A"
ORGANIZER;CN="Lovelace: Ada, Dr.":mailto:ada@example.org
ATTENDEE;CN=Bob;PARTSTAT=ACCEPTED:MAILTO:bob@example.org
ATTENDEE:mailto:eve@example.org
DESCRIPTION:First line\\nsecond line with \\\\n and a link https://example.org/?a
 =b
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
BEGIN:VEVENT
DTSTART;VALUE=DATE:20261224
DTEND;VALUE=DATE:20261227
SUMMARY:Holidays
END:VEVENT
BEGIN:VTODO
DUE:20261201T120000Z
STATUS:NEEDS-ACTION
SUMMARY:Paint the hull
END:VTODO
BEGIN:VEVENT
DTSTART:20261123T230000
DURATION:PT2H
END:VEVENT
END:VCALENDAR
"""
EXPECTED = """# Harbour

What happens, and when

## Crew meeting; fähre

When: 2026-11-23 09:00 to 10:30 (Europe/Berlin)__
Repeats: every 2 weeks on Monday, Wednesday, until 2027-01-31 00:00 (UTC)__
Not on: 2026-12-07 09:00 (Europe/Berlin)__
Where: Pier 3, room "A"__
Organizer: Lovelace: Ada, Dr. <ada@example.org>__
Attendees: Bob <bob@example.org>, eve@example.org

First line
second line with \\n and a link https://example.org/?a=b

## Holidays

When: 2026-12-24 to 2026-12-26

## Paint the hull

Due: 2026-12-01 12:00 (UTC)__
Status: NEEDS-ACTION

## Event

When: 2026-11-23 23:00 to 2026-11-24 01:00""".replace("__", "  ")


def one(data: bytes) -> Extraction:
    return read(data, "a.ics", Limits())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_each_entry_is_a_section(encoding: str) -> None:
    extraction = one(CALENDAR.replace("\n", "\r\n").encode(encoding))
    assert extraction.pages[0].text == EXPECTED
    assert (extraction.format, extraction.title, extraction.notices) == ("ics", "Harbour", ())


def test_old_calendars_in_quoted_printable_are_decoded() -> None:
    event = (
        "BEGIN:VCALENDAR\r\nVERSION:1.0\r\nBEGIN:VEVENT\r\nDTSTART:20261123\r\n"
        "SUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:F=E4hre =\r\nab\r\n"
        "DESCRIPTION;QUOTED-PRINTABLE;CHARSET=unheard-of:one=0D=0Atwo\r\n"
        "END:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    assert one(event.encode()).pages[0].text == "## Fähre ab\n\nWhen: 2026-11-23\n\none\ntwo"


def entry(lines: str) -> str:
    """Read a calendar of one event."""
    data = f"BEGIN:VCALENDAR\nBEGIN:VEVENT\n{lines}\nEND:VEVENT\nEND:VCALENDAR\n"
    return one(data.encode()).pages[0].text.removeprefix("## Event\n\n")


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("RRULE:FREQ=DAILY", "Repeats: every day"),
        ("RRULE:FREQ=MONTHLY;INTERVAL=3;COUNT=5;WKST=MO", "Repeats: every 3 months, 5 times"),
        ("RRULE:FREQ=YEARLY;UNTIL=20301231", "Repeats: every year, until 2030-12-31"),
        ("RRULE:FREQ=MONTHLY;BYDAY=-1FR", "Repeats: every month (BYDAY=-1FR)"),
        ("RRULE:FREQ=SOMETIMES;INTERVAL=2", "Repeats: FREQ=SOMETIMES;INTERVAL=2"),
        ("DESCRIPTION:one\ntwo words", "one\ntwo words"),  # a line that was not folded
        ("DTSTART:soon\nDURATION:P99999999999W", "When: soon"),
        ("DTSTART:20261399", "When: 20261399"),
        ("DTSTART:99999999T999999Z", "When: 99999999T999999Z"),
        ("DTSTART:20261123T250000", "When: 20261123T250000"),
    ],
)
def test_repetition_is_told_in_words_and_what_is_no_time_as_written(lines: str, text: str) -> None:
    assert entry(lines) == text


def test_a_calendar_cut_off_keeps_what_is_there_and_says_so() -> None:
    extraction = one(CALENDAR.split("LOCATION", maxsplit=1)[0].encode())
    assert "Crew meeting; fähre" in extraction.pages[0].text
    assert codes(extraction) == ["part-unreadable"]


def test_a_hostile_calendar_is_refused() -> None:
    with pytest.raises(RejectedError) as caught:
        one(b"BEGIN:VCALENDAR\n" + b"BEGIN:VEVENT\n" * 10_000)
    assert caught.value.code == "too-deep"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=200))
def test_any_description_comes_back_from_folded_lines(text: str) -> None:
    escaped = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
    data = f"DESCRIPTION:{escaped}".encode()
    folded = b"\r\n ".join(data[start : start + 20] for start in range(0, len(data), 20))
    event = b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n" + folded + b"\r\nEND:VEVENT\r\nEND:VCALENDAR"
    assert one(event).pages[0].text == f"## Event\n\n{text}"


def test_an_invitation_in_a_message_says_when_and_where() -> None:
    message = EmailMessage()
    message["Subject"] = "Crew meeting"
    message.set_content("You are invited.")
    event = (
        "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nDTSTART:20261123T090000Z\r\n"
        "SUMMARY:Crew meeting\r\nLOCATION:Pier 3\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    message.add_alternative(event, subtype="calendar")
    text = read(message.as_bytes(), "a.eml", Limits()).pages[0].text
    assert text.endswith(
        "You are invited.\n\n## Crew meeting\n\nWhen: 2026-11-23 09:00 (UTC)  \nWhere: Pier 3\n"
    )


@pytest.mark.parametrize(
    ("method", "status", "shown"),
    [
        ("METHOD:CANCEL\n", "", "CANCELLED"),
        ("METHOD:cancel\n", "STATUS:TENTATIVE\n", "TENTATIVE"),
        ("METHOD:REQUEST\n", "", ""),
        ("", "", ""),
    ],
)
def test_a_message_that_calls_a_meeting_off_says_so(method: str, status: str, shown: str) -> None:
    event = f"BEGIN:VEVENT\nSUMMARY:Keel review\n{status}END:VEVENT\n"
    other = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Painting\nEND:VEVENT\nEND:VCALENDAR\n"
    data = f"BEGIN:VCALENDAR\n{method}{event}END:VCALENDAR\n{other}".encode()
    text = read(data, "a.ics", Limits()).pages[0].text
    status_line = f"\n\nStatus: {shown}" if shown else ""
    assert text == f"## Keel review{status_line}\n\n## Painting"
