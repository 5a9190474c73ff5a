import re
from pathlib import Path

import pytest

import chapterhouse
from chapterhouse.text.counting import counted

SOURCES = sorted(Path(chapterhouse.__file__).parent.rglob("*.py"))
OWN_PLURAL = re.compile(r"'' if [^}]+ else 's'|'s' if [^}]+ else ''")


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (4904, "4,904 files")]
)
def test_a_number_stands_with_its_noun(number: int, told: str) -> None:
    assert counted(number, "file") == told


def test_a_plural_may_be_named() -> None:
    assert counted(1, "page is", "pages are") == "1 page is"
    assert counted(2, "page is", "pages are") == "2 pages are"


def test_no_module_makes_plurals_of_its_own() -> None:
    found = [path.name for path in SOURCES if OWN_PLURAL.search(path.read_text("utf-8"))]
    assert found == ["rounds.py"]  # seconds, which need not be whole
