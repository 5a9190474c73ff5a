"""Some of the damage that ``benchmarks/verify.py`` plants, one of each way to do it."""

import shutil
from pathlib import Path

import pytest

from chapterhouse import Library
from damage import Damage, damages
from verify import content_of, make_library, outcome, write_documents

CHOSEN = (
    "table chunk: a letter of a chunk",
    "table counter: all rows are deleted",
    "page of chunk: noise over a page",
    "page of body: one bit of a text",
    "lexical index .idx: one bit",
    "lexical index: an entry on another shelf",
    "vector index vectors: one number",
    "names index: cut",
    "all indexes: older than they say",
    "blob: gone",
)
EVERY = {damage.name: damage for damage in damages()}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("damage")
    write_documents(place / "docs", 3, large=1)
    make_library(place / "home", place / "docs")
    return place / "home"


@pytest.mark.parametrize("damage", [EVERY[name] for name in CHOSEN], ids=lambda one: one.name)
def test_damage_is_found_and_repaired(home: Path, tmp_path: Path, damage: Damage) -> None:
    shutil.copytree(home, tmp_path / "copy")
    result = outcome(damage, tmp_path / "copy", content_of(home))
    assert result.found
    assert (result.crash, result.left) == ("", ())


def test_the_library_is_sound_before(home: Path) -> None:
    assert Library.verify(home).findings == ()


def test_there_are_enough_kinds_and_no_name_twice() -> None:
    assert len(EVERY) == len(damages())
    assert len(EVERY) >= 40
