"""Modules loaded when they are first used."""

import subprocess
import sys

import pytest

from chapterhouse.errors import MissingExtraError
from chapterhouse.loading import is_installed, lazy, optional


def test_a_module_is_loaded_when_a_name_in_it_is_read() -> None:
    script = (
        "import sys\n"
        "from chapterhouse.loading import lazy\n"
        "colours = lazy('colorsys')\n"
        "before = 'colorsys' in sys.modules\n"
        "print(before, colours.rgb_to_hls(0, 0, 0), 'colorsys' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False (0.0, 0.0, 0.0) True\n"


def test_what_is_changed_in_a_module_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    colours = lazy("colorsys")
    assert callable(colours.rgb_to_hls)
    monkeypatch.setattr("colorsys.rgb_to_hls", "replaced")
    assert colours.rgb_to_hls == "replaced"


def test_a_module_that_is_not_there_is_named_when_it_is_used() -> None:
    missing = lazy("no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _ = missing.anything


@pytest.mark.parametrize(
    ("name", "there"), [("json", True), ("no_such_module", False), ("no_such_module.part", False)]
)
def test_whether_a_module_is_installed(name: str, *, there: bool) -> None:
    assert is_installed(name) is there


def test_a_module_of_an_extra_that_is_missing_says_how_to_install_it() -> None:
    assert optional("json", "Anything", extra="ocr").dumps([]) == "[]"
    with pytest.raises(MissingExtraError, match="A thing needs the extra 'ocr'") as caught:
        optional("no_such_module", "A thing", extra="ocr")
    assert "pip install" in caught.value.hint
