"""Fetch the listed pages, read again what did not change, and tell what it all is about."""

import secrets
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.agents.curate import FETCHED
from chapterhouse.agents.incoming import list_links
from chapterhouse.agents.persona_folder import PersonaFolder
from chapterhouse.agents.profile import Generated, generate, subject_of
from chapterhouse.agents.profile_model import reword
from chapterhouse.agents.proposal import Proposal
from chapterhouse.agents.refresh import OnProgress, Refresh
from chapterhouse.connectors.fetch import Fetched
from chapterhouse.connectors.fetched import FetchReport, forget, sync_pages
from chapterhouse.connectors.links import Link
from chapterhouse.connectors.urls import URL_REFUSED
from chapterhouse.ingest.reprocess import reprocess
from chapterhouse.runtime import Runtime
from chapterhouse.text.front_matter import body_start
from chapterhouse.types import AddReport, Document, Progress, Scope

_NONCE_BYTES: Final = 16
READ_AHEAD: Final = 8  # files being read while earlier ones are stored


@dataclass(frozen=True, slots=True)
class PersonaUpdate:
    """What ``update`` did, and what it proposes.

    Attributes:
        copied: Files that were taken in, below the persona's folder.
        fetched: What became of each page, or None where none was listed.
        refresh: What was curated and indexed.
        again: What reading unchanged documents anew did, or None where that was not asked for.
        proposal: The profile to accept; false where nothing would change.
        accepted: Whether it was.
    """

    slug: str
    copied: tuple[str, ...]
    fetched: FetchReport | None
    refresh: Refresh
    again: AddReport | None
    proposal: Proposal
    accepted: bool = False

    def as_accepted(self) -> "PersonaUpdate":
        """Return the same with its proposal accepted."""
        return replace(self, accepted=True)


def fetch(
    folder: PersonaFolder,
    links: Sequence[Link],
    runtime: Runtime,
    on_progress: OnProgress,
    *,
    whole: bool,
) -> FetchReport | None:
    """Fetch pages into ``RAW-DOCS/.fetched`` and list them; None where there are none to fetch.

    Args:
        folder: Whose.
        links: The pages.
        runtime: What fetches them.
        on_progress: Is told of each page.
        whole: Whether these are all there are: kept pages that no list has any more then go.
    """
    fetched_folder = folder.raw / FETCHED
    if not links and not (whole and fetched_folder.is_dir()):
        return None
    fetch_page = runtime.open_fetch()
    done = 0

    def fetch_one(url: str, *, etag: str, last_modified: str) -> Fetched:
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
    report = reprocess(
        sorted(present),
        store=runtime.store,
        read=runtime.read,
        prepare=runtime.preparer(),
        workers=READ_AHEAD,
        maximum_bytes=runtime.maximum_bytes,
        on_progress=on_progress,
    )
    runtime.catch_up()
    return report


def profile_of(folder: PersonaFolder, runtime: Runtime) -> Generated:
    """Return the profile that a persona's documents add up to, in a model's words if one is set.

    Raises:
        UsageError: the configuration names a model that the settings do not have.
        MissingExtraError: that model's extra is not installed.
    """
    documents = runtime.store.documents(Scope.of((folder.slug,)))
    subjects = [subject_of(entry, _text(entry, runtime)) for entry in documents]
    if not subjects:
        return Generated(warnings=("They have no documents yet, so there is nothing to tell.",))
    generated = generate(subjects)
    model = None if folder.config.model == "none" else runtime.language_model(folder.config.model)
    return reword(generated, subjects, model, _nonce) if model else generated


def _text(document: Document, runtime: Runtime) -> str:
    body = runtime.store.body(document.id, Scope.everything())
    return body.text[body_start(body.text) :] if body else ""


def _nonce() -> str:
    """Return fresh random bits in hexadecimal."""
    return secrets.token_hex(_NONCE_BYTES)
