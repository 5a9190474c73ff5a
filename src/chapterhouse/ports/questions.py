"""Questions as they are counted."""

from typing import Protocol

from chapterhouse.types import QuestionFigures, QuestionRecord


class Questions(Protocol):
    """The questions of one workspace: counts for those who look after all of its documents.

    A document that is removed is no longer named by any, and their texts are gone with it.
    """

    def record(self, record: QuestionRecord, drop_before: int) -> None:
        """Record a question, and drop those asked before a time. It need not survive a power cut.

        Documents that are no longer there are left out, and with them the text.
        """
        ...

    def figures(self, since: int, now: int, limit: int) -> QuestionFigures:
        """Return what the questions asked since a time come to, read in one moment.

        Args:
            since: In seconds.
            now: In seconds; ages of documents are counted to it.
            limit: Documents of each list at most; 0 for all.
        """
        ...

    def first(self) -> int | None:
        """Return when the first of them was asked, in seconds; None where there is none."""
        ...

    def clear(self) -> int:
        """Delete all of them; return how many."""
        ...
