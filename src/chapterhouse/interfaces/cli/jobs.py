"""Commands about long work: jobs list, show, cancel, retry; worker."""

from typing import Annotated

import typer

from chapterhouse.interfaces.cli import progress, render_jobs
from chapterhouse.interfaces.cli.options import argument, common, flag, group, option
from chapterhouse.interfaces.cli.session import FAILED, OK, PARTLY, Outcome, opened_library
from chapterhouse.types import OPEN, Job, JobState

app = group("List, show, stop and retry long work.")

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
        return Outcome(found, render_jobs.jobs(found))


@app.command()
def show(job: JobId) -> Outcome:
    """Show a job: how far it is, and what it works on; or how it ended."""
    with opened_library(background=False) as library:
        found = library.jobs.get(job)
        return Outcome(found, render_jobs.job(found))


@app.command()
def cancel(job: JobId) -> Outcome:
    """Stop a job. What it has done stays.

    One that runs ends within a few seconds, wherever it runs.
    """
    with opened_library(background=False) as library:
        found = library.jobs.cancel(job)
        return Outcome(found, render_jobs.cancelled(found))


@app.command()
def retry(job: JobId) -> Outcome:
    """Leave the work of a job that has ended to the next worker, as a new job."""
    with opened_library(background=False) as library:
        found = library.jobs.retry(job)
        return Outcome(found, render_jobs.waits(found))


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
            typer.echo(render_jobs.line(job), err=True)

    with opened_library(create=True, background=False) as library:
        with progress.show_progress() as on_progress:
            ended = library.jobs.work(
                once=once,
                uploads=uploads,
                idle_seconds=idle_seconds,
                on_progress=on_progress,
                on_end=report,
            )
        return Outcome(ended, render_jobs.jobs(ended), _code(ended))


def _code(ended: tuple[Job, ...]) -> int:
    states = {job.state for job in ended}
    if JobState.FAILED in states:
        return FAILED
    return PARTLY if JobState.PARTIAL in states else OK
