"""Searching and asking a library: what is found, how much of it, and what is refused.

Every answer can be checked, and what is not there is not answered.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError


@pytest.fixture(scope="module")
def library(
    tmp_path_factory: pytest.TempPathFactory, write_documents: Callable[[Path], Path]
) -> Iterator[Library]:
    """A library that all tests of this file read."""
    place = tmp_path_factory.mktemp("read")
    with Library.open(place / "home") as opened:
        opened.documents.add(write_documents(place))
        yield opened


@pytest.mark.parametrize("text", ["ERR-4012", 'the "did not lock" fault', "what does ERR.md say"])
def test_what_is_named_to_the_letter_has_a_place(library: Library, text: str) -> None:
    hits = library.search.hits(text, limit=1).hits
    assert hits[0].document.source == "documents/ERR.md"
    assert hits[0].stages["exact"] == 1.0


def test_the_cap_per_document_holds(library: Library) -> None:
    hits = library.search.hits("harbour gate berth speed", per_document=1).hits
    names = [hit.document.id for hit in hits]
    assert len(names) == len(set(names))


def test_what_cannot_be_asked_is_refused(library: Library) -> None:
    ask: Any = library.answers.ask
    hits: Any = library.search.hits
    for call, question, more, reason in (
        (ask, "", {}, "empty"),
        (ask, "   \n", {}, "empty"),
        (ask, "harbour", {"words": 0}, "at least 1 word"),
        (hits, "harbour", {"limit": 0}, "limit"),
        (hits, "harbour", {"per_document": -1}, "negative"),
        (hits, "x" * 10_001, {}, "characters"),
    ):
        with pytest.raises(UsageError, match=reason):
            call(question, **more)
    with pytest.raises(NotFoundError, match="crw") as caught:
        ask("How fast may a vessel go?", shelves=["crw"])
    assert "library" in caught.value.hint
    assert not ask("\ud800?").found


def test_without_embeddings_search_is_lexical(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "lexical"
    home.mkdir()
    (home / "chapterhouse.toml").write_text("[embedding]\nengine = 'none'\n")
    with Library.open(home) as library:
        library.documents.add(folder)
        hits = library.search.hits("How fast may a vessel go?").hits
        assert hits
        assert all("cosine" not in hit.stages for hit in hits)
        assert library.answers.ask("How fast may a vessel go inside the harbour?").found


def test_a_context_has_the_tokens_of_its_purpose(library: Library) -> None:
    ask = library.search.context
    assert ask("harbour").maximum == 2_000
    assert [ask("harbour", purpose=one).maximum for one in ("chat", "recipe", "code")] == [
        2_000,
        4_000,
        3_000,
    ]
    assert ask("harbour", purpose="recipe", maximum=77).maximum == 77
    for maximum in (None, 77):
        with pytest.raises(UsageError, match="chat, code, recipe"):
            ask("harbour", purpose="poem", maximum=maximum)


def test_notes_too_short_to_tell_their_language_are_answered(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.txt").write_text("Ferry: leaves at nine.")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        assert next(iter(library.documents.list())).language == ""
        assert "nine" in library.answers.ask("When does the ferry leave?").text
