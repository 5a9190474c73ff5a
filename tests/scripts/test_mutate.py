import ast
import gc
import shutil
from collections import Counter
from pathlib import Path

import pytest

import mutate

FAULTS = mutate.load_faults()


def test_every_fault_can_be_planted_and_changes_what_is_done() -> None:
    gc.collect()  # Python 3.11 fails to parse where what is collected meanwhile logs a traceback
    for one in FAULTS:
        changed = mutate.planted(one, mutate.SOURCE)  # raises where its text is not there once
        before = (mutate.SOURCE / "chapterhouse" / one.file).read_text("utf-8")
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(before)), one.promise


def test_each_promise_is_broken_once() -> None:
    assert max(Counter(fault.promise for fault in FAULTS).values()) == 1


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "chapterhouse"
    package.mkdir(parents=True)
    shutil.copy(mutate.SOURCE / "chapterhouse" / "errors.py", package)
    return package.parent


def fault(text: str, tests: str = "tests/test_files.py") -> mutate.Fault:
    return mutate.Fault("One is one.", "errors.py", text, "1 == 2", (tests,))


def test_what_does_not_fit_the_source_is_told(copy: Path) -> None:
    told = mutate.outcome(fault("this stands nowhere"), copy)
    assert told.startswith("cannot be planted: errors.py holds the text 0 times")
    told = mutate.outcome(fault("class RejectedError", "tests/test_nothing.py"), copy)
    assert told == "cannot be planted: There are no tests tests/test_nothing.py"


@pytest.mark.parametrize(
    ("status", "told"),
    [(0, "survived"), (1, "killed"), (2, "not tried: pytest gave 2"), (5, "not tried: ")],
)
def test_a_fault_is_killed_only_where_a_test_failed(
    copy: Path, monkeypatch: pytest.MonkeyPatch, status: int, told: str
) -> None:
    path = copy / "chapterhouse" / "errors.py"
    before, seen = path.read_text("utf-8"), []

    def run(names: tuple[str, ...], source: Path) -> int:
        seen.append((source / "chapterhouse" / "errors.py").read_text("utf-8"))
        return status

    monkeypatch.setattr(mutate, "run_tests", run)
    assert mutate.outcome(fault("class RejectedError"), copy).startswith(told)
    assert seen == [before.replace("class RejectedError", "1 == 2")]
    assert path.read_text("utf-8") == before


def test_tests_run_with_the_package_of_the_copy(tmp_path: Path) -> None:
    package = tmp_path / "src" / "chapterhouse"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("PLANTED = True\n")
    test = tmp_path / "test_copy.py"
    test.write_text("import chapterhouse\n\ndef test_it():\n    assert chapterhouse.PLANTED\n")
    assert mutate.run_tests([str(test)], tmp_path / "src") == mutate.PASSED
    test.write_text("def test_it():\n    assert False\n")
    assert mutate.run_tests([str(test)], tmp_path / "src") == mutate.FAILED
