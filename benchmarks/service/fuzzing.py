"""Requests that Schemathesis makes of the service's own description, of every kind and in sequence.

    python benchmarks/service/fuzzing.py [--examples 200] [--role ROLE ...] [--write]

Each role (a key with the level read, write or admin) has a server with a home of its own, over
loopback, at the same time, and all checks and phases of Schemathesis, the stateful one included.
Every route is asked: those of cloud drives of an rclone that knows none, those of evaluation of two
documents; no worker runs, so that a source that is made up is never read. Nothing may be
answered with 500 or above, nor otherwise than ``/api/openapi.json`` says. Takes about an hour on
two cores.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

sys.path += [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[2])]

from tests.served import TEXTS, Served, serving

from chapterhouse.library import Library
from measuring import Bar, Machine, Table, finish_part

_SERVER_ERRORS: Final = frozenset({"ST101", "ST102"})
ROLES: Final = ("read", "write", "admin")
# The workspace is one that there is, for a made-up name is answered before all else. A request that
# fits the description may name a model or a budget that there is not (400), or a version that has
# changed (412); 422 it may not get, but for a file that cannot be read.
_CONFIGURATION: Final = """\
[parameters]
"header.X-Workspace" = "default"

[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 400, 401, 403, 404, 409, 412, 429]

[[operations]]
include-path = "/api/documents/upload"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 409, 422, 429]

[generation]
with-security-parameters = false
"""


@dataclass(frozen=True, slots=True)
class Found:
    """What one role's run came to.

    Attributes:
        operations: That were tried.
        requests: That were made.
        failures: Of Schemathesis' checks.
        server_errors: Of these, answers of 500 and above.
        seconds: It took.
    """

    operations: int
    requests: int
    failures: int
    server_errors: int
    seconds: float


@contextmanager
def served_home(folder: Path) -> Iterator[Served]:
    """Serve a home with two documents."""
    with Library.open(folder / "home") as library:
        for name, text in TEXTS.items():
            (folder / name).write_text(text)
            library.documents.add(folder / name, shelf=name.partition(".")[0])
    with serving(folder / "home") as served:
        yield served


def fuzz(served: Served, role: str, folder: Path, examples: int, *more: str) -> Found:
    """Let Schemathesis loose on a server.

    Args:
        served: The server.
        role: The level of the key.
        folder: For files of the run.
        examples: At least so many requests an operation.
        more: Further options of Schemathesis.
    """
    (folder / "schemathesis.toml").write_text(_CONFIGURATION)
    report, began = folder / f"{role}.json", time.monotonic()
    command = [
        sys.executable, "-m", "schemathesis.cli",
        "--config-file", str(folder / "schemathesis.toml"), "run",
        f"{served.url}/api/openapi.json", "--checks", "all", "--continue-on-failure",
        "--header", f"Authorization: Bearer {served.key(role)}", "--max-examples", str(examples),
        "--seed", "1", "--no-color", "--generation-database", "none",
        "--report-json-path", str(report), *more,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if not report.exists() or not report.stat().st_size:
        raise RuntimeError(
            f"Schemathesis did not run: {done.stdout[-2_000:]}{done.stderr[-2_000:]}"
        )
    found = _found(report, time.monotonic() - began)
    if found.failures:
        print(done.stdout)
    return found


def _fuzz_home(role: str, examples: int) -> Found:
    with TemporaryDirectory(prefix="fuzzing-") as name, served_home(Path(name)) as served:
        return fuzz(served, role, Path(name), examples)


def _found(report: Path, seconds: float) -> Found:
    told: dict[str, Any] = json.loads(report.read_text())
    if not told["complete"] or told["errors"]:
        raise RuntimeError(f"Schemathesis did not come to its end: {json.dumps(told)[:2_000]}")
    return Found(
        operations=told["operations"]["tested"],
        requests=told["test_cases"]["generated"],
        failures=sum(one["count"] for one in told["failures"]),
        server_errors=sum(
            one["count"] for one in told["failures"] if one["code"] in _SERVER_ERRORS
        ),
        seconds=seconds,
    )


def _bars(found: Mapping[str, Found], examples: int) -> list[Bar]:
    return [
        Bar("roles", len(found), least=len(ROLES)),
        Bar("examples an operation", examples, least=200),
        Bar("answers of 500 and above", sum(one.server_errors for one in found.values()), most=0),
        Bar(
            "answers that differ from the description",
            sum(one.failures - one.server_errors for one in found.values()),
            most=0,
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--role", action="append", choices=ROLES)
    parser.add_argument("--write", action="store_true", help="into the result")
    options = parser.parse_args()
    os.environ["CHAPTERHOUSE_BACKGROUND"] = "0"  # no process outlives its server
    os.environ["RCLONE_CONFIG"] = os.devnull  # whoever runs this may have drives
    machine, roles = Machine(), options.role or ROLES
    with ThreadPoolExecutor(len(roles)) as pool:
        ended = pool.map(lambda role: _fuzz_home(role, options.examples), roles)
        found = dict(zip(roles, ended, strict=True))
    rows = tuple(
        (role, one.operations, one.requests, one.failures, round(one.seconds))
        for role, one in found.items()
    )
    table = Table("What was asked", ("role", "operations", "requests", "failures", "seconds"), rows)
    bars, setting = _bars(found, options.examples), machine.setting("fastapi", "schemathesis")
    result = ("service", "The service", "schemathesis", bars, [table], setting)
    return finish_part(*result, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
