"""A document beside the file that it was read from."""

from dataclasses import dataclass

from chapterhouse.types.documents import Document

Box = tuple[float, float, float, float]  # left, top, right, bottom as shares of a page, 0 to 1


@dataclass(frozen=True, slots=True)
class OriginalLine:
    """A line that the file shows.

    Attributes:
        text: As the file has it.
        missing: Start and end in ``text`` of what the library's text does not hold, in order.
        wholly: Whether no word of the line is held.
        box: Where on its page it stands; None where no page is drawn.
        heading: Whether it names a part of the file and is none of its text.
    """

    text: str
    missing: tuple[tuple[int, int], ...] = ()
    wholly: bool = False
    box: Box | None = None
    heading: bool = False


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """A page, or a whole file without pages, and the text that the library holds for it.

    Attributes:
        number: Number of the page; None where the format has none.
        lines: What the file shows there, as text; empty where it has no text of its own.
        text: What the library holds.
        image: The page, or the image that the file is, in a format that browsers show; or empty.
        media_type: Of the image, as ``image/png``.
        size: Width and height of the image in pixels.
    """

    number: int | None
    lines: tuple[OriginalLine, ...]
    text: str
    image: bytes = b""
    media_type: str = ""
    size: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A document, its file and its text side by side.

    Attributes:
        share: Share of the words that the file shows which the text holds, 0 to 1; None where
            the words cannot be counted.
        remarks: What this comparison does not show, and why, a sentence each.
    """

    document: Document
    pages: tuple[ComparedPage, ...]
    share: float | None = None
    remarks: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[tuple[int | None, OriginalLine], ...]:
        """The lines that were not taken, or not wholly, each with its page's number."""
        return tuple(
            (page.number, line) for page in self.pages for line in page.lines if line.missing
        )
