"""Calendars: one section for each event, task and journal entry ([RFC 5545])."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from quopri import decodestring

from chapterhouse.reading.encodings import decode
from chapterhouse.reading.plain import METHOD
from chapterhouse.types import ExtractedPage, Extraction, Notice

_FOLD = re.compile(rb"\r?\n[ \t]")
_LINE = re.compile(
    r"(?P<name>[\w-]+)(?P<parameters>(?:;[^\":;]*(?:\"[^\"]*\"[^\":;]*)*)*):(?P<value>.*)"
)
_PARAMETER = re.compile(r";([\w-]+)=(\"[^\"]*\"|[^;]*)")
_ESCAPE = re.compile(r"\\([\\;,nN])")
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_DURATION = re.compile(r"([+-]?)P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_KINDS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Journal entry"}
_UNITS = {
    "SECONDLY": "second",
    "MINUTELY": "minute",
    "HOURLY": "hour",
    "DAILY": "day",
    "WEEKLY": "week",
    "MONTHLY": "month",
    "YEARLY": "year",
}
_DAYS = {
    "MO": "Monday",
    "TU": "Tuesday",
    "WE": "Wednesday",
    "TH": "Thursday",
    "FR": "Friday",
    "SA": "Saturday",
    "SU": "Sunday",
}
# Properties that are shown on a line of their own, behind when and how often.
_SHOWN = {
    "LOCATION": "Where",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendees",
    "CONTACT": "Contact",
    "STATUS": "Status",
    "CATEGORIES": "Categories",
    "RESOURCES": "Resources",
    "URL": "Link",
}
_PERSONS = frozenset({"ORGANIZER", "ATTENDEE"})
_AT_END = ("DESCRIPTION", "COMMENT")


@dataclass(frozen=True, slots=True)
class _Property:
    name: str
    parameters: dict[str, str]
    value: str  # as it is written, escapes included

    @property
    def text(self) -> str:
        return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], self.value).strip()


@dataclass(slots=True)
class _Component:
    kind: str
    properties: list[_Property] = field(default_factory=list)

    def all(self, name: str) -> list[_Property]:
        return [found for found in self.properties if found.name == name]

    def first(self, name: str) -> _Property | None:
        return next(iter(self.all(name)), None)

    def text(self, name: str) -> str:
        found = self.first(name)
        return found.text if found else ""


def read_ics(data: bytes, _name: str) -> Extraction:
    """Read a calendar; the words of time zones, alarms and free time are no text of it."""
    text, notices = decode(_FOLD.sub(b"", data) if b"\0" not in data else data)
    if b"\0" in data:  # two or four bytes a character, which are unfolded as text
        text = text.replace("\n ", "").replace("\n\t", "")
    components, is_whole = _components(text)
    calendar = next((found for found in components if found.kind == "VCALENDAR"), _Component(""))
    title = _line(calendar.text("X-WR-CALNAME") or calendar.text("NAME"))
    about = calendar.text("X-WR-CALDESC") or calendar.text("DESCRIPTION")
    blocks = [f"# {title}"] * bool(title) + [about] * bool(about)
    blocks += [_section(found) for found in components if found.kind in _KINDS]
    if not is_whole:
        sentence = "The calendar breaks off inside an entry; what followed is missing."
        notices = (*notices, Notice("part-unreadable", sentence))
    page = ExtractedPage("".join(f"{block}\n\n" for block in blocks).rstrip("\n"))
    return Extraction((page,), "ics", METHOD, title=title, notices=notices)


def _components(text: str) -> tuple[list[_Component], bool]:
    """Return the components in the order in which they begin, and whether the last one ends."""
    found: list[_Component] = []
    open_ones: list[_Component] = []
    for entry in _properties(text):
        value = entry.value.strip().upper()
        if entry.name == "BEGIN":
            open_ones.append(_Component(value))
            found.append(open_ones[-1])
        elif entry.name == "END":
            if open_ones and open_ones[-1].kind == value:
                open_ones.pop()
        elif open_ones:
            open_ones[-1].properties.append(entry)
    return found, not open_ones


def _properties(text: str) -> Iterator[_Property]:
    lines = iter(text.split("\n"))
    last: _Property | None = None
    further: list[str] = []
    for line in lines:
        found = _LINE.match(line)
        if found is None:
            if line.strip() and last is not None:  # a text whose line ends were not escaped
                further.append(line)
            continue
        parameters = {
            name.upper(): value.strip('"')
            for name, value in _PARAMETER.findall(found["parameters"])
        }
        value = found["value"]
        # Calendars of version 1.0 write texts like mail does.
        if "QUOTED-PRINTABLE" in found["parameters"].upper():
            pieces = [value]
            while pieces[-1].endswith("="):
                pieces[-1] = pieces[-1][:-1]
                pieces.append(next(lines, ""))
            value = _unquoted("".join(pieces), parameters.get("CHARSET", ""))
        if last is not None:
            yield _joined(last, further)
        last, further = _Property(found["name"].upper(), parameters, value), []
    if last is not None:
        yield _joined(last, further)


def _joined(first: _Property, further: list[str]) -> _Property:
    return replace(first, value="\\n".join([first.value, *further])) if further else first


def _unquoted(value: str, charset: str) -> str:
    content = decodestring(value.encode())
    try:
        text = content.decode(charset) if charset else decode(content)[0]
    except (LookupError, UnicodeDecodeError):
        text = decode(content)[0]
    return text.replace("\r\n", "\n").replace("\\", "\\\\")


def _section(component: _Component) -> str:
    lines = [line for line in _facts(component) if line]
    texts = [found.text for name in _AT_END for found in component.all(name) if found.text]
    title = _line(component.text("SUMMARY")) or _KINDS[component.kind]
    return "\n\n".join([f"## {title}", *["  \n".join(lines)] * bool(lines), *texts])


def _facts(component: _Component) -> Iterator[str]:
    yield _when(component)
    for name, label in (("DUE", "Due"), ("COMPLETED", "Completed")):
        if found := component.first(name):
            yield f"{label}: {_time(found)}"
    for rule in component.all("RRULE"):
        yield f"Repeats: {_repetition(rule.value)}"
    for name, label in (("RDATE", "Also on"), ("EXDATE", "Not on")):
        if found_dates := component.all(name):
            yield f"{label}: {', '.join(_time(found) for found in found_dates)}"
    for name, label in _SHOWN.items():
        values = [
            _person(found) if name in _PERSONS else _line(found.text)
            for found in component.all(name)
        ]
        if shown := ", ".join(filter(None, values)):
            yield f"{label}: {shown}"


def _when(component: _Component) -> str:
    start = component.first("DTSTART")
    if start is None:
        return ""
    began = _parsed(start.value)
    stop = component.first("DTEND")
    duration = component.first("DURATION")
    ended = _parsed(stop.value) if stop else None
    if began and duration and not stop:
        ended = _later(began, duration.value)
    if began is None or ended is None:
        return f"When: {_time(start)}"
    if not isinstance(began, datetime) or not isinstance(ended, datetime):
        return f"When: {_days(began, ended)}"
    zone = _zone(start)
    if stop and _zone(stop) != zone:
        return f"When: {_time(start)} to {_time(stop)}"
    until = ended.strftime("%H:%M") if ended.date() == began.date() else _shown(ended)
    return f"When: {_shown(began)} to {until}{zone}"


def _days(began: date, ended: date) -> str:
    """Return the days of an event that lasts all day; the end is the day behind the last."""
    last = ended - timedelta(days=1) if type(ended) is date and ended > began else began
    return f"{_shown(began)}, all day" if last <= began else f"{_shown(began)} to {_shown(last)}"


def _later(began: date, duration: str) -> date | None:
    found = _DURATION.fullmatch(duration.strip().upper())
    if found is None:
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
    try:
        length = timedelta(days, seconds, 0, 0, minutes, hours, weeks)
        return began - length if found[1] == "-" else began + length
    except OverflowError:
        return None


def _time(found: _Property) -> str:
    """Return one or several times as a person reads them; what is none as it is written."""
    times = []
    for value in found.value.split(","):
        start, _, _end = value.partition("/")
        parsed = _parsed(start)
        times.append(_shown(parsed) if parsed else value.strip())
    return ", ".join(times) + _zone(found)


def _shown(time: date) -> str:
    return time.strftime("%Y-%m-%d %H:%M" if isinstance(time, datetime) else "%Y-%m-%d")


def _zone(found: _Property) -> str:
    if zone := found.parameters.get("TZID", ""):
        return f" ({zone})"
    return " (UTC)" if found.value.strip().upper().endswith("Z") else ""


def _parsed(value: str) -> date | None:
    found = _STAMP.fullmatch(value.strip().upper())
    if found is None:
        return None
    try:
        day = date(*map(int, found.groups()[:3]))
        if found[4] is None:
            return day
        return datetime(day.year, day.month, day.day, int(found[4]), int(found[5]))  # noqa: DTZ001 - the zone is shown as it is named
    except ValueError:
        return None


def _repetition(rule: str) -> str:
    """Return a recurrence rule in words; the parts beyond that as they are written."""
    parts = dict(part.partition("=")[::2] for part in rule.strip().upper().split(";"))
    unit = _UNITS.get(parts.pop("FREQ", ""), "")
    if not unit:
        return rule.strip()
    interval = parts.pop("INTERVAL", "1")
    text = f"every {unit}" if interval == "1" else f"every {interval} {unit}s"
    days = parts.get("BYDAY", "").split(",")
    if all(day in _DAYS for day in days):
        del parts["BYDAY"]
        text += f" on {', '.join(_DAYS[day] for day in days)}"
    if until := parts.pop("UNTIL", ""):
        text += f", until {_time(_Property('UNTIL', {}, until))}"
    if count := parts.pop("COUNT", ""):
        text += f", {count} times"
    parts.pop("WKST", "")
    rest = ";".join(f"{name}={value}" for name, value in parts.items() if name)
    return f"{text} ({rest})" if rest else text


def _person(found: _Property) -> str:
    address = re.sub(r"(?i)^mailto:", "", found.text)
    name = found.parameters.get("CN", "").strip()
    return f"{name} <{address}>" if name and name != address else address


def _line(text: str) -> str:
    return " ".join(text.split())
