"""Which files an add looks at: each once, under one name, whatever leads to it."""

from pathlib import Path
from typing import Any

import pytest

from chapterhouse.connectors.content import open_all
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.ingest.find import find_archive, find_document
from chapterhouse.ingest.ingest import preview
from chapterhouse.ingest.plan import find_file, make_plan
from chapterhouse.ingest.renames import find_renames
from chapterhouse.types import Scope, Status


def planned(home: Any, *paths: Path) -> list[str]:
    return [file.source for file in make_plan(paths, home.store).files]


def test_a_file_is_looked_at_once_however_many_paths_lead_to_it(home: Any) -> None:
    path = home.write("part/a.md", "A text.")
    home.write("b.md", "A text.")
    sources = planned(home, home.folder, home.folder / "part", path, home.folder)
    assert sources == ["docs/b.md", "docs/part/a.md"]
    assert (home.store.roots(), list(home.store.files())) == ((), [])  # a plan writes nothing


def test_the_file_of_a_document_is_found_again_while_it_is_there(home: Any) -> None:
    path = home.write("part/a.md", "A text.")
    home.add()
    (document,) = home.store.documents(Scope.everything())
    file = find_file(document, home.store)
    assert file is not None
    assert (file.location, file.source) == (str(path), "docs/part/a.md")
    assert find_archive("a.md", home.store) is None
    path.unlink()
    assert find_file(document, home.store) is None


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


PROSE = "# Badges\n\nA badge is valid for a year. It is blue and has a picture of its owner.\n"
LARGEST = 10**6


def renames(home: Any) -> list[tuple[str, str]]:
    found = find_renames(make_plan([home.folder], home.store), open_all, LARGEST)
    return [(record.source, file.source) for record, file, _ in found.moves]


def test_nothing_is_opened_where_nothing_is_gone(home: Any) -> None:
    home.write("a.md", PROSE)
    home.add()
    home.write("b.md", PROSE)
    opened: list[str] = []

    def contents(files: Any, maximum: int) -> Any:
        opened.extend(file.source for file in files)
        return open_all(files, maximum)

    assert find_renames(make_plan([home.folder], home.store), contents, LARGEST).moves == ()
    assert opened == []


def test_of_equal_files_that_of_the_same_name_is_taken_and_none_that_is_there(home: Any) -> None:
    for name in ("x/one.md", "y/two.md", "touched.md"):
        home.write(name, PROSE)
    home.add()
    home.write("touched.md", PROSE, time=1_700_000_000)
    for name in ("x/one.md", "y/two.md"):
        (home.folder / name).rename(home.folder / Path(name).name)
    assert renames(home) == [("docs/x/one.md", "docs/one.md"), ("docs/y/two.md", "docs/two.md")]


# --- which document a name means, and what is said where it means none or several ---


@pytest.fixture
def filled(home: Any) -> Any:
    home.write("fees.md", "Fees of the harbour.")
    home.write("old/fees.md", "Older fees of the harbour.")
    home.write("rules.md", "Rules of the harbour.")
    home.write("locked.md", "ENCRYPTED")
    home.write("more/locked.md", "ENCRYPTED")
    home.add()
    return home


def test_a_document_is_found_by_id_its_beginning_source_place_and_name(filled: Any) -> None:
    (rules,) = [
        one for one in filled.store.documents(Scope.everything()) if one.source == "docs/rules.md"
    ]
    for name in (rules.id, rules.id[:-3], rules.source, rules.location, "RULES.md"):
        assert find_document(name, filled.store) == rules


def test_a_name_that_fits_several_is_asked_about(filled: Any) -> None:
    with pytest.raises(UsageError, match="fits 2 documents") as told:
        find_document("fees.md", filled.store)
    assert "docs/fees.md" in told.value.hint
    assert "docs/old/fees.md" in told.value.hint
    assert find_document("docs/fees.md", filled.store).source == "docs/fees.md"


def test_what_is_not_there_is_said_and_what_was_not_read_says_why(filled: Any) -> None:
    with pytest.raises(UsageError, match="is empty"):
        find_document("  ", filled.store)
    with pytest.raises(NotFoundError, match="No document is called 'nothing'"):
        find_document("nothing", filled.store)
    with pytest.raises(NotFoundError, match=r"gave no document \(rejected, encrypted\)") as told:
        find_document("locked.md", filled.store)
    assert told.value.hint.startswith("2 files have that name.")
    with pytest.raises(NotFoundError) as told:
        find_document("docs/locked.md", filled.store)
    assert told.value.hint.startswith("See every file")
