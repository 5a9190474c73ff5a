"""One file read for a program of your own, and files that go along with a question."""

import base64
from pathlib import Path
from typing import Final

from chapterhouse.errors import NotFoundError, RejectedError, UsageError
from chapterhouse.reading.detect import image_format
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.text.canonical import compose
from chapterhouse.types import Attachment

MAXIMUM_IMAGE: Final = 4 * 2**20  # bytes; services refuse more, and it is sent as text
_SEEN: Final = ("png", "jpeg", "gif", "webp")  # what models that see take
_MEGABYTES: Final = 100  # of a file that is read, as in the settings


def extract_text(path: Path | str) -> str:
    """Return the text of a file in any format that is read, as Markdown; no library is needed.

    Raises:
        NotFoundError: it is not there.
        UsageError: it is a folder, or may not be read.
        RejectedError: it is not read, or holds no text; ``code`` says why.
    """
    data, name = _bytes_of(path, _MEGABYTES * 2**20)
    with ReadingPool(1, Limits()) as pool:
        body, _ = compose(pool.read(data, name))
    if not body.text.strip():
        raise RejectedError("no-text", f"{name} holds no text.")
    return body.text


def extract_for_attachment(path: Path | str) -> Attachment:
    """Return a file as it goes along with a question: an image in Base64, all else as its text.

    Raises:
        NotFoundError: it is not there.
        RejectedError: it is an image of over 4 MiB, or ``extract_text`` refuses it.
    """
    data, name = _bytes_of(path, _MEGABYTES * 2**20)
    if image_format(data) in _SEEN:
        return image_attachment(data, name)
    return Attachment("text", name, extract_text(path))


def is_image(path: Path | str) -> bool:
    """Whether a file is an image that a model may be shown; by its first bytes."""
    try:
        with Path(path).expanduser().open("rb") as file:
            return image_format(file.read(32)) in _SEEN
    except OSError:
        return False


def image_attachment(data: bytes, name: str) -> Attachment:
    """Return the bytes of an image as an attachment.

    Raises:
        RejectedError: they are no PNG, JPEG, GIF or WebP, or more than 4 MiB.
    """
    kind = image_format(data)
    if kind not in _SEEN:
        raise RejectedError(
            "unsupported-format",
            f"{name} is no image that models see: {', '.join(_SEEN)}.",
        )
    if len(data) > MAXIMUM_IMAGE:
        raise RejectedError(
            "too-large",
            f"{name} has {len(data):,} bytes; an image may have {MAXIMUM_IMAGE:,}.",
            hint="Save it smaller: models see no more than some 2,000 pixels a side.",
        )
    return Attachment("image", name, base64.b64encode(data).decode(), f"image/{kind}")


def _bytes_of(path: Path | str, maximum: int) -> tuple[bytes, str]:
    place = Path(path).expanduser()
    try:
        size = place.stat().st_size
        if size > maximum:
            raise RejectedError("too-large", f"{place.name} has over {maximum // 2**20} megabytes.")
        return place.read_bytes(), place.name
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {place}.") from None
    except OSError as error:
        raise UsageError(f"{place} cannot be read: {error.strerror}.") from None
