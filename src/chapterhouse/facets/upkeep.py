"""Upkeep: whether a library is sound, and what helps where it is not."""

from collections.abc import Callable
from typing import Any, Final

from chapterhouse.ingest import doctor, privacy, remove
from chapterhouse.ingest.bug_report import bug_report
from chapterhouse.ingest.environment import Surroundings, environment_checks
from chapterhouse.ingest.recut import count_others
from chapterhouse.ingest.repair import repair
from chapterhouse.ingest.verify import verify_library
from chapterhouse.runtime import Runtime
from chapterhouse.text.counting import counted
from chapterhouse.types import (
    Check,
    Progress,
    RepairReport,
    Scope,
    Verification,
)

_IGNORED_HINT: Final = "See why: chapterhouse settings list"
_CUT_HINT: Final = "Cut them again: chapterhouse reindex"


class Upkeep:
    """Looks after the library of a workspace."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on the library of ``runtime``."""
        self._runtime = runtime

    def verify(
        self, *, quick: bool = False, on_progress: Callable[[Progress], None] | None = None
    ) -> Verification:
        """Compare database, documents, bytes and indexes with each other; write nothing.

        Args:
            quick: Leave out the hashes of bytes, and what is derived from the texts again.
            on_progress: Called after each document and each index.
        """
        runtime = self._runtime
        return verify_library(
            runtime.store,
            runtime.blobs,
            runtime.indexes(),
            runtime.folder,
            quick=quick,
            on_progress=on_progress or (lambda _: None),
        )

    def repair(
        self,
        found: Verification | None = None,
        *,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> RepairReport:
        """Do what helps against what ``verify`` finds, and verify again.

        Args:
            found: What it found; it is called where this is None.
            on_progress: Called after each document that is read again.

        Raises:
            ReadOnlyError: the library can only be read.
        """
        found = self.verify() if found is None else found
        if not found.findings:
            return RepairReport(())
        runtime = self._runtime
        work = runtime.work(on_progress or (lambda _: None))
        return repair(found, work, runtime.indexes(), self.verify, runtime.home)

    def doctor(self, *, fix: bool = False) -> tuple[Check, ...]:
        """Check the environment, and the library quickly.

        Args:
            fix: Close what other users of the machine can look into; nothing else is changed.
        """
        runtime = self._runtime
        private = (privacy.make_private if fix else privacy.check_privacy)(runtime.home)
        found = doctor.checks_of(self.verify(quick=True), runtime.indexes())
        return (
            *environment_checks(self._surroundings()),
            self._stored(),
            self._cutting(),
            *self._former(),
            *found,
            private,
        )

    def _stored(self) -> Check:
        """Say which settings in the database do not hold."""
        ignored = self._runtime.resolved.ignored
        if not ignored:
            return Check("stored settings", passed=True, sentence="All of them hold.")
        sentence = f"Ignored: {', '.join(sorted(ignored))}."
        return Check("stored settings", passed=True, sentence=sentence, hint=_IGNORED_HINT)

    def _cutting(self) -> Check:
        """Say how many documents were cut otherwise than they would be now."""
        runtime = self._runtime
        others = count_others(runtime.store, runtime.cutter())
        if not others:
            return Check("cutting", passed=True, sentence="As the settings say.")
        total = counted(runtime.store.census(Scope.everything()).documents, "document")
        sentence = f"{others:,} of {total} were cut by other settings than those of now."
        return Check("cutting", passed=True, sentence=sentence, hint=_CUT_HINT)

    def _former(self) -> tuple[Check, ...]:
        """Name the libraries that an earlier version left in the workspace."""
        found = remove.former_libraries(self._runtime.folder)
        if not found:
            return ()
        sentence = f"Of an earlier version, and not used: {', '.join(map(str, found))}."
        hint = "Delete them: chapterhouse reindex"
        return (Check("other libraries", passed=True, sentence=sentence, hint=hint),)

    def bug_report(self) -> dict[str, Any]:
        """Return what helps to find a bug, and tells nothing of what the library holds."""
        return bug_report(self._surroundings(), self.verify(quick=True))

    def _surroundings(self) -> Surroundings:
        runtime = self._runtime
        return Surroundings(
            runtime.version,
            runtime.settings,
            runtime.folder,
            runtime.store,
            runtime.indexes(),
            runtime.encoders.statuses(),
            runtime.encoders.is_embedding(),
        )
