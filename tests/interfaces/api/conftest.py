from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.served import TEXTS, Served, serving

from chapterhouse.library import Library


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two documents in the default workspace, one on a shelf ``tolls``."""
    folder = tmp_path_factory.mktemp("served")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    with Library.open(folder / "home") as library:
        library.documents.add(folder / "ferry.md")
        library.documents.add(folder / "tolls.md", shelf="tolls")
    return folder / "home"


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[Served]:
    """A server over the home, which has keys: nobody comes in without one."""
    with serving(home) as found:
        found.key()
        yield found
