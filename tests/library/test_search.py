"""Searching and asking a library: what is found, how much of it, and what is refused.

Every answer can be checked, and what is not there is not answered.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chapterhouse import Library
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.retrieval.context import first_whole
from chapterhouse.types import Hit

pytestmark = pytest.mark.usefixtures("each_store")


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


@pytest.mark.parametrize(
    ("named", "read"),
    [
        (["rules.md"], {"rules.md"}),
        (["documents/rules.md", "weather.txt"], {"rules.md", "weather.txt"}),
        (["documents"], {"rules.md", "weather.txt", "ERR.md"}),
        (["documents/"], {"rules.md", "weather.txt", "ERR.md"}),
    ],
)
@pytest.mark.parametrize(
    "text",
    ["When is the crossing suspended?", "harbour gate ramp", "ERR-4012", '"force eight"', "Regeln"],
)
def test_of_chosen_documents_alone_as_much_is_found_as_in_all(
    library: Library, named: list[str], read: set[str], text: str
) -> None:
    def found(**chosen: Any) -> dict[str, float]:
        hits = library.search.hits(text, limit=50, **chosen).hits
        return {hit.chunk.id: hit.stages.get("cosine", 0.0) for hit in hits if of_them(hit)}

    def of_them(hit: Hit) -> bool:
        return hit.document.source.rpartition("/")[2] in read

    alone = found(documents=named)
    assert len(alone) == len(library.search.hits(text, limit=50, documents=named).hits)
    assert found().items() <= alone.items()
    context = library.search.context(text, documents=named)
    assert all(of_them(excerpt.hit) for excerpt in context.excerpts)


def test_chosen_documents_alone_answer(library: Library) -> None:
    question = "When is the crossing suspended?"
    weather, rules = (
        library.answers.ask(question, documents=[name]) for name in ("weather.txt", "rules.md")
    )
    assert [one.source for one in weather.citations] == ["documents/weather.txt"]
    assert not {one.source for one in rules.citations} - {"documents/rules.md"}
    assert "force eight" not in rules.text
    again = library.answers.ask(question, documents=["weather.txt"])
    assert again.citations == weather.citations  # the one above was kept apart in the cache
    for name, kind in (("none.md", NotFoundError), ("docum", NotFoundError), (" ", UsageError)):
        with pytest.raises(kind):
            library.answers.ask(question, documents=[name])
    with pytest.raises(UsageError, match="own shelves"):
        library.answers.ask(question, persona="maria", documents=["rules.md"])


def test_a_folder_is_called_by_the_end_of_its_path_while_it_is_the_only_one(tmp_path: Path) -> None:
    for place in ("house/north/rules", "house/south/rules", "house/south/letters"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "a.md").write_text(f"# {place}\n\nThe gate of {place} is shut.\n")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(tmp_path / "house")

        def found(name: str) -> set[str]:
            hits = library.search.hits("gate", documents=[name]).hits
            return {hit.document.source for hit in hits}

        assert found("letters") == found("south/letters/") == {"house/south/letters/a.md"}
        assert found("south") == {"house/south/letters/a.md", "house/south/rules/a.md"}
        assert found("north/rules") == {"house/north/rules/a.md"}
        with pytest.raises(UsageError, match="fits 2 folders") as raised:
            found("rules")
        assert "house/south/rules" in str(raised.value.hint)


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


def test_packing_is_compared_with_the_first_hits_whole(library: Library) -> None:
    context = library.search.context("How fast may vessels go in the harbour?", maximum=60)
    tokens, gain = first_whole(context)
    assert context.tokens < tokens
    assert 0 < context.information_gain <= gain <= 1
    assert first_whole(context, 1) < (tokens, gain)


def test_notes_too_short_to_tell_their_language_are_answered(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.txt").write_text("Ferry: leaves at nine.")
    with Library.open(tmp_path / "home") as library:
        library.documents.add(folder)
        assert next(iter(library.documents.list())).language == ""
        assert "nine" in library.answers.ask("When does the ferry leave?").text
