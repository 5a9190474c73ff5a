"""One server for all tests that ask it for what it has, and one whose council can meet."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import EVERYTHING_IN_POSTGRES
from tests.databases import own_database
from tests.served import TEXTS, Served, make_board, serving

from chapterhouse.library import Library
from chapterhouse.settings import HOME_FILE


@pytest.fixture(scope="session")
def home(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("served")
    if not EVERYTHING_IN_POSTGRES:
        yield _filled(folder)
        return
    with own_database(request.getfixturevalue("postgres")) as address:
        (folder / "home").mkdir()
        (folder / "home" / HOME_FILE).write_text(f'[store]\naddress = "{address}"\n')
        yield _filled(folder)


def _filled(folder: Path) -> Path:
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    with Library.open(folder / "home") as library:
        library.documents.add(folder / "ferry.md")
        library.documents.add(folder / "tolls.md", shelf="tolls")
        library.encoders.embed_pending()
    return folder / "home"


@pytest.fixture(scope="session")
def served(home: Path) -> Iterator[Served]:
    """A server over the home, which has keys: nobody comes in without one.

    All tests share it: what one adds, others may find.
    """
    with serving(home) as found:
        found.key()
        yield found


@pytest.fixture(scope="session")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("board") / "home"
    make_board(home)
    (home / "councils" / "broken").mkdir()
    (home / "councils" / "broken" / "council.json").write_text("{")
    with Library.open(home, "other"):
        return home


@pytest.fixture(scope="module")
def board_copy(board: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(board, tmp_path_factory.mktemp("copy") / "home")


@pytest.fixture(scope="module")
def served_board(board_copy: Path) -> Iterator[Served]:
    with serving(board_copy) as found:
        yield found
