"""Who works off jobs: a name, and a lock by which others see that its process has ended."""

import hashlib
import os
import re
import secrets
import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from chapterhouse.files import lock_folder

_WAIT_SECONDS: Final = 5.0


class Worker:
    """One that works off jobs, as long as its library is open.

    Its lease would end by itself; the lock tells at once where its process ended on this machine.

    Args:
        folder: Where locks are; those of the workers of one workspace share it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Another home on this machine may work off the same jobs, and has its locks elsewhere.
        own = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:8]
        self._host = f"{re.sub(r'[^A-Za-z0-9.-]', '-', socket.gethostname())}-{own}"
        self._name = ""
        self._lock = threading.Lock()
        self._opened = ExitStack()

    @property
    def name(self) -> str:
        """Its name: host, process and some random letters. The lock is taken when it is asked."""
        with self._lock:
            if not self._name:
                self._name = f"{self._host}_{os.getpid()}_{secrets.token_hex(4)}"
                self._opened.enter_context(lock_folder(self._folder, self._name, _WAIT_SECONDS))
            return self._name

    def is_gone(self, name: str) -> bool:
        """Whether a worker's process has ended; False where that cannot be seen from here."""
        if name.partition("_")[0] != self._host:
            return False
        if not (self._folder / name).exists():
            return True  # it was closed: a signal came when it had claimed a job, and not begun
        with lock_folder(self._folder, name, 0.0) as gone:
            return gone

    def forget(self, name: str) -> None:
        """Delete the lock of a worker that is gone."""
        (self._folder / name).unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock."""
        with self._lock:
            if self._name:
                self.forget(self._name)
                self._opened.close()
                self._name = ""
