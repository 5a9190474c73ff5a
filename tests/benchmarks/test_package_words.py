"""Which words of a package are counted, and which packages are not."""

from collections import Counter

import pytest
from tests.reading.conftest import docx_parts, odf_parts, xlsx_parts, zipped

from chapterhouse.reading.limits import Limits
from chapterhouse.reading.office.parts import Parts
from package_words import package_words


def _words(data: bytes, format_: str) -> Counter[str] | None:
    return package_words(Parts(data, Limits()), format_)


def test_words_are_joined_across_runs_and_cut_at_paragraphs() -> None:
    body = (
        "<w:p><w:r><w:t>S</w:t></w:r><w:r><w:t>ome \uff21</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>info</w:t><w:tab/><w:t>x</w:t></w:r></w:p>"
    )
    assert _words(zipped(docx_parts(body)), "docx") == Counter(["some", "a", "info", "x"])


def test_what_is_not_shown_is_not_counted() -> None:
    body = (
        "<w:p><w:del><w:r><w:t>gone</w:t></w:r></w:del><w:moveFrom><w:r><w:t>away</w:t></w:r>"
        "</w:moveFrom><w:r><w:t>here</w:t></w:r></w:p>"
    )
    assert _words(zipped(docx_parts(body)), "docx") == Counter(["here"])


def test_cells_count_their_strings_and_the_numbers_that_are_shown_as_stored() -> None:
    parts = xlsx_parts()
    parts["xl/sharedStrings.xml"] = "<sst><si><t>Heron</t></si><si><t>Teal</t></si></sst>"
    parts["xl/styles.xml"] = (
        "<styleSheet><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/></cellXfs></styleSheet>"
    )
    parts["xl/worksheets/sheet1.xml"] = (
        "<worksheet><sheetData><row><c t='s'><v>1</v></c><c t='s'><v>1</v></c><c t='s'><v/></c>"
        "<c t='s'><v>9</v></c><c><v>180</v></c><c s='1'><v>45000</v></c><c><v>1.5</v></c>"
        "<c t='str'><f>A1</f><v>sum</v></c><c t='b'><v>1</v></c></row></sheetData></worksheet>"
    )
    assert _words(zipped(parts), "xlsx") == Counter({"teal": 2, "180": 1, "sum": 1})


def test_sheets_count_behind_a_chart_whose_values_do_not() -> None:
    parts = xlsx_parts((("Vessel",),))
    chart = "<chart><title><t>Seats</t></title><v>180</v></chart>"
    charted = {"xl/charts/chart1.xml": chart, **parts}
    assert _words(zipped(charted), "xlsx") == Counter(["seats", "vessel"])


@pytest.mark.parametrize(
    "content",
    ["<a", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "<a>" * 300 + "</a>" * 300],
)
def test_what_cannot_be_parsed_is_not_counted(content: str) -> None:
    assert _words(zipped(docx_parts() | {"word/document.xml": content}), "docx") is None


def test_other_formats_and_damaged_containers_are_not_counted() -> None:
    assert _words(zipped({}), "pdf") is None
    assert _words(zipped(odf_parts("text", "")), "odt") == Counter()
