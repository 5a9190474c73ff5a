"""Subtitles as a transcript: SubRip (srt) and WebVTT."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from chapterhouse.reading.encodings import decode
from chapterhouse.reading.formats import METHOD
from chapterhouse.types import ExtractedPage, Extraction

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
