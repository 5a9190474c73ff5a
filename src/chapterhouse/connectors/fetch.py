"""Pages of the web, fetched as if every address and every answer were hostile.

What is refused, and why, is told in ``docs/sources.md``. The HTTP library's client is not used,
only its connections: it has no cookies, no proxies, no redirects and no second opinion on what an
address means.
"""

import functools
import re
import ssl
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from chapterhouse import lazy
from chapterhouse.connectors.urls import (
    URL_REFUSED,
    URL_TIMEOUT,
    URL_UNREACHABLE,
    WebAddress,
    file_name,
    follow,
    is_public,
    parse_url,
)
from chapterhouse.errors import RejectedError

if TYPE_CHECKING:
    import httpcore2
    import httpx2

    from chapterhouse.connectors import network
else:
    httpcore2 = lazy("httpcore2")
    httpx2 = lazy("httpx2")
    network = lazy("chapterhouse.connectors.network")

URL_TOO_LARGE: Final = "url-too-large"
URL_TYPE: Final = "url-type"
URL_REDIRECTS: Final = "url-redirects"
URL_STATUS: Final = "url-status"

CODES: Final = (
    *(URL_REFUSED, URL_UNREACHABLE, URL_TIMEOUT, URL_REDIRECTS),
    *(URL_STATUS, URL_TYPE, URL_TOO_LARGE),
)

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_LONG_AGO: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_CLOSED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,250}"')  # RFC 9110, 8.8.3, without obs-text
_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT")
_EITHER_ZLIB_OR_GZIP: Final = 47  # zlib.decompressobj: 32 + 15 bits


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one page may cost.

    Attributes:
        bytes: Of the page, also once it is unpacked.
        seconds: From the look-up of the first host to the last byte, redirects included.
    """

    bytes: int = 50 * 2**20
    seconds: float = 60.0
    connect_seconds: float = 10.0
    redirects: int = 3


@dataclass(frozen=True, slots=True)
class FetchResult:
    """A page as it came, or word that it has not changed.

    Attributes:
        url: What was asked for, in its normal form.
        final_url: Where the last redirect led; the same as ``url`` where there was none.
        content: Its bytes; empty where ``not_modified``.
        content_type: In lower case, without parameters; empty where the server gave none.
        charset: As the server gave it; empty where it gave none.
        etag: For the next time; empty where the server gave none that is well formed.
        last_modified: For the next time, as ``etag``.
        not_modified: The server says that the page is still the one of the given conditions.
        name: A safe name for a file of it; empty where ``not_modified``.
    """

    url: str
    final_url: str
    content: bytes = b""
    content_type: str = ""
    charset: str = ""
    etag: str = ""
    last_modified: str = ""
    not_modified: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str


class Fetcher:
    """Fetches pages. Each connection is opened for one request, so none can carry another's.

    Safe to share between threads.
    """

    def __init__(
        self,
        *,
        resolve: "network.Resolve | None" = None,
        permits: "network.Permits" = is_public,
        limits: FetchLimits | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Remember how to fetch; nothing is opened yet.

        Args:
            resolve: Return the addresses of a host; by default the system's resolver.
            permits: Whether an address may be connected to; by default only public ones.
        """
        self._resolve = resolve
        self._permits = permits
        self._limits = limits or FetchLimits()
        self._given_tls = tls

    @functools.cached_property
    def _tls(self) -> ssl.SSLContext:
        return self._given_tls or httpx2.create_ssl_context(trust_env=False)

    def fetch(self, url: str, *, etag: str = "", last_modified: str = "") -> FetchResult:
        """Return the page at ``url``.

        Args:
            etag: What the last fetch gave, to be told where nothing has changed since.

        Raises:
            RejectedError: it cannot or must not be had; the code is one of ``CODES``.
        """
        start = address = parse_url(url)
        conditions = _conditions(etag, last_modified)
        deadline = network.Deadline(time.monotonic() + self._limits.seconds)
        for _ in range(self._limits.redirects + 1):
            answer = self._ask(address, conditions, deadline)
            if isinstance(answer, FetchResult):
                name = "" if answer.not_modified else file_name(start.url, _extension(answer))
                return replace(answer, url=start.url, name=name)
            address = _next(address, answer.location)
        raise RejectedError(
            URL_REDIRECTS,
            f"The page redirects more than {self._limits.redirects} times.",
            hint="Open it in a browser and use the address where that ends.",
        )

    def _ask(
        self, address: WebAddress, conditions: Mapping[str, str], deadline: "network.Deadline"
    ) -> FetchResult | _Redirect:
        way = network.PinnedNetwork(
            self._resolve or network.resolve_host,
            self._permits,
            deadline,
            self._limits.connect_seconds,
        )
        # In parts, so that the library reads no address of its own out of them.
        place = httpcore2.URL(
            scheme=address.scheme, host=address.host, port=address.port, target=address.target
        )
        headers = {**_headers(address), **conditions}
        tls = self._tls if address.scheme == "https" else None
        try:
            with (
                httpcore2.ConnectionPool(tls, network_backend=way) as pool,
                pool.stream("GET", place, headers=list(headers.items())) as response,
            ):
                return self._answer(address, response, asked_if_changed=bool(conditions))
        except httpcore2.ProtocolError:
            raise RejectedError(
                URL_UNREACHABLE,
                "The host broke off, or answered with something that is not HTTP.",
                hint="Try again later.",
            ) from None

    def _answer(
        self, address: WebAddress, response: "httpcore2.Response", *, asked_if_changed: bool
    ) -> FetchResult | _Redirect:
        status = response.status
        location = _header(response, "location")
        if status in _REDIRECTS and location:
            return _Redirect(location)
        etag, modified = _header(response, "etag"), _header(response, "last-modified")
        page = FetchResult(
            url=address.url,
            final_url=address.url,
            etag=etag if _ETAG.fullmatch(etag) else "",
            last_modified=modified if _DATE.fullmatch(modified) else "",
        )
        if status == HTTPStatus.NOT_MODIFIED and asked_if_changed:
            return replace(page, not_modified=True)
        if status != HTTPStatus.OK:
            raise _wrong_status(status)
        stated = _header(response, "content-type")
        page = replace(page, content_type=media_type(stated), charset=charset(stated))
        _extension(page)  # before the bytes are had
        return replace(page, content=_body(response, self._limits.bytes))


def _headers(address: WebAddress) -> dict[str, str]:
    return {
        "Host": address.authority,
        "User-Agent": "chapterhouse",
        "Accept": "text/html, application/xhtml+xml, application/pdf, text/*;q=0.9, */*;q=0.5",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }


def _conditions(etag: str, last_modified: str) -> dict[str, str]:
    """Return the headers that ask only for what has changed, of what is well formed."""
    headers = {}
    if _ETAG.fullmatch(etag):
        headers["If-None-Match"] = etag
    if _DATE.fullmatch(last_modified):
        headers["If-Modified-Since"] = last_modified
    return headers


def _next(address: WebAddress, location: str) -> WebAddress:
    try:
        target = follow(address, location)
    except RejectedError as error:
        sentence = error.message.replace("The address", "The address it redirects to", 1)
        raise RejectedError(error.code, sentence) from None
    if address.scheme == "https" and target.scheme == "http":
        raise RejectedError(
            URL_REFUSED,
            "The page redirects from https to http, where anyone on the way can change it.",
        )
    return target


def _header(response: "httpcore2.Response", name: str) -> str:
    """Return the values of a header, joined: where there are two, nothing below accepts them."""
    wanted = name.encode()
    values = b", ".join(value for key, value in response.headers if key.lower() == wanted)
    try:
        return values.decode("utf-8")
    except UnicodeDecodeError:
        return values.decode("latin-1")


def _extension(page: FetchResult) -> str:
    ending = parse_url(page.final_url).path.rpartition("/")[2].rpartition(".")[2].lower()
    found = extension(page.content_type, ending)
    if not found:
        raise RejectedError(
            URL_TYPE,
            f"The page is of type {page.content_type or 'none'}, which cannot be read.",
            hint="Pages, text, PDF, office documents, e-books, tables and mail are read.",
        )
    return found


def _body(response: "httpcore2.Response", limit: int) -> bytes:
    encoding = _header(response, "content-encoding").strip().lower()
    length = _header(response, "content-length")
    if length.isascii() and length.isdecimal() and int(length) > limit:
        raise _too_large(limit)
    parts = _capped(response.iter_stream(), limit)
    if encoding in {"", "identity"}:
        return b"".join(parts)
    if encoding in {"gzip", "x-gzip", "deflate"}:  # though nobody asked for it
        return _unpack(parts, limit)
    raise RejectedError(URL_TYPE, "The page came compressed, although it was asked for plain.")


def _capped(parts: Iterable[bytes], limit: int) -> Iterator[bytes]:
    size = 0
    for part in parts:
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        yield part


def _unpack(parts: Iterable[bytes], limit: int) -> bytes:
    """Return what is packed in ``parts``, never holding more than one byte above the limit."""
    inflater = zlib.decompressobj(wbits=_EITHER_ZLIB_OR_GZIP)
    content = bytearray()
    try:
        for part in parts:
            content += inflater.decompress(part, limit + 1 - len(content))
            if len(content) > limit:
                raise _too_large(limit)
    except zlib.error:
        raise _damaged() from None
    if not inflater.eof:
        raise _damaged()
    return bytes(content)


def _damaged() -> RejectedError:
    return RejectedError(
        URL_UNREACHABLE, "The page came compressed and damaged.", hint="Try again later."
    )


def _too_large(limit: int) -> RejectedError:
    return RejectedError(
        URL_TOO_LARGE,
        f"The page is larger than {limit:,} bytes.",
        hint="Save it as a file, in parts if need be.",
    )


def _wrong_status(status: int) -> RejectedError:
    hint = "Try again later."
    if status in _LONG_AGO:
        hint = "Is the address right, and the page still there?"
    elif status in _CLOSED:
        hint = "It may need a login; save the page as a file yourself."
    return RejectedError(URL_STATUS, f"The server answered {status}.", hint=hint)


_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
# What can be read, and the extension that tells the reader so.
EXTENSIONS: Mapping[str, str] = MappingProxyType(
    {
        "text/html": "html",
        "application/xhtml+xml": "xhtml",
        "text/plain": "txt",
        "text/markdown": "md",
        "text/x-markdown": "md",
        "application/pdf": "pdf",
        "application/x-pdf": "pdf",
        "application/msword": "doc",
        "application/vnd.ms-powerpoint": "ppt",
        "application/vnd.ms-excel": "xls",
        "application/vnd.ms-excel.sheet.binary.macroenabled.12": "xlsb",
        f"{_OFFICE}wordprocessingml.document": "docx",
        f"{_OFFICE}presentationml.presentation": "pptx",
        f"{_OFFICE}presentationml.slideshow": "ppsx",
        f"{_OFFICE}spreadsheetml.sheet": "xlsx",
        f"{_OPEN_DOCUMENT}text": "odt",
        f"{_OPEN_DOCUMENT}presentation": "odp",
        f"{_OPEN_DOCUMENT}spreadsheet": "ods",
        f"{_OPEN_DOCUMENT}graphics": "odg",
        "application/epub+zip": "epub",
        "text/calendar": "ics",
        "text/vtt": "vtt",
        "application/x-tex": "tex",
        "text/x-tex": "tex",
        "application/x-latex": "tex",
        "text/csv": "csv",
        "text/tab-separated-values": "tsv",
        "application/json": "json",
        "application/ld+json": "json",
        "application/xml": "xml",
        "text/xml": "xml",
        "application/rss+xml": "xml",
        "application/atom+xml": "xml",
        "application/rtf": "rtf",
        "text/rtf": "rtf",
        "message/rfc822": "eml",
    }
)
# Servers that know no better send these; then the end of the path decides.
_UNKNOWN_TYPES: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_PLAIN_EXTENSIONS: Final = frozenset(
    {"md", "markdown", "csv", "tsv", "json", "xml", "ics", "tex", "vtt"}
)
_PATH_EXTENSIONS: Final = frozenset(EXTENSIONS.values()) | {"htm", "markdown"}

_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}")
_CHARSET = re.compile(r';\s{0,9}charset="?([A-Za-z0-9._:-]{1,40})"?', re.IGNORECASE)


def media_type(stated: str) -> str:
    """Return the media type of a Content-Type header, ``unknown`` where it is none."""
    found = stated.partition(";")[0].strip().lower()
    return found if not found or _TYPE.fullmatch(found) else "unknown"


def charset(stated: str) -> str:
    """Return the character set that a Content-Type header names; or nothing."""
    match = _CHARSET.search(stated)
    return match[1].lower() if match else ""


def extension(content_type: str, ending: str) -> str:
    """Return the extension of a page's file; empty for what cannot be read."""
    if content_type == "text/plain" and ending in _PLAIN_EXTENSIONS:
        return ending
    if content_type in _UNKNOWN_TYPES and ending in _PATH_EXTENSIONS:
        return ending
    return EXTENSIONS.get(content_type, "")
