"""Calendars: one section for each event, task and journal entry ([RFC 5545])."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from quopri import decodestring
from typing import Final

from chapterhouse.errors import RejectedError
from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.reading.formats import METHOD
from chapterhouse.types import ExtractedPage, Extraction, Notice

_FOLD: Final = re.compile(rb"\r?\n[ \t]")
# Calendars of version 1.0 write texts like mail does.
_QUOTED: Final = re.compile(
    rb"^([\w-]+);(?=[^:\r\n]*QUOTED-PRINTABLE)(?:[^:\r\n]*CHARSET=([\w-]+))?[^:\r\n]*:"
    rb"((?:[^\r\n]*=\r?\n)*[^\r\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_LINE: Final = re.compile(
    r"(?P<name>[\w-]+)(?P<parameters>(?:;[^\":;]*(?:\"[^\"]*\"[^\":;]*)*+)*+):(?P<value>.*)"
)
_PARAMETER: Final = re.compile(r";([\w-]+)=(?:\"([^\"]*)\"|([^;]*))")
_COMMA: Final = re.compile(r"(?<!\\),[ \t]*")
_ESCAPE: Final = re.compile(r"\\([\\;,nN])")
_STAMP: Final = re.compile(r"\d{8}(?:T\d{6}Z?)?")
_LENGTH: Final = re.compile(
    r"\+?P(?=.*\d)(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)
_DEEPEST: Final = 50
_KINDS: Final = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Journal entry"}
_UNITS: Final = {
    "SECONDLY": "second", "MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day",
    "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year",
}  # fmt: skip
_DAYS: Final = {
    "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday",
    "SA": "Saturday", "SU": "Sunday",
}  # fmt: skip
_MORE_TIMES: Final = {"RDATE": "Also on", "EXDATE": "Not on"}
# Properties that are shown on a line of their own, behind when and how often.
_SHOWN: Final = {
    "LOCATION": "Where", "ORGANIZER": "Organizer", "ATTENDEE": "Attendees", "CONTACT": "Contact",
    "STATUS": "Status", "CATEGORIES": "Categories", "RESOURCES": "Resources", "URL": "Link",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Property:
    """A line of a component; its value as it is written, escapes included."""

    parameters: str
    value: str

    def parameter(self, name: str) -> str:
        found = _PARAMETER.findall(self.parameters)
        return next((quoted or plain for own, quoted, plain in found if own.upper() == name), "")

    @property
    def text(self) -> str:
        return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], self.value).strip()


@dataclass(frozen=True, slots=True)
class _Component:
    kind: str
    properties: defaultdict[str, list[_Property]] = field(default_factory=lambda: defaultdict(list))

    def text(self, *names: str) -> str:
        """Return the text of the first of these properties that the component has."""
        return next((found.text for name in names for found in self.properties[name]), "")


def read_ics(data: bytes) -> Extraction:
    """Read a calendar; the words of time zones, alarms and free time are no text of it."""
    wide = b"\0" in data  # two or four bytes a character, which are unfolded as text
    text, notices = decode(data if wide else _QUOTED.sub(_unquoted, _FOLD.sub(b"", data)))
    components, is_whole = _components(re.sub(r"\n[ \t]", "", text))
    _mark_cancelled(components)
    calendar = next((one for one in components if one.kind == "VCALENDAR"), _Component(""))
    title = _line(calendar.text("X-WR-CALNAME", "NAME"))
    about = calendar.text("X-WR-CALDESC", "DESCRIPTION")
    blocks = [f"# {title}"] * bool(title) + [about] * bool(about)
    blocks += [_section(found) for found in components if found.kind in _KINDS]
    if not is_whole:
        sentence = "The calendar breaks off inside an entry; what followed is missing."
        notices = (*notices, Notice("part-unreadable", sentence))
    page = ExtractedPage("".join(f"{block}\n\n" for block in blocks).rstrip("\n"))
    return Extraction((page,), "ics", METHOD, title=title, notices=notices)


def _unquoted(found: re.Match[bytes]) -> bytes:
    content = decodestring(re.sub(rb"=\r?\n", b"", found[3]))
    text = decode_stated(content, found[2].decode())[0] if found[2] else decode(content)[0]
    escaped = text.replace("\r\n", "\n").replace("\\", "\\\\").replace("\n", "\\n")
    return b"%s:%s" % (found[1], escaped.encode())


def _components(text: str) -> tuple[list[_Component], bool]:
    """Return the components in the order in which they begin, and whether all of them end."""
    found: list[_Component] = []
    inside: list[_Component] = []
    lines: list[_Property] = []  # with the name of the last property
    for line in text.split("\n"):
        parts = _LINE.match(line)
        if parts is None:
            if line.strip() and lines:  # a text whose line ends were not escaped
                lines[-1] = _Property(lines[-1].parameters, f"{lines[-1].value}\\n{line}")
            continue
        name, value = parts["name"].upper(), parts["value"]
        if name == "BEGIN":
            inside.append(_Component(value.strip().upper()))
            found.append(inside[-1])
            if len(inside) > _DEEPEST:
                raise RejectedError("too-deep", "The calendar nests entries too deeply.")
        elif name == "END" and inside and inside[-1].kind == value.strip().upper():
            inside.pop()
        elif name != "END" and inside:
            lines = inside[-1].properties[name]
            value = _COMMA.sub(", ", value) if name == "CATEGORIES" else value
            lines.append(_Property(parts["parameters"], value))
    return found, not inside


def _mark_cancelled(components: list[_Component]) -> None:
    """Give what a message calls off the status that many programs leave to its method."""
    calls_off = False
    for component in components:
        stated = component.properties
        if component.kind == "VCALENDAR":
            calls_off = component.text("METHOD").upper() == "CANCEL"
        elif calls_off and component.kind in _KINDS and not stated["STATUS"]:
            stated["STATUS"].append(_Property("", "CANCELLED"))


def _section(component: _Component) -> str:
    lines = list(_facts(component))
    texts = [
        found.text for name in ("DESCRIPTION", "COMMENT")
        for found in component.properties[name] if found.text
    ]  # fmt: skip
    title = _line(component.text("SUMMARY")) or _KINDS[component.kind]
    return "\n\n".join([f"## {title}", *["  \n".join(lines)] * bool(lines), *texts])


def _facts(component: _Component) -> Iterator[str]:
    stated = component.properties
    for start in stated["DTSTART"][:1]:
        yield f"When: {_when(start, component)}"
    for name in ("DUE", "COMPLETED"):
        yield from (f"{name.capitalize()}: {_times(found)}" for found in stated[name][:1])
    for rule in stated["RRULE"]:
        yield f"Repeats: {_repetition(rule.value.strip())}"
    for name, label in _MORE_TIMES.items():
        if found := stated[name]:
            yield f"{label}: {', '.join(map(_times, found))}"
    for name, label in _SHOWN.items():
        if shown := ", ".join(filter(None, map(_person, stated[name]))):
            yield f"{label}: {shown}"


def _when(start: _Property, component: _Component) -> str:
    began = _parsed(start.value)
    stop = next(iter(component.properties["DTEND"]), None)
    ended = _parsed(stop.value) if stop else _later(began, component.text("DURATION"))
    if began is None or ended is None:
        return _times(start)
    if not isinstance(began, datetime) or not isinstance(ended, datetime):
        # It lasts all day; the end is the day behind the last.
        last = ended - timedelta(days=1) if type(ended) is date and ended > began else began
        return f"{_shown(began)}{f' to {_shown(last)}' if last > began else ', all day'}"
    zone = _zone(start)
    if stop and _zone(stop) != zone:
        return f"{_times(start)} to {_times(stop)}"
    until = ended.strftime("%H:%M") if ended.date() == began.date() else _shown(ended)
    return f"{_shown(began)} to {until}{zone}"


def _later(began: date | None, length: str) -> date | None:
    found = _LENGTH.fullmatch(length.upper())
    if began is None or found is None:
        return None
    units = {unit: int(number or 0) for unit, number in found.groupdict().items()}
    try:
        return began + timedelta(**units)
    except OverflowError:
        return None


def _times(found: _Property) -> str:
    """Return one or several times as a person reads them; what is none as it is written."""
    starts = [_parsed(value.partition("/")[0]) for value in found.value.split(",")]
    if None in starts:
        return found.text
    return ", ".join(_shown(start) for start in starts if start) + _zone(found)


def _parsed(value: str) -> date | None:
    """Return a date or time without its zone, which is shown as it is named."""
    stamp = value.strip().upper()
    if not _STAMP.fullmatch(stamp):
        return None
    try:
        kind = datetime if "T" in stamp else date
        return kind.fromisoformat(stamp.removesuffix("Z"))
    except ValueError:
        return None


def _shown(time: date) -> str:
    return time.strftime("%Y-%m-%d %H:%M" if isinstance(time, datetime) else "%Y-%m-%d")


def _zone(found: _Property) -> str:
    if zone := found.parameter("TZID"):
        return f" ({zone})"
    return " (UTC)" if found.value.strip().upper().endswith("Z") else ""


def _repetition(rule: str) -> str:
    """Return a recurrence rule in words; the parts beyond that as they are written."""
    parts = dict(part.partition("=")[::2] for part in rule.upper().split(";"))
    unit = _UNITS.get(parts.pop("FREQ", ""), "")
    if not unit:
        return rule
    interval = parts.pop("INTERVAL", "1")
    text = f"every {unit}" if interval == "1" else f"every {interval} {unit}s"
    days = parts.get("BYDAY", "").split(",")
    if all(day in _DAYS for day in days):
        del parts["BYDAY"]
        text += f" on {', '.join(_DAYS[day] for day in days)}"
    if until := parts.pop("UNTIL", ""):
        text += f", until {_times(_Property('', until))}"
    if count := parts.pop("COUNT", ""):
        text += f", {count} times"
    parts.pop("WKST", "")
    rest = ";".join(f"{name}={value}" for name, value in parts.items() if name)
    return f"{text} ({rest})" if rest else text


def _person(found: _Property) -> str:
    """Return a value on one line; of a person name and address."""
    address = re.sub(r"(?i)^mailto:", "", _line(found.text))
    name = found.parameter("CN").strip()
    return f"{name} <{address}>" if name and name != address else address


def _line(text: str) -> str:
    return " ".join(text.split())
