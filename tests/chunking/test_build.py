"""Where a chunk stands that holds several small sections."""

import pytest

from chapterhouse.chunking.build import build_chunks
from chapterhouse.types import Span

from .bodies import body_of


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("# A\n\nOne.\n\n# B\n\nTwo.\n", ("A",)),
        ("# A\n\n## B\n\nTwo.\n\n## C\n\nThree.\n", ("A", "B")),
        ("A\n===\n\nB\n---\n\nTwo.\n\nC\n---\n\nThree.\n", ("A", "B")),
        ("Before.\n\n# A\n\nOne.\n", ()),
        ("# A\n\n# B\n", ("B",)),
    ],
)
def test_a_chunk_belongs_to_the_section_of_its_first_text(text: str, path: tuple[str, ...]) -> None:
    body = body_of(text)
    (chunk,) = build_chunks("d", body, [Span(0, len(body.text))], len)
    assert chunk.section_path == path


def test_white_space_makes_no_chunk() -> None:
    body = body_of("One.     Two.")
    spans = [Span(0, 4), Span(4, 9), Span(9, 13)]
    assert [chunk.text for chunk in build_chunks("d", body, spans, len)] == ["One.", "Two."]
