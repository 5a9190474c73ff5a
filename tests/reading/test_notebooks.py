"""Notebooks: texts, code, and what the code printed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.reading.dispatch import read
from chapterhouse.reading.limits import Limits
from chapterhouse.types import Extraction

from .conftest import codes

PICTURE = "iVBORw0KGgo" * 60


def one(data: bytes) -> Extraction:
    return read(data, "a.ipynb", Limits())


def notebook(*cells: dict[str, Any], **metadata: object) -> bytes:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}).encode()


def text_of(*cells: dict[str, Any], **metadata: object) -> str:
    found = one(notebook(*cells, **metadata))
    assert codes(found) in ([], ["no-text"])
    return found.pages[0].text


def words(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": 1, "source": source, "outputs": outputs}


def printed(text: object) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(**data: object) -> dict[str, Any]:
    kinds = {kind.replace("_", "/"): value for kind, value in data.items()}
    return {"output_type": "execute_result", "data": kinds, "metadata": {}}


TABLE = (
    '<div><style scoped>.dataframe th {top: 0}</style><table border="1" class="dataframe"><thead>'
    "<tr><th></th><th>Vessel</th><th>Seats</th></tr></thead><tbody><tr><th>0</th><td>Heron</td>"
    "<td>180</td></tr></tbody></table><p>1 rows × 2 columns</p></div>"
)


def test_cells_are_markdown_and_code_in_the_language_of_the_kernel() -> None:
    cells = (
        words("# Marée\n\nAmplitude: *1,7 m*."),
        code("x <- 2\nprint(x)", printed(["[1]", " 2\n"])),
    )
    expected = "# Marée\n\nAmplitude: *1,7 m*.\n\n```r\nx <- 2\nprint(x)\n```\n\n```\n[1] 2\n```\n"
    assert text_of(*cells, language_info={"name": "R"}) == expected
    assert text_of(*cells, kernelspec={"language": "R", "name": "ir"}) == expected
    assert text_of(*cells) == expected.replace("```r", "```")
    assert text_of(*cells, language_info={"name": "r\n# Heading"}) == expected.replace(
        "```r", "```"
    )
    assert one(notebook(*cells)).title == "Marée"
    assert one(notebook(*cells, title="Tides")).title == "Tides"


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([printed("a\n"), printed("b\n")], "```\na\nb\n```\n"),
        ([printed("\r 10 %\r 90 %\rdone\r\n\x1b[31mred\x1b[0m\n")], "```\ndone\nred\n```\n"),
        ([shown(text_plain="0.7")], "```\n0.7\n```\n"),
        ([shown(text_plain=["# no ", "heading"])], "```\n# no heading\n```\n"),
        ([shown(text_html="<b>1</b>", text_plain="'one'")], "```\n'one'\n```\n"),
        ([shown(text_html="<b>one</b> vessel")], "one vessel\n"),
        ([shown(text_markdown="**one**", text_plain="<Markdown>")], "**one**\n"),
        (
            [shown(text_html=[TABLE], text_plain="  Vessel Seats\n0 Heron 180")],
            (
                "|  | Vessel | Seats |\n| --- | --- | --- |\n| 0 | Heron | 180 |\n\n"
                "1 rows × 2 columns\n"
            ),
        ),
        ([shown(image_png=PICTURE, text_plain="<Figure size 640x480 with 1 Axes>")], ""),
        ([shown(image_png=PICTURE, text_plain="[<Line2D>]")], "```\n[<Line2D>]\n```\n"),
        ([shown(application_json={"a": 1}, text_plain="<JSON>")], "```\n<JSON>\n```\n"),
        (
            [{
                "output_type": "error", "ename": "ValueError", "evalue": "no \x1b[1mtide\x1b[0m",
                "traceback": ["\x1b[31mTraceback\x1b[0m", "line 1", "ValueError: no tide"],
            }],
            "```\nValueError: no tide\n```\n",
        ),
        ([{}, 3, None, {"data": 5}, printed(7)], ""),
    ],
)  # fmt: skip
def test_outputs_are_text(outputs: list[dict[str, Any]], expected: str) -> None:
    assert text_of(words("x"), code("1", *outputs)) == "x\n\n```\n1\n```\n" + (
        f"\n{expected}" if expected else ""
    )


def test_no_picture_and_no_json_is_left() -> None:
    text = text_of(
        words(f"A map ![of the pier](attachment:a.png) and ![](data:image/png;base64,{PICTURE})."),
        words(f'<img src="data:image/png;base64,{PICTURE}">'),
        {"cell_type": "raw", "source": "title: Pier"},
    )
    assert text.startswith("A map of the pier and .\n\n")
    assert text.endswith("```\ntitle: Pier\n```\n")
    assert "base64" not in text
    assert "iVBOR" not in text


def test_a_code_block_that_does_not_end_ends_with_its_cell() -> None:
    text = text_of(words("```python\nx = 1"), words("# Heading"))
    assert text == "```python\nx = 1\n```\n\n# Heading\n"
    assert text_of(code("```")) == "````\n```\n````\n"


def test_notebooks_of_version_3_are_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Tide"]},
        {
            "cell_type": "code", "input": ["print 1"], "language": "python",
            "outputs": [
                {"output_type": "stream", "stream": "stdout", "text": ["1\n"]},
                {"output_type": "pyout", "text": ["'2'"]},
                {"output_type": "display_data", "png": PICTURE, "text": "<Figure>"},
                {"output_type": "pyerr", "ename": "E", "evalue": "e", "traceback": []},
            ],
        },
    ]  # fmt: skip
    data = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}).encode()
    blocks = ("## Tide", "```\nprint 1\n```", "```\n1\n```", "```\n'2'\n```", "```\nE: e\n```\n")
    assert one(data).pages[0].text == "\n\n".join(blocks)


@pytest.mark.parametrize(
    "data",
    [
        notebook(words("The ferry leaves at nine."))[:-5],
        b'{"note": "The ferry leaves at nine."}',
        b'{"cells": {"source": "The ferry leaves at nine."}}',
        b'{"cells": ' + b"[" * 100_000 + b'"The ferry leaves at nine."',
        notebook(words("The ferry leaves at nine."), code("", shown(image_png=PICTURE)))[:-9],
    ],
)
def test_what_is_broken_is_read_as_plain_text_and_says_so(data: bytes) -> None:
    found = one(data)
    assert codes(found) == ["part-unreadable"]
    assert not found.markdown
    assert "The ferry leaves at nine." in found.pages[0].text
    assert "iVBOR" not in found.pages[0].text


def test_an_empty_notebook_has_no_text() -> None:
    assert codes(one(notebook())) == ["no-text"]


def test_a_notebook_is_known_whatever_it_is_called() -> None:
    data = notebook(words("# Tides"), code("x = 1"))
    for name in ("a.json", "a", "a.ipynb"):
        found = read(data, name, Limits())
        assert (found.format, found.title, codes(found)) == ("ipynb", "Tides", [])
    # Its name does not prove it, nor does a word in other data.
    other = b'{"cells": [], "note": "made with \\"nbformat\\" 4", "nbformat": "4"}'
    assert read(other, "a.json", Limits()).format == "json"
    assert read(data[:-2], "a.json", Limits()).format == "json"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "source", "cell_type", "outputs", "data", "text", "metadata"]
            ),
            inner | st.just("code"),
            max_size=4,
        )
    ),
)


@given(values, values)
def test_any_json_is_read_or_said_to_be_broken(cells: object, metadata: object) -> None:
    one(json.dumps({"cells": cells, "metadata": metadata}).encode())
