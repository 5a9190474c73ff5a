"""Parts made from settings."""

import pytest

from chapterhouse.chunking.analysis import analyse_body
from chapterhouse.chunking.hierarchical import chunk_by_hierarchy
from chapterhouse.chunking.sentence import chunk_by_sentence, chunk_by_size
from chapterhouse.chunking.units import Limits
from chapterhouse.settings import ChunkingSettings
from chapterhouse.types import Body
from chapterhouse.wiring import chunker_for

PROSE = Body("The gate opens at dawn. Boats wait outside until the tide turns. " * 60)
PROGRAM = Body("def open_gate():\n    return 'open'\n\n\n" * 60)


def test_the_default_is_hierarchical_and_aims_at_700() -> None:
    cut = chunker_for(ChunkingSettings())
    assert cut(PROSE) == chunk_by_hierarchy(PROSE, Limits(700))
    assert cut(analyse_body(PROGRAM, ("py", "code"))) == chunk_by_hierarchy(PROGRAM, Limits(700))


def test_lengths_fit_a_maximum() -> None:
    cut = chunker_for(ChunkingSettings(strategy="hierarchical", target=300, maximum=900))
    assert cut(PROSE) == chunk_by_hierarchy(PROSE, Limits(300, 100, 900))
    cut = chunker_for(ChunkingSettings(strategy="hierarchical", maximum=200))
    assert cut(PROSE) == chunk_by_hierarchy(PROSE, Limits(200, 50, 200))


@pytest.mark.parametrize(("maximum", "longest"), [(0, 1_000), (400, 400)])
def test_sentences_have_a_maximum_of_their_own(maximum: int, longest: int) -> None:
    cut = chunker_for(ChunkingSettings(strategy="sentence", maximum=maximum))
    assert cut(PROSE) == chunk_by_sentence(PROSE, longest)


def test_a_file_type_may_have_its_own_strategy() -> None:
    cut = chunker_for(ChunkingSettings(strategy="sentence", by_format={".TXT": "fixed"}))
    assert cut(analyse_body(PROSE, ("txt",))) == chunk_by_size(PROSE)
    assert cut(analyse_body(PROSE, ("md",))) == chunk_by_sentence(PROSE)
