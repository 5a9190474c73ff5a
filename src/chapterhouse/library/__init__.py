"""Library: the documents of one workspace, and all that is done with them, by subject.

Interfaces call nothing below it; ``opening`` makes its parts.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from chapterhouse import lazy
from chapterhouse.answering.runtime import Runtime
from chapterhouse.concurrency import wait_for_threads
from chapterhouse.errors import (
    NotFoundError,
    RefusedError,
    RejectedError,
    UsageError,
)
from chapterhouse.files import home_folder
from chapterhouse.library.opening import (
    databases,
    make_home,
    open_runtime,
    place_of,
    resolve_settings,
)
from chapterhouse.settings import Settings
from chapterhouse.settings_file import read_stated
from chapterhouse.store.places import folder_of, has_store
from chapterhouse.text.naming import valid_name
from chapterhouse.types import (
    AddReport,
    Check,
    ExportReport,
    LibraryStatus,
    Progress,
    RestoreReport,
    Scope,
)

# A command that searches does not load what adds, answers or meets.
if TYPE_CHECKING:
    from chapterhouse.agents import curate, curated
    from chapterhouse.agents import personas as agents
    from chapterhouse.ingest import archive as archives
    from chapterhouse.ingest import doctor as examining
    from chapterhouse.library import analytics as counting
    from chapterhouse.library import answers as answering
    from chapterhouse.library import cloud as browsing
    from chapterhouse.library import councils as meeting
    from chapterhouse.library import documents as storing
    from chapterhouse.library import encoders as encoding
    from chapterhouse.library import graph as drawing
    from chapterhouse.library import jobs as working
    from chapterhouse.library import search as searching
    from chapterhouse.library import settings as configuring
    from chapterhouse.library import sources as syncing
    from chapterhouse.models import served
    from chapterhouse.store.memory import MemoryStore
else:
    curate = lazy("chapterhouse.agents.curate")
    curated = lazy("chapterhouse.agents.curated")
    agents = lazy("chapterhouse.agents.personas")
    counting = lazy("chapterhouse.library.analytics")
    answering = lazy("chapterhouse.library.answers")
    browsing = lazy("chapterhouse.library.cloud")
    meeting = lazy("chapterhouse.library.councils")
    storing = lazy("chapterhouse.library.documents")
    encoding = lazy("chapterhouse.library.encoders")
    drawing = lazy("chapterhouse.library.graph")
    working = lazy("chapterhouse.library.jobs")
    searching = lazy("chapterhouse.library.search")
    configuring = lazy("chapterhouse.library.settings")
    syncing = lazy("chapterhouse.library.sources")
    archives = lazy("chapterhouse.ingest.archive")
    examining = lazy("chapterhouse.ingest.doctor")
    served = lazy("chapterhouse.models.served")

_SETTLES: Final = 2.0  # seconds
_SOON: Final = 1_000  # chunks of which an encoder's vectors are waited for


class Library:
    """The documents of one workspace. Close it, or use it as a context manager.

    Safe to share between threads; several processes may open the same one.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def within(self, permitted: Scope, personas: Collection[str] | None = None) -> "Library":
        """Return the library as those see it who may see a part of it.

        They can search, ask and read. What would show or change anything else is refused. Closing
        it does nothing.
        """
        if permitted.shelves is None and personas is None:
            return self
        return Library(self._runtime.within(permitted, personas))

    @property
    def _whole(self) -> Runtime:
        """The runtime, for what is of the whole workspace."""
        if self._runtime.whole is not None:
            raise RefusedError("Who sees a part of the library cannot do that.")
        return self._runtime

    @property
    def home(self) -> Path:
        """The home folder."""
        return self._runtime.home

    @property
    def workspace(self) -> str:
        """The name of the workspace."""
        return self._runtime.workspace

    @property
    def folder(self) -> Path:
        """The folder of the workspace."""
        return self._runtime.folder

    @property
    def settings(self) -> Settings:
        """The settings with which it was opened, the workspace's own included."""
        return self._runtime.settings

    def settings_changed(self) -> bool:
        """Say whether other settings hold by now, so that it is to be opened again.

        A process may have changed them in the database, or somebody one of the files. Cheap enough
        for every request. True also where a file cannot be read: opening raises why.
        """
        return self.configuration.has_changed()

    @cached_property
    def configuration(self) -> "configuring.LibrarySettings":
        """The settings as they are now, where they are from, and changing them."""
        return configuring.LibrarySettings(self._whole)

    @cached_property
    def documents(self) -> "storing.Documents":
        """The documents: added, removed, listed, read."""
        return storing.Documents(self._runtime)

    @cached_property
    def sources(self) -> "syncing.Sources":
        """What the library is to be the image of, and bringing it there."""
        return syncing.Sources(self._whole)

    @cached_property
    def search(self) -> "searching.Search":
        """Hits and contexts."""
        return searching.Search(self._runtime)

    @cached_property
    def graph(self) -> "drawing.Graph":
        """Who and what the documents speak of."""
        return drawing.Graph(self._runtime)

    @cached_property
    def answers(self) -> "answering.Answers":
        """Questions asked."""
        return answering.Answers(self._runtime)

    @cached_property
    def analytics(self) -> "counting.LibraryAnalytics":
        """What was asked, how well it was answered, and what the documents lack."""
        return counting.LibraryAnalytics(self._whole)

    @cached_property
    def cloud(self) -> "browsing.Cloud":
        """Folders of cloud drives: browsed, and read into the library."""
        return browsing.Cloud(self._whole)

    @cached_property
    def encoders(self) -> "encoding.LibraryEncoders":
        """The vectors that follow their documents."""
        return encoding.LibraryEncoders(self._whole)

    @cached_property
    def jobs(self) -> "working.LibraryJobs":
        """Long work: what is done, waits to be, and was."""
        return working.LibraryJobs(self._whole)

    @property
    def memory(self) -> "MemoryStore":
        """What was asked and answered."""
        return self._runtime.memories

    @cached_property
    def personas(self) -> "agents.Personas":
        """The personas, and all that is done with them but asking."""
        return agents.Personas(self._runtime)

    @cached_property
    def councils(self) -> "meeting.LibraryCouncils":
        """The councils, and their meetings."""
        return meeting.LibraryCouncils(self._runtime)

    @classmethod
    def open(
        cls,
        home: Path | str | None = None,
        workspace: str = "default",
        *,
        create: bool = True,
    ) -> Self:
        """Open the library of a workspace.

        Args:
            home: Its home folder; ``$CHAPTERHOUSE_HOME`` or ``~/Chapterhouse`` when None.

        Raises:
            UsageError: the workspace's name or a setting cannot be used.
            NotFoundError: it is not there and ``create`` is False.
            NewerLibraryError: a newer Chapterhouse wrote it.
            CorruptLibraryError: it is something else, or damaged.
        """
        folder = home_folder(home)
        _require_workspace(workspace)
        own = folder / "workspaces" / workspace
        if not create:
            _require_there(folder, workspace)
        stated = read_stated(folder, own)
        make_home(folder, own)
        return cls(open_runtime(folder, workspace, stated))

    @classmethod
    @contextmanager
    def of_files(
        cls,
        paths: Sequence[Path | str],
        home: Path | str | None = None,
        workspace: str = "default",
        *,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Iterator[Self]:
        """Open a library of some files alone, under the settings of a home.

        It lies in a temporary folder, of which nothing stays behind.

        Args:
            home: Whose settings hold, as in ``open``; nothing is written there.

        Raises:
            NotFoundError: a path is not there.
            RejectedError: a file cannot be read.
        """
        with cls.temporary(home, workspace) as library:
            report = (
                library.documents.add(*paths, on_progress=on_progress) if paths else AddReport(())
            )
            if report.interrupted:
                raise KeyboardInterrupt
            _require_read(report)
            if library.status().chunks <= _SOON:
                # Without the names of ``embed_pending``: somebody waits.
                library._runtime.encoders.embed(lambda _: None)  # noqa: SLF001 - our own
            yield library

    @classmethod
    @contextmanager
    def temporary(
        cls, home: Path | str | None = None, workspace: str = "default"
    ) -> Iterator[Self]:
        """Open an empty library under the settings of a home; nothing of it stays behind."""
        folder = home_folder(home)
        settings = resolve_settings(folder, workspace).settings
        with TemporaryDirectory(prefix="chapterhouse-", ignore_cleanup_errors=True) as name:
            own = Path(name) / "workspaces" / "default"
            make_home(Path(name), own)
            with cls(open_runtime(Path(name), "default", settings)) as library:
                yield library

    def export(
        self,
        path: Path | str,
        *,
        memories: bool = True,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> ExportReport:
        """Write all of the workspace to one archive, while others may go on adding.

        Args:
            path: The archive, in a folder that is there; a file of this name is replaced.
            memories: Whether to take what was asked and answered, and the questions to evaluate.

        Raises:
            CorruptLibraryError: bytes of a document are missing or damaged.
        """
        whole = self._whole
        return archives.export(
            replace(
                place_of(whole.home, whole.workspace),
                hidden=frozenset({curate.FETCHED, curated.BASE_FOLDER}),
            ),
            whole.store,
            whole.blobs,
            Path(path).expanduser(),
            memories=memories,
            version=whole.version,
            now=whole.now(),
            on_progress=on_progress,
        )

    @classmethod
    def restore(
        cls,
        path: Path | str,
        home: Path | str | None = None,
        workspace: str = "default",
        *,
        dry_run: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> RestoreReport:
        """Import an archive that ``export`` wrote into an empty workspace.

        Until the end nobody sees any of it.

        Args:
            home: The home folder, as in ``open``; it is made if need be.

        Raises:
            NotFoundError: there is no such file.
            RefusedError: the archive was cut off or altered, or is none; or the workspace holds
                something, or is open.
            NewerLibraryError: a newer Chapterhouse wrote it.
            UsageError: the workspace's name cannot be used, or the archive is a folder.
        """
        _require_workspace(workspace)
        return archives.restore(
            Path(path).expanduser(),
            place_of(home_folder(home), workspace),
            databases(home_folder(home), workspace),
            dry_run=dry_run,
            on_progress=on_progress,
        )

    def close(self) -> None:
        """Stop the reading processes and close the database and what models hold open."""
        wait_for_threads(_SETTLES)  # an interrupted answer may still be reading
        self._runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def status(self) -> LibraryStatus:
        """Count what there is."""
        return self._whole.status()

    def doctor(
        self, *, thorough: bool = False, on_progress: Callable[[Progress], None] = lambda _: None
    ) -> tuple[Check, ...]:
        """Check what the library runs on, and whether it is sound."""
        whole = self._whole
        around = examining.check_surroundings(
            whole.version,
            whole.home,
            whole.folder,
            whole.store,
            whole.encoders.statuses(),
            whole.resolved.ignored,
        )
        return (*around, *self._check(thorough=thorough, on_progress=on_progress))

    def faults(self) -> tuple[str, ...]:
        """Compare every document, its bytes and every index with each other; say what differs."""
        return tuple(one.sentence for one in self._check(thorough=True) if not one.passed)

    def _check(
        self, *, thorough: bool, on_progress: Callable[[Progress], None] = lambda _: None
    ) -> tuple[Check, ...]:
        whole = self._whole
        return examining.check_library(
            whole.store, whole.blobs, whole.indexes(), thorough=thorough, on_progress=on_progress
        )

    def check_language_model(self) -> Check | None:
        """Say how the language model does; None where the settings name none.

        A server on this machine is asked, for two seconds at most; nobody else is.
        """
        return served.check_language_model(self.settings.language_model)

    def reindex(self, *, on_progress: Callable[[Progress], None] | None = None) -> LibraryStatus:
        """Cut again what other settings cut, and build store and indexes anew.

        No file is read: chunks are cut from the stored texts, a document at a time. Questions that
        are asked meanwhile are answered from some documents cut as before and others cut anew.

        Raises:
            ReadOnlyError: the library can only be read.
        """
        self._whole.cut_again(on_progress or (lambda _: None))
        self._whole.store.compact()
        self._whole.rebuild()
        return self.status()


def _require_workspace(name: str) -> None:
    if not valid_name(name):
        raise UsageError(
            f"'{name}' cannot be the name of a workspace.",
            hint="Use letters, digits, '-' and '_', starting with a letter or digit.",
        )


def _require_there(home: Path, workspace: str) -> Path:
    """Return the folder of a workspace that has a library."""
    if not has_store(home, workspace):
        raise NotFoundError(
            f"There is no library in {home} (workspace '{workspace}').",
            hint="Make one with: chapterhouse init, or add documents: chapterhouse add PATH",
        )
    return folder_of(home, workspace)


def _require_read(report: AddReport) -> None:
    """Refuse to answer from files of which one gave no document."""
    for outcome in report.outcomes:
        if not outcome.record.document_id:
            raise RejectedError(outcome.record.code, outcome.record.sentence)
