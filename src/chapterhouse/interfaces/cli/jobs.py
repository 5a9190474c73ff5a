"""Commands about long work: jobs list, show, cancel, retry; worker."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

import typer

from chapterhouse.interfaces.cli import progress
from chapterhouse.interfaces.cli.options import argument, common, flag, group, option
from chapterhouse.interfaces.cli.session import FAILED, OK, PARTLY, Outcome, opened_library
from chapterhouse.presenting.blocks import Columns, Style, TerminalBlock, record, table, verbatim
from chapterhouse.presenting.styled import one_line
from chapterhouse.presenting.wording import moment
from chapterhouse.text.counting import counted
from chapterhouse.types import OPEN, UPLOAD, Job, JobState

app = group("List, show, stop and retry long work.")

_COLOURS: Final = {
    JobState.PENDING: Style.QUIET,
    JobState.RUNNING: Style.STRONG,
    JobState.DONE: Style.GOOD,
    JobState.PARTIAL: Style.WARNING,
    JobState.FAILED: Style.BAD,
    JobState.CANCELLED: Style.WARNING,
}
_NOT_PLAIN: Final = ("problems", "documents")  # shown below; ids are for programs

JobId = Annotated[str, argument("JOB", "The id of a job, as j12.")]


@app.command("list")
def list_jobs(
    *,
    open_: Annotated[bool, flag("--open", "Only jobs that wait or run.")] = False,
    lane: Annotated[str, option("--lane", "LANE", "Only jobs of this lane: one folder.")] = "",
) -> Outcome:
    """List the jobs, newest first."""
    with opened_library(background=False) as library:
        found = library.jobs.list(OPEN if open_ else (), lane)
        return Outcome(found, _table(found))


@app.command()
def show(job: JobId) -> Outcome:
    """Show a job: how far it is, and what it works on; or how it ended."""
    with opened_library(background=False) as library:
        found = library.jobs.get(job)
        return Outcome(found, _record(found))


@app.command()
def cancel(job: JobId) -> Outcome:
    """Stop a job. What it has done stays.

    One that runs ends within a few seconds, wherever it runs.
    """
    with opened_library(background=False) as library:
        found = library.jobs.cancel(job)
        what = "is cancelled" if found.state is JobState.CANCELLED else "is being stopped"
        return Outcome(found, [verbatim("Job ", (found.id, Style.STRONG), f" {what}.")])


@app.command()
def retry(job: JobId) -> Outcome:
    """Leave the work of a job that has ended to the next worker, as a new job."""
    with opened_library(background=False) as library:
        found = library.jobs.retry(job)
        return Outcome(found, waits(found))


def worker(
    *,
    once: Annotated[bool, flag("--once", "End after one job.")] = False,
    uploads: Annotated[bool, flag("--uploads", "Only files received over HTTP.")] = False,
    idle_seconds: Annotated[
        int | None,
        option("--idle-seconds", "N", "End when there was nothing to do for so long.", least=0),
    ] = None,
) -> Outcome:
    """Do the long work that waits.

    One job after the other, each lane in turn. Several workers may run on one library. Ctrl-C and
    SIGTERM end it after what was written last, and give the job at hand back. Exit code 4 says
    that a job is partial, 1 that one failed.
    """

    def report(job: Job) -> None:
        if not common().quiet:
            line = f"{job.id} {job.kind} {job.lane}: {job.state.value} {job.error}".rstrip()
            typer.echo(one_line(line), err=True)

    ended: tuple[Job, ...] = ()
    while True:
        with (
            opened_library(create=True, background=False) as library,
            progress.show_progress() as on_progress,
        ):
            ended += library.jobs.work(
                once=once,
                kind=UPLOAD if uploads else "",
                idle_seconds=idle_seconds,
                on_progress=on_progress,
                on_end=report,
                is_outdated=library.settings_changed,
            )
            if once or not library.settings_changed():
                return Outcome(ended, _table(ended), _code(ended))


def _code(ended: tuple[Job, ...]) -> int:
    states = {job.state for job in ended}
    if JobState.FAILED in states:
        return FAILED
    return PARTLY if JobState.PARTIAL in states else OK


# --- what is shown ------------------------------------------------------------------------------


def waits(job: Job) -> Iterator[TerminalBlock]:
    """Say that a job waits, and what does it."""
    yield verbatim("Job ", (job.id, Style.STRONG), " waits.")
    yield verbatim("Do it: chapterhouse worker")


def _table(found: Sequence[Job]) -> Iterator[TerminalBlock]:
    return table(
        found,
        "id",
        "kind",
        ("state", _state),
        ("done", _count),
        ("created", lambda job: moment(job.created)),
        "lane",
        none="No jobs.",
        whole={0},
        below=lambda job: job.error,
    )


def _record(value: Job) -> Iterator[TerminalBlock]:
    yield verbatim((value.id, Style.STRONG), " ", (_state(value), _COLOURS[value.state]))
    yield record(
        value,
        "kind",
        "lane",
        *((name, _text(entry)) for name, entry in value.arguments.items()),
        "attempts",
        ("created", moment(value.created)),
        ("started", moment(value.started)),
        ("finished", moment(value.finished)),
        ("waits until", moment(value.waits_until)),
        "worker",
        ("done", _count(value)),
        ("last", value.current),
        "error",
        "hint",
    )
    if value.state in OPEN and value.in_flight:
        yield verbatim(("Being worked on", Style.STRONG))
        files = [(file.step.value, file.source) for file in value.in_flight]
        yield Columns(files, header=False)
    if value.result:
        yield from _result(value)


def _result(value: Job) -> Iterator[TerminalBlock]:
    yield verbatim(("What came of it", Style.STRONG))
    shown = {name: one for name, one in value.result.items() if name not in _NOT_PLAIN}
    plain = [(name, text) for name, entry in shown.items() if (text := _text(entry))]
    yield Columns(plain or [("", "")], header=False)
    problems = value.result.get("problems")
    for problem in problems if isinstance(problems, list) else ():
        yield verbatim(f"{problem['status']:<12}{problem['source']}")
        yield verbatim(f"{problem['sentence']} ({problem['code']})", indent=12)


def _text(entry: object) -> str:
    if isinstance(entry, dict):
        return ", ".join(f"{name} {number}" for name, number in entry.items())
    if isinstance(entry, list):
        return ", ".join(one["source"] if isinstance(one, dict) else str(one) for one in entry)
    return str(entry)


def _state(job: Job) -> str:
    if job.cancelling and job.state is JobState.RUNNING:
        return "being stopped"
    return "waiting" if job.waits_until else job.state.value


def _count(job: Job) -> str:
    return f"{job.done:,} of {counted(job.total, 'file')}" if job.total else ""
