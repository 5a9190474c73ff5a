"""Work off the jobs of a store until none is left, or somebody kills us.

``job_process.py HOME [WORD]``; a line is ``<begin|end> <job> <lane> <time>``. A file that holds
WORD kills the process while its document is prepared, as a fault of a library in it would.
"""

import os
import runpy
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from chapterhouse.ingest.ingest import add
from chapterhouse.ingest.jobs import JobResult, Runner, Tracker, claim, ended, run_job
from chapterhouse.ingest.look import ReadingContext
from chapterhouse.ingest.workers import Worker
from chapterhouse.store.blobs import Blobs
from chapterhouse.store.sqlite import Store
from chapterhouse.types import Job


def write(what: str, job: Job) -> None:
    sys.stdout.write(f"{what} {job.id} {job.lane} {time.monotonic()}\n")
    sys.stdout.flush()


def main(home: Path, word: str) -> None:
    parts = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
    blobs, worker = Blobs(home / "blobs"), Worker(home / "background")
    with Store(home / "library.db", blobs=blobs) as store, ThreadPoolExecutor(2) as executor:
        made = parts["Home"](home, store, blobs, executor)
        prepare = made.prepare

        def prepared(extraction: Any, *more: Any) -> Any:
            if word and word in extraction.pages[0].text:
                os.kill(os.getpid(), signal.SIGKILL)
            return prepare(extraction, *more)

        runner = Runner(store, worker)
        while (job := claim(runner)) is not None:
            write("begin", job)
            paths = [Path(path) for path in job.arguments["paths"]]  # type: ignore[attr-defined]

            def work(tracker: Tracker, paths: list[Path] = paths) -> JobResult:
                report = add(paths, tracker.follow(ReadingContext(store, made.read, prepared)))
                write("end", tracker.ended())
                return ended(report)

            run_job(job, work, runner)
    worker.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3] or [""])
