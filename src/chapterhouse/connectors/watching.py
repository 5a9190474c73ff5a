"""Tell when something changes below folders, at once and not for every file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Final

from watchfiles import DefaultFilter, watch

from chapterhouse.errors import ChapterhouseError

_DEBOUNCE_MS: Final = 400  # longest wait for further changes: programs write a file in pieces
_STEP_MS: Final = 100  # without a change for so long, a batch is over
_LOOK_MS: Final = 1_000  # how often it looks whether it is to stop


def changes(folders: Sequence[Path], stop: Event) -> Iterator[frozenset[Path]]:
    """Yield the paths of what changed below folders, batch by batch, until ``stop`` is set.

    Where the system has no notice of changes, as on some network disks, it looks again and again.
    An empty batch means that nothing changed for a second.

    Raises:
        ChapterhouseError: a folder cannot be watched.
    """
    found = watch(
        *folders,
        watch_filter=DefaultFilter(),
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_LOOK_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    try:
        for batch in found:
            yield frozenset(Path(path) for _, path in batch)
    except (FileNotFoundError, PermissionError, OSError) as error:
        raise ChapterhouseError(
            f"The folders cannot be watched: {error}",
            hint="Sync now and then instead: chapterhouse sync",
        ) from error
