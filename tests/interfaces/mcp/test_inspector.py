"""The MCP Inspector's command line calls the server, where it is installed."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
COMMAND = os.environ.get("CHAPTERHOUSE_INSPECTOR") or shutil.which("mcp-inspector")


def load(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    spec = importlib.util.spec_from_file_location("mcp_inspector", BENCHMARKS / "mcp_inspector.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mcp_inspector", module)  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(
    COMMAND is None, reason="no mcp-inspector here: see benchmarks/mcp_inspector.py"
)
@pytest.mark.parametrize("way", [("http", "modern"), ("stdio", "legacy")])
def test_the_inspector_lists_and_calls_everything(
    way: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert COMMAND
    version, passed = load(monkeypatch).run([COMMAND], tmp_path, [way])
    assert version[0].isdigit()
    assert len(passed) == 10
