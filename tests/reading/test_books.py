"""E-books of Kindle and Mobipocket: text, headings and what their header states."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.books import Huffman, inflate
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.pool import ReadingPool
from chapterhouse.types import Extraction

from .mobi_writer import code, database, deflate, huffman, mobi

HTML = (
    "<html><head><guide><reference title='x'/></guide></head><body><h1>Timetable</h1>"
    "<p>The ferry leaves at nine — every <b>day</b>.</p><mbp:pagebreak/>"
    "<h2>Café</h2><p height='1em'>Coffee and tea.</p></body></html>"
)
TEXT = "# Timetable\n\nThe ferry leaves at nine — every day.\n\n## Café\n\nCoffee and tea.\n"


def one(data: bytes, name: str = "a.mobi") -> Extraction:
    return read(data, name, Limits())


@pytest.mark.parametrize("compression", [1, 2, 17480])
@pytest.mark.parametrize("trailing", [0, 1, 2, 7])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_a_book_is_read(compression: int, trailing: int, encoding: str) -> None:
    data = mobi(HTML, compression=compression, trailing=trailing, encoding=encoding)
    found = one(data)
    assert [page.text for page in found.pages] == [TEXT]
    assert (found.format, found.title) == ("mobi", "The ferry")
    assert not found.notices


def test_what_the_header_states_is_kept(pool: ReadingPool) -> None:
    stated = {100: "Ada Lund", 101: "Press", 106: "2026-05-04", 503: "The  ferry, anew", 524: "en"}
    found = pool.read(mobi(HTML, stated=stated), "a.azw3")
    assert found.title == "The ferry, anew"
    assert found.metadata == {"author": "Ada Lund", "date": "2026-05-04", "language": "en"}


def test_a_long_book_stands_in_many_records() -> None:
    lines = "".join(f"<p>Letter {n} of the ferry.</p>" for n in range(2_000))
    text = one(mobi(f"<html><body>{lines}</body></html>", trailing=3)).pages[0].text
    assert text.split("\n\n") == [f"Letter {n} of the ferry." for n in range(1_999)] + [
        "Letter 1999 of the ferry.\n"
    ]


def test_of_the_newer_format_the_chapters_are_read_and_no_style_sheets() -> None:
    chapter = (
        '<?xml version="1.0"?><!DOCTYPE html><html><head><title>x{0}</title></head><body></body>'
        "</html><h1>Part {0}</h1><p>Text {0}.</p>"
    )
    data = mobi(
        chapter.format(1) + chapter.format(2),
        version=8,
        flows=["p { color: red }", "<svg><text>drawn</text></svg>"],
    )
    assert one(data, "a.azw3").pages[0].text == ("# Part 1\n\nText 1.\n\n# Part 2\n\nText 2.\n")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (mobi(HTML, encryption=2), "encrypted"),
        (mobi("%MOP" + "x" * 50), "unsupported-format"),
        (mobi(HTML, compression=3), "unreadable"),
        (database([]), "unreadable"),
        (database([bytes(100)]), "unreadable"),
        (mobi(HTML)[:90], "unreadable"),
        (mobi(HTML)[:360], "unreadable"),
    ],
    ids=["drm", "pictures", "compression", "empty", "no header", "cut list", "cut text"],
)
def test_what_cannot_be_read_says_why(data: bytes, code: str) -> None:
    with pytest.raises(RejectedError) as caught:
        one(data)
    assert caught.value.code == code


def test_of_a_damaged_book_the_text_before_is_read() -> None:
    lines = "".join(f"<p>Letter {n} of the ferry.</p>" for n in range(2_000))
    data = mobi(lines, compression=1)
    found = one(data[: len(data) // 2])
    assert found.pages[0].text.startswith("Letter 0 of the ferry.\n\nLetter 1 ")
    (notice,) = found.notices
    assert notice.code == "part-unreadable"
    assert notice.sentence == "It is damaged: 31,214 of 62,890 bytes of text were read."
    (notice,) = one(mobi(HTML)[:-60]).notices
    assert notice.code == "part-unreadable"


def test_its_content_says_what_it_is() -> None:
    assert [notice.code for notice in one(mobi(HTML), "a.pdf").notices] == ["extension-mismatch"]
    assert not one(mobi(HTML), "a.prc").notices


@given(st.binary(max_size=600) | st.text("ab <", max_size=600).map(str.encode))
def test_compressed_text_comes_out_as_it_went_in(text: bytes) -> None:
    assert inflate(deflate(text)) == text
    coded, (table, *dictionaries) = huffman(text)
    assert Huffman(table, dictionaries).inflate(coded) == text


def test_phrases_may_be_made_of_phrases() -> None:
    _, (table, *dictionaries) = huffman(b"", [b"ferry ", b"nine "], nested=[257])
    coded = code(256) + code(257) + code(256) + code(ord("x"))
    assert Huffman(table, dictionaries).inflate(coded) == b"ferry nine ferry x"


def test_phrases_that_hold_themselves_end_in_a_reason() -> None:
    _, (table, *dictionaries) = huffman(b"", [b""], nested=[256])
    endless = dictionaries[-1][:-2] + b"\0\2" + code(256)
    with pytest.raises(RejectedError, match="hold themselves"):
        Huffman(table, [*dictionaries[:-1], endless]).inflate(code(256))


def test_phrases_cannot_grow_without_end() -> None:
    _, (table, *dictionaries) = huffman(b"", [b"x" * 30_000])
    with pytest.raises(RejectedError) as caught:
        Huffman(table, dictionaries).inflate(code(256) * 40)
    assert caught.value.code == "archive-too-large"


@given(
    st.dictionaries(st.integers(78, 2_000), st.integers(0, 255), min_size=1, max_size=6),
    st.sampled_from([2, 17480]),
)
def test_a_book_with_changed_bytes_ends_in_text_or_a_reason(
    changes: dict[int, int], compression: int
) -> None:
    data = bytearray(mobi(HTML, compression=compression, version=8, stated={100: "Ada"}))
    for place, byte in changes.items():
        data[place % len(data) if place % len(data) > 77 else 78] = byte
    with suppress(RejectedError):
        assert one(bytes(data)).format == "mobi"
