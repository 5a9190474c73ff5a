"""What can be told of a document without reading between its lines: date, kind, address, licence.

Only what is evident is said; a wrong date would be believed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
_IN_NAME: Final = re.compile(
    r"(?<!\d)(?:(?P<y>(?:19|20)\d\d)(?P<mark>[-_.]?)(?P<m>\d\d)(?P=mark)(?P<d>\d\d)"
    r"|(?P<d2>\d\d)\.(?P<m2>\d\d)\.(?P<y2>(?:19|20)\d\d))(?!\d)"
)
_EARLIEST: Final = 1900
_DATE_FIELDS: Final = ("date", "published", "created")
_KINDS_BY_FORMAT: Final = {
    **dict.fromkeys(("eml", "msg"), "email"),
    **dict.fromkeys(("pptx", "ppt", "odp"), "slide"),
    **dict.fromkeys(("xlsx", "xlsb", "xls", "ods", "csv", "tsv"), "sheet"),
}
_KINDS_BY_WORD: Final = (
    (re.compile(r"\b(?:faqs?|frequently asked questions|häufige fragen)\b"), "faq"),
    (re.compile(r"\b(?:press (?:release|kit)|press|pressemitteilung|news release)\b"), "press"),
    (re.compile(r"\b(?:blog|blog post|weblog)\b"), "blog"),
    (
        re.compile(r"\b(?:spec|specs|specification|specifications|data ?sheet|spezifikation)\b"),
        "spec",
    ),
    (
        re.compile(r"\b(?:tech(?:nical)? (?:memo|note)s?|memo|memorandum|white ?paper)\b"),
        "tech_memo",
    ),
)
_CREATIVE: Final = re.compile(
    r"creativecommons\.org/(?:licenses/(by(?:-nc)?(?:-nd|-sa)?)/(\d\.\d)|publicdomain/(zero|mark))"
    r"|\bCC[ -](BY(?:-NC)?(?:-ND|-SA)?)[ -](\d\.\d)\b|\b(CC0)\b"
)
_STATED: Final = re.compile(
    r"SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+-]{2,40})"
    r"|[Ll]icen[sc]ed under (?:the )?"
    r"(MIT|Apache(?: License)?,? (?:[Vv]ersion )?2\.0|GPL-?[23](?:\.0)?)"
)
_ALL_RIGHTS: Final = re.compile(r"\ball rights reserved\b", re.IGNORECASE)
_EDGE: Final = 3_000  # characters at either end of a text, where its licence is said
_LONGEST_URL: Final = 2_000


def evident_date(stem: str, metadata: Mapping[str, str], today: str) -> str:
    """Return the document's date as ISO, or nothing: that in its name, else what it states.

    Args:
        today: ISO date; a document of the future states something else.
    """
    stated = (metadata[name] for name in _DATE_FIELDS if name in metadata)
    found = (*_dates_in_name(stem), *(day for value in stated for day in _dates_stated(value)))
    return next((day for day in found if _is_date(day, today)), "")


def _dates_in_name(stem: str) -> Iterator[str]:
    for match in _IN_NAME.finditer(stem):
        year, month, day = (match[name] or match[f"{name}2"] for name in "ymd")
        yield f"{year}-{month}-{day}"


def _dates_stated(value: str) -> Iterator[str]:
    written = _ISO.match(value.strip())
    if written:
        yield "-".join(written.groups())
        return
    try:
        sent = parsedate_to_datetime(value[:200])
        yield (sent.astimezone(UTC) if sent.tzinfo else sent).date().isoformat()
    except (TypeError, ValueError, IndexError, OverflowError):
        return


def _is_date(day: str, today: str) -> bool:
    try:
        return date.fromisoformat(day).year >= _EARLIEST and day <= today
    except ValueError:
        return False


def evident_kind(stem: str, title: str, format_: str, url: str) -> str:
    """Return the kind of document, or nothing where neither name, title nor format says it."""
    if format_ in _KINDS_BY_FORMAT:
        return _KINDS_BY_FORMAT[format_]
    path = urlsplit(url).path if url else ""
    for text in (stem, title, path):
        words = re.sub(r"[\W_]+", " ", text.casefold())
        for pattern, kind in _KINDS_BY_WORD:
            if pattern.search(words):
                return kind
    return "web" if format_ == "html" or url else ""


def evident_url(candidates: Iterable[str]) -> str:
    """Return the first address that is one of the web and carries no name or password."""
    for candidate in candidates:
        address = candidate.strip()
        if len(address) > _LONGEST_URL or re.search(r"[\s<>\"'`\\]", address):
            continue
        try:
            parts = urlsplit(address)
            plain = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
        except ValueError:
            continue
        if plain:
            return address
    return ""


def evident_license(metadata: Mapping[str, str], text: str) -> str:
    """Return the licence that a document states of itself, in short, or nothing."""
    stated = metadata.get("license", "") or metadata.get("rights", "")
    edges = (stated, text[:_EDGE], text[-_EDGE:])
    for edge in edges:
        if (creative := _CREATIVE.search(edge)) is not None:
            terms, version, domain, terms2, version2, _ = creative.groups()
            if terms or terms2:
                return f"cc-{(terms or terms2).lower()}-{version or version2}"
            return "public" if domain == "mark" else "cc0"
        if (named := _STATED.search(edge)) is not None:
            return named[1] or ("Apache-2.0" if named[2].startswith("Apache") else named[2])
    return "proprietary" if any(map(_ALL_RIGHTS.search, edges)) else ""
