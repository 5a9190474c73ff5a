"""What is said in a meeting, put on disk as soon as it is said, so that no crash loses it.

A line of JSON for the meeting, then one for each turn in the order in which they were completed,
and the minutes at the end (https://github.com/ndjson/ndjson-spec). Held again with the same key, a
meeting goes on from there, and what the file says is believed. The key stands for everything that
a turn depends on, so that what is found is what would be said.
"""

import fcntl
import hashlib
import json
import os
import stat
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from pydantic import TypeAdapter, ValidationError

from chapterhouse.agents.council import as_object
from chapterhouse.agents.councils import Councils
from chapterhouse.answering.runtime import Runtime
from chapterhouse.council.meeting.session import MeetingOptions, Participant, Session
from chapterhouse.errors import ChapterhouseError, CorruptLibraryError, RefusedError, UsageError
from chapterhouse.files import make_folder, sync_folder
from chapterhouse.text.naming import storable_path
from chapterhouse.types import Absence, MemberTurn, Memory, Minutes

FORMAT: Final = "chapterhouse-transcript/4"
MEETINGS: Final = "meetings"  # folder of a council that holds the transcripts
_BEGINNING: Final = b'{"format": "chapterhouse-transcript/'
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_HINT: Final = "Name another file for the transcript."


class Transcript:
    """What was said in a meeting, and the file that it is written to. A context manager.

    Safe to share between threads. Whatever was added is on disk once the method returns.

    Attributes:
        path: The file; None where everything is in memory.
        aside: Where the transcript of another meeting is now that stood in the file, or None.
        minutes: The minutes, if nothing was said after them.
    """

    def __init__(self) -> None:
        """Keep everything in memory; see ``open``."""
        self.path: Path | None = None
        self.aside: Path | None = None
        self.minutes: Minutes | None = None
        self._turns: dict[tuple[int, str], MemberTurn] = {}
        self._lock = threading.Lock()
        self._descriptor = -1
        self._length = 0

    @classmethod
    def open(
        cls, path: Path | None, key: str, heading: Mapping[str, object], *, fresh: bool = False
    ) -> Self:
        """Open the transcript of a meeting, to go on from it or to begin it.

        A transcript of another meeting in the same file is put aside, as ``NAME.1.ndjson`` and so
        on. Half a line at the end, from a crash, is cut off: nobody was told that it is there.

        Args:
            path: The file, made for its owner's eyes only; None keeps everything in memory.
            key: Of the meeting, see ``open_transcript``.
            heading: What a new file says of its meeting, for people who open it.
            fresh: Whether to begin anew in any case.

        Raises:
            RefusedError: another process writes to the file, or it is no transcript.
            CorruptLibraryError: a line of it is damaged.
        """
        transcript = cls()
        if path is None:
            return transcript
        transcript.path = path
        try:
            transcript._begin(_lock(path), {"format": FORMAT, "key": key, **heading}, fresh=fresh)
        except OSError as error:
            transcript.close()
            message = f"The transcript {_shown(path)} cannot be opened: {error.strerror}."
            raise UsageError(message, hint=_HINT) from error
        except BaseException:
            transcript.close()
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

    def turn(self, number: int, member: str) -> MemberTurn | None:
        """Return what a member said in round ``number``, counted from 1, or None."""
        return self._turns.get((number, member))

    def add_turn(self, number: int, turn: MemberTurn) -> None:
        """Keep what a member said, instead of what else they said there before.

        Raises ``ChapterhouseError`` where it could not be written.
        """
        place = number, turn.member
        own = _adapter(MemberTurn).dump_python(turn, mode="json")
        entry = {"round": turn.round, "number": number, "member": turn.member, "turn": own}
        with self._lock:
            if self._turns.get(place) != turn:
                self._append(entry)
                self._turns[place], self.minutes = turn, None

    def add_absence(self, number: int, absence: Absence) -> None:
        """Keep that a member did not speak; next time they may. Raises as ``add_turn``."""
        own = {"member": absence.member, "round": absence.round, "reason": absence.reason}
        with self._lock:
            self._append({"number": number, "absence": own})
            self.minutes = None

    def add_minutes(self, minutes: Minutes) -> None:
        """Keep what came of the meeting. Raises as ``add_turn``."""
        with self._lock:
            if minutes != self.minutes:
                self._append({"minutes": _adapter(Minutes).dump_python(minutes, mode="json")})
            self.minutes = minutes

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)  # releases the lock
            self._descriptor = -1

    def _append(self, entry: Mapping[str, object]) -> None:
        """Add a line, or leave the file as it was."""
        if self.path is None:
            return
        # Half a character cannot be written; it is shown as a question mark.
        line = f"{json.dumps(entry, ensure_ascii=False)}\n".encode("utf-8", "replace")
        try:
            _write(self._descriptor, line)
            os.fsync(self._descriptor)
        except OSError as error:
            try:
                self._cut(self._length)
            except OSError:  # half a line may stand there, behind which nothing may
                self.close()
            raise ChapterhouseError(
                f"The transcript {_shown(self.path)} cannot be written to: {error.strerror}.",
                hint="What was written before is safe. Free space on the disk, or name another"
                " file.",
            ) from error
        self._length += len(line)

    def _cut(self, length: int) -> None:
        os.ftruncate(self._descriptor, length)
        os.fsync(self._descriptor)
        self._length = length

    def _begin(self, descriptor: int, first: Mapping[str, object], *, fresh: bool) -> None:
        """Take up what the file holds, or put it aside and write the first line."""
        self._descriptor = descriptor
        assert self.path is not None
        beginning = os.pread(descriptor, len(_BEGINNING), 0)
        if not _BEGINNING.startswith(beginning):
            raise RefusedError(
                f"{_shown(self.path)} is no transcript, and is left as it is.", hint=_HINT
            )
        with os.fdopen(os.dup(descriptor), "rb") as stream:
            held = stream.read()
        whole = held.rfind(b"\n") + 1
        lines = held[:whole].split(b"\n")[:-1]
        is_same = bool(lines) and _names(lines[0], first)
        if lines and (fresh or not is_same):
            self.aside, lines, whole = _copy_aside(self.path, held), [], 0
        self._cut(whole)
        if not lines:
            self._append(first)
            sync_folder(self.path.parent)
        for number, line in enumerate(lines[1:], start=2):
            self._take_up(line, number)

    def _take_up(self, line: bytes, number: int) -> None:
        try:
            entry = json.loads(line)
            self.minutes = None
            if "turn" in entry:
                place = int(entry["number"]), str(entry["member"])
                self._turns[place] = _adapter(MemberTurn).validate_python(entry["turn"])
            elif "minutes" in entry:
                self.minutes = _adapter(Minutes).validate_python(entry["minutes"])
            elif "absence" not in entry:
                raise ValueError("it says nothing that is known")  # noqa: TRY301 - see below
        except (ValueError, TypeError, KeyError, RecursionError, ValidationError) as error:
            raise CorruptLibraryError(
                f"Line {number} of the transcript {_shown(self.path)} is damaged.",
                hint="Begin the meeting anew with --fresh, which puts the file aside, or take "
                "the line out.",
            ) from error


def _lock(path: Path) -> int:
    """Open a file for this process alone."""
    make_folder(path.parent)
    descriptor = os.open(path, _FLAGS, 0o600)
    is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
    with suppress(BlockingIOError):
        if is_plain:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
    os.close(descriptor)
    if not is_plain:
        raise RefusedError(f"{_shown(path)} is no plain file.", hint=_HINT)
    raise RefusedError(
        f"Another meeting is written to {_shown(path)} at this moment.",
        hint="Wait until it has ended, or name another file for the transcript.",
    )


def _copy_aside(path: Path, held: bytes) -> Path:
    """Copy what a file holds to the first of ``NAME.1.SUFFIX`` and so on that is free."""
    for number in count(1):
        aside = path.with_name(f"{path.stem}.{number}{path.suffix}")
        with suppress(FileExistsError):
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(held)
                stream.flush()
                os.fsync(descriptor)
            sync_folder(path.parent)
            return aside
    raise AssertionError


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _names(line: bytes, first: Mapping[str, object]) -> bool:
    """Whether a first line is that of the same meeting."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return all(found.get(name) == first[name] for name in ("format", "key"))


def _shown(path: Path | None) -> str:
    return storable_path(str(path)) if path else ""


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)  # made when first needed: it takes a while


# --- of a meeting -------------------------------------------------------------------------------


def open_transcript(
    session: Session,
    choices: MeetingOptions,
    runtime: Runtime,
    reminders: Mapping[str, tuple[Memory, ...]],
) -> Transcript:
    """Open the transcript: where the caller says, else in the council's folder if it has one."""
    council, everyone = session.council, session.everyone
    key = key_of(
        {
            "format": FORMAT,
            "council": as_object(council),
            "question": session.question.strip(),
            "sequence": runtime.store.sequence(),  # with it all documents and shelves
            "models": {one.key: one.model.fingerprint for one in everyone if one.model},
            "personas": {one.key: _dependencies(one, reminders) for one in everyone},
            "tools": {
                one.key: [f"{tool.name} {tool.fingerprint}" for tool in one.tools]
                for one in everyone
            },
            "settings": {},  # a member's own stand with them
            "versions": dict(runtime.versions),
        }
    )
    heading = {
        "council": council.slug,
        "question": session.question,
        "members": [one.key for one in everyone],
        "rounds": [entry.name for entry in council.rounds],
    }
    path = choices.transcript
    if path is None and council.slug in Councils(runtime).names():
        path = Councils(runtime).folder(council.slug) / MEETINGS / f"{key[:16]}.ndjson"
    return Transcript.open(path, key, heading, fresh=choices.fresh)


def key_of(depends_on: Mapping[str, object]) -> str:
    """Return the SHA-256 of everything on which it depends what is said in a meeting."""
    line = json.dumps(depends_on, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()


def _dependencies(participant: Participant, reminders: Mapping[str, tuple[Memory, ...]]) -> str:
    """Return, as text, what a participant's turns depend on beside model and tools."""
    one = participant
    own = f"{one.title} {one.instructions} {one.grounding} {one.request!r}"
    reminded = [memory.id for memory in reminders.get(participant.key, ())]
    inner = participant.inner.everyone if participant.inner else ()
    council = participant.inner.council.to_json() if participant.inner else ""
    models = [one.model.fingerprint if one.model else "" for one in inner]
    within = (_dependencies(one, {}) for one in inner)
    return " ".join([own, *reminded, council, *models, *within])
