"""Calendars: one section for each event, task and journal entry ([RFC 5545]), by icalendar."""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cache
from importlib.metadata import version
from quopri import decodestring
from typing import TYPE_CHECKING, Any, Final

from chapterhouse.errors import RejectedError
from chapterhouse.loading import lazy
from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.types import ExtractedPage, Extraction, Notice

if TYPE_CHECKING:
    import icalendar
else:
    icalendar = lazy("icalendar")

_FOLD: Final = re.compile(rb"\r?\n[ \t]")
# A text whose line ends were not escaped goes on in lines that have no name.
_CONTINUED: Final = re.compile(r"\n+(?![\w-]+[;:]|\s*\Z)")
# Calendars of version 1.0 write texts like mail does.
_QUOTED: Final = re.compile(
    rb"^([\w-]+);(?=[^:\r\n]*QUOTED-PRINTABLE)(?:[^:\r\n]*CHARSET=([\w-]+))?[^:\r\n]*:"
    rb"((?:[^\r\n]*=\r?\n)*[^\r\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_MARK: Final = re.compile(r"^(BEGIN|END):[ \t]*([\w-]+)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\([\\;,])")  # in what the library does not know
_DEEPEST: Final = 50
_KINDS: Final = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Journal entry"}
_UNITS: Final = {
    "SECONDLY": "second",
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
_DAYS: Final = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
_TIMES: Final = {"DUE": "Due", "COMPLETED": "Completed"}
_MORE_TIMES: Final = {"RDATE": "Also on", "EXDATE": "Not on"}
# Properties that are shown on a line of their own, behind when and how often.
_SHOWN: Final = {
    "LOCATION": "Where",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendees",
    "CONTACT": "Contact",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "RESOURCES": "Resources",
    "URL": "Link",
}


def read_ics(data: bytes, _name: str) -> Extraction:
    """Read a calendar; the words of time zones, alarms and free time are no text of it.

    Raises:
        RejectedError: ``unreadable`` or ``too-deep``.
    """
    wide = b"\0" in data  # two or four bytes a character, which are unfolded as text
    text, notices = decode(data if wide else _QUOTED.sub(_unquoted, _FOLD.sub(b"", data)))
    text = re.sub(r"\n[ \t]", "", text.replace("\r\n", "\n"))
    unclosed = _unclosed(text)
    text = _CONTINUED.sub(r"\\n", text) + "".join(f"\nEND:{kind}" for kind in unclosed)
    try:
        calendars = icalendar.Calendar.from_ical(text, multiple=True)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        message = " ".join(str(error).split())[:200]
        raise RejectedError("unreadable", f"The calendar is damaged ({message}).") from error
    components = [component for calendar in calendars for component in calendar.walk()]
    calendar: Any = next((found for found in components if found.name == "VCALENDAR"), {})
    title = _line(_first(calendar, "X-WR-CALNAME", "NAME"))
    about = _first(calendar, "X-WR-CALDESC", "DESCRIPTION")
    blocks = [f"# {title}"] * bool(title) + [about] * bool(about)
    blocks += [_section(found) for found in components if found.name in _KINDS]
    if unclosed:
        sentence = "The calendar breaks off inside an entry; what followed is missing."
        notices = (*notices, Notice("part-unreadable", sentence))
    page = ExtractedPage("".join(f"{block}\n\n" for block in blocks).rstrip("\n"))
    return Extraction((page,), "ics", method(), title=title, notices=notices)


@cache
def method() -> str:
    """Return the library's name and version."""
    return f"icalendar {version('icalendar')}"


def _unquoted(found: re.Match[bytes]) -> bytes:
    content = decodestring(re.sub(rb"=\r?\n", b"", found[3]))
    text = decode_stated(content, found[2].decode())[0] if found[2] else decode(content)[0]
    escaped = text.replace("\r\n", "\n").replace("\\", "\\\\").replace("\n", "\\n")
    return b"%s:%s" % (found[1], escaped.encode())


def _unclosed(text: str) -> list[str]:
    """Return the kinds of the components that do not end, the innermost first.

    Raises:
        RejectedError: ``too-deep``.
    """
    kinds: list[str] = []
    for mark in _MARK.finditer(text):
        if mark[1].upper() == "BEGIN":
            kinds.append(mark[2])
        elif kinds and kinds[-1].upper() == mark[2].upper():
            kinds.pop()
        if len(kinds) > _DEEPEST:
            raise RejectedError("too-deep", "The calendar nests entries too deeply.")
    return kinds[::-1]


def _all(component: Any, name: str) -> list[Any]:
    found = component.get(name, [])
    return found if isinstance(found, list) else [found]


def _first(component: Any, *names: str) -> str:
    return next((_text(found) for name in names for found in _all(component, name)), "")


def _text(value: Any) -> str:
    if isinstance(value, icalendar.vCategory):
        return ", ".join(value.cats)
    written = str(value) if isinstance(value, str) else value.to_ical().decode()
    is_text = isinstance(value, icalendar.vText)
    return (written if is_text else _ESCAPE.sub(lambda found: found[1], written)).strip()


def _line(text: str) -> str:
    return " ".join(text.split())


def _section(component: Any) -> str:
    lines = [line for line in _facts(component) if line]
    texts = [
        text for name in ("DESCRIPTION", "COMMENT") for found in _all(component, name)
        if (text := _text(found))
    ]  # fmt: skip
    title = _line(_first(component, "SUMMARY")) or _KINDS[component.name]
    return "\n\n".join([f"## {title}", *["  \n".join(lines)] * bool(lines), *texts])


def _facts(component: Any) -> Iterator[str]:
    for start in _all(component, "DTSTART")[:1]:
        yield f"When: {_when(start, component)}"
    for name, label in _TIMES.items():
        yield from (f"{label}: {_time(found)}" for found in _all(component, name)[:1])
    for rule in _all(component, "RRULE"):
        yield f"Repeats: {_repetition(rule)}"
    for name, label in _MORE_TIMES.items():
        if found := _all(component, name):
            yield f"{label}: {', '.join(map(_time, found))}"
    for name, label in _SHOWN.items():
        if shown := ", ".join(filter(None, map(_person, _all(component, name)))):
            yield f"{label}: {shown}"


def _when(start: Any, component: Any) -> str:
    began = _parsed(start)
    stop = next(iter(_all(component, "DTEND")), None)
    length = _parsed(next(iter(_all(component, "DURATION")), None))
    ended = _parsed(stop)
    if stop is None and isinstance(began, date) and isinstance(length, timedelta):
        try:
            ended = began + length
        except OverflowError:
            return _time(start)
    if not isinstance(began, date) or not isinstance(ended, date):
        return _time(start)
    if not isinstance(began, datetime) or not isinstance(ended, datetime):
        return _days(began, ended)
    zone = _zone(start)
    if stop is not None and _zone(stop) != zone:
        return f"{_time(start)} to {_time(stop)}"
    until = ended.strftime("%H:%M") if ended.date() == began.date() else _shown(ended)
    return f"{_shown(began)} to {until}{zone}"


def _days(began: date, ended: date) -> str:
    """Return the days of an event that lasts all day; the end is the day behind the last."""
    last = ended - timedelta(days=1) if type(ended) is date and ended > began else began
    return f"{_shown(began)}, all day" if last <= began else f"{_shown(began)} to {_shown(last)}"


def _time(found: Any) -> str:
    """Return one or several times as a person reads them; what is none as it is written."""
    several = found.dts if isinstance(found, icalendar.vDDDLists) else [found]
    times = [_parsed(each) for each in several]
    starts = [time[0] if isinstance(time, tuple) else time for time in times]
    dates = [start for start in starts if isinstance(start, date)]
    if len(dates) < len(starts):
        return _text(found)
    return ", ".join(map(_shown, dates)) + _zone(found)


def _parsed(found: Any) -> Any:
    """Return a date, time, length or period; None for what is none."""
    is_one = isinstance(found, icalendar.vDDDTypes | icalendar.vDuration)
    return found.dt if is_one else None


def _shown(time: date) -> str:
    return time.strftime("%Y-%m-%d %H:%M" if isinstance(time, datetime) else "%Y-%m-%d")


def _zone(found: Any) -> str:
    """Return the zone as it is named."""
    if zone := found.params.get("TZID", ""):
        return f" ({zone})"
    return " (UTC)" if found.to_ical().endswith(b"Z") else ""


def _repetition(rule: Any) -> str:
    """Return a recurrence rule in words; the parts beyond that as they are written."""
    written = _text(rule)
    parts = dict(part.partition("=")[::2] for part in written.upper().split(";"))
    unit = _UNITS.get(parts.pop("FREQ", ""), "")
    if not unit or not isinstance(rule, icalendar.vRecur):
        return str(written)
    interval = parts.pop("INTERVAL", "1")
    text = f"every {unit}" if interval == "1" else f"every {interval} {unit}s"
    days = parts.get("BYDAY", "").split(",")
    if all(day in _DAYS for day in days):
        del parts["BYDAY"]
        text += f" on {', '.join(_DAYS[day] for day in days)}"
    if until := parts.pop("UNTIL", ""):
        zone = " (UTC)" if until.endswith("Z") else ""
        text += f", until {_shown(rule['UNTIL'][0])}{zone}"
    if count := parts.pop("COUNT", ""):
        text += f", {count} times"
    parts.pop("WKST", "")
    rest = ";".join(f"{name}={value}" for name, value in parts.items() if name)
    return f"{text} ({rest})" if rest else text


def _person(found: Any) -> str:
    """Return a value on one line; of a person name and address."""
    address = re.sub(r"(?i)^mailto:", "", _line(_text(found)))
    name = str(found.params.get("CN", "")).strip()
    return f"{name} <{address}>" if name and name != address else address
