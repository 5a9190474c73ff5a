"""Plain text, Markdown and code as they stand, delimited text as tables, data and subtitles.

JSON, YAML and XML are meant for programs: they are kept as code blocks in their own syntax.
Subtitles (SubRip and WebVTT) become a transcript.
"""

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from chapterhouse.errors import RejectedError
from chapterhouse.reading.encodings import decode, decode_stated
from chapterhouse.reading.formats import METHOD
from chapterhouse.reading.grid import grid_blocks
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import code_block, first_heading, joined, marked_pages
from chapterhouse.reading.preflight import declaration, entities, expand_entities
from chapterhouse.text.hyphens import join_lines
from chapterhouse.types import ExtractedPage, Extraction

_DELIMITERS = ",;\t|"
_SEPARATOR = re.compile(r"\ufeff?\"?sep=([^\w\r\n])\"?[ \t]*(?:\r\n?|\n|\Z)", re.IGNORECASE)
_SAMPLE_LINES = 50
_SAMPLE_CHARACTERS = 65_536
_MINIFIED_LINE = 500  # characters; a person's JSON has shorter lines
_XML_DECLARED = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_XML_TITLE = re.compile(r"<title[^>]*>([^<]{1,300})</title>")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def read_text(data: bytes) -> Extraction:
    """Read plain text; nothing in it is taken for a heading, and torn words are made whole."""
    text, notices = decode(data)
    return Extraction(
        (ExtractedPage(join_lines(text)),), "txt", METHOD, markdown=False, notices=notices
    )


def read_markdown(data: bytes) -> Extraction:
    """Read Markdown; its title is its first heading, its pages are those that it marks."""
    text, notices = decode(data)
    pages, kind = marked_pages(text)
    title = first_heading(text)
    return Extraction(pages, "md", METHOD, page_kind=kind, title=title, notices=notices)


def read_code(data: bytes, language: str) -> Extraction:
    """Read a program as one fenced block."""
    text, notices = decode(data)
    return Extraction((ExtractedPage(code_block(text, language)),), "code", METHOD, notices=notices)


def read_delimited(data: bytes, format_: str, limits: Limits) -> Extraction:
    """Read ``csv`` or ``tsv`` as tables, with the lines above and below them."""
    text, notices = decode(data)
    if stated := _SEPARATOR.match(text):  # for spreadsheet programs
        text = text[stated.end() :]
    delimiter = stated[1] if stated else "\t" if format_ == "tsv" else sniff_delimiter(text)
    page = ExtractedPage(joined(grid_blocks(parse(text, delimiter, limits), is_delimited=True)))
    return Extraction((page,), format_, METHOD, notices=notices)


def parse(text: str, delimiter: str, limits: Limits) -> list[list[str]]:
    """Return the rows of a delimited text; an empty line is a row without cells."""
    rows: list[list[str]] = []
    cells = 0
    csv.field_size_limit(limits.line_bytes)
    try:
        # newline="" keeps line breaks inside quotes; strict=False reads what others wrote.
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            cells += len(row)
            if cells > limits.sheet_cells:
                raise RejectedError(
                    "too-many-cells",
                    f"The table has more than {limits.sheet_cells:,} cells.",
                    hint="Split the file.",
                )
            has_text = any(cell.strip() for cell in row)
            rows.append([cell[: limits.cell_characters] for cell in row] if has_text else [])
    except csv.Error as error:
        raise RejectedError("unreadable", f"The table cannot be read ({error}).") from error
    return rows


def sniff_delimiter(text: str) -> str:
    """Return the delimiter that cuts the first lines into the same, largest number of fields.

    `csv.Sniffer` takes letters for delimiters and is slow on long lines.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    return max(_DELIMITERS, key=lambda delimiter: _regularity(sample, delimiter))


def _regularity(sample: str, delimiter: str) -> tuple[float, int]:
    """Return the share of rows that have the commonest width above one, and that width."""
    widths: list[int] = []
    for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
        widths.append(len(row))
        if len(widths) == _SAMPLE_LINES:
            break
    wide = [width for width in widths if width > 1]
    if not wide:
        return 0.0, 0
    common = max(set(wide), key=lambda width: (wide.count(width), width))
    return wide.count(common) / len(widths), common


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


# --- subtitles as a transcript -------------------------------------------------------------------

_TIMING_LINE = re.compile(
    r"[ \t]*(?:\d+:)?\d{1,2}:\d{1,2}(?:[.,]\d{1,3})?[ \t]*-->[ \t]*(?:\d+:)?\d{1,2}:\d{1,2}"
)
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+)")
_NOT_SPEECH = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?=[\s:]|$)")
_TAG = re.compile(
    r"</?(?:b|i|u|s|c|v|font|lang|ruby|rt)(?:[ .][^<>]*)?>|<[\d:.]+>|\{\\[^{}]*\}", re.IGNORECASE
)
_WORD_TIME = re.compile(r"<\d+:[\d:.]+>")
_VOICE = re.compile(r"<v(?:\.[^<> ]*)?[ \t]+([^<>]+)>", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_LONG_PAUSE = 3.0  # seconds of silence that part paragraphs
_LONG = 500  # characters from which the next end of a sentence ends the paragraph
_TOO_LONG = 1_000  # for transcripts without punctuation


@dataclass(slots=True)
class _Cue:
    start: float | None = None  # seconds; None for text without a time
    end: float = 0.0
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Speech:
    start: float | None
    end: float
    speaker: str
    text: str


def read_subtitles(data: bytes, format_: str) -> Extraction:
    """Read ``srt`` or ``vtt``: what is said, in paragraphs that begin with their time."""
    text, notices = decode(data)
    cues = list(_cues(text.split("\n")))
    if _WORD_TIME.search(text):
        _drop_repeated(cues)
    paragraphs = _paragraphs([speech for cue in cues for speech in _speeches(cue)])
    page = ExtractedPage("".join(f"{paragraph}\n\n" for paragraph in paragraphs).rstrip("\n"))
    return Extraction((page,), format_, METHOD, markdown=False, notices=notices)


def _cues(lines: list[str]) -> Iterator[_Cue]:
    """Yield the cues; text between or before them counts as said."""
    cue, silent = _Cue(), False
    for number, line in enumerate(lines):
        if _TIMING_LINE.match(line):
            if number and _is_identifier(cue, lines, number - 1):
                cue.lines.pop()
            yield cue
            start, end = (_seconds(time) for time in line.split("-->", 1))
            cue, silent = _Cue(start, end), False
        elif not line.strip():
            silent = False
        elif not silent:
            begins = not number or not lines[number - 1].strip()
            silent = begins and _NOT_SPEECH.match(line) is not None
            if not silent:
                cue.lines.append(line)
    yield cue


def _is_identifier(cue: _Cue, lines: list[str], number: int) -> bool:
    """Whether the line in front of a time names the cue: it stands alone, or is a number."""
    line = lines[number].strip()
    if not line or not cue.lines or cue.lines[-1] is not lines[number]:
        return False
    return line.isdecimal() or number == 0 or not lines[number - 1].strip()


def _seconds(time: str) -> float:
    found = _CLOCK.search(time)
    if found is None:
        return 0.0
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return hours * 3600.0 + minutes * 60 + seconds


def _drop_repeated(cues: list[_Cue]) -> None:
    """Drop the lines that rolling captions, timed word by word, show again from before."""
    shown: list[str] = []
    for cue in cues:
        plain = [(_plain(line), line) for line in cue.lines]
        cue.lines = [line for text, line in plain if text not in shown]
        shown = [text for text, _ in plain] or shown


def _speeches(cue: _Cue) -> Iterator[_Speech]:
    """Cut a cue where another voice begins."""
    parts = ["", *_VOICE.split("\n".join(cue.lines))]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        if plain := _plain(text):
            yield _Speech(cue.start, cue.end, _plain(name), plain)


def _plain(text: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", text)).split())


def _paragraphs(speeches: list[_Speech]) -> Iterator[str]:
    pieces: list[str] = []
    for before, speech in zip([None, *speeches], speeches, strict=False):
        if before is not None and not _parts(before, speech, sum(map(len, pieces))):
            pieces.append(speech.text)
            continue
        if pieces:
            yield " ".join(pieces)
        pieces = [_opening(speech)]
    if pieces:
        yield " ".join(pieces)


def _opening(speech: _Speech) -> str:
    line = f"{speech.speaker}: {speech.text}" if speech.speaker else speech.text
    if speech.start is None:
        return line
    minutes, seconds = divmod(int(speech.start), 60)
    return f"[{minutes // 60:02}:{minutes % 60:02}:{seconds:02}] {line}"


def _parts(before: _Speech, speech: _Speech, length: int) -> bool:
    """Whether a new paragraph begins: another speaker, a pause, or enough was said."""
    if before.speaker != speech.speaker or before.start is None or speech.start is None:
        return True
    ended = length >= _LONG and _SENTENCE_END.search(before.text) is not None
    return ended or length >= _TOO_LONG or speech.start - before.end >= _LONG_PAUSE
