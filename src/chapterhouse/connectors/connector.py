"""The seam between a source and what reads its files."""

from collections.abc import Generator, Iterator, Sequence
from typing import Protocol

from chapterhouse.connectors.content import Content
from chapterhouse.connectors.folder import SourceFile
from chapterhouse.errors import RejectedError


class Connector(Protocol):
    """The files of a source, listed and opened."""

    def files(self) -> Iterator[SourceFile]:
        """Yield the files there are now, in order of source.

        One with a problem says why it is not read.
        """
        ...

    def contents(
        self, files: Sequence[SourceFile], maximum_bytes: int
    ) -> Generator[Content | RejectedError]:
        """Yield for each file, in the same order, its bytes or why they cannot be had.

        Closing it ends what is being fetched.
        """
        ...
