import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
# Functions that name a module to load later, or to look for.
LOADERS = {"lazy", "optional", "find_spec"}
# Parts of a declared distribution that are distributions of their own: whose parts they are.
PARTS = {
    "mcp-types": "mcp",
    "opencv-python-headless": "rapidocr",
    "opentelemetry-api": "opentelemetry-sdk",
    "pillow": "rapidocr",
    "pydantic-core": "pydantic",
    "referencing": "jsonschema",
}


def distribution(requirement: str) -> str:
    named = re.match(r"[\w.-]+", requirement)
    assert named
    return re.sub(r"[-_.]+", "-", named[0]).lower()


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    return {distribution(one) for one in (*project["dependencies"], *extras)}


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.Call(func=ast.Name(id=loader), args=[first, *_]) if loader in LOADERS:
                start = first.values[0] if isinstance(first, ast.JoinedStr) else first
                if isinstance(start, ast.Constant):
                    yield str(start.value).partition(".")[0]


def third_party() -> set[str]:
    modules = SOURCE.rglob("*.py")
    found = {name for path in modules for name in imported(ast.parse(path.read_text()))}
    return found - sys.stdlib_module_names - {"chapterhouse"}


def test_whatever_is_imported_is_declared() -> None:
    known = declared() | {part for part, whole in PARTS.items() if whole in declared()}
    provided = metadata.packages_distributions()
    undeclared = {
        module
        for module in third_party()
        if known.isdisjoint(distribution(name) for name in provided.get(module, ()))
    }
    assert undeclared == set(), "declare it in pyproject.toml"


def test_imports_are_found_wherever_they_are_written() -> None:
    script = (
        "import one.part\n"
        "from two import x\n"
        "from . import own\n"
        "def f():\n    import three\n"
        "four = lazy('four.part')\n"
        "five = optional(f'five.{x}', 'A thing', extra='e')\n"
        "six = find_spec(name)\n"
    )
    assert set(imported(ast.parse(script))) == {"one", "two", "three", "four", "five"}
