import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import markdown_table
from chapterhouse.reading.plain import parse, sniff_delimiter

LIMITS = Limits()
FIELDS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), max_size=8
)


@pytest.mark.parametrize(
    ("name", "source", "rows"),
    [
        ("a.csv", "a,b\n1,2\n", ["a | b", "1 | 2"]),
        ("a.csv", 'a,b\n"x|y","line 1\r\nline 2"\n', ["a | b", "x\\|y | line 1 line 2"]),
        ("a.csv", "a,b,c\n\n1\n", ["a | b | c", "1 |  | "]),
        ("a.csv", "a;b\n1,5;2,5\n3,5;4,5\n", ["a | b", "1,5 | 2,5", "3,5 | 4,5"]),
        ("a.tsv", "a,x\tb\n1\t2\n", ["a,x | b", "1 | 2"]),
    ],
)
def test_delimited_text_is_a_table(name: str, source: str, rows: list[str]) -> None:
    head, rule, *others = read(source.encode(), name, LIMITS).pages[0].text.splitlines()
    assert [head, *others] == [f"| {row} |" for row in rows]
    assert rule == "|" + " --- |" * (rows[0].count("|") + 1)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = [["name", "price", "note"], ["Teal", "1.50", "slow; old"], ["Heron", "2,75", "a|b"]]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerows(rows)
    assert sniff_delimiter(buffer.getvalue()) == delimiter


@given(st.lists(st.lists(FIELDS, min_size=2, max_size=4), min_size=1, max_size=6))
def test_what_was_written_is_parsed(rows: list[list[str]]) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    wanted = [row for row in rows if any(cell.strip() for cell in row)]
    assert parse(buffer.getvalue(), ",", LIMITS) == wanted


@given(st.lists(st.lists(FIELDS, min_size=1, max_size=4), min_size=1, max_size=6))
def test_a_markdown_table_is_rectangular(rows: list[list[str]]) -> None:
    width = max(map(len, rows))
    lines = markdown_table(rows).split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(rows) + 1
    for line in lines:
        assert line.replace("\\|", "").count("|") == width + 1


def test_a_cell_has_a_ceiling() -> None:
    limits = Limits(cell_characters=3)
    assert parse("abcdef,b\n", ",", limits) == [["abc", "b"]]


def test_a_field_without_end_is_refused() -> None:
    with pytest.raises(RejectedError) as caught:
        parse('"' + "x" * 200, ",", Limits(line_bytes=100))
    assert caught.value.code == "unreadable"


@pytest.mark.data
def test_csv_spectrum(data_folder: Path) -> None:
    cases = sorted((data_folder / "documents" / "csv-spectrum" / "csvs").glob("*.csv"))
    assert cases
    for case in cases:
        expected = json.loads((case.parents[1] / "json" / f"{case.stem}.json").read_text())
        text = case.read_bytes().decode()
        heading, *rows = parse(text, sniff_delimiter(text), LIMITS)
        found = [dict(zip(heading, row, strict=True)) for row in rows]
        clean = [{key: value.replace("\r\n", "\n") for key, value in row.items()} for row in found]
        assert clean == [
            {key: str(value).replace("\r\n", "\n") for key, value in row.items()}
            for row in expected
        ], case.name
