from typing import Any

from chapterhouse.ingest.preview import preview
from chapterhouse.types import Scope, Status


def _planned(home: Any) -> dict[str, tuple[Status, str]]:
    report = preview([home.folder], store=home.store, maximum_bytes=100)
    return {
        outcome.record.source: (outcome.record.status, outcome.record.code)
        for outcome in report.outcomes
    }


def test_a_plan_says_what_each_file_would_meet(home: Any) -> None:
    home.write("old.md", "Old words.")
    home.add()
    home.write("new.md", "New words.")
    home.write("large.md", "Many words. " * 20)
    (home.folder / "link.md").symlink_to("new.md")
    assert _planned(home) == {
        "docs/large.md": (Status.REJECTED, "too-large"),
        "docs/link.md": (Status.SKIPPED, "symbolic-link"),  # as an add would end it
        "docs/new.md": (Status.SKIPPED, "would-be-read"),
        "docs/old.md": (Status.SKIPPED, "unchanged"),
    }


def test_a_file_whose_document_was_removed_would_be_read(home: Any) -> None:
    home.write("old.md", "Old words.")
    home.add()
    (document,) = home.store.documents(Scope.everything())
    home.store.remove(document.id)
    planned = _planned(home)
    report = home.add()
    assert report.changed == 1
    assert planned == {"docs/old.md": (Status.SKIPPED, "would-be-read")}
