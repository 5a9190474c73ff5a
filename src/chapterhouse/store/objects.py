"""Objects in a bucket of S3, or of a server that speaks its protocol; blobs as such objects.

Who may use it, and where the server is, the usual variables say: ``AWS_ACCESS_KEY_ID``,
``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``, ``AWS_ENDPOINT_URL``.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from chapterhouse.errors import CorruptLibraryError, UnavailableError
from chapterhouse.store.blobs import require_hash

_TRIES: Final = 3
_CONNECT: Final = timedelta(seconds=10)
_SILENCE: Final = timedelta(seconds=30)  # without a byte, or until nothing is tried again
_LONGEST: Final = timedelta(minutes=15)  # of one request: there are large files and slow lines
_CODE: Final = re.compile(r"<Code>(\w+)</Code>")
_RIGHTS: Final = "s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket"
# Nobody who opens a signed address gets something that a browser shows or runs.
_ATTRIBUTES: Final = {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": "attachment",
}


class Bucket:
    """What of a bucket is below an address.

    Every method raises UnavailableError where the server cannot be reached or refuses.

    Args:
        address: ``s3://BUCKET`` or ``s3://BUCKET/PREFIX``.
        folder: What comes before every name, behind the prefix.
    """

    def __init__(self, address: str, folder: str) -> None:
        parts = urlsplit(address)
        prefix = "/".join(filter(None, (parts.path.strip("/"), folder)))
        self.place = f"s3://{parts.netloc}/{prefix}"
        endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
        with self._explained():
            self._store = S3Store(
                parts.netloc,
                prefix=prefix,
                checksum_algorithm="sha256",  # which the server compares with what it received
                client_options={
                    "allow_http": endpoint.startswith("http://"),
                    "connect_timeout": _CONNECT,
                    "read_timeout": _SILENCE,
                    "timeout": _LONGEST,
                },
                retry_config={"max_retries": _TRIES, "retry_timeout": _SILENCE},
            )

    def put(self, name: str, data: bytes) -> None:
        """Write an object, in parts if it is large; nobody sees it before it is whole."""
        with self._explained():
            obstore.put(self._store, name, data, attributes=_ATTRIBUTES)

    def get(self, name: str) -> bytes | None:
        """Return the bytes of an object; None where there is none."""
        with self._explained():
            try:
                return obstore.get(self._store, name).bytes().to_bytes()
            except FileNotFoundError as error:
                if _is_bucket_missing(error):
                    raise
                return None

    def has(self, name: str) -> bool:
        """Say whether there is such an object."""
        with self._explained():
            try:
                obstore.head(self._store, name)
            except FileNotFoundError:
                return False
        return True

    def delete(self, name: str) -> None:
        """Delete an object, if it is there."""
        with self._explained():
            try:
                obstore.delete(self._store, name)
            except FileNotFoundError as error:
                if _is_bucket_missing(error):
                    raise

    def names(self, folder: str, minimum_age: float = 0.0) -> Iterator[str]:
        """Yield, sorted, the names of what lies in a folder and was written so long ago."""
        youngest = time.time() - minimum_age
        with self._explained():
            pages = obstore.list(self._store, folder)
            found = [one for page in pages for one in page]
        for one in sorted(found, key=lambda one: one["path"]):
            if not minimum_age or one["last_modified"].timestamp() <= youngest:
                yield one["path"].rpartition("/")[2]

    def link(self, name: str, seconds: int) -> str:
        """Return an address by which anyone can read an object for a while."""
        with self._explained():
            return obstore.sign(self._store, "GET", name, timedelta(seconds=seconds))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, FileNotFoundError, ValueError) as error:
            raise _explained(error, self.place) from error


def _is_bucket_missing(error: Exception) -> bool:
    return "NoSuchBucket" in str(error)


def _explained(error: Exception, place: str) -> UnavailableError:
    """Return an error that says what to do; the library's own is pages long."""
    text = str(error).split("\n\nDebug source", 1)[0]
    code = _CODE.search(text)
    reason = code[1] if code else " ".join(text.rpartition(" - ")[2].split()).rstrip(":. ")
    if _is_bucket_missing(error):
        return UnavailableError(
            f"There is no bucket for {place}.", hint="Make it, or correct store.objects."
        )
    refused = isinstance(error, (PermissionDeniedError, UnauthenticatedError))
    if refused or "403 Forbidden" in text or "401 Unauthorized" in text:
        return UnavailableError(
            f"The object storage refuses {place}: {reason}.",
            hint="Look at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and at what their user may"
            f" do: {_RIGHTS}.",
        )
    return UnavailableError(
        f"The object storage of {place} cannot be reached: {reason}.",
        hint="See that the server runs, and that AWS_ENDPOINT_URL and AWS_REGION are right. What"
        " was acknowledged is stored; repeat what was not.",
    )


class ObjectBlobs:
    """Blobs as objects ``documents/abcdef…``; safe for several machines at once."""

    _LINK_SECONDS: Final = 300

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def put(self, data: bytes) -> str:
        """Write ``data``, which is young again if it was there; return its hash."""
        sha256 = hashlib.sha256(data).hexdigest()
        self._bucket.put(_name(sha256), data)
        return sha256

    def get(self, sha256: str) -> bytes | None:
        """Return the bytes of this hash, or None if they are not there.

        Raises:
            CorruptLibraryError: the bytes do not have this hash.
        """
        data = self._bucket.get(_name(sha256))
        if data is not None and hashlib.sha256(data).hexdigest() != sha256:
            raise CorruptLibraryError(
                f"The object {self._bucket.place}/{_name(sha256)} no longer holds the bytes that"
                " were put there.",
                hint="Read the document again from its folder: chapterhouse docs reprocess",
            )
        return data

    def has(self, sha256: str) -> bool:
        """Say whether there are bytes of this hash, without reading them."""
        return self._bucket.has(_name(sha256))

    def delete(self, sha256: str) -> None:
        """Delete the bytes of this hash, if they are there."""
        self._bucket.delete(_name(sha256))

    def hashes(self, minimum_age: float = 0.0) -> Iterator[str]:
        """Yield, sorted, the hashes of what was last put at least so many seconds ago."""
        return self._bucket.names("documents", minimum_age)

    def link(self, sha256: str) -> str:
        """Return an address that gives the bytes for five minutes; empty if they are not there."""
        name = _name(sha256)
        return self._bucket.link(name, self._LINK_SECONDS) if self._bucket.has(name) else ""


def _name(sha256: str) -> str:
    return f"documents/{require_hash(sha256)}"
