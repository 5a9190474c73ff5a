import ast
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "chapterhouse"
MODULES = sorted(
    path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if not path.name.startswith("__")
)

# A question's options are keywords of the user's own programs.
MANY_PARAMETERS = {"library/answers.py": "ask"}


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
