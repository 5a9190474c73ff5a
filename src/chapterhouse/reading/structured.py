"""JSON, YAML and XML: data meant for programs, kept as code blocks in their own syntax."""

import json
import re

from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.reading.plain import METHOD, code_block
from chapterhouse.reading.xml_guard import declaration, entities, expand_entities
from chapterhouse.types import ExtractedPage, Extraction

_MINIFIED_LINE = 500  # characters; a person's JSON has shorter lines
_XML_DECLARED = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_XML_TITLE = re.compile(r"<title[^>]*>([^<]{1,300})</title>")


def read_json(data: bytes) -> Extraction:
    """Read JSON or JSON lines; what was minified is indented.

    Text that is no valid JSON is kept as it stands: its words are as good.
    """
    text, notices = decode(data)
    return Extraction(
        (ExtractedPage(code_block(_pretty(text), "json")),), "json", METHOD, notices=notices
    )


def read_yaml(data: bytes) -> Extraction:
    """Read YAML as it stands; nothing in it is evaluated."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(code_block(text, "yaml")),), "yaml", METHOD, notices=notices)


def read_xml(data: bytes) -> Extraction:
    """Read XML as it stands, with the characters for which it declares names."""
    declared = _XML_DECLARED.match(data[:200])
    text, notices = decode(data)
    if declared and notices:
        text, notices = decode_stated(data, declared[1].decode("ascii"))
    text = _with_entities(text)
    title = found[1].strip() if (found := _XML_TITLE.search(text[:10_000])) else ""
    body = code_block(_one_element_a_line(text), "xml")
    return Extraction((ExtractedPage(body),), "xml", METHOD, title=title, notices=notices)


def _with_entities(text: str) -> str:
    stated = declaration(text)
    found = entities(stated)
    if not found.values:
        return text
    behind = text.index(stated) + found.length
    return text[:behind] + expand_entities(text[behind:], found.values)


def _pretty(text: str) -> str:
    """Indent minified JSON; numbers, order and repeated keys stay as they were written."""
    if max(map(len, text.split("\n"))) < _MINIFIED_LINE:
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _indented(text)


_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def _indented(text: str) -> str:
    """Lay out valid JSON by its own tokens: `json.dumps` would round numbers and merge keys."""
    parts: list[str] = []
    depth, opened = 0, False
    for piece in _JSON_TOKEN.findall(text):
        if piece in "}]":
            depth -= 1
            parts.append(piece if opened else f"\n{'  ' * depth}{piece}")
            opened = False
            continue
        if opened:
            parts.append("\n" + "  " * depth)
            opened = False
        if piece in "{[":
            depth += 1
            opened = True
            parts.append(piece)
        elif piece == ",":
            parts.append(",\n" + "  " * depth)
        else:
            parts.append(": " if piece == ":" else piece)
    return "".join(parts) + "\n"


def _one_element_a_line(text: str) -> str:
    """Break XML without line ends between its tags."""
    if max(map(len, text.split("\n"))) < _MINIFIED_LINE:
        return text
    return re.sub(r">[ \t]*<", ">\n<", text)
