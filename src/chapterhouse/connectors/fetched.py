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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from chapterhouse.connectors.fetch import FetchResult
from chapterhouse.connectors.links import Link, parse_links
from chapterhouse.connectors.urls import file_name, parse_url
from chapterhouse.errors import RefusedError, RejectedError, UsageError
from chapterhouse.files import UNFINISHED, make_folder, write_whole
from chapterhouse.text.counting import counted
from chapterhouse.types import Progress, Source

INDEX: Final = "fetched.json"
_ABANDONED: Final = 86_400.0  # seconds after which an unfinished file has no writer any more
_NAME: Final = r"^[a-z0-9][a-z0-9-]{0,130}\.[a-z]{2,8}$"
_HASH_DIGITS: Final = (8, 16, 32, 64)


class Fetch(Protocol):
    """How a page is fetched: `Fetcher.fetch`, or something around it that shows progress."""

    def __call__(self, url: str, *, etag: str, last_modified: str) -> FetchResult:
        """Return the page, or raise `RejectedError`."""
        ...


def _require_day(text: str) -> str:
    if date.fromisoformat(text).isoformat() != text:
        raise ValueError(f"{text!r} is not a date like 2026-01-31")
    return text


def _require_normal(url: str) -> str:
    try:
        normal = parse_url(url).url
    except RejectedError as error:
        raise ValueError(error.message) from None
    if normal != url:
        raise ValueError(f"{url!r} is not in normal form")
    return url


_Url = Annotated[str, AfterValidator(_require_normal)]
_Day = Annotated[str, AfterValidator(_require_day)]


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page that is kept. Another program may have written it: its names could lead anywhere.

    Attributes:
        url: As the list has it, in normal form.
        title: What the list calls it; empty where it says nothing.
        fetched: The day on which these bytes came, as an ISO date.
        charset: As the server gave it; empty where it gave none.
        etag: What asks the server whether it has changed; may be empty.
        last_modified: As ``etag``.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    url: _Url
    final_url: _Url
    title: str
    fetched: _Day
    name: Annotated[str, Field(pattern=_NAME)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    content_type: str
    charset: str
    etag: str
    last_modified: str


@dataclass(frozen=True, slots=True)
class _Index:
    version: Literal[1]
    pages: dict[str, dict[str, str]]  # by address


_PAGE: Final = TypeAdapter(PageRecord)
_INDEX: Final = TypeAdapter(_Index)


@dataclass(frozen=True, slots=True)
class LinkOutcome:
    """What became of a link.

    Attributes:
        status: ``fetched`` where bytes are new, ``unchanged``, or ``failed``.
        page: What is kept of it: of an earlier day where ``failed``, or None.
        code: Why it failed, one of ``fetch.CODES``; empty otherwise.
        message: The same as a sentence, which says whether an earlier page is kept.
    """

    link: Link
    status: Literal["fetched", "unchanged", "failed"]
    page: PageRecord | None
    code: str = ""
    message: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What became of each link, in their order, and kept pages that no link asks for any more."""

    outcomes: tuple[LinkOutcome, ...]
    orphaned: tuple[PageRecord, ...]


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
    _require_day(today)
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


def remembered(folder: Path) -> tuple[PageRecord, ...]:
    """Return the pages kept in ``folder``, in order of their addresses."""
    return tuple(page for _, page in sorted(_load(folder).items()))


def forget(folder: Path, urls: Iterable[str]) -> tuple[PageRecord, ...]:
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
    known: PageRecord | None,
    folder: Path,
    fetch: Fetch,
    today: str,
    pages: Mapping[str, PageRecord],
) -> LinkOutcome:
    # Where the bytes are gone or were changed, "not modified" would be no help.
    earlier = known if known and _is_whole(folder, known) else None
    marks = (earlier.etag, earlier.last_modified) if earlier else ("", "")
    try:
        answer = fetch(link.url, etag=marks[0], last_modified=marks[1])
    except RejectedError as error:
        note = f" The page of {earlier.fetched} is kept." if earlier else ""
        return LinkOutcome(link, "failed", earlier, error.code, error.message + note, error.hint)
    if earlier and answer.not_modified:
        page = replace(
            earlier,
            title=link.title,
            etag=answer.etag or earlier.etag,
            last_modified=answer.last_modified or earlier.last_modified,
        )
        return LinkOutcome(link, "unchanged", page)
    sha256 = hashlib.sha256(answer.content).hexdigest()
    same = earlier if earlier and earlier.sha256 == sha256 else None
    page = PageRecord(
        url=link.url,
        final_url=answer.final_url,
        title=link.title,
        fetched=same.fetched if same else today,
        name=_free_name(link.url, answer.name, pages),
        sha256=sha256,
        content_type=answer.content_type,
        charset=answer.charset,
        etag=answer.etag,
        last_modified=answer.last_modified,
    )
    if not same or same.name != page.name:
        write_whole(folder / page.name, answer.content)
    return LinkOutcome(link, "unchanged" if same else "fetched", page)


def _free_name(url: str, suggested: str, pages: Mapping[str, PageRecord]) -> str:
    """Return the page's file name, with more of the hash where another page has that name.

    Of 32 bits a stranger can find two addresses that share them.
    """
    extension = suggested.rpartition(".")[2]
    taken = {page.name for page in pages.values() if page.url != url}
    names = (file_name(url, extension, digits) for digits in _HASH_DIGITS)
    name = next(name for name in names if name not in taken)
    if not re.fullmatch(_NAME, name):
        raise AssertionError(f"an extension that no fetched page has: {extension!r}")
    return name


def _is_whole(folder: Path, page: PageRecord) -> bool:
    """Say whether the page's file is there and has the bytes that came."""
    try:
        descriptor = os.open(folder / page.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == page.sha256
    except OSError:  # not there, a link, a folder, not ours: then it is fetched again
        return False


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


def _save(folder: Path, pages: Mapping[str, PageRecord]) -> None:
    records = {url: asdict(page) for url, page in pages.items()}
    for values in records.values():
        del values["url"]
    whole = {"version": 1, "pages": records}
    text = json.dumps(whole, ensure_ascii=False, indent=2, sort_keys=True)
    write_whole(folder / INDEX, f"{text}\n")


def _load(folder: Path) -> dict[str, PageRecord]:
    path = folder / INDEX
    try:
        pages = _INDEX.validate_json(path.read_bytes()).pages
        return {url: _PAGE.validate_python({**page, "url": url}) for url, page in pages.items()}
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{path} cannot be used: {place}: {first['msg']}.",
            hint="Remove the file; every page is fetched anew then.",
        ) from None


# --- a list of web pages as a source: its pages are files of a folder of the workspace -----------

_FOLDER: Final = "pages"
_MOST_BYTES: Final = 4 * 2**20  # of a list
_NAMED: Final = 3


def pages_folder(workspace: Path, source: Source) -> Path:
    """Return the folder of a workspace that has the pages of a list."""
    return workspace / _FOLDER / source.name


def fetch_pages(
    source: Source,
    folder: Path,
    fetch: Fetch,
    today: str,
    on_progress: Callable[[Progress], None],
    *,
    delete: bool,
) -> str:
    """Fetch what is new or has changed behind a list; say what could not be fetched.

    Args:
        source: Its location is the list.
        today: The ISO date that new pages get.
        delete: Whether pages go that the list has no more.

    Raises:
        OSError: the list cannot be read.
    """
    with Path(source.location).open("rb") as stream:
        listed = parse_links(stream.read(_MOST_BYTES).decode("utf-8-sig", "replace"))
    done = 0

    def fetch_one(url: str, *, etag: str, last_modified: str) -> FetchResult:
        nonlocal done
        on_progress(Progress(done, len(listed.links), url))
        done += 1
        return fetch(url, etag=etag, last_modified=last_modified)

    report = sync_pages(listed.links, folder, fetch_one, today)
    if delete and report.orphaned:
        forget(folder, [page.url for page in report.orphaned])
    lines = [f"Line {one.line} of the list gives no page: {one.reason}" for one in listed.problems]
    return " ".join(filter(None, (_failures(report), *lines[:_NAMED])))


def _failures(report: FetchReport) -> str:
    failed = [outcome for outcome in report.outcomes if outcome.status == "failed"]
    if not failed:
        return ""
    reasons = " ".join(f"{one.link.url}: {one.message}" for one in failed[:_NAMED])
    rest = f" And {len(failed) - _NAMED:,} more." if len(failed) > _NAMED else ""
    pages = counted(len(report.outcomes), "page")
    return f"{len(failed):,} of {pages} could not be fetched. {reasons}{rest}"
