"""What people see of jobs."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from chapterhouse.interfaces.cli.terminal import one_line
from chapterhouse.presenting.blocks import Block, Columns, Style, verbatim
from chapterhouse.text.counting import counted
from chapterhouse.types import OPEN, Job, JobState

_COLOURS: Final = {
    JobState.PENDING: Style.QUIET,
    JobState.RUNNING: Style.STRONG,
    JobState.DONE: Style.GOOD,
    JobState.PARTIAL: Style.WARNING,
    JobState.FAILED: Style.BAD,
    JobState.CANCELLED: Style.WARNING,
}
_NOT_PLAIN: Final = ("problems", "documents")  # shown below; ids are for programs


def waits(job: Job) -> Iterator[Block]:
    """Say that a job waits, and what does it."""
    yield verbatim("Job ", (job.id, Style.STRONG), " waits.")
    yield verbatim("Do it: chapterhouse worker")


def cancelled(job: Job) -> Iterator[Block]:
    """Say what became of a job that is to be stopped."""
    if job.state is JobState.CANCELLED:
        yield verbatim("Job ", (job.id, Style.STRONG), " is cancelled.")
    else:
        yield verbatim("Job ", (job.id, Style.STRONG), " is being stopped.")


def jobs(found: Sequence[Job]) -> Iterator[Block]:
    """List jobs, a line each."""
    if not found:
        yield verbatim("No jobs.")
        return
    rows = [("id", "kind", "state", "done", "created", "lane")]
    rows += [
        (job.id, job.kind, _state(job), _count(job), _time(job.created), job.lane) for job in found
    ]
    yield Columns(rows, whole={0}, below=["", *(job.error for job in found)])


def line(job: Job) -> str:
    """Return in a line how a job ended."""
    return one_line(f"{job.id} {job.kind} {job.lane}: {job.state.value} {job.error}".rstrip())


def job(value: Job) -> Iterator[Block]:
    """Show everything known of a job."""
    yield verbatim((value.id, Style.STRONG), " ", (_state(value), _COLOURS[value.state]))
    rows = [
        ("kind", value.kind),
        ("lane", value.lane),
        *((name, _text(entry)) for name, entry in value.arguments.items()),
        ("attempts", f"{value.attempts:,}"),
        ("created", _time(value.created)),
        ("started", _time(value.started)),
        ("finished", _time(value.finished)),
        ("waits until", _time(value.waits_until)),
        ("worker", value.worker),
        ("done", _count(value)),
        ("last", value.current),
        ("error", value.error),
        ("hint", value.hint),
    ]
    yield Columns([row for row in rows if row[1]], header=False)
    if value.state in OPEN and value.in_flight:
        yield verbatim(("Being worked on", Style.STRONG))
        files = [(file.step.value, file.source) for file in value.in_flight]
        yield Columns(files, header=False)
    if value.result:
        yield from _result(value)


def _result(value: Job) -> Iterator[Block]:
    yield verbatim(("What came of it", Style.STRONG))
    shown = {name: one for name, one in value.result.items() if name not in _NOT_PLAIN}
    plain = [(name, _text(entry)) for name, entry in shown.items()]
    yield Columns([row for row in plain if row[1]] or [("", "")], header=False)
    problems = value.result.get("problems")
    for problem in problems if isinstance(problems, list) else ():
        yield verbatim(f"{problem['status']:<12}{problem['source']}")
        yield verbatim(f"{problem['sentence']} ({problem['code']})", indent=12)


def _text(entry: object) -> str:
    if isinstance(entry, dict):
        return ", ".join(f"{name} {number}" for name, number in entry.items())
    return ", ".join(map(str, entry)) if isinstance(entry, list) else str(entry)


def _state(job: Job) -> str:
    if job.cancelling and job.state is JobState.RUNNING:
        return "being stopped"
    return "waiting" if job.waits_until else job.state.value


def _count(job: Job) -> str:
    return f"{job.done:,} of {counted(job.total, 'file')}" if job.total else ""


def _time(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC" if seconds else ""
