"""What a reader is shown of an answer in JSON while a model is still writing it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from chapterhouse.text.sanitise import sanitise

_SHOWN: Final = ("position", "claims", "decision")
_LONGEST: Final = 60_000  # characters that are looked at
_SHARE: Final = 64  # a text is read again once it has grown by one in so many


def partial_text(text_so_far: str) -> str:
    """Return the words for a reader in a JSON object that is still being written.

    Those of its position, its claims and its decision, in the order in which they were written,
    with empty lines between them. Empty as long as there is no object, or it cannot be read.
    """
    import pydantic_core  # noqa: PLC0415 - a fraction of a second, and only where a model writes

    _, found, written = text_so_far[:_LONGEST].partition("{")
    if not found:
        return ""
    try:
        value = pydantic_core.from_json(
            f"{{{_without_end(written)}", allow_partial="trailing-strings", allow_inf_nan=False
        )
    except ValueError:
        return ""
    return "\n\n".join(filter(None, _texts(value)))


def spoken_pieces(on_text: Callable[[str], None]) -> Callable[[str], None]:
    """Return a receiver of the pieces of such an object that passes on what is new for a reader.

    The text is read again only once it has grown by a sixty-fourth, so that the work on all of it
    stays near to linear. The last words may be missing: whoever has the whole text shows that.
    """
    return _Pieces(on_text)


class _Pieces:
    """What came, and what of it was passed on."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._came: list[str] = []
        self._length = self._read = 0
        self._shown = ""

    def __call__(self, piece: str) -> None:
        self._came.append(piece)
        self._length += len(piece)
        if self._length - self._read <= self._read // _SHARE or self._read > _LONGEST:
            return
        self._came = ["".join(self._came)]
        self._read = self._length
        text = partial_text(self._came[0])
        if text.startswith(self._shown) and text != self._shown:
            new, self._shown = text[len(self._shown) :], text
            self._on_text(new)


def _without_end(written: str) -> str:
    """Return the object without what follows it, such as the end of a code fence."""
    end = written.rfind("}")
    follows = written[end + 1 :]
    return written[: end + 1] if end >= 0 and follows.strip().strip("`") == "" else written


def _texts(value: object) -> Iterator[str]:
    if not isinstance(value, Mapping):
        return
    for name, entry in value.items():
        if name in _SHOWN:
            for text in entry if isinstance(entry, list) else [entry]:
                if isinstance(text, str):
                    yield sanitise(text).text.strip()
