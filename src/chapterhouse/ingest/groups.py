"""Write what became of several files in one transaction.

A synchronisation of the disk costs more than storing a small document, so those that are ready at
about the same time share one. They are told after it: nothing is told that is not safe.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace

from chapterhouse.errors import ChapterhouseError
from chapterhouse.ingest.look import Look
from chapterhouse.store.sqlite import Store
from chapterhouse.types import FileOutcome

# What one transaction may hold. Nobody else can write while it lasts.
_FILES = 50
_SECONDS = 0.2  # from the first to the last
_ALONE = 64 * 2**10  # bytes of a file that is written alone: larger ones are blobs


@dataclass(frozen=True, slots=True)
class Write:
    """What is to be written of a file: ``apply`` writes it and says how the file ended."""

    look: Look
    apply: Callable[[], FileOutcome]


def groups(writes: Iterable[Write | None]) -> Iterator[Sequence[Write]]:
    """Gather writes in their order, each group for one transaction."""
    group: list[Write] = []
    began = 0.0
    try:
        for write in writes:
            alone = write is None or write.look.size > _ALONE
            if group and alone:
                yield group
                group = []
            if write is None:
                continue
            began = began if group else time.monotonic()
            group.append(write)
            if alone or len(group) == _FILES or time.monotonic() - began > _SECONDS:
                yield group
                group = []
    except (KeyboardInterrupt, CancelledError):  # what is ready is kept
        if group:
            yield group
        raise
    if group:
        yield group


def write_group(group: Sequence[Write], store: Store) -> Iterator[tuple[Look, FileOutcome]]:
    """Write a group, then yield how each file ended.

    Where not all of it can be written, as when the disk is full, as many as can be are.

    Raises:
        ChapterhouseError: one cannot be written; those that were yielded are safe.
    """
    if len(group) > 1:
        try:
            with store.together():
                outcomes = [write.apply() for write in group]
        except ChapterhouseError:
            pass  # it comes again below, at the file that it is about
        else:
            yield from map(_timed, group, outcomes)
            return
    for write in group:
        yield _timed(write, write.apply())


def _timed(write: Write, outcome: FileOutcome) -> tuple[Look, FileOutcome]:
    seconds = time.monotonic() - write.look.started
    inside = write.look.within is not None
    return write.look, replace(outcome, seconds=seconds, inside=inside)
