"""What lists of pages have brought: each page's bytes, and what is known of it.

A folder, usually ``RAW-DOCS/.fetched``, holds a file a page and ``fetched.json``. Both are written
whole or not at all, the page first: whatever stops the work between them costs one more fetch, for
a page counts as there only while its bytes have the hash that ``fetched.json`` names.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Final, Literal, Protocol

from chapterhouse.connectors.fetch import Fetched
from chapterhouse.connectors.links import Link
from chapterhouse.connectors.urls import file_name, parse_url
from chapterhouse.errors import RefusedError, RejectedError, UsageError
from chapterhouse.files import UNFINISHED, make_folder, write_whole

INDEX: Final = "fetched.json"
_VERSION: Final = 1
_ABANDONED: Final = 86_400.0  # seconds after which an unfinished file has no writer any more
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,130}\.[a-z]{2,8}")
_HASH = re.compile(r"[0-9a-f]{64}")
_HASH_DIGITS: Final = (8, 16, 32, 64)
_READ_BYTES: Final = 2**20


class Fetch(Protocol):
    """How a page is fetched: `Fetcher.fetch`, or something around it that shows progress."""

    def __call__(self, url: str, *, etag: str, last_modified: str) -> Fetched:
        """Return the page, or raise `RejectedError`."""
        ...


@dataclass(frozen=True, slots=True)
class Remembered:
    """A page that is kept.

    Attributes:
        url: As the list has it, in normal form.
        final_url: Where redirects led.
        title: What the list calls it; empty where it says nothing.
        fetched: The day on which these bytes came, as an ISO date.
        name: Of its file in the folder.
        sha256: Of its bytes.
        content_type: As the server gave it.
        charset: As the server gave it; empty where it gave none.
        etag: What asks the server whether it has changed; may be empty.
        last_modified: As ``etag``.
    """

    url: str
    final_url: str
    title: str
    fetched: str
    name: str
    sha256: str
    content_type: str
    charset: str
    etag: str
    last_modified: str


@dataclass(frozen=True, slots=True)
class LinkOutcome:
    """What became of a link.

    Attributes:
        link: The link.
        status: ``fetched`` where bytes are new, ``unchanged``, or ``failed``.
        page: What is kept of it: of an earlier day where ``failed``, or None.
        code: Why it failed, one of ``fetch.CODES``; empty otherwise.
        message: The same as a sentence, which says whether an earlier page is kept.
        hint: What can be done.
    """

    link: Link
    status: Literal["fetched", "unchanged", "failed"]
    page: Remembered | None
    code: str = ""
    message: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What became of each link, in their order, and kept pages that no link asks for any more."""

    outcomes: tuple[LinkOutcome, ...]
    orphaned: tuple[Remembered, ...]


def sync_pages(links: Sequence[Link], folder: Path, fetch: Fetch, today: str) -> FetchReport:
    """Fetch what is new or has changed behind ``links``, and keep it in ``folder``.

    A page that cannot be fetched again is kept as it is. A page whose link is gone is kept, too,
    and reported; `forget` removes it.

    Args:
        links: Of all lists that share the folder.
        folder: Where pages are kept; made where it is not there.

    Raises:
        UsageError: ``fetched.json`` is not what this function writes.
        RefusedError: the folder is a link.
    """
    _require_date(today, "today")
    _require_folder(folder)
    make_folder(folder)
    _clear_abandoned(folder)
    pages = _load(folder)
    outcomes = []
    for link in links:
        known = pages.get(link.url)
        outcome = _bring(link, known, folder, fetch, today, pages)
        outcomes.append(outcome)
        if outcome.page is not None and outcome.page != known:
            pages[link.url] = outcome.page
            _save(folder, pages)
            if known is not None and known.name != outcome.page.name:
                (folder / known.name).unlink(missing_ok=True)
    listed = {link.url for link in links}
    orphaned = tuple(page for url, page in sorted(pages.items()) if url not in listed)
    return FetchReport(tuple(outcomes), orphaned)


def remembered(folder: Path) -> tuple[Remembered, ...]:
    """Return the pages kept in ``folder``, in order of their addresses."""
    return tuple(page for _, page in sorted(_load(folder).items()))


def forget(folder: Path, urls: Iterable[str]) -> tuple[Remembered, ...]:
    """Remove the pages of ``urls`` from ``folder``; return those that were there."""
    _require_folder(folder)
    pages = _load(folder)
    gone = tuple(pages.pop(url) for url in sorted(set(urls) & pages.keys()))
    for page in gone:
        (folder / page.name).unlink(missing_ok=True)
    if gone:
        _save(folder, pages)
    return gone


def _bring(
    link: Link,
    known: Remembered | None,
    folder: Path,
    fetch: Fetch,
    today: str,
    pages: Mapping[str, Remembered],
) -> LinkOutcome:
    there = known is not None and _is_whole(folder, known)
    try:
        # Where the bytes are gone or were changed, "not modified" would be no help.
        answer = fetch(
            link.url,
            etag=known.etag if known and there else "",
            last_modified=known.last_modified if known and there else "",
        )
    except RejectedError as error:
        return _failed(link, known if there else None, error)
    if known and there and answer.not_modified:
        page = replace(
            known,
            title=link.title,
            etag=answer.etag or known.etag,
            last_modified=answer.last_modified or known.last_modified,
        )
        return LinkOutcome(link, "unchanged", page)
    sha256 = hashlib.sha256(answer.content).hexdigest()
    unchanged = known is not None and there and known.sha256 == sha256
    page = Remembered(
        url=link.url,
        final_url=answer.final_url,
        title=link.title,
        fetched=known.fetched if known and unchanged else today,
        name=_free_name(link.url, answer.name, pages),
        sha256=sha256,
        content_type=answer.content_type,
        charset=answer.charset,
        etag=answer.etag,
        last_modified=answer.last_modified,
    )
    if not unchanged or (known is not None and known.name != page.name):
        write_whole(folder / page.name, answer.content)
    return LinkOutcome(link, "unchanged" if unchanged else "fetched", page)


def _failed(link: Link, known: Remembered | None, error: RejectedError) -> LinkOutcome:
    note = f" The page of {known.fetched} is kept." if known else ""
    return LinkOutcome(link, "failed", known, error.code, error.message + note, error.hint)


def _free_name(url: str, suggested: str, pages: Mapping[str, Remembered]) -> str:
    """Return the page's file name, with more of the hash where another page has that name.

    Of 32 bits a stranger can find two addresses that share them.
    """
    extension = suggested.rpartition(".")[2]
    taken = {page.name for page in pages.values() if page.url != url}
    names = (file_name(url, extension, digits) for digits in _HASH_DIGITS)
    name = next(name for name in names if name not in taken)
    if not _NAME.fullmatch(name):
        raise AssertionError(f"an extension that no fetched page has: {extension!r}")
    return name


def _is_whole(folder: Path, page: Remembered) -> bool:
    """Say whether the page's file is there and has the bytes that came."""
    digest = hashlib.sha256()
    try:
        descriptor = os.open(folder / page.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            while part := stream.read(_READ_BYTES):
                digest.update(part)
    except OSError:  # not there, a link, a folder, not ours: then it is fetched again
        return False
    return digest.hexdigest() == page.sha256


def _require_folder(folder: Path) -> None:
    if folder.is_symlink():
        raise RefusedError(
            f"{folder} is a link, and pages would be written where it leads.",
            hint="Remove the link; the folder is made anew.",
        )


def _clear_abandoned(folder: Path) -> None:
    oldest = time.time() - _ABANDONED
    for path in folder.glob(f"{UNFINISHED}*"):
        if path.lstat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def _save(folder: Path, pages: Mapping[str, Remembered]) -> None:
    records = {url: asdict(page) for url, page in pages.items()}
    for values in records.values():
        del values["url"]
    text = json.dumps(
        {"version": _VERSION, "pages": records}, ensure_ascii=False, indent=2, sort_keys=True
    )
    write_whole(folder / INDEX, f"{text}\n")


def _load(folder: Path) -> dict[str, Remembered]:
    try:
        text = (folder / INDEX).read_bytes().decode("utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise _unusable(folder, "it is not text in UTF-8") from None
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unusable(folder, f"it is not JSON ({error})") from None
    if not isinstance(whole, dict) or whole.get("version") != _VERSION:
        raise _unusable(folder, f"'version' is not {_VERSION}")
    pages = whole.get("pages")
    if not isinstance(pages, dict):
        raise _unusable(folder, "'pages' is not an object")
    try:
        return {url: _page(url, values) for url, values in pages.items()}
    except ValueError as error:
        raise _unusable(folder, str(error)) from None


def _page(url: str, values: object) -> Remembered:
    """Return a page as it was saved."""
    names = {field.name for field in fields(Remembered)} - {"url"}
    if not isinstance(values, dict) or values.keys() != names:
        raise ValueError(f"the keys of {url!r} are not {', '.join(sorted(names))}")
    if not all(isinstance(value, str) for value in values.values()):
        raise ValueError(f"a value of {url!r} is not text")
    page = Remembered(url=url, **values)
    try:
        normal = parse_url(url).url == url and parse_url(page.final_url).url == page.final_url
    except RejectedError as error:
        raise ValueError(f"{url!r} or its 'final_url': {error.message}") from None
    if not normal:
        raise ValueError(f"{url!r} or its 'final_url' is not in normal form")
    if not _NAME.fullmatch(page.name):
        raise ValueError(f"'name' of {url!r} is not the name of a page")
    if not _HASH.fullmatch(page.sha256):
        raise ValueError(f"'sha256' of {url!r} is not a SHA-256")
    _require_date(page.fetched, f"'fetched' of {url!r}")
    return page


def _require_date(text: str, what: str) -> None:
    try:
        valid = date.fromisoformat(text).isoformat() == text
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"{what} is not a date like 2026-01-31")


def _unusable(folder: Path, reason: str) -> UsageError:
    return UsageError(
        f"{folder / INDEX} cannot be used: {reason}.",
        hint="Remove the file; every page is fetched anew then.",
    )
