from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from chapterhouse.interfaces.api.schemas import (
    SearchBody,
    Text,
    TextBody,
    document_result,
    job_result,
)
from chapterhouse.library import Library
from chapterhouse.types import Job, JobState


@pytest.mark.parametrize("limit", ["5", True, 5.5, 0, 101, 10**400])
def test_a_number_is_one_of_json_and_within_its_bounds(limit: Any) -> None:
    with pytest.raises(ValidationError):
        SearchBody(query="ferry", limit=limit)


def test_a_number_may_be_written_with_a_fraction_of_nothing() -> None:
    assert SearchBody(query="ferry", limit=5.0).limit == 5  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_half_of_a_surrogate_pair_is_no_text(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Text).validate_python(text)
    with pytest.raises(ValidationError):
        TextBody(text=text)


def test_a_member_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValidationError, match="more"):
        SearchBody.model_validate({"query": "ferry", "more": 1})


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
    shown = job_result(failed)
    assert "/home/ada" not in shown.model_dump_json()
    assert shown.result["n"] == 1
