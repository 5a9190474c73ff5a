"""What is said in a meeting, put on disk as soon as it is said, so that no crash loses it.

A line of JSON for the meeting, then one for each turn in the order in which they were completed,
and the minutes at the end (https://github.com/ndjson/ndjson-spec). Held again with the same key, a
meeting goes on from there. The key stands for everything that a turn depends on, so that what is
found is what would be said.
"""

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from pydantic import TypeAdapter, ValidationError

from chapterhouse.agents.council import Council, as_object
from chapterhouse.council.meeting.transcript_file import TranscriptFile, open_transcript
from chapterhouse.errors import CorruptLibraryError, RefusedError
from chapterhouse.text.naming import storable_path
from chapterhouse.types import Absence, MemberTurn, Minutes

FORMAT: Final = "chapterhouse-transcript/4"
_ANY_FORMAT: Final = "chapterhouse-transcript/"
_BEGINNING: Final = f'{{"format": "{_ANY_FORMAT}'.encode()


@dataclass(frozen=True, slots=True)
class Heading:
    """What a transcript says of its meeting, for people who open the file."""

    council: str
    question: str
    members: tuple[str, ...] = ()
    rounds: tuple[str, ...] = ()


def key_of_meeting(
    council: Council,
    question: str,
    *,
    sequence: int,
    models: Mapping[str, str],
    personas: Mapping[str, str],
    tools: Mapping[str, Sequence[str]],
    settings: Mapping[str, object],
    versions: Mapping[str, str],
) -> str:
    """Return the SHA-256 of everything on which it depends what is said in a meeting.

    Args:
        council: As it meets.
        question: What it is asked.
        sequence: Of the library; with it all documents and shelves.
        models: Fingerprints by member, empty for none; the chair's too.
        personas: What else a turn depends on, by member, as text: a persona, a council within.
        tools: Names by member, as they are called.
        settings: Those that matter, as JSON.
        versions: Of Chapterhouse and of the models it computes with.
    """
    depends_on = {
        "format": FORMAT,
        "council": as_object(council),
        "question": question.strip(),
        "sequence": sequence,
        "models": dict(models),
        "personas": dict(personas),
        "tools": {member: list(names) for member, names in tools.items()},
        "settings": dict(settings),
        "versions": dict(versions),
    }
    line = json.dumps(depends_on, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


class Transcript:
    """What was said in a meeting, and the file that it is written to. A context manager.

    Safe to share between threads. Whatever a ``add_turn`` method returned from is on disk.
    """

    def __init__(self, file: TranscriptFile | None, path: Path | None = None) -> None:
        """Take an open file, or None to keep everything in memory; see ``open``."""
        self._file = file
        self._path = path
        self._lock = threading.Lock()
        self._turns: dict[tuple[int, str], MemberTurn] = {}
        self._minutes: Minutes | None = None
        self._found = 0

    @classmethod
    def open(cls, path: Path | None, key: str, heading: Heading, *, fresh: bool = False) -> Self:
        """Open the transcript of a meeting, to go on from it or to begin it.

        A transcript of another meeting in the same file is moved aside, to ``NAME.1.ndjson`` and
        so on. Half a line at the end, from a crash, is cut off: nobody was told that it is there.

        Args:
            path: The file; None keeps everything in memory.
            key: Of the meeting, see ``key_of_meeting``.
            heading: What a new file begins with.
            fresh: Whether to begin anew in any case.

        Raises:
            RefusedError: another process writes to the file, or it is no transcript.
            CorruptLibraryError: a line of it is damaged.
            UsageError: it cannot be opened.
        """
        if path is None:
            return cls(None)
        first = _line({"format": FORMAT, "key": key, **_mapping(heading)})
        anew = fresh

        def must_move(held: bytes) -> bool:
            nonlocal anew
            moves = _must_move(held, path, first, key) or (anew and bool(held))
            anew = anew and not moves
            return moves

        file = open_transcript(path, must_move)
        transcript = cls(file, path)
        try:
            transcript._begin(file, first)
        except BaseException:
            file.close()
            raise
        return transcript

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def path(self) -> Path | None:
        """The file, or None."""
        return self._path

    @property
    def aside(self) -> Path | None:
        """Where the transcript of another meeting was moved that stood in the file, or None."""
        return self._file.aside if self._file else None

    @property
    def found(self) -> int:
        """How many turns were there when it was opened."""
        return self._found

    @property
    def minutes(self) -> Minutes | None:
        """The minutes, if nothing was said after them."""
        return self._minutes

    def turn(self, number: int, member: str) -> MemberTurn | None:
        """Return what a member said in round ``number``, counted from 1, or None."""
        return self._turns.get((number, member))

    def add_turn(self, number: int, turn: MemberTurn) -> None:
        """Keep what a member said, instead of what else they said there before.

        Raises:
            ChapterhouseError: it could not be written.
        """
        place = number, turn.member
        with self._lock:
            if self._turns.get(place) == turn:
                return
            self._append(
                {
                    "round": turn.round,
                    "number": number,
                    "member": turn.member,
                    "turn": _all_turns().dump_python(turn, mode="json"),
                }
            )
            self._turns[place] = turn
            self._minutes = None

    def add_absence(self, number: int, absence: Absence) -> None:
        """Keep that a member did not speak; next time they may. Raises as ``keep``."""
        fields = {"member": absence.member, "round": absence.round, "reason": absence.reason}
        with self._lock:
            self._append({"number": number, "absence": fields})
            self._minutes = None

    def add_minutes(self, minutes: Minutes) -> None:
        """Keep what came of the meeting. Raises as ``keep``."""
        with self._lock:
            if minutes == self._minutes:
                return
            self._append({"minutes": _all_minutes().dump_python(minutes, mode="json")})
            self._minutes = minutes

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _append(self, entry: Mapping[str, object]) -> None:
        if self._file is not None:
            self._file.append(_line(entry))

    def _begin(self, file: TranscriptFile, first: bytes) -> None:
        """Take up what the file holds, or write its first line."""
        held = file.held
        whole = held.rfind(b"\n") + 1
        if whole < len(held):
            file.cut(whole)
        if not whole:
            file.append(first)
            return
        for number, line in enumerate(held[:whole].split(b"\n")[1:-1], start=2):
            self._take_up(line, number)
        self._found = len(self._turns)

    def _take_up(self, line: bytes, number: int) -> None:
        try:
            entry = json.loads(line)
            if "turn" in entry:
                place = int(entry["number"]), str(entry["member"])
                self._turns[place] = _all_turns().validate_python(entry["turn"])
                self._minutes = None
            elif "minutes" in entry:
                self._minutes = _all_minutes().validate_python(entry["minutes"])
            elif "absence" in entry:
                self._minutes = None
            else:
                raise ValueError("it says nothing that is known")  # noqa: TRY301 - see below
        except (ValueError, TypeError, KeyError, RecursionError, ValidationError) as error:
            raise CorruptLibraryError(
                f"Line {number} of the transcript {_shown(self._path)} is damaged.",
                hint="Begin the meeting anew with --fresh, which moves the file aside, or take "
                "the line out.",
            ) from error


def _must_move(held: bytes, path: Path, first: bytes, key: str) -> bool:
    """Say whether what a file holds belongs to another meeting.

    Raises:
        RefusedError: it is no transcript at all.
    """
    if first.startswith(held):  # empty, or half of the first line
        return False
    line, ended, _ = held.partition(b"\n")
    if not ended and (line.startswith(_BEGINNING) or _BEGINNING.startswith(line)):
        return True
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    form = found.get("format") if isinstance(found, dict) else None
    if not (isinstance(form, str) and form.startswith(_ANY_FORMAT)):
        raise RefusedError(
            f"{_shown(path)} is no transcript, and is left as it is.",
            hint="Name another file for the transcript.",
        )
    return not (form == FORMAT and found.get("key") == key)


def _line(entry: Mapping[str, object]) -> bytes:
    # Half a character cannot be written; it is shown as a question mark.
    return f"{json.dumps(entry, ensure_ascii=False)}\n".encode("utf-8", "replace")


def _mapping(heading: Heading) -> Mapping[str, object]:
    return {
        "council": heading.council,
        "question": heading.question,
        "members": list(heading.members),
        "rounds": list(heading.rounds),
    }


def _shown(path: Path | None) -> str:
    return storable_path(str(path)) if path else ""


@cache
def _all_turns() -> TypeAdapter[MemberTurn]:
    return TypeAdapter(MemberTurn)  # made when first needed: it takes a while


@cache
def _all_minutes() -> TypeAdapter[Minutes]:
    return TypeAdapter(Minutes)
