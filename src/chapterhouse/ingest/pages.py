"""A list of web pages as a source: its pages are files of a folder of the workspace."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from chapterhouse.connectors.fetch import Fetched
from chapterhouse.connectors.fetched import Fetch, FetchReport, forget, sync_pages
from chapterhouse.connectors.links import parse_links
from chapterhouse.text.counting import counted
from chapterhouse.types import Progress, Source

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

    def fetch_one(url: str, *, etag: str, last_modified: str) -> Fetched:
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
