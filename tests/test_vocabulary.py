"""One word for one thing: names in the field's terms, messages and pages in plain English.

The left words of `INSTEAD_OF` are good English in a sentence and say nothing as a name: what a
function "told" may be a report, an answer or a comparison. Prose is held to `PHRASES` alone.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import apsw

from chapterhouse.interfaces.cli.main import COMMANDS, command
from chapterhouse.store.rows import ACCESS_STATEMENTS, STATEMENTS, load_migrations

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "chapterhouse"
TREES = {
    str(path.relative_to(SOURCE)): ast.parse(path.read_text("utf-8"))
    for path in sorted(SOURCE.rglob("*.py"))
}
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "skills").rglob("*.md")),
]

INSTEAD_OF: Final[Mapping[str, str]] = {
    "house room means desk": "registry, context, dependencies, buffer",
    "convening counter": "options, service",
    "told tell tells telling": "report, result, text, comparison",
    "said saying spoken speaks heard hears hearing": "statement, output",
    "seat seats seated seating": "participant, member",
    "keep keeps kept keeping": "cache, store, retain",
    "carry carries carried borne stands": "supported, found",
    "stretch stretches": "range, passage, span",
    "seal seals sealed": "checksum",
    "understand understood understands": "parse",
    "beside": "in a thread, with, neighbour",
    "lay laid": "add",
    "mend mends mended": "repair",
    "amid whoever handover": "handoff",
    "put puts putting": "ask, write, move",
}
FORBIDDEN: Final = {word: say for words, say in INSTEAD_OF.items() for word in words.split()}
# Writing under a key is called put by stores and caches everywhere. SQLite counts changes, too.
ALLOWED: Final = {
    "store/blobs.py": {"put"},
    "store/objects.py": {"put"},
    "store/embeddings.py": {"put"},
    "store/sqlite.py": {"put"},
    "ports/store.py": {"put"},
    "ports/vectors.py": {"put"},
    "models/embedding_cache.py": {"put"},
    "SQL": {"put", "counter"},
}
PHRASES: Final = re.compile(
    r"\b(stands? in|to the letter|amid|whoever|as ever(?! was)|of its own|passed over|mend(s|ed)?"
    r"|may be given again|else as set|out of sight|half done|stands? no more)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def forbidden(name: str, where: str = "") -> list[str]:
    words = [word.lower() for word in _WORD.findall(name)]
    allowed = ALLOWED.get(where, set())
    return [f"{name}: {FORBIDDEN[w]}" for w in words if w in FORBIDDEN and w not in allowed]


def names_of(tree: ast.Module) -> Iterator[str]:
    """Yield what a module names: classes, functions, arguments, fields and variables."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def messages_of(tree: ast.Module) -> Iterator[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and node not in docstrings
            and isinstance(node.value, str)
        ):
            yield node.value


def commands_of(found: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, found
    for name, inner in getattr(found, "commands", {}).items():
        yield from commands_of(inner, f"{path} {name}")


def test_names_are_of_the_field() -> None:
    found = [
        f"{where}: {word}"
        for where, tree in TREES.items()
        for name in {*names_of(tree), Path(where).stem}
        for word in forbidden(name, where)
    ]
    assert found == []


def test_messages_are_plain() -> None:
    texts = ((where, text) for where, tree in TREES.items() for text in messages_of(tree))
    assert [(where, text) for where, text in texts if PHRASES.search(text)] == []


def test_tables_columns_and_statements_are_of_the_field() -> None:
    connection = apsw.Connection(":memory:")
    for migration in (*load_migrations(), *load_migrations("access_migrations")):
        connection.execute(migration)
    listed = connection.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
    tables = [str(row[0]) for row in listed]
    columns = [
        str(row[1]) for table in tables for row in connection.execute(f"PRAGMA table_info({table})")
    ]
    names = {*tables, *columns, *STATEMENTS, *ACCESS_STATEMENTS}
    assert [word for name in names for word in forbidden(name, "SQL")] == []


def test_commands_and_options_are_plain() -> None:
    for path, found in (each for name in COMMANDS for each in commands_of(command(name), name)):
        options = [text for parameter in found.params for text in parameter.opts]
        assert [word for name in (path, *options) for word in forbidden(name)] == []
        help_texts = [found.help or "", *(getattr(one, "help", "") or "" for one in found.params)]
        assert [text for text in help_texts if PHRASES.search(text)] == []


def test_pages_are_plain() -> None:
    texts = {page.name: page.read_text("utf-8").splitlines() for page in PAGES}
    lines = (f"{name}: {line}" for name, page in texts.items() for line in page)
    assert [line for line in lines if PHRASES.search(line)] == []
