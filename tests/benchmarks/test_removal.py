import random
from pathlib import Path

import removal


def test_nothing_finds_what_was_removed(tmp_path: Path) -> None:
    counts = removal.Counts()
    removal.run_workspace(tmp_path, 8, 8, counts, random.Random(1))
    assert (counts.removed, counts.searches) == (8, 1)
    assert counts.searched > 30
    assert counts.found_by_them == counts.found_by_search == counts.found_in_files == 0


def test_the_search_of_files_finds_every_planted_fault(tmp_path: Path) -> None:
    assert [name for name, found in removal.plant_faults(tmp_path) if not found] == []
