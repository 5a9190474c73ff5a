"""Index terms as numbers."""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.rows import rows_at, term_rows

import chapterhouse.text.terms as terms_module
from chapterhouse.text.analyse import analyse
from chapterhouse.text.terms import each_number, term_numbers, text_of_section

TEXT = st.lists(st.sampled_from(["harbour", "gate", "人口", "ERR-4012", "storms"]), max_size=6).map(
    " ".join
)
FIELDS = st.lists(st.tuples(TEXT, TEXT, TEXT, st.sampled_from(["en", "de", ""])), max_size=6)


@given(st.text())
def test_a_number_is_the_checksum_of_the_term(term: str) -> None:
    assert list(each_number([term])) == [zlib.crc32(term.encode("utf-8", "surrogatepass"))]


def test_numbers_never_change() -> None:
    assert list(each_number(["harbour"])) == [1_533_582_490]  # written into every index there is


@given(st.lists(st.text(max_size=5)))
def test_many_are_numbered_as_one_is(terms: list[str]) -> None:
    numbers = term_numbers(terms)
    assert numbers.dtype == np.uint32
    assert numbers.tolist() == list(each_number(terms))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms_module, "_KNOWN", 3)
    monkeypatch.setattr(terms_module, "_NUMBERS", terms_module._Numbers())
    numbers = list(each_number(f"t{n}" for n in range(10)))
    assert numbers == [zlib.crc32(b"t%d" % n) for n in range(10)]
    assert len(terms_module._NUMBERS) <= 3


@given(FIELDS)
def test_rows_hold_text_section_and_title_in_turn(fields: list[tuple[str, str, str, str]]) -> None:
    rows = term_rows(fields)
    assert len(rows.starts) == len(fields) + 1
    assert rows.starts[-1] == len(rows.terms)
    for number, (text, section, title, language) in enumerate(fields):
        start, end = rows.starts[number], rows.starts[number + 1]
        parts = (
            (start, rows.sections[number], text),
            (rows.sections[number], rows.titles[number], section),
            (rows.titles[number], end, title),
        )
        for begin, stop, part in parts:
            assert rows.terms[begin:stop].tolist() == term_numbers(analyse(part, language)).tolist()


@given(FIELDS, st.data())
def test_some_rows_are_those_of_some_chunks(
    fields: list[tuple[str, str, str, str]], data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.sampled_from(range(len(fields))), max_size=8) if fields
                       else st.just([]))  # fmt: skip
    some, direct = rows_at(term_rows(fields), places), term_rows(fields[p] for p in places)
    for name in ("terms", "starts", "sections", "titles"):
        assert getattr(some, name).tolist() == getattr(direct, name).tolist()


def test_a_section_is_indexed_as_its_path() -> None:
    assert text_of_section(("One", "Two")) == "One / Two"
    assert text_of_section(()) == ""
