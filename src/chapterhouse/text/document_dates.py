"""When a document was written, as it states itself."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from chapterhouse.types import Document

_DATE: Final = re.compile(r"((?:1[5-9]|20|21)\d\d)(?:-(\d\d)(?:-(\d\d))?)?(?=T\d|(?![\w-]))")
_DATE_IN_NAME: Final = re.compile(
    r"(?<![^\W_])(?:19|20)\d\d"
    r"(?:([-_])(?:0[1-9]|1[0-2])(?:\1(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)"
)


def stated_date(document: Document) -> str:
    """Return the day that a document states for itself, ``YYYY-MM-DD`` or a part; or empty.

    Where its metadata state none, the one date in its file's name counts.
    """
    for name in ("date", "published", "modified", "created"):
        stated = document.metadata.get(name, "").strip()
        match = _DATE.match(stated)
        if match and _is_a_day(match):
            return match.group()
        if name == "date" and stated and document.format == "eml":
            return _mail_date(stated)
    in_name = {
        found.group() for found in _DATE_IN_NAME.finditer(document.source.rpartition("/")[2])
    }
    return in_name.pop().replace("_", "-") if len(in_name) == 1 else ""


def written_at(document: Document) -> int:
    """Return when a document was written, seconds since 1970.

    That is the stated day, the last day of a stated month or year, or where it states none the time
    of its file.
    """
    stated = stated_date(document)
    if not stated:
        return document.modified
    year, month, day = (*map(int, stated.split("-")), 0, 0)[:3]
    month = month or 12
    day = day or monthrange(year, month)[1]
    return int(datetime(year, month, day, tzinfo=UTC).timestamp())


def _is_a_day(match: re.Match[str]) -> bool:
    year, month, day = match.groups()
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return False
    return True


def _mail_date(stated: str) -> str:
    try:
        return parsedate_to_datetime(stated).date().isoformat()
    except ValueError:
        return ""
