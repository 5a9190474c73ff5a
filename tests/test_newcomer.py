"""A newcomer finds the module of a feature: ARCHITECTURE.md names it, and only what exists."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "chapterhouse"
PAGE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
TREE = PAGE.partition("## The tree")[2].partition("```\n")[2].partition("```")[0]

FEATURES: Final[Mapping[str, str]] = {
    "walk a folder without following links": "connectors/folder.py",
    "fetch web pages safely": "connectors/fetch.py",
    "read tables of a PDF": "reading/pdf/tables.py",
    "recognise the text of a scan": "reading/ocr.py",
    "read files inside archives": "reading/archives.py",
    "choose how documents are cut": "chunking/strategies.py",
    "store a document": "store/writing.py",
    "search by words": "index/lexical.py",
    "search by meaning": "index/vectors.py",
    "correct misspelled words": "retrieval/spelling.py",
    "rerank passages": "retrieval/rerank.py",
    "fit passages into a budget of tokens": "retrieval/pack.py",
    "complete a question that goes on from another": "answering/thread.py",
    "quote an answer without a model": "answering/extractive.py",
    "compare a model's sentence with its sources": "claims/mismatch.py",
    "save an answer that can be verified": "answering/bundle.py",
    "hand a question to another persona": "agents/ask.py",
    "make curated documents": "agents/curate.py",
    "hold the rounds of a meeting": "council/meeting/rounds.py",
    "say who stands by which statement": "council/minutes/contents.py",
    "remove a document for good": "ingest/remove.py",
    "offer MCP tools": "interfaces/mcp/tools.py",
}


def test_a_feature_is_found_by_its_name() -> None:
    for path in FEATURES.values():
        assert (SOURCE / path).is_file()
        assert f"`{path}`" in PAGE


def test_every_package_and_module_has_its_line_in_the_tree() -> None:
    packages = [path.parent for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE]
    modules = [path.name for path in SOURCE.glob("*.py") if not path.name.startswith("__")]
    names = (*(f"{path.name}/" for path in packages), *modules)
    assert [name for name in names if f"{name} " not in TREE] == []


def test_every_module_named_exists() -> None:
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", PAGE)
    assert len(named) > len(FEATURES)
    missing = [path for path in named if not any((at / path).exists() for at in (SOURCE, ROOT))]
    assert missing == []
