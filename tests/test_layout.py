"""Tests mirror the tree: those of ``package/module.py`` are in ``tests/package/test_module.py``."""

import ast
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "chapterhouse"
MODULES = sorted(
    path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.name.startswith("__")
)

# Values and protocols alone: there is nothing to test that their users do not.
WITHOUT_LOGIC = {
    "agents/council_model.py",
    "agents/problems.py",
    "connectors/connector.py",
    "index/schema.py",
    "interfaces/api/openai/bodies.py",
    "interfaces/api/openai/results.py",
    "models/profiles.py",
    "presenting/blocks.py",
    "reading/codes.py",
    "reading/limits.py",
    "reading/tex_commands.py",
    "runtime.py",
    *(str(path) for path in MODULES if path.parts[0] in {"ports", "types"}),
}


def own_tests(module: Path) -> Path:
    return TESTS / module.parent / f"test_{module.name}"


def test_every_module_with_logic_has_tests_of_its_own() -> None:
    without = {str(module) for module in MODULES if not own_tests(module).exists()}
    assert without <= WITHOUT_LOGIC, "write its tests"


# A question's options are keywords of the user's own programs.
MANY_PARAMETERS = {"facets/answers.py": "ask"}


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the parameters of a function; those of a command that are options are left out."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    written = (ast.unparse(one.annotation) for one in named if one.annotation)
    return sum(not text.startswith("Annotated[") for text in written)


def test_functions_take_few_parameters() -> None:
    found = {
        str(module): function.name
        for module in MODULES
        for function in ast.walk(ast.parse((SOURCE / module).read_text("utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and parameters_of(function) > 8
    }
    assert found == MANY_PARAMETERS
