"""Bytes under their SHA-256: what keeps them, and that as one file each in a folder."""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from chapterhouse.errors import ChapterhouseError, CorruptLibraryError
from chapterhouse.files import UNFINISHED, make_folder, sync_folder, write_whole

_HASH = re.compile(r"[0-9a-f]{64}")


class BlobStore(Protocol):
    """Bytes under their SHA-256, in a folder or as objects; safe for several processes at once."""

    def put(self, data: bytes) -> str:
        """Write ``data`` so that it lasts; return its hash.

        Bytes that are there already are young again, so that garbage collection leaves them alone
        until the document that needs them is committed.
        """

    def get(self, sha256: str) -> bytes | None:
        """Return the bytes of this hash, or None if they are not there.

        Raises:
            CorruptLibraryError: the bytes no longer have this hash.
        """

    def has(self, sha256: str) -> bool:
        """Say whether there are bytes of this hash, without reading them."""

    def delete(self, sha256: str) -> None:
        """Delete the bytes of this hash, if they are there."""

    def hashes(self, minimum_age: float = 0.0) -> Iterator[str]:
        """Yield, sorted, the hashes of what was last put at least so many seconds ago."""

    def link(self, sha256: str) -> str:
        """Return an address by which anyone can read the bytes for a while; empty: none."""


def require_hash(sha256: str) -> str:
    """Return what is a SHA-256 in lower-case hexadecimal, and so a name that leads nowhere else."""
    if not _HASH.fullmatch(sha256):
        raise ValueError(f"Not a SHA-256 in lower-case hexadecimal: {sha256!r}")
    return sha256


class Blobs:
    """Blobs as files ``ab/abcdef…`` below ``root``; safe for several processes at once."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, data: bytes) -> str:
        """Write ``data`` so that it survives a power cut; return its hash.

        Raises:
            ChapterhouseError: they cannot be written.
        """
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._path(sha256)
        try:
            self._put(path, data)
        except OSError as error:
            raise ChapterhouseError(
                f"{path} cannot be written: {error.strerror}.",
                hint="Check that there is space on the disk, and that the folder belongs to you.",
            ) from error
        return sha256

    def get(self, sha256: str) -> bytes | None:
        """Return the bytes of this hash, or None if they are not kept.

        Raises:
            CorruptLibraryError: the bytes no longer have this hash.
        """
        path = self._path(sha256)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        if hashlib.sha256(data).hexdigest() != sha256:
            raise CorruptLibraryError(
                f"The blob {path} no longer holds the bytes that were put there.",
                hint="Read the document again from its folder: chapterhouse docs reprocess",
            )
        return data

    def has(self, sha256: str) -> bool:
        """Say whether bytes of this hash are kept, without reading them."""
        return self._path(sha256).is_file()

    def delete(self, sha256: str) -> None:
        """Delete the bytes of this hash, if they are there."""
        self._path(sha256).unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete the folder with all that is in it."""
        shutil.rmtree(self._root, ignore_errors=True)

    def hashes(self, minimum_age: float = 0.0) -> Iterator[str]:
        """Yield, sorted, the hashes of what was last put at least so many seconds ago.

        Files that an interrupted ``put`` left behind are deleted on the way once they are as old.
        """
        youngest = time.time() - minimum_age
        for path in sorted(self._root.glob("??/*")):
            try:
                if path.stat().st_mtime > youngest:
                    continue
            except FileNotFoundError:  # deleted since it was listed
                continue
            if path.name.startswith(UNFINISHED):
                path.unlink(missing_ok=True)
            elif _HASH.fullmatch(path.name):
                yield path.name

    def link(self, sha256: str) -> str:  # noqa: ARG002 - as the protocol has it
        """Return nothing: files are read through whoever serves them."""
        return ""

    def _path(self, sha256: str) -> Path:
        require_hash(sha256)
        return self._root / sha256[:2] / sha256

    def _put(self, path: Path, data: bytes) -> None:
        try:
            os.utime(path)
            damaged = path.read_bytes() != data
        except FileNotFoundError:
            damaged = True
        if damaged:
            self._write(path, data)
        else:  # whoever wrote them may not have got as far as this
            sync_folder(path.parent)

    def _write(self, path: Path, data: bytes) -> None:
        if not path.parent.is_dir():
            make_folder(path.parent)
        write_whole(path, data)
