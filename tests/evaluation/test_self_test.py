import pytest

from chapterhouse.evaluation.self_test import try_installation
from chapterhouse.models import built_in


def test_an_installation_that_works_passes() -> None:
    found = list(try_installation())
    assert [check.name for check in found] == ["read", "find", "answer", "verify", "remove"]
    assert all(check.passed for check in found), found


def test_nothing_is_tried_behind_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_in, "_GRAPH", ("encoder.onnx", "0" * 64))
    built_in.built_in_encoder.cache_clear()
    read, find = try_installation()
    built_in.built_in_encoder.cache_clear()
    assert (read.passed, find.passed) == (True, False)
    assert "not the file that was measured" in find.sentence
    assert find.hint == "Install Chapterhouse again."
