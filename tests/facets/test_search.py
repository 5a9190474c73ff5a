"""Searching a library: what is found, how much of it, and what is refused."""

from pathlib import Path

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError


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
    for question in ("", "   \n"):
        with pytest.raises(UsageError, match="empty"):
            library.answers.ask(question)
    with pytest.raises(UsageError, match="limit"):
        library.search.hits("harbour", limit=0)
    with pytest.raises(UsageError, match="negative"):
        library.search.hits("harbour", per_document=-1)
    with pytest.raises(UsageError, match="word"):
        library.answers.ask("harbour", words=0)
    with pytest.raises(UsageError, match="characters"):
        library.search.hits("x" * 10_001)
    with pytest.raises(NotFoundError, match="crw") as caught:
        library.answers.ask("How fast may a vessel go?", shelves=["crw"])
    assert "library" in caught.value.hint
    assert not library.answers.ask("\ud800?").found


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


def test_a_language_without_vectors_is_left_to_the_lexical_side(tmp_path: Path) -> None:
    folder = tmp_path / "russian"
    folder.mkdir()
    (folder / "правила.txt").write_text(
        "Начальник порта закрывает ворота, когда поднимается сильный ветер. "
        "Скорость судов в гавани не должна превышать четырёх узлов."
    )
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        assert next(iter(library.documents.list())).language == "ru"
        (hit,) = library.search.hits("какая скорость судна в гавани").hits
        assert "cosine" not in hit.stages
        assert library.answers.ask("Какая скорость судов в гавани?").found


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
