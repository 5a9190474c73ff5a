"""Training: fetch the listed pages, read again what did not change, propose a profile.

For a proposal three versions meet: what was accepted last, what stands in the configuration now,
and what a model writes of the documents today. What a person added stays, what a person took out
does not come back, and what nobody touched follows the documents. Without a model nothing changes.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from chapterhouse.agents.curate import FETCHED
from chapterhouse.agents.definition import MAXIMUM_BYTES, as_json, parse_object
from chapterhouse.agents.incoming import list_links
from chapterhouse.agents.persona import PERSONA_SCHEMA, PersonaConfig, PersonaFolder, Profile
from chapterhouse.agents.profile import (
    MOST_ALIASES,
    MOST_TAGS,
    MOST_TERMS,
    Generated,
    subject_of,
    write_profile,
)
from chapterhouse.agents.registry import OnProgress, Refresh
from chapterhouse.answering.runtime import Runtime
from chapterhouse.connectors.fetch import Fetched
from chapterhouse.connectors.fetched import FetchReport, forget, sync_pages
from chapterhouse.connectors.links import Link
from chapterhouse.connectors.urls import URL_REFUSED
from chapterhouse.ingest.reprocess import reprocess
from chapterhouse.retrieval.rerank import fold_tag
from chapterhouse.store.definitions import Definitions
from chapterhouse.text.aliases import fold_name
from chapterhouse.text.canonical import body_start
from chapterhouse.types import AddReport, Document, Progress, Scope

GENERATED_FILE: Final = ".generated.json"
NO_MODEL: Final = (
    "Without a language model no profile is proposed: write tags and expertise into"
    " persona.config.json yourself, or choose a model: chapterhouse model use"
)
_NONCE_BYTES: Final = 16
_Fold = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Change:
    """One key that would change, and from what to what."""

    key: str
    before: tuple[str, ...] | str
    after: tuple[str, ...] | str

    @property
    def added(self) -> tuple[str, ...]:
        """The entries of a list that are new, in order."""
        return _without(self.after, self.before)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The entries of a list that would go, in order."""
        return _without(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A profile to be accepted.

    Attributes:
        remembered: What is kept with an acceptance, to tell a person's own words the next time.
    """

    before: PersonaConfig
    after: PersonaConfig
    changes: tuple[Change, ...]
    remembered: Generated
    method: str = ""
    warnings: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything would change."""
        return bool(self.changes)


@dataclass(frozen=True, slots=True)
class PersonaUpdate:
    """What ``update`` did, and what it proposes.

    Attributes:
        copied: Files that were taken in, below the persona's folder.
        fetched: What became of each page, or None where none was listed.
        again: What reading unchanged documents anew did, or None where that was not asked for.
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
    report = reprocess(sorted(present), runtime.work(on_progress))
    runtime.catch_up()
    return report


def profile_of(folder: PersonaFolder, runtime: Runtime) -> Generated:
    """Return the profile of a persona's documents in the words of a model, if one is set."""
    documents = list(runtime.store.documents(Scope.of((folder.slug,))))
    if not documents:
        return Generated(warnings=("They have no documents yet, so there is nothing to tell.",))
    model = None if folder.config.model == "none" else runtime.language_model(folder.config.model)
    if model is None:
        return Generated(warnings=(NO_MODEL,))
    subjects = [subject_of(entry, _text(entry, runtime)) for entry in documents]
    return write_profile(subjects, model, _nonce)


def _text(document: Document, runtime: Runtime) -> str:
    body = runtime.store.body(document.id, Scope.everything())
    return body.text[body_start(body.text) :] if body else ""


def _nonce() -> str:
    """Return fresh random bits in hexadecimal."""
    return secrets.token_hex(_NONCE_BYTES)


# --- the proposal ---------------------------------------------------------------------------------


def propose(config: PersonaConfig, last: Generated, now: Generated) -> Proposal:
    """Return what to change in ``config``.

    Args:
        last: What was generated when a proposal was accepted last; empty if none was.
        now: What a model wrote of the documents today; nothing changes where none did.
    """
    if not now.method:
        return Proposal(config, config, (), last, warnings=now.warnings)
    profile = config.profile
    tags, own_tags = _merged(config.tags, last.tags, now.tags, MOST_TAGS, fold_tag)
    key_terms, own_terms = _merged(
        profile.key_terms, last.key_terms, now.key_terms, MOST_TERMS, fold_name
    )
    aliases, own_aliases = _merged(
        profile.aliases, last.aliases, now.aliases, MOST_ALIASES, fold_name
    )
    is_own = profile.expertise and profile.expertise != last.expertise
    expertise = profile.expertise if is_own or not now.expertise else now.expertise
    after = config.model_copy(
        update={
            "tags": tags,
            "profile": Profile(expertise=expertise, key_terms=key_terms, aliases=aliases),
        }
    )
    pairs = (
        ("tags", config.tags, tags),
        ("profile.expertise", profile.expertise, expertise),
        ("profile.key_terms", profile.key_terms, key_terms),
        ("profile.aliases", profile.aliases, aliases),
    )
    changes = tuple(Change(key, old, new) for key, old, new in pairs if old != new)
    return Proposal(
        before=config,
        after=after,
        changes=changes,
        remembered=Generated(
            tags=own_tags,
            key_terms=own_terms,
            aliases=own_aliases,
            expertise=last.expertise if is_own else expertise,
        ),
        method=now.method,
        warnings=now.warnings,
    )


def read_last(definitions: Definitions, slug: str) -> Generated:
    """Return what was generated when a proposal for a persona was accepted last.

    A file that cannot be used counts as none: then nothing that stands there is dropped.
    """
    try:
        data = definitions.read(slug, GENERATED_FILE, MAXIMUM_BYTES + 1)
    except OSError:
        return Generated()
    read = parse_object(data, PERSONA_SCHEMA)
    if read.problems or read.value is None:
        return Generated()
    raw = read.value
    return Generated(
        tags=_texts(raw.get("tags")),
        key_terms=_texts(raw.get("key_terms")),
        aliases=_texts(raw.get("aliases")),
        expertise=str(raw.get("expertise", "")),
    )


def write_last(definitions: Definitions, slug: str, generated: Generated) -> None:
    """Remember beside a persona's configuration what was generated."""
    stored = {
        "about": "What chapterhouse persona update proposed last; it tells your own words from it.",
        "tags": list(generated.tags),
        "expertise": generated.expertise,
        "key_terms": list(generated.key_terms),
        "aliases": list(generated.aliases),
    }
    definitions.write(slug, GENERATED_FILE, as_json(stored))


def changes_by_key(proposal: Proposal) -> Mapping[str, object]:
    """Return the new values by key, as they are written into the configuration."""
    return {
        change.key: change.after if isinstance(change.after, str) else list(change.after)
        for change in proposal.changes
    }


def _merged(
    current: Sequence[str], last: Sequence[str], now: Sequence[str], most: int, fold: _Fold
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a list's entries from now on, and which of all are ours to drop or to leave out."""
    ours, fresh, present = (set(map(fold, entries)) for entries in (last, now, current))
    remaining = [entry for entry in current if fold(entry) not in ours or fold(entry) in fresh]
    new = [entry for entry in now if fold(entry) not in present | ours]
    new = new[: max(0, most - len(remaining))]
    still_ours = [entry for entry in remaining if fold(entry) in ours]
    taken_out = [entry for entry in last if fold(entry) not in present]
    return (*remaining, *new), (*still_ours, *new, *taken_out)


def _without(these: tuple[str, ...] | str, others: tuple[str, ...] | str) -> tuple[str, ...]:
    if isinstance(these, str) or isinstance(others, str):
        return ()
    return tuple(entry for entry in these if entry not in others)


def _texts(value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else []
    return tuple(entry for entry in listed if isinstance(entry, str))
