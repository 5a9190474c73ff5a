import pytest

from chapterhouse.chunking.sentence import chunk_by_sentence, chunk_by_size
from chapterhouse.chunking.strategies import chunk_by_hierarchy
from chapterhouse.chunking.units import Limits, analyse_body
from chapterhouse.library.opening import chunker_for
from chapterhouse.settings import ChunkingSettings
from chapterhouse.types import Body, Span

PROSE = Body("The gate opens at dawn. Boats wait outside until the tide turns. " * 60)
PROGRAM = analyse_body(Body("def open_gate():\n    return 'open'\n\n\n" * 60), ("py", "code"))
BY_TYPE = ChunkingSettings(strategy="sentence", by_format={".TXT": "fixed"})


@pytest.mark.parametrize(
    ("settings", "body", "expected"),
    [
        (ChunkingSettings(), PROSE, chunk_by_hierarchy(PROSE, Limits(700))),
        (ChunkingSettings(), PROGRAM, chunk_by_hierarchy(PROGRAM, Limits(700))),
        (
            ChunkingSettings(target=300, maximum=900),
            PROSE,
            chunk_by_hierarchy(PROSE, Limits(300, 100, 900)),
        ),
        (ChunkingSettings(maximum=200), PROSE, chunk_by_hierarchy(PROSE, Limits(200, 50, 200))),
        (ChunkingSettings(strategy="sentence"), PROSE, chunk_by_sentence(PROSE, 1_000)),
        (ChunkingSettings(strategy="sentence", maximum=400), PROSE, chunk_by_sentence(PROSE, 400)),
        (BY_TYPE, analyse_body(PROSE, ("txt",)), chunk_by_size(PROSE)),
        (BY_TYPE, analyse_body(PROSE, ("md",)), chunk_by_sentence(PROSE)),
    ],
)
def test_settings_say_the_cut(settings: ChunkingSettings, body: Body, expected: list[Span]) -> None:
    assert list(chunker_for(settings)(body)) == list(expected)
