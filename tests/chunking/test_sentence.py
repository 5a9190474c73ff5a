"""The laws of cutting after sentences, and of cutting by size."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.chunking.build import build_chunks, embedding_text
from chapterhouse.chunking.sentence import chunk_by_sentence, chunk_by_size
from chapterhouse.text.canonical import compose
from chapterhouse.text.markdown import sentence_spans
from chapterhouse.types import Body, ExtractedPage, Extraction, Kind, Span

from .bodies import TEXTS, body_of


@given(TEXTS, st.integers(100, 1_200))
def test_chunks_rejoin_and_none_is_longer_than_the_maximum(text: str, maximum: int) -> None:
    body = body_of(text)
    spans = chunk_by_sentence(body, maximum)
    assert "".join(body.text[span.start : span.end] for span in spans) == body.text
    assert all(0 < span.end - span.start <= maximum - len(span.header) for span in spans)


@given(TEXTS)
def test_prose_is_cut_only_where_a_sentence_ends(text: str) -> None:
    body = body_of(text)
    for span in chunk_by_sentence(body, 1_000):
        inside = [s for s in body.sections if s.start <= span.start < s.end]
        if span.kind is not Kind.PROSE or not inside or span.start == inside[0].start:
            continue
        before = body.text[inside[0].start : span.start]
        sentences = list(sentence_spans(body.text, inside[0].start, inside[0].end))
        ends = {end for _, end in sentences}
        longest = max(end - start for start, end in sentences)
        assert span.start in ends or longest > 1_000 or before.rstrip(" ").endswith("\n")


def test_a_small_table_stays_whole() -> None:
    body = body_of("Before.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nAfter.")
    kinds = [span.kind for span in chunk_by_sentence(body)]
    assert kinds == [Kind.PROSE, Kind.TABLE, Kind.PROSE]


def test_a_long_table_repeats_its_header_by_row() -> None:
    rows = "".join(f"| row {n} | {n * n} |\n" for n in range(200))
    body = body_of("| name | square |\n|---|---|\n" + rows)
    spans = chunk_by_sentence(body, 500)
    assert len(spans) > 3
    assert spans[0].header == ""
    assert all(span.header == "| name | square |\n|---|---|\n" for span in spans[1:])
    assert all(body.text[span.start : span.end].startswith("| ") for span in spans)


def test_a_sentence_longer_than_a_chunk_breaks_at_a_space() -> None:
    body = body_of("word " * 100)
    for span in chunk_by_sentence(body, 103)[:-1]:
        assert body.text[span.end - 1] == " "


def test_chunks_know_their_page_and_section_and_cross_no_heading() -> None:
    pages = (ExtractedPage("One.", 1), ExtractedPage("Two.", 2, "B"))
    body, _ = compose(Extraction(pages, "pdf", "test", page_kind="page"))
    assert build_chunks("d", body, chunk_by_sentence(body), len)[0].page == 1
    body = body_of("# A\n\nFirst text.\n\n# B\n\n## C\n\nSecond text.\n")
    chunks = build_chunks("d", body, chunk_by_sentence(body), len)
    assert [chunk.section_path for chunk in chunks] == [("A",), ("B", "C")]


def test_an_embedding_text_says_where_the_chunk_stands() -> None:
    body = body_of("# A\n\nText.")
    (chunk,) = build_chunks("d", body, chunk_by_sentence(body), len)
    assert embedding_text("Title", chunk) == "Title A\n# A\n\nText."


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        chunk_by_sentence(body_of("a"), 0)
    for size, overlap in ((10, 10), (10, -1), (0, 0)):
        with pytest.raises(ValueError, match="overlap"):
            chunk_by_size(Body("text"), size, overlap)


# --- of one size ---------------------------------------------------------------------------

SIZES = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@given(st.text(max_size=500), SIZES)
def test_neighbours_share_exactly_the_overlap(text: str, sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    spans = chunk_by_size(Body(text), size, overlap)
    pieces = [text[span.start : span.end] for span in spans]
    assert "".join(pieces[:1] + [piece[overlap:] for piece in pieces[1:]]) == text
    for one, other in itertools.pairwise(spans):
        assert (one.end - other.start, one.end - one.start) == (overlap, size)
        assert other.end > one.end  # something new


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
