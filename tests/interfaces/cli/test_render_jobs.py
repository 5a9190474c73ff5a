"""What people see of jobs."""

from dataclasses import replace

from chapterhouse.interfaces.cli.render_jobs import job, jobs, line
from chapterhouse.presenting.blocks import Block, Columns
from chapterhouse.types import FileInFlight, Job, JobState, Step

RUNNING = Job(
    "j3",
    "add",
    {"paths": ["/papers"], "shelf": "library"},
    "/papers",
    JobState.RUNNING,
    attempts=1,
    created=1_700_000_000,
    started=1_700_000_005,
    worker="here_7_00ff",
    done=40,
    total=120,
    current="papers/a.pdf",
    in_flight=(FileInFlight("/papers/b.pdf", "papers/b.pdf", Step.READING),),
)


def text(blocks: list[Block]) -> str:
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Columns):
            lines += [" ".join(row) for row in block.rows] + list(block.below)
        else:
            lines.append(str(block))
    return "\n".join(lines)


def test_a_running_job_says_how_far_it_is_and_at_what() -> None:
    shown = text(list(job(RUNNING)))
    assert "done 40 of 120 files" in shown
    assert "reading papers/b.pdf" in shown
    assert "started 2023-11-14 22:13:25 UTC" in shown
    assert "finished" not in shown


def test_one_that_is_being_stopped_says_so() -> None:
    assert "being stopped" in text(list(jobs([replace(RUNNING, cancelling=True)])))


def test_a_postponed_job_says_why_and_until_when() -> None:
    waiting = replace(
        RUNNING, state=JobState.PENDING, error="No space.", waits=1, waits_until=1_700_000_065
    )
    assert "waits until 2023-11-14 22:14:25 UTC" in text(list(job(waiting)))
    listed = text(list(jobs([waiting])))
    assert "waiting" in listed
    assert "No space." in listed


def test_a_failed_job_says_why() -> None:
    failed = replace(RUNNING, state=JobState.FAILED, error="No\nspace.", hint="Free some.")
    assert line(failed) == "j3 add /papers: failed No space."
    shown = text(list(job(failed)))
    assert "hint Free some." in shown
    assert "papers/b.pdf" not in shown
    assert "left" not in shown
    assert "No\nspace." in text(list(jobs([failed])))
