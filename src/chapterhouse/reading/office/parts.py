"""XML parts of ZIP containers, parsed with no document types, entities or endless depth."""

import io
import re
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pyexpat import ExpatError, ParserCreate, XMLParserType
from xml.etree.ElementTree import Element, ParseError, fromstring

from chapterhouse.errors import RejectedError
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.preflight import entry_doctype
from chapterhouse.reading.zip_directory import inflate, read_directory
from chapterhouse.types import Notice


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with an XML part, and what is left of it in front of that, if anything."""

    code: str
    reason: str
    left: bytes = b""


_STEP = 1_000  # bytes in which tags are counted together
_CACHED_BYTES = 500_000  # of a part that is kept unpacked, because several look at it


class Parts:
    """The parts of one container by name."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        """Read the directory."""
        self.limits = limits
        self._data = data
        self._entries = {entry.name: entry for entry in read_directory(data, limits)}
        self._unpacked_parts: dict[str, bytes] = {}
        self._replaced: dict[str, bytes] = {}
        self._parsed: set[str] = set()  # parts that need no second look
        self._retains_roots = False
        self._roots: dict[str, Element] = {}  # of parts that were parsed and not yet asked for

    def names(self) -> tuple[str, ...]:
        """Return the parts' names in order of position, and those that were added."""
        return tuple(dict.fromkeys([*self._entries, *self._replaced]))

    def content(self, name: str) -> bytes | None:
        """Return a part's bytes, or None where there is no such part."""
        if name in self._replaced:
            return self._replaced[name] or None
        if name in self._unpacked_parts:
            return self._unpacked_parts[name]
        entry = self._entries.get(name)
        if entry is None:
            return None
        content = inflate(self._data, entry, self.limits.archive_entry_bytes + 1)
        if len(content) > self.limits.archive_entry_bytes:
            raise RejectedError("archive-too-large", f"{name!r} in the container is too large.")
        if len(content) <= _CACHED_BYTES and name.endswith((".xml", ".rels")):
            self._unpacked_parts[name] = content
        return content

    def replace(self, name: str, content: bytes) -> None:
        """Read other bytes for a part from now on; without any, it is missing."""
        self._replaced[name] = content
        self._parsed.discard(name)
        self._roots.pop(name, None)

    def packed(self) -> bytes:
        """Return the container, or where a part was replaced, a copy of its XML parts.

        Nobody looks at pictures here, so that they are not copied.
        """
        if not self._replaced:
            return self._data
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in self.names():
                if name.endswith((".xml", ".rels")) and (content := self.content(name)):
                    archive.writestr(name, content)
        return buffer.getvalue()

    def repair(
        self, concerned: re.Pattern[str], main: str = "", *, retains_roots: bool = False
    ) -> tuple[Notice, ...]:
        """Cut damaged XML parts off where the damage begins, and say which they are.

        ``concerned`` are names of parts that hold text, or lead to it; without the ``main`` part,
        if one is named, there is no document. A reader that asks for the root of each part is
        served faster where it ``retains_roots``.
        """
        self._retains_roots = retains_roots
        if main and self.content(main) is None:
            raise RejectedError("unreadable", f"The document's main part, {main!r}, is missing.")
        notices = []
        for name in self.names():
            if not name.endswith((".xml", ".rels")):
                continue
            if name != main and not concerned.fullmatch(name):
                if self._declares(name):  # what the library makes of it is not ours to know
                    self.replace(name, b"")
                continue
            if (damage := self.damage(name)) is None:
                continue
            if name == main and not damage.left:
                message = f"{name!r} in the container cannot be read ({damage.reason})."
                raise RejectedError(damage.code, message)
            self.replace(name, damage.left)
            how = "is damaged and may lack text" if damage.left else "could not be read"
            sentence = f"{name!r} in the container {how} ({damage.reason})."
            notices.append(Notice("part-unreadable", sentence))
        return tuple(notices)

    def damage(self, name: str) -> Damage | None:
        """Return what is wrong with an XML part, or None."""
        try:
            content = self.content(name) or b""
        except RejectedError as error:
            return Damage(error.code, str(error.args[0]).rstrip("."))
        if self._retains_roots and name not in self._parsed:
            self._parse(name, content)
        found = None if name in self._parsed else _damage(content, self.limits)
        entry = None if found or name in self._replaced else self._entries.get(name)
        if entry is not None and zlib.crc32(content) != entry.checksum:
            return Damage("unreadable", "its checksum differs", content)
        if found is None:
            self._parsed.add(name)
        return found

    def _parse(self, name: str, content: bytes) -> None:
        """Keep the root of a part that is certainly sound; what is wrong is found out later."""
        if is_shallow(content, self.limits.xml_depth):
            with suppress(ParseError, ValueError, LookupError):
                self._roots[name] = fromstring(content)  # noqa: S314 - it declares nothing
                self._parsed.add(name)

    def _declares(self, name: str) -> bool:
        try:
            return bool(entry_doctype(self._data, self._entries[name]))
        except RejectedError:
            return True

    def xml(self, name: str) -> Element | None:
        """Return a part's root element, or None where there is no such part."""
        if (root := self._roots.pop(name, None)) is not None:
            return root
        content = self.content(name)
        if content is None:
            return None
        if name not in self._parsed and (damage := _damage(content, self.limits)):
            raise RejectedError(damage.code, f"{name!r} cannot be parsed ({damage.reason}).")
        try:
            # Without a document type there are no entities, so this parser is safe.
            return fromstring(content)  # noqa: S314
        except (ParseError, ValueError, LookupError) as error:
            message = f"{name!r} is not well-formed XML ({error})."
            raise RejectedError("unreadable", message) from error


def _damage(content: bytes, limits: Limits) -> Damage | None:
    """Parse without keeping anything."""
    if is_shallow(content, limits.xml_depth):
        with suppress(ExpatError, ValueError):  # the second time, which takes longer, tells more
            _parser().Parse(content, True)  # noqa: FBT003 - has no names
            return None
    scan = _Scan(content, _parser(), limits.xml_depth)
    try:
        scan.parser.Parse(content, True)  # noqa: FBT003 - likewise
    except RecursionError:
        return Damage("too-deep", "it is nested too deeply")
    except ValueError:
        return Damage("xml-doctype", "it declares a document type")
    except ExpatError as error:
        closing = "".join(f"</{_qualified(name)}>" for name in reversed(scan.open)).encode()
        is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))  # two bytes a character
        left = content[: scan.place] + closing if closing and not is_wide else b""
        return Damage("unreadable", str(error), left)
    return None


def _parser() -> XMLParserType:
    def refuse(*_declaration: object) -> None:
        raise ValueError

    parser = ParserCreate(namespace_separator=" ")
    parser.namespace_prefixes = True
    parser.StartDoctypeDeclHandler = refuse
    return parser


def is_shallow(content: bytes, limit: int) -> bool:
    """Tell whether well-formed XML is certainly nested no more deeply than a limit.

    Tags are counted, which is much faster than to call a function at each. What looks like a tag
    and is none stands in comments and such, or makes the counts differ at the end.
    """
    start = content.find(b"?>") + 2 if content.startswith(b"<?") else 0
    if content.find(b"<!", start) >= 0 or content.find(b"<?", start) >= 0 or b"\0" in content:
        return False  # comments and such; two bytes a character
    depth = 0
    while start < len(content):
        end = content.find(b"<", start + _STEP)
        end = end if end >= 0 else len(content)
        tags, closing = content.count(b"<", start, end), content.count(b"</", start, end)
        if depth + tags - closing > limit:
            return False
        depth += tags - 2 * closing - content.count(b"/>", start, end)
        start = end
    return depth == 0


class _Scan:
    """Remembers the last tag: where it begins, and which elements are open in front of it."""

    def __init__(self, content: bytes, parser: XMLParserType, depth: int) -> None:
        self.parser = parser
        self._content = content
        self.place = 0
        self._depth = depth
        self._path: list[str] = []
        self._closed = ""  # the element that the last tag closes
        self._opens = False
        parser.ordered_attributes = True  # a list is made faster than a table
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end

    @property
    def open(self) -> list[str]:
        if self._opens:
            return self._path[:-1]
        return [*self._path, self._closed] if self._closed else self._path

    def _start(self, name: str, _attributes: object) -> None:
        self.place, self._opens = self.parser.CurrentByteIndex, True
        self._path.append(name)
        if len(self._path) > self._depth:
            raise RecursionError

    def _end(self, _name: str) -> None:
        place = self.parser.CurrentByteIndex
        name = self._path.pop()
        # The end of an empty element is behind its only tag.
        is_empty = self._opens and self._content[place - 2 : place] == b"/>"
        self._closed = "" if is_empty else name
        self.place, self._opens = place, False


def _qualified(name: str) -> str:
    """Return the name of an element as it is written; expat gives ``address name prefix``."""
    _, _, local = name.partition(" ")
    local, _, prefix = (local or name).partition(" ")
    return f"{prefix}:{local}" if prefix else local
