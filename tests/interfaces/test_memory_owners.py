from collections.abc import Iterator

import pytest
from tests.served import QUESTION, make_board, remember_board

from chapterhouse.errors import NotFoundError
from chapterhouse.interfaces.memory_owners import memory_owners
from chapterhouse.library import Library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("owners") / "home"
    make_board(home)
    with Library.open(home) as opened:
        opened.answers.ask(QUESTION, persona="tom")
        remember_board(opened)
        yield opened


def test_a_persona_or_council_that_is_gone_can_be_named(library: Library) -> None:
    (library.home / "personas" / "tom").rename(library.home / "tom")
    (library.home / "councils" / "storm-board").rename(library.home / "board")
    try:
        assert memory_owners(library, "tom") == ("tom",)
        assert len(memory_owners(library, council="storm-board")) >= 2
        with pytest.raises(NotFoundError, match="no member 'ada'"):
            memory_owners(library, council="storm-board", member="ada")
    finally:
        (library.home / "tom").rename(library.home / "personas" / "tom")
        (library.home / "board").rename(library.home / "councils" / "storm-board")
