"""The process that reads files: one at a time, until the stream ends.

Started by `chapterhouse.reading.pool` with ``python -c``, so that whatever the parent's main
module is, it is not run again here.
"""

import importlib
import json
import os
from collections.abc import Callable
from typing import Any

from chapterhouse.errors import RejectedError
from chapterhouse.reading import budget, sandbox, wire
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction

Read = Callable[[bytes, str, Limits], Extraction]


def main(descriptor: int, settings: str) -> None:
    """Serve jobs from ``descriptor`` and quit without running any exit handler.

    ``settings`` is JSON: ``reader`` (``module:function``), ``limits``, ``programs``, ``parent``.
    """
    status = 0
    try:
        _serve(descriptor, json.loads(settings))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone or has closed the pool
    except BaseException:  # noqa: BLE001 - nothing may escape: see below
        status = 1
    finally:
        os._exit(status)  # native libraries abort in the interpreter's own shutdown


def _serve(descriptor: int, settings: dict[str, Any]) -> None:
    limits = Limits(**settings["limits"])
    module, _, function = settings["reader"].partition(":")
    imported = importlib.import_module(module)
    read: Read = getattr(imported, function)
    own = (os.path.dirname(imported.__file__),) if imported.__file__ else ()  # noqa: PTH120
    held = sandbox.enter(limits, frozenset(settings["programs"]), settings["parent"], own)

    def extend(seconds: float) -> None:
        sandbox.allow_cpu(limits.cpu_seconds + seconds)  # some slow steps run in this process
        _write(descriptor, wire.encode_extension(seconds))

    budget.on_request(extend)
    ceiling = limits.file_bytes + 1_000_000
    _write(descriptor, wire.pack(wire.Frame.READY, json.dumps(held).encode()))
    while True:
        _, body = wire.read_frame(lambda count: _receive(descriptor, count), ceiling)
        data, name, cpu_seconds = wire.decode_job(body)
        del body
        sandbox.allow_cpu(cpu_seconds)
        _write(descriptor, answer(read, data, name, limits))


def answer(read: Read, data: bytes, name: str, limits: Limits) -> bytes:
    """Read one file and return the frame that tells how it went, whatever happens."""
    try:
        return wire.encode_extraction(read(data, name, limits), sandbox.peak_rss_bytes())
    except RejectedError as error:
        rejection = error
    except MemoryError:
        rejection = RejectedError(
            "out-of-memory", "Reading it needed more memory than a worker may use."
        )
    except ImportError as error:
        rejection = RejectedError("reader-crashed", f"A part of the reader is missing: {error}.")
    except RecursionError:
        rejection = RejectedError("too-deep", "Its parts are nested too deeply to be read.")
    except Exception as error:  # noqa: BLE001 - the boundary: parsers raise what they like
        detail = f"{type(error).__name__}: {error}"[:300]
        rejection = RejectedError("unreadable", f"It could not be read ({detail}).")
    return wire.encode_rejection(rejection, sandbox.peak_rss_bytes())


def _receive(descriptor: int, count: int) -> bytes:
    first = os.read(descriptor, min(count, 1 << 20)) if count else b""
    if len(first) == count:
        return first
    parts, missing = [first], count - len(first)
    while missing:
        if not parts[-1]:
            raise EOFError
        parts.append(os.read(descriptor, min(missing, 1 << 20)))
        missing -= len(parts[-1])
    return b"".join(parts)


def _write(descriptor: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(descriptor, view) :]
