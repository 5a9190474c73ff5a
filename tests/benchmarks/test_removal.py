"""The harness of removals on a few documents: nothing is found, and every planted fault is."""

import random
from pathlib import Path

import pytest

import removal
import removal_corpus


@pytest.mark.parametrize("grace", [False, True])
def test_nothing_finds_what_was_removed(tmp_path: Path, *, grace: bool) -> None:
    counts = removal.Counts()
    removal.run_workspace(tmp_path, 8, 8, counts, grace=grace, chance=random.Random(1))
    assert (counts.removed, counts.receipts) == (8, 3 if grace else 1)
    assert counts.searched > 100
    assert counts.found_by_receipts == counts.found_by_search == counts.found_in_files == 0
    assert (counts.restored, counts.differing) == (8 if grace else 0, 0)


def test_a_receipt_finds_every_planted_fault(tmp_path: Path) -> None:
    missed = [name for name, _, found in removal.plant_faults(tmp_path) if not found]
    assert missed == []
    assert {path for _, path in removal_corpus.FAULTS.values()} == {
        "phrases",
        "terms",
        "vectors",
        "names",
        "ids",
        "passages",
    }
