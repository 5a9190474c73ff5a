"""Make the curated documents of RAG from what lies in RAW-DOCS, and keep what hands have edited.

Wherever the work is interrupted every file is whole, no edit is lost, and the next run finishes
what is missing.
"""

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Final

from chapterhouse.agents.curated import (
    DELETED,
    GENERATOR_VERSION,
    CuratedDocument,
    CurationRecord,
    CurationReport,
    Outcome,
    base_path,
    kebab,
    load_state,
    read_own,
    save_state,
    take_away,
    target_path,
    write_document,
)
from chapterhouse.agents.curated_text import Origin, curated_text, source_field
from chapterhouse.agents.persona import PersonaFolder
from chapterhouse.connectors.content import MAXIMUM_BYTES, Content, open_source
from chapterhouse.connectors.fetched import remembered
from chapterhouse.connectors.folder import SourceFile, walk
from chapterhouse.connectors.links import is_list
from chapterhouse.errors import ChapterhouseError, RejectedError, UsageError
from chapterhouse.ingest.look import TRANSIENT_CODES, Read
from chapterhouse.text.canonical import front_matter
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Extraction, Progress

FETCHED: Final = ".fetched"
LISTS: Final = ".links"  # lists of pages, which are no documents themselves
_TEXTS: Final = (".txt", ".md", ".markdown", ".csv", ".urls", ".list")  # which may be lists, too
_LONGEST_LIST: Final = 64 * 2**10  # bytes
_AHEAD: Final = 4
_SECOND_NS: Final = 1_000_000_000
# What a list calls a page where it says under which name the page's document is stored.
_A_FILE: Final = re.compile(r"[^/|]{1,100}\.(?:md|txt|html?|pdf)", re.IGNORECASE)
_MOMENTARY: Final = frozenset({"vanished", "changed-while-reading"})


@dataclass(frozen=True, slots=True)
class _Source:
    """A raw document: its name below RAW-DOCS and, of a fetched page, where it came from."""

    name: str
    file: SourceFile
    url: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Look:
    source: _Source
    content: Content | None = None
    extraction: Future[Extraction] | None = None
    error: RejectedError | None = None


@dataclass(slots=True)
class _Run:
    """One curation: where, for whom, and what is remembered so far."""

    rag: Path
    slug: str
    today: str
    read: Read
    everything: bool
    maximum_bytes: int
    dry_run: bool
    state: dict[str, CurationRecord]
    gone: dict[str, str] = field(default_factory=dict)  # source by the hash of its bytes


def curate(
    folder: PersonaFolder,
    *,
    read: Read,
    today: str,
    everything: bool = False,
    maximum_bytes: int = MAXIMUM_BYTES,
    dry_run: bool = False,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> CurationReport:
    """Bring the curated documents of a persona to the state of the raw ones.

    Raw are any documents and, in ``.fetched``, the pages that lists have brought. Where there is
    no folder of them nothing is done: a disk may be away. Whatever stops the work, what was done
    before is whole.

    Args:
        today: ISO date; no document is dated later.
        everything: Read unchanged sources too, and make again what was deleted by hand.

    Returns:
        How each document ended, those of sources that are gone last.
    """
    if not folder.raw.is_dir():
        return CurationReport()
    sources = tuple(_sources(folder.raw))
    before = load_state(folder.rag)
    run = _Run(
        folder.rag, folder.slug, today, read, everything, maximum_bytes, dry_run, dict(before)
    )
    gone = _gone(run.state, sources)
    run.gone = {run.state[name].sha256: name for name in reversed(gone) if run.state[name].made}
    try:
        outcomes = _settle_all(run, sources, on_progress)
        outcomes += [_orphan(run, name) for name in gone if name in run.state]
        _restamp(run, sources)
    except BaseException:
        with suppress(ChapterhouseError):  # what stopped the work is the news
            _save(run, before)
        raise
    _save(run, before)
    return CurationReport(tuple(outcomes))


def curation_is_current(raw: Path, rag: Path) -> bool:
    """Whether `curate` would find nothing new, by names, sizes and times only."""
    if not raw.is_dir():
        return True
    sources = tuple(_sources(raw))
    try:
        state = load_state(rag)
    except ChapterhouseError:
        return False  # curating says what is wrong
    known = ((source.file, state.get(source.name)) for source in sources)
    settled = all(entry is not None and _is_settled(entry, file) for file, entry in known)
    return settled and all(state[name].orphaned for name in _gone(state, sources))


def _save(run: _Run, before: dict[str, CurationRecord]) -> None:
    if not run.dry_run and run.state != before:
        save_state(run.rag, run.state)


# --- sources ---


def lists_pages(file: SourceFile) -> bool:
    """Whether a file lists pages: by its ending, or because it is a short text of addresses."""
    name = file.name.casefold()
    if name.endswith(LISTS):
        return True
    may = name.endswith(_TEXTS) and file.problem is None and 0 < file.size <= _LONGEST_LIST
    return may and _is_list(file.root.joinpath(*file.parts), file.size, file.mtime_ns)


@lru_cache(maxsize=4_096)
def _is_list(path: Path, _size: int, _mtime_ns: int) -> bool:
    try:
        return is_list(path.read_bytes().decode("utf-8-sig", "replace"))
    except OSError:  # reading it as a document says why
        return False


def _sources(raw: Path) -> Iterator[_Source]:
    """Yield the raw documents in order of name, fetched pages last."""
    for file in walk(raw):
        if not lists_pages(file):
            yield _Source(file.source.partition("/")[2], file)
    folder = raw / FETCHED
    if folder.is_symlink() or not folder.is_dir():
        return
    pages = {page.name: page for page in remembered(folder)}
    for file in walk(folder):
        page = pages.get(file.name)
        if page is not None and len(file.parts) == 1:
            yield _Source(f"{FETCHED}/{file.name}", file, page.final_url, page.title)


def _gone(state: dict[str, CurationRecord], sources: Iterable[_Source]) -> list[str]:
    """Return the remembered sources that are no longer there, in order of name.

    What stands below a folder that cannot be listed may still be there.
    """
    there = {source.name: source.file.problem for source in sources}
    closed = tuple(
        f"{name}/" if name else ""
        for name, problem in there.items()
        if problem and problem.code == "cannot-list"
    )
    return [name for name in sorted(state) if name not in there and not name.startswith(closed)]


def _is_settled(known: CurationRecord, file: SourceFile) -> bool:
    same = (known.size, known.mtime_ns) == (file.size, file.mtime_ns)
    return same and known.generator == GENERATOR_VERSION and not known.orphaned


# --- one source after another ---


def _settle_all(
    run: _Run, sources: Sequence[_Source], on_progress: Callable[[Progress], None]
) -> list[CuratedDocument]:
    """Settle each source in turn, with a few being read meanwhile."""
    outcomes: list[CuratedDocument] = []
    waiting: deque[_Look] = deque()
    coming = iter(sources)
    try:
        while True:
            while len(waiting) < _AHEAD and (source := next(coming, None)) is not None:
                waiting.append(_look(run, source))
            if not waiting:
                return outcomes
            look = waiting.popleft()
            outcomes.append(_settle(run, look))
            on_progress(Progress(len(outcomes), len(sources), look.source.name))
    finally:
        for look in waiting:
            if look.extraction is not None:
                look.extraction.cancel()


def _look(run: _Run, source: _Source) -> _Look:
    """Open a source as far as is needed to know what to do with it."""
    file, known = source.file, run.state.get(source.name)
    if file.problem is not None:
        return _Look(source, error=RejectedError(file.problem.code, file.problem.sentence))
    settled = known is not None and not run.everything and known.code not in TRANSIENT_CODES
    if settled and known is not None and _is_settled(known, file):
        return _Look(source)
    try:
        content = open_source(file, maximum_bytes=run.maximum_bytes)
        if (
            settled
            and known is not None
            and (known.sha256, known.generator) == (content.sha256, GENERATOR_VERSION)
        ):
            return _Look(source, content)
        return _Look(source, content, run.read(content.data, file.name))
    except RejectedError as error:
        return _Look(source, error=error)


def _settle(run: _Run, look: _Look) -> CuratedDocument:
    """Write what became of a source and say so."""
    if look.error is not None:
        return _fail(run, look, look.error)
    if look.extraction is None:
        return _index_state(run, look)
    try:
        return _merge(run, look, look.extraction.result())
    except RejectedError as error:
        return _fail(run, look, error)
    except (ChapterhouseError, CancelledError):
        raise
    # The boundary of the reading process and of one hostile file, which must not end the run for
    # all the others; its kind is kept in what is remembered.
    except Exception as error:  # noqa: BLE001 - as said above
        sentence = f"{look.source.name} could not be curated: {type(error).__name__}: {error}"
        hint = "Please report this file's kind and this message."
        return _fail(run, look, RejectedError("internal-error", sentence, hint=hint))


def _fail(run: _Run, look: _Look, error: RejectedError) -> CuratedDocument:
    """Remember that a source gave no document; one that it gave before stays."""
    name = look.source.name
    known = run.state.get(name, CurationRecord(""))
    sentence = " ".join(filter(None, (error.message, error.hint)))
    if known.made:
        sentence += " What was made of it earlier stays."
    if error.code not in _MOMENTARY:
        known = replace(known, code=error.code, sentence=sentence, orphaned=False)
        run.state[name] = _stamp(known, look)
    return CuratedDocument(name, known.target, Outcome.FAILED, error.code, sentence)


def _stamp(known: CurationRecord, look: _Look) -> CurationRecord:
    stamp = look.content or look.source.file
    return replace(
        known,
        sha256=look.content.sha256 if look.content else known.sha256,
        size=stamp.size,
        mtime_ns=stamp.mtime_ns,
        generator=GENERATOR_VERSION,
    )


def _index_state(run: _Run, look: _Look) -> CuratedDocument:
    """Say how a document stands whose source has not changed."""
    name = look.source.name
    known = run.state[name]
    if look.content is not None:
        known = run.state[name] = _stamp(replace(known, orphaned=False), look)
    if known.code:
        return CuratedDocument(name, known.target, Outcome.FAILED, known.code, known.sentence)
    if not target_path(run.rag, known.id).exists():
        return CuratedDocument(name, known.target, Outcome.RETAINED, "deleted-by-hand", DELETED)
    return CuratedDocument(name, known.target, Outcome.UNCHANGED)


def _merge(run: _Run, look: _Look, extraction: Extraction) -> CuratedDocument:
    """Generate a document and write it, unless a hand has edited what stands in its place."""
    assert look.content is not None
    source = look.source
    known = _adopt(run, look) or CurationRecord(_free_id(run, source))
    title = "" if _A_FILE.fullmatch(source.title) else source.title
    origin = Origin(known.id, source.name, run.slug, run.today, source.url, title)
    try:
        text = curated_text(extraction, origin)
    except ValueError as error:
        reasons = (sanitise_line(notice.sentence) for notice in extraction.notices[:3])
        raise RejectedError("no-text", " ".join((str(error), *reasons))) from error
    remake = run.everything or known.sha256 != look.content.sha256
    try:
        outcome = write_document(run.rag, known, text, remake=remake, dry_run=run.dry_run)
    except UsageError as error:
        raise RejectedError("target-unreadable", error.message, hint=error.hint) from error
    if outcome.status is Outcome.WRITTEN and not run.dry_run:
        _date_like(target_path(run.rag, known.id), look.content.modified)
    done = replace(known, made=True, orphaned=False, code="", sentence="")
    run.state[source.name] = _stamp(done, look)
    notices = tuple(
        replace(notice, sentence=sanitise_line(notice.sentence)) for notice in extraction.notices
    )
    return replace(outcome, source=source.name, notices=notices)


def _date_like(path: Path, modified: int) -> None:
    """Give a curated document the time of its original, which is how old what it says is.

    Fractions of a second stay: they tell two versions of one size apart where times are compared.
    """
    status = path.stat()
    fraction = status.st_mtime_ns % _SECOND_NS
    os.utime(path, ns=(status.st_atime_ns, modified * _SECOND_NS + fraction))


def _adopt(run: _Run, look: _Look) -> CurationRecord | None:
    """Return what is known of a source, or of the one that was renamed to it."""
    name = look.source.name
    known = run.state.get(name)
    if known is not None and known.id:
        return known
    earlier = run.gone.pop(look.content.sha256, "") if look.content else ""
    return run.state.pop(earlier, None) if earlier else None


def _free_id(run: _Run, source: _Source) -> str:
    """Return an id for a new source: that of its name, numbered where another has it.

    A base that names this source is its own, left by a run that was interrupted.
    """
    name = source.title if _A_FILE.fullmatch(source.title) else source.file.name
    stem = name.rpartition(".")[0] or name
    taken = {known.id for known in run.state.values()}
    wanted = kebab(stem)
    for number in count(1):
        identifier = wanted if number == 1 else f"{wanted}-{number}"
        if identifier in taken:
            continue
        base = read_own(base_path(run.rag, identifier))
        if base is not None and front_matter(base).get("source_file") == source_field(source.name):
            return identifier
        if base is None and not target_path(run.rag, identifier).exists():
            return identifier
    raise AssertionError("numbers do not end")


# --- sources that are gone, and files that are young ---


def _orphan(run: _Run, name: str) -> CuratedDocument:
    """Take away the document of a source that is gone, unless a hand has edited it."""
    known = run.state[name]
    if take_away(run.rag, known, dry_run=run.dry_run):
        del run.state[name]
        return CuratedDocument(name, known.target, Outcome.REMOVED, "source-gone")
    run.state[name] = replace(known, orphaned=True)
    sentence = "Its source is gone, but a hand has edited it: delete it or put the source back."
    return CuratedDocument(name, known.target, Outcome.ORPHANED, "source-gone", sentence)


def _restamp(run: _Run, sources: Iterable[_Source]) -> None:
    """Look again at files that were too young to trust their time, so the next run need not."""
    for source in sources:
        known = run.state.get(source.name)
        if run.dry_run or known is None or known.mtime_ns or not known.sha256:
            continue
        with suppress(RejectedError):  # the next run says what is wrong with it
            content = open_source(source.file, maximum_bytes=run.maximum_bytes)
            if content.sha256 == known.sha256:
                run.state[source.name] = replace(known, mtime_ns=content.mtime_ns)
