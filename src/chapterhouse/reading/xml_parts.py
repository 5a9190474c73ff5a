"""XML parts of ZIP containers, parsed with no document types, entities or endless depth."""

import io
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.zip_directory import Entry, inflate, read_directory


class Parts:
    """The parts of one container by name."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        """Read the directory.

        Raises:
            RejectedError: as `read_directory`.
        """
        self._data = data
        self._limits = limits
        self._entries: dict[str, Entry] = {
            entry.name: entry for entry in read_directory(data, limits)
        }

    def names(self) -> tuple[str, ...]:
        """Return the parts' names in order of position."""
        return tuple(self._entries)

    def content(self, name: str) -> bytes | None:
        """Return a part's bytes, or None where there is no such part.

        Raises:
            RejectedError: ``archive-damaged`` or ``archive-too-large``.
        """
        entry = self._entries.get(name)
        if entry is None:
            return None
        content = inflate(self._data, entry, self._limits.archive_entry_bytes + 1)
        if len(content) > self._limits.archive_entry_bytes:
            raise RejectedError("archive-too-large", f"{name!r} in the container is too large.")
        return content

    def xml(self, name: str) -> Element | None:
        """Return a part's root element, or None where there is no such part.

        Raises:
            RejectedError: as `content`, and ``unreadable``, ``too-deep`` or ``xml-doctype``.
        """
        content = self.content(name)
        return None if content is None else parse(content, name, self._limits)


def parse(content: bytes, name: str, limits: Limits) -> Element:
    """Return the root element of XML.

    Raises:
        RejectedError: ``unreadable``, ``too-deep`` or ``xml-doctype``.
    """
    root: Element | None = None
    depth = 0
    try:
        for event, element in iterparse(io.BytesIO(content), ("start", "end"), forbid_dtd=True):
            if event == "end":
                depth -= 1
                continue
            root = element if root is None else root
            depth += 1
            if depth > limits.xml_depth:
                raise RejectedError(
                    "too-deep", f"{name!r} nests elements more than {limits.xml_depth} deep."
                )
    except DefusedXmlException as error:
        raise RejectedError("xml-doctype", f"{name!r} declares a document type.") from error
    except (ParseError, ValueError, LookupError) as error:
        raise RejectedError("unreadable", f"{name!r} is not well-formed XML ({error}).") from error
    if root is None:
        raise RejectedError("unreadable", f"{name!r} has no content.")
    return root
