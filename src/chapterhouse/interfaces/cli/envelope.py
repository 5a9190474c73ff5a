"""The JSON that commands print: one object on one line, with keys in order."""

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from enum import Enum

from chapterhouse import __version__


def success(
    data: object, *, workspace: str, seconds: float, trace: object = None
) -> dict[str, object]:
    """Wrap a result. Times stand only in ``meta``: ``data`` is the same on every run."""
    return {"ok": True, "data": plain(data), "meta": _meta(workspace, seconds, trace)}


def failure(
    kind: str,
    message: str,
    hint: str = "",
    *,
    workspace: str = "",
    seconds: float = 0.0,
    trace: object = None,
) -> dict[str, object]:
    """Wrap an error."""
    error = {"type": kind, "message": message, "hint": hint}
    return {"ok": False, "error": error, "meta": _meta(workspace, seconds, trace)}


def write(value: Mapping[str, object]) -> None:
    """Print an envelope on standard output, in UTF-8 whatever the locale says."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    # A file name that is no UTF-8 holds lone surrogates; \udcNN is how JSON spells them.
    sys.stdout.flush()
    sys.stdout.buffer.write(line.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def plain(value: object) -> object:
    """Return dataclasses as objects, enums as their values, tuples as lists; the rest as it is."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(entry) for entry in value]
    return value


def _meta(workspace: str, seconds: float, trace: object) -> dict[str, object]:
    meta = {"version": __version__, "workspace": workspace, "seconds": round(seconds, 3)}
    return meta if trace is None else {**meta, "trace": trace}
