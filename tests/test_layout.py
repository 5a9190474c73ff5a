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
    "index/schema.py",
    "models/profiles.py",
    "presenting/blocks.py",
    "reading/codes.py",
    "reading/limits.py",
    "reading/tex_commands.py",
    "runtime.py",
    *(str(path) for path in MODULES if path.parts[0] in {"ports", "types"}),
}
# Tested where they are used, with their neighbours. The list may only become shorter.
TESTED_WITH = {
    "agents/listing.py": "agents/test_personas.py",
    "answering/memory.py": "agents/test_ask.py",
    "answering/respond.py": "agents/test_ask.py",
    "answering/thread.py": "agents/test_ask_follow_up.py",
    "answering/writing.py": "agents/test_ask.py",
    "connectors/network.py": "connectors/test_fetch.py",
    "council/disagreement/rows.py": "council/disagreement/test_map.py",
    "council/meeting/draft.py": "council/meeting/test_synthesis.py",
    "council/meeting/plan.py": "council/meeting/test_convene_plan.py",
    "council/meeting/session.py": "council/meeting/test_rounds.py",
    "evaluation/model_trial.py": "interfaces/cli/test_models.py",
    "facets/councils.py": "council/meeting/test_convene.py",
    "facets/encoders.py": "ingest/test_encoders.py",
    "interfaces/cli/evaluation_run.py": "interfaces/cli/test_evaluate.py",
    "interfaces/cli/library.py": "interfaces/cli/test_commands.py",
    "interfaces/cli/registries.py": "interfaces/cli/test_personas.py",
    "interfaces/cli/render_evaluation.py": "interfaces/cli/test_evaluate.py",
    "interfaces/cli/search.py": "interfaces/cli/test_commands.py",
    "interfaces/cli/session.py": "interfaces/cli/test_main.py",
    "interfaces/mcp/answering.py": "interfaces/mcp/test_tools.py",
    "interfaces/mcp/searching.py": "interfaces/mcp/test_tools.py",
}


def own_tests(module: Path) -> Path:
    return TESTS / module.parent / f"test_{module.name}"


def test_every_module_has_tests_of_its_own_or_is_named_here() -> None:
    without = {str(module) for module in MODULES if not own_tests(module).exists()}
    assert without <= WITHOUT_LOGIC | TESTED_WITH.keys(), "write its tests"
    assert without >= TESTED_WITH.keys(), "take it off the list"


def test_the_lists_name_what_is_there_and_once() -> None:
    assert WITHOUT_LOGIC.isdisjoint(TESTED_WITH)
    assert all((TESTS / name).exists() for name in TESTED_WITH.values())


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
