"""Files and addresses that a person hands to a persona, and what waits for that person.

What comes goes into RAW-DOCS, writing over nothing.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Final

from chapterhouse.agents.curate import FETCHED, lists_pages
from chapterhouse.agents.curated import base_folder
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.agents.registry import OnProgress
from chapterhouse.answering.runtime import Runtime
from chapterhouse.connectors.fetch import FetchResult
from chapterhouse.connectors.fetched import FetchReport, forget, sync_pages
from chapterhouse.connectors.folder import walk
from chapterhouse.connectors.links import Link, LinkList, parse_links
from chapterhouse.connectors.urls import URL_REFUSED
from chapterhouse.errors import NotFoundError, RefusedError, UsageError
from chapterhouse.files import UNFINISHED, make_folder, move_into_place, write_whole
from chapterhouse.ingest.reprocess import reprocess
from chapterhouse.types import AddReport, Progress, Scope

LINKS_FILE: Final = "links.links"
_MOST_LINKS: Final = 2_000_000  # bytes of a list
_WAITING: Final = ".new.md"
_NAMED: Final = 3


def copy_in(files: Sequence[Path], raw: Path) -> tuple[Path, ...]:
    """Copy ``files`` into ``raw``; return where they are now. One that is there is left alone."""
    wanted = [(file.expanduser(), raw / file.name) for file in files]
    for source, target in wanted:
        _require_file(source, target)
    make_folder(raw)
    for source, target in wanted:
        _require_file(source, target)  # again: two of them may have one name
        if not target.exists():
            _copy(source, target)
    return tuple(target for _, target in wanted)


def parse_urls(urls: Sequence[str]) -> tuple[Link, ...]:
    """Return addresses as links, each once."""
    return tuple(dict.fromkeys(_one_link(url) for url in urls))


def list_links(links: Sequence[Link], raw: Path) -> None:
    """Add addresses to ``links.links`` in ``raw``, unless a list has them."""
    known = {link.url for link in links_of(raw)}
    new = [
        f"{link.url} | {link.title}" if link.title else link.url
        for link in links
        if link.url not in known
    ]
    if new:
        path = raw / LINKS_FILE
        make_folder(raw)
        before = path.read_text("utf-8-sig") if path.exists() else ""
        ended = before if not before or before.endswith("\n") else f"{before}\n"
        write_whole(path, ended + "".join(f"{url}\n" for url in new))


def links_of(raw: Path) -> tuple[Link, ...]:
    """Return the addresses in all lists in ``raw``, each once, in their order."""
    found: dict[str, Link] = {}
    for _, listed in lists(raw):
        for link in listed.links:
            found.setdefault(link.url, link)
    return tuple(found.values())


def lists(raw: Path) -> Iterator[tuple[str, LinkList]]:
    """Yield the name of each list below ``raw`` and what it holds, in order of name."""
    if not raw.is_dir():
        return
    for source in walk(raw, raw.name):
        if source.problem is None and lists_pages(source):
            with source.root.joinpath(*source.parts).open("rb") as stream:
                text = stream.read(_MOST_LINKS).decode("utf-8-sig", "replace")
            yield source.source, parse_links(text)


def fetch(
    folder: PersonaFolder,
    links: Sequence[Link],
    runtime: Runtime,
    on_progress: OnProgress,
    *,
    whole: bool,
) -> FetchReport | None:
    """Fetch pages into ``RAW-DOCS/.fetched`` and list them; None where there are none to fetch.

    ``whole``: these are all there are, and kept pages that no list has any more go.
    """
    fetched_folder = folder.raw / FETCHED
    if not links and not (whole and fetched_folder.is_dir()):
        return None
    fetch_page = runtime.open_fetch()
    done = 0

    def fetch_one(url: str, *, etag: str, last_modified: str) -> FetchResult:
        nonlocal done
        on_progress(Progress(done, len(links), url))
        done += 1
        return fetch_page(url, etag=etag, last_modified=last_modified)

    report = sync_pages(links, fetched_folder, fetch_one, runtime.today())
    if whole:
        forget(fetched_folder, [page.url for page in report.orphaned])
        return report
    # An address that may never be fetched would fail in every update from now on.
    list_links([out.link for out in report.outcomes if out.code != URL_REFUSED], folder.raw)
    return replace(report, orphaned=())


def read_again(
    document_ids: AbstractSet[str], runtime: Runtime, on_progress: OnProgress
) -> AddReport:
    """Read documents anew though their files have not changed."""
    present = runtime.store.documents_among(document_ids, Scope.everything())
    if not present:
        return AddReport(())
    report = reprocess(sorted(present), runtime.work(on_progress))
    runtime.catch_up(report)
    return report


def reminders(raw: Path, rag: Path) -> tuple[str, ...]:
    """Return a sentence for each thing that waits: merges to be decided, lines of link lists."""
    found: list[str] = []
    waiting = sorted(path.name.removesuffix(_WAITING) for path in _new_versions(rag))
    if waiting:
        names = ", ".join(waiting[:_NAMED]) + (" …" if len(waiting) > _NAMED else "")
        found.append(
            f"A newer version of {names}, which you have edited, waits for your decision: see"
            " persona docs."
        )
    for name, listed in lists(raw):
        found += [
            f"{name}, line {problem.line}: {problem.reason}" for problem in listed.problems[:_NAMED]
        ]
    return tuple(found)


def _new_versions(rag: Path) -> list[Path]:
    try:
        return list(base_folder(rag).glob(f"*{_WAITING}"))
    except OSError:  # the folder cannot be listed, which the refresh itself tells of
        return []


def _one_link(url: str) -> Link:
    listed = parse_links(url.strip())
    if listed.problems or len(listed.links) != 1:
        reason = listed.problems[0].reason if listed.problems else "It is no address."
        raise UsageError(
            f"{url!r} cannot be fetched: {reason}", hint="It looks like https://example.org/page"
        )
    return listed.links[0]


def _require_file(source: Path, target: Path) -> None:
    if source.is_dir():
        raise UsageError(
            f"{source} is a folder.",
            hint="Name its files, or point the persona at it: 'folders' in persona.config.json.",
        )
    if not source.is_file():
        raise NotFoundError(f"There is no file {str(source)!r}.", hint="Check the spelling.")
    if target.name.startswith((".", "~$")):
        raise UsageError(
            f"{source.name} has a name that is ignored.", hint="Give it another name first."
        )
    if target.exists() and not source.samefile(target) and _hash(source) != _hash(target):
        raise RefusedError(
            f"{target.parent.name} has another file called {target.name}.",
            hint=f"Rename yours, or replace {target} yourself if it is the newer version.",
        )


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _copy(source: Path, target: Path) -> None:
    """Copy so that the file appears whole, and never in the place of another."""
    # Hidden, so that a reader passes it over while it is unfinished.
    unfinished = target.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    try:
        with source.open("rb") as stream, unfinished.open("xb") as copy:
            shutil.copyfileobj(stream, copy)
        stamp = source.stat()
        os.utime(unfinished, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        move_into_place(unfinished, target, replace=False)
    except FileExistsError:
        raise RefusedError(f"{target.name} appeared meanwhile.", hint="Try again.") from None
    finally:
        unfinished.unlink(missing_ok=True)
