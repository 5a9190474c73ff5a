"""A corpus: read by the normal readers, searched in memory, and never on a shelf."""

from pathlib import Path

import pytest
from tests.council.conftest import Hall

from chapterhouse.agents.council_model import Corpus
from chapterhouse.council import tools as corpora
from chapterhouse.council.tools import corpus_tool
from chapterhouse.errors import NotFoundError, UsageError
from chapterhouse.types import Scope

POLICIES = {
    "refunds.md": "# Refunds\n\nRefunds are paid within 30 days of delivery.\n",
    "warranty.txt": "The warranty lasts for twelve months.\n",
    "deep/shipping.html": "<h1>Shipping</h1><p>Parcels above 50 crowns travel free.</p>",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in POLICIES.items():
        path = tmp_path / "policies" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "policies"


def test_the_best_passages_come_first_with_their_places(hall: Hall, folder: Path) -> None:
    tool, problems = corpus_tool(Corpus("policies"), folder, hall.runtime)
    assert tool.find is not None
    assert problems == ()

    (found,) = tool.find({"query": "How long does the warranty last?"})
    assert (found.place, found.text.strip()) == (
        "policies/warranty.txt (chunk 1)",
        "The warranty lasts for twelve months.",
    )
    (found,) = tool.find({"query": "free parcel"})
    assert found.place == "policies/deep/shipping.html (chunk 1, section Shipping)"
    assert tool.find({"query": "submarines"}) == []  # what shares no word is never a passage


def test_it_is_told_like_any_search_where_nothing_is_cited(hall: Hall, folder: Path) -> None:
    tool, _ = corpus_tool(Corpus("policies"), folder, hall.runtime)
    told = tool.call({"query": "warranty"})
    assert told.startswith('[Results for "warranty"]\n\n1. policies/warranty.txt (chunk 1)\n¦ The')
    assert tool.call({"query": "[sub]"}) == '[Nothing was found for "⟦sub⟧"]'


def test_names_and_descriptions(hall: Hall, folder: Path) -> None:
    tool, _ = corpus_tool(Corpus("policies"), folder, hall.runtime)
    assert (tool.name, "policies" in tool.description) == ("search_policies", True)
    assert "Call this whenever" in tool.description
    named = Corpus("policies", name="rules", description="Call this for rules.")
    tool, _ = corpus_tool(named, folder, hall.runtime)
    assert (tool.name, tool.description) == ("rules", "Call this for rules.")
    assert Corpus("../Our Papers (2024)/").tool_name == "search_our_papers_2024"
    assert Corpus("港口").tool_name == "search_corpus"


def test_what_cannot_be_read_is_told_and_the_rest_is_searched(hall: Hall, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (folder / "link.md").symlink_to(folder / "refunds.md")
    tool, problems = corpus_tool(Corpus("policies"), folder, hall.runtime)
    assert [problem.partition(" is not")[0] for problem in problems] == [
        "policies/broken.pdf",
        "policies/link.md",
    ]
    assert "30 days" in tool.call({"query": "refunds"})


def test_another_content_is_another_fingerprint(hall: Hall, folder: Path) -> None:
    def fingerprint() -> str:
        return corpus_tool(Corpus("policies"), folder, hall.runtime)[0].fingerprint

    before = fingerprint()
    assert fingerprint() == before
    (folder / "refunds.md").write_text("Refunds are not paid.")
    assert fingerprint() != before


def test_nothing_of_it_is_in_the_library(hall: Hall, folder: Path) -> None:
    before = hall.library._runtime.store.sequence()
    corpus_tool(Corpus("policies"), folder, hall.runtime)
    assert hall.library._runtime.store.sequence() == before
    assert not any(
        "polic" in document.source
        for document in hall.library._runtime.store.documents(Scope.everything())
    )


def test_a_folder_that_is_gone_or_too_large_is_refused(
    hall: Hall, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFoundError):
        corpus_tool(Corpus("no"), folder / "no", hall.runtime)
    monkeypatch.setattr(corpora, "MOST_FILES", 2)
    with pytest.raises(UsageError, match="search_policies has 3 files, at most 2 fit"):
        corpus_tool(Corpus("policies"), folder, hall.runtime)
