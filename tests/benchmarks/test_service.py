"""The harnesses of the service in small."""

from pathlib import Path

import pytest

import fuzzing


@pytest.mark.timeout(600)
def test_schemathesis_finds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with fuzzing.served_home(tmp_path) as served:
        found = fuzzing.fuzz(served, "write", tmp_path, 3, "--phases", "fuzzing", "--no-shrink")
    assert found.failures == 0, capsys.readouterr().out
    assert found.requests > 3 * found.operations / 2
