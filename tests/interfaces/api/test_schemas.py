from dataclasses import replace
from pathlib import Path

from chapterhouse.interfaces.api.schemas import (
    JobResult,
    document_result,
)
from chapterhouse.library import Library
from chapterhouse.types import Job, JobState


def test_a_document_names_only_the_shelves_that_a_client_may_know(tmp_path: Path) -> None:
    with Library.open(tmp_path) as library:
        made = library.documents.add_text("Gulls nest.", shelf="open").outcomes[0].record
        library.documents.set_shelves(made.document_id or "", ["open", "hidden"])
        (document,) = library.documents.list()
    assert set(document_result(document, None).shelves) == {"open", "hidden"}
    assert document_result(document, ("open",)).shelves == ("open",)


def test_a_job_is_shown_without_paths(tmp_path: Path) -> None:
    with Library.open(tmp_path) as library:
        job = library.sources.sync_later()
    assert isinstance(job, Job)
    path = "/home/ada/papers/secret.md"
    failed = replace(
        job,
        state=JobState.FAILED,
        error=f"Cannot read {path}.",
        result={"a": [f"see {path}", {"b": path}], "n": 1},
    )
    shown = JobResult.of(failed)
    assert "/home/ada" not in shown.model_dump_json()
    assert shown.result["n"] == 1
