"""Which document a name means, and what is said where it means none or several."""

from typing import Any

import pytest

from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.ingest.find import find_archive, find_document
from chapterhouse.types import Scope


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


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_name_is_a_mistake(filled: Any, name: str) -> None:
    with pytest.raises(UsageError, match="is empty"):
        find_document(name, filled.store)


def test_what_is_not_there_is_said_and_what_was_not_read_says_why(filled: Any) -> None:
    with pytest.raises(NotFoundError, match="No document is called 'nothing'"):
        find_document("nothing", filled.store)
    with pytest.raises(NotFoundError, match=r"gave no document \(rejected, encrypted\)") as told:
        find_document("locked.md", filled.store)
    assert told.value.hint.startswith("2 files have that name.")
    with pytest.raises(NotFoundError) as told:
        find_document("docs/locked.md", filled.store)
    assert told.value.hint.startswith("See every file")


def test_a_document_is_no_archive(filled: Any) -> None:
    assert find_archive("rules.md", filled.store) is None
