"""Which files an add looks at: each once, under one name, whatever leads to it."""

from pathlib import Path
from typing import Any

import pytest

from chapterhouse.errors import NotFoundError
from chapterhouse.ingest.plan import find_file, make_plan
from chapterhouse.types import Scope


def planned(home: Any, *paths: Path) -> list[str]:
    return [file.source for file in make_plan(paths, home.store).files]


def test_a_file_is_looked_at_once_however_many_paths_lead_to_it(home: Any) -> None:
    path = home.write("part/a.md", "A text.")
    home.write("b.md", "A text.")
    sources = planned(home, home.folder, home.folder / "part", path, home.folder)
    assert sources == ["docs/b.md", "docs/part/a.md"]


def test_two_folders_of_one_name_are_told_apart(home: Any, tmp_path: Path) -> None:
    other = tmp_path / "other" / "docs"
    other.mkdir(parents=True)
    (other / "a.md").write_text("A text.")
    home.write("a.md", "A text.")
    plan = make_plan([home.folder, other], home.store)
    assert sorted(plan.new_roots.values()) == ["docs", "docs-2"]
    assert [file.source for file in plan.files] == ["docs-2/a.md", "docs/a.md"]


def test_nothing_is_written_by_a_plan(home: Any) -> None:
    home.write("a.md", "A text.")
    make_plan([home.folder], home.store)
    assert home.store.roots() == ()
    assert list(home.store.files()) == []


def test_what_is_gone_is_told_and_what_is_hidden_is_counted(home: Any) -> None:
    gone = home.write("gone.md", "A text.")
    home.write("here.md", "A text.")
    home.write(".git/config", "x")
    home.add()
    gone.unlink()
    plan = make_plan([home.folder], home.store)
    assert [record.source for record in plan.missing] == ["docs/gone.md"]
    assert [one.reason for one in plan.ignored] == ["hidden"]
    assert set(plan.known) == {str(gone), str(home.folder / "here.md")}


def test_a_path_that_is_not_there_is_an_error(home: Any) -> None:
    with pytest.raises(NotFoundError, match="no file or folder"):
        make_plan([home.folder / "none"], home.store)


def test_the_file_of_a_document_is_found_again_while_it_is_there(home: Any) -> None:
    path = home.write("part/a.md", "A text.")
    home.add()
    (document,) = home.store.documents(Scope.everything())
    file = find_file(document, home.store)
    assert file is not None
    assert (file.location, file.source, file.parts) == (
        str(path),
        "docs/part/a.md",
        ("part", "a.md"),
    )
    path.unlink()
    assert find_file(document, home.store) is None
