"""Values go into rows and come out as they were."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.store import rows
from chapterhouse.types import Chunk, FileRecord, Kind, Notice, Page, Section, Status

TEXT = st.text(max_size=8)
NUMBER = st.integers(0, 2**40)


@given(
    st.lists(st.tuples(TEXT, TEXT, st.none() | NUMBER), max_size=3),
    st.dictionaries(TEXT, TEXT, max_size=3),
    st.lists(TEXT, max_size=3),
    st.sampled_from(Status),
)
def test_a_document(
    make_parts: Any,
    notices: list[tuple[str, str, int | None]],
    metadata: dict[str, str],
    shelves: list[str],
    status: Status,
) -> None:
    wanted = replace(
        make_parts()[0],
        notices=tuple(Notice(*notice) for notice in notices),
        metadata=metadata,
        shelves=tuple(sorted(shelves)),
        status=status,
    )
    stored = rows.document_row(wanted, wanted.id, 7)
    row = (1, *stored, rows.to_json(shelves))
    assert rows.document_from(row) == wanted
    assert rows.sequence_of(row) == 7


@given(
    TEXT,
    st.sampled_from(Kind),
    st.lists(TEXT, max_size=3),
    st.lists(st.tuples(NUMBER, NUMBER), max_size=3),
    st.none() | NUMBER,
)
def test_a_chunk(
    text: str, kind: Kind, path: list[str], parents: list[tuple[int, int]], page: int | None
) -> None:
    wanted = Chunk(
        "a", 3, 4, 5, text, kind, "head", tuple(path), page, "iv", 9, tuple(parents), key=11
    )
    assert rows.chunk_from(("a", *rows.chunk_row(1, wanted)[1:], 11)) == wanted


@given(TEXT, st.sampled_from(Status))
def test_a_file(text: str, status: Status) -> None:
    wanted = FileRecord("/a", "a", 1, 2, "ab", status, text, text, text, text)
    assert rows.file_from(rows.file_row(wanted)) == wanted


def test_a_body() -> None:
    sections = (Section(0, 1, ("A",), 0, 4), Section(1, 2, ("A", "B"), 2, 4))
    pages = (Page(1, "i", 0, 2), Page(2, "", 2, 4))
    body = rows.body_from(
        "text",
        [rows.section_row(1, section)[1:] for section in sections],
        [rows.page_row(1, place, page)[2:] for place, page in enumerate(pages)],
    )
    assert (body.text, body.sections, body.pages) == ("text", sections, pages)


def test_json_keeps_letters_as_they_are() -> None:
    assert rows.to_json(["ü", "\ud800"]) == '["ü","\ud800"]'
