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

# What a stranger wants to do, with what has to be opened for it.
TASKS: Final[Mapping[str, tuple[str, ...]]] = {
    "add a file format": ("reading/formats.py", "reading/detect.py", "reading/dispatch.py"),
    "add a setting": ("settings.py", "settings_stored.py", "docs/settings.md"),
    "find or change a prompt": ("answering/prompt.py", "council/meeting/prompts.py"),
    "see why a hit came first": ("retrieval/pipeline.py", "retrieval/fuse.py"),
    "add a column to documents": ("store/migrations/", "store/queries.sql", "store/rows.py"),
    "add a route": ("interfaces/api/routing.py", "tests/interfaces/api/test_access_matrix.py"),
    "add a rule of isolation": ("types/documents.py", "store/limited.py", "docs/access.md"),
    "change the colour of something": ("presenting/terminal.py", "presenting/style.css"),
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


def test_a_task_leads_to_its_files() -> None:
    rows = dict(re.findall(r"^\| ([a-z ]+) \| (.+) \|$", PAGE, re.MULTILINE))
    for task, paths in TASKS.items():
        assert [path for path in paths if f"`{path}`" not in rows[task]] == []


def test_every_call_named_is_one_of_its_modules() -> None:
    steps = re.findall(r"^\| \d+ \| (.+?) \| .+? \| (.+?) \|$", PAGE, re.MULTILINE)
    assert [len(steps[:12]), len(steps[12:])] == [12, 10]
    for calls, modules in steps:
        texts = [(SOURCE / path).read_text("utf-8") for path in re.findall(r"`(.+?)`", modules)]
        for call in re.findall(r"`(.+?)`", calls):
            wanted = re.compile(rf"def {call.rpartition('.')[2]}\(")
            assert any(map(wanted.search, texts)), call
