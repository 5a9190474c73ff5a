"""Plain text, Markdown, code, data, delimited text and subtitles."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.reading.conftest import codes

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.encodings import decode
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.markdown import (
    code_block,
    is_page_mark,
    markdown_table,
    marked_pages,
    page_mark,
    running_text,
)
from chapterhouse.reading.plain import _indented, parse, sniff_delimiter
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Extraction

LIMITS = Limits()
GERMAN = "Die Fähre fährt um neun Uhr über den Sund; für Schüler gilt ein ermäßigter Preis. " * 8
RUSSIAN = "Паром отправляется в девять часов утра и возвращается вечером до захода солнца. " * 8
JAPANESE = "渡し船は朝九時に港を出て、夕方までに島から戻ってきます。切符は船の中で買えます。" * 8


def one(data: bytes, name: str) -> Extraction:
    return read(data, name, LIMITS)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff")))
def test_utf8_is_read_to_the_character(text: str) -> None:
    assert decode(text.encode()) == (text, ())
    assert decode(text.encode("utf-8-sig")) == (text, ())


@given(
    st.text(st.characters(min_codepoint=32, max_codepoint=0x24F), min_size=4),
    st.sampled_from(["utf-16", "utf-32"]),
)
def test_wide_encodings_with_a_mark_are_read_to_the_character(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_without_a_mark_are_told_by_their_zeros(encoding: str) -> None:
    assert decode(GERMAN.encode(encoding)) == (GERMAN, ())
    assert one(GERMAN.encode(encoding), "a.txt").pages[0].text == GERMAN


@given(st.binary(max_size=2_000))
def test_any_bytes_become_text_that_can_be_stored(data: bytes) -> None:
    text, notices = decode(data)
    text.encode()
    assert "\0" not in text
    assert "\r" not in text
    assert not ("\ufffd" in text and b"\xef\xbf\xbd" not in data) or notices


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),  # whose escapes name it
    ],
)
def test_old_encodings_are_guessed_and_say_so(text: str, encoding: str) -> None:
    extraction = one(text.encode(encoding), "a.txt")
    assert extraction.pages[0].text == text
    assert codes(extraction) == ["encoding-guessed"] * (encoding != "iso2022_jp")


@given(st.text("`~a\n", max_size=60))
def test_no_code_can_close_its_own_fence(code: str) -> None:
    block = code_block(code, "text")
    if not code.strip():
        assert block == ""
        return
    fence = block[: len(block) - len(block.lstrip("`"))]
    assert fence not in code
    assert block.endswith(f"\n{fence}\n")


@pytest.mark.parametrize(
    ("name", "source", "text", "title"),
    [
        ("a.txt", "# not a heading\r\none\rtwo\0\n", "# not a heading\none\ntwo\n", ""),
        ("a.md", "```sh\n# a comment\n```\n", "```sh\n# a comment\n```\n", ""),
        ("a.md", "intro\n\n## Fares ##\n\n# B\n", "intro\n\n## Fares ##\n\n# B\n", "B"),
        ("a.md", "#tag\n####### seven\n### Three\n", "#tag\n####### seven\n### Three\n", "Three"),
        ("main.rs", "fn main() {}\n", "```rust\nfn main() {}\n```\n", ""),
        ("a.json", '{\n    "a":   1\n}\n', '```json\n{\n    "a":   1\n}\n```\n', ""),
        ("a.jsonl", '{"a": 1}\n{"b": 2}\n', '```json\n{"a": 1}\n{"b": 2}\n```\n', ""),
        ("a.json", '{"a": ', '```json\n{"a": \n```\n', ""),
        ("a.yaml", "a: !!python/x ['y']\n", "```yaml\na: !!python/x ['y']\n```\n", ""),
        (
            "a.xml",
            '<?xml version="1.0" encoding="latin1"?><a><title>F\xe4hre</title></a>',
            '```xml\n<?xml version="1.0" encoding="latin1"?><a><title>F\xe4hre</title></a>\n```\n',
            "F\xe4hre",
        ),
        (
            "a.xml",
            '<!DOCTYPE a [<!ENTITY x "y &#233;">]><a><title>&x;</title></a>',
            '```xml\n<!DOCTYPE a [<!ENTITY x "y &#233;">]><a><title>y \xe9</title></a>\n```\n',
            "y \xe9",
        ),
        (
            "a.svg",
            '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG [1.1]//EN" "http://x/svg.dtd"><svg>x</svg>',
            ('```xml\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG [1.1]//EN" "http://x/svg.dtd">'
            "<svg>x</svg>\n```\n"),
            "",
        ),
    ],
)  # fmt: skip
def test_text_stands_as_it_is_written(name: str, source: str, text: str, title: str) -> None:
    extraction = one(source.encode("latin-1"), name)
    assert (extraction.pages[0].text, extraction.title) == (text, title)
    assert extraction.markdown is (name != "a.txt")
    assert extraction.method.startswith("Python 3.")


def test_minified_json_is_laid_out_without_changing_a_value() -> None:
    source = '{"a":[1.10,2e5,{"b":"x\\u00e9,:{}"}],"a":null,"empty":{},"none":[],"n":' + "1" * 600
    source += "}"
    text = one(source.encode(), "a.json").pages[0].text
    inner = text.removeprefix("```json\n").removesuffix("```\n")
    assert '"a": [\n    1.10,\n    2e5,\n' in inner
    assert "".join(inner.split()) == source
    assert json.loads(inner) == json.loads(source)


def test_nothing_but_blanks_says_so() -> None:
    for name in ("a.txt", "a.md", "a.py", "a.csv", "a.yaml"):
        assert codes(one(b" \n\n", name)) == ["no-text"], name


# --- page marks ---


def pages_of(text: str) -> list[tuple[int | None, str, str]]:
    return [(page.number, page.label, page.text) for page in one(text.encode(), "a.md").pages]


def test_page_marks_become_pages_and_go() -> None:
    text = "---\ntitle: x\n---\n# T\n\n<!-- page 3 -->\n\nthree\n\n<!-- page 4: iv -->\nfour\n"
    assert one(text.encode(), "a.md").page_kind == "page"
    assert pages_of(text) == [
        (None, "", "---\ntitle: x\n---\n# T\n\n"),
        (3, "", "\nthree\n\n"),
        (4, "iv", "four\n"),
    ]


def test_slides_keep_their_titles_and_sheets_their_names() -> None:
    assert pages_of("<!-- slide 2: Why now -->\nx\n") == [(2, "Why now", "x\n")]
    sheets = "<!-- sheet Sales -->\na\n<!-- sheet Q1: costs -->\nb\n"
    assert pages_of(sheets) == [(1, "Sales", "a\n"), (2, "Q1: costs", "b\n")]
    assert one(sheets.encode(), "a.md").page_kind == "sheet"


NO_MARKS = " <!-- page 3 -->|<!-- page 0 -->|<!-- page three -->|<!-- page 3 --> more|<!--page 3-->"
NO_MARKS += "|<!-- sheet  -->|\\<!-- page 3 -->|```\n<!-- page 3 -->\n```"
NO_MARKS += "|~~~~\n~~~\n<!-- page 3 -->"


def test_what_is_no_mark_stays() -> None:
    for line in NO_MARKS.split("|"):
        text = f"a\n{line}\nb\n"
        extraction = one(text.encode(), "a.md")
        assert (extraction.page_kind, extraction.pages[0].text) == ("", text)
    text = "<!-- slide 1 -->\na\n<!-- page 2 -->\nb\n"  # marks of another kind than the first
    assert pages_of(text) == [(1, "", "a\n<!-- page 2 -->\nb\n")]


@given(
    st.lists(
        st.tuples(st.integers(1, 999_999), st.text(max_size=30), st.text("ab`\n#", max_size=20)),
        max_size=4,
    ),
    st.sampled_from(["page", "slide"]),
)
def test_a_mark_says_what_it_was_made_of(pages: list[tuple[int, str, str]], kind: str) -> None:
    bodies = [text.replace("`", "") for _, _, text in pages]
    text = "".join(
        f"{page_mark(kind, number, label)}\n{body}\n"
        for (number, label, _), body in zip(pages, bodies, strict=True)
    )
    found, found_kind = marked_pages(text)
    if not pages:
        assert (found_kind, found[0].text) == ("", text)
        return
    assert found_kind == kind
    assert [page.number for page in found] == [number for number, _, _ in pages]
    assert [page.text for page in found] == [f"{body}\n" for body in bodies]
    for page, (_, label, _) in zip(found, pages, strict=True):
        assert page.label == sanitise_line(label).replace("-->", "->")


@given(st.text("<!- page3slidht:x`\n>", max_size=120))
def test_any_text_is_cut_without_losing_a_line(text: str) -> None:
    found, _ = marked_pages(text)
    kept = "".join(page.text for page in found)
    lost = [line for line in text.splitlines(keepends=True) if is_page_mark(line)]
    assert len(kept) + sum(map(len, lost)) >= len(text)
    assert len(kept) <= len(text)


def test_a_running_line_that_only_numbers_pages_says_nothing() -> None:
    for line in ("17", "Page  of ", "Seite 1 von 3", "第 1 頁", "- 4 -", ""):
        assert running_text(line) == ""
    assert running_text("Confidential \n 3 / 10") == "Confidential 3 / 10"
    assert running_text("Page of the fleet") == "Page of the fleet"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_laying_out_json_keeps_its_value(value: object) -> None:
    assert json.loads(_indented(json.dumps(value))) == value


# --- delimited text ------------------------------------------------------------------------------

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
    head, rule, *others = one(source.encode(), name).pages[0].text.splitlines()
    assert [head, *others] == [f"| {row} |" for row in rows]
    assert rule == "|" + " --- |" * (rows[0].count("|") + 1)


@given(st.lists(st.lists(FIELDS, min_size=1, max_size=4), min_size=1, max_size=6))
def test_a_markdown_table_is_rectangular(rows: list[list[str]]) -> None:
    width = max(map(len, rows))
    lines = markdown_table(rows).split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(rows) + 1
    for line in lines:
        assert line.replace("\\|", "").count("|") == width + 1


@given(
    st.lists(st.lists(FIELDS, min_size=2, max_size=4), min_size=1, max_size=6),
    st.sampled_from(",;\t|"),
)
def test_what_was_written_is_parsed(rows: list[list[str]], delimiter: str) -> None:
    buffer = io.StringIO()
    out = csv.writer(buffer, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    out.writerows(rows)
    wanted = [row if any(cell.strip() for cell in row) else [] for row in rows]
    assert parse(buffer.getvalue(), delimiter, LIMITS) == wanted


def test_the_delimiter_is_found_and_cells_and_fields_have_a_ceiling() -> None:
    rows = [["name", "price", "note"], ["Teal", "1.50", "slow; old"], ["Heron", "2,75", "a|b"]]
    for delimiter in ",;\t|":
        buffer = io.StringIO()
        csv.writer(buffer, delimiter=delimiter).writerows(rows)
        assert sniff_delimiter(buffer.getvalue()) == delimiter
    assert parse("abcdef,b\n", ",", Limits(cell_characters=3)) == [["abc", "b"]]
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


# --- subtitles -----------------------------------------------------------------------------------

SRT = """1
00:00:01,000 --> 00:00:03,000
<i>The ferry leaves at nine,</i>
and returns

2
00:00:03,200 --> 00:00:05,000 X1:40 X2:600
{\\an8}in the <font color="#ff0000">evening</font>.

3
01:02:03,004 --> 01:02:06,000
42

4
01:02:06,000 --> 01:02:08,000
is the answer if x < y.
"""
VTT = """WEBVTT - Talk
Kind: captions

STYLE
::cue { color: red }

NOTE made by hand
--- not spoken

intro
00:01.000 --> 00:04.000 align:start
<v.loud Mary Ann>Hi &amp; <00:00:02.000><c>welcome</c>!</v>
<v Roger>Hello.

00:04.000 --> 00:05.000
<v Roger><ruby>Notes<rt>NOTE</rt></ruby> begin
"""


def text_of(text: str, name: str) -> str:
    return one(text.encode(), name).pages[0].text


def test_cues_become_paragraphs_with_their_time() -> None:
    extraction = one(SRT.encode(), "a.srt")
    assert extraction.pages[0].text == (
        "[00:00:01] The ferry leaves at nine, and returns in the evening.\n\n"
        "[01:02:03] 42 is the answer if x < y."
    )
    assert (extraction.format, extraction.markdown, extraction.notices) == ("srt", False, ())
    assert text_of(SRT.replace("\n", "\r\n"), "a.srt") == extraction.pages[0].text


def test_voices_are_named_and_styles_and_notes_are_not_said() -> None:
    assert text_of(VTT, "a.vtt") == (
        "[00:00:01] Mary Ann: Hi & welcome!\n\n[00:00:01] Roger: Hello. NotesNOTE begin"
    )


def test_rolling_captions_are_said_once() -> None:
    rolling = (
        "WEBVTT\n\n00:01.000 --> 00:03.000\n \nthe<00:00:01.500><c> ferry</c>\n\n"
        "00:03.000 --> 00:03.010\nthe ferry\n \n\n"
        "00:03.010 --> 00:05.000\nthe ferry\nleaves<00:00:04.000><c> now</c>\n"
    )
    assert text_of(rolling, "a.vtt") == "[00:00:01] the ferry leaves now"


def test_what_is_no_subtitle_is_text_and_one_without_words_says_so() -> None:
    for name in ("a.srt", "a.vtt"):
        extraction = one(b"Dear all,\n", name)
        assert (extraction.format, codes(extraction)) == ("txt", ["extension-mismatch"])
    assert codes(one(b"WEBVTT\n\nNOTE nothing\n", "a.vtt")) == ["no-text"]


def test_long_speech_is_cut_where_sentences_end() -> None:
    cues = "".join(
        f"{n}\n00:{n // 60:02}:{n % 60:02},000 --> 00:{n // 60:02}:{n % 60:02},900\n"
        f"Sentence {n} says very little.\n\n"
        for n in range(1, 100)
    )
    paragraphs = text_of(cues, "a.srt").split("\n\n")
    assert len(paragraphs) > 3
    assert all(500 <= len(paragraph) < 600 for paragraph in paragraphs[:-1])


WORDS = st.lists(st.text("abcXYZäß", min_size=1, max_size=8), min_size=1, max_size=6)


@example([["ßßß", "ßßß"]], "srt")
@given(st.lists(WORDS, min_size=1, max_size=8), st.sampled_from(["srt", "vtt"]))
def test_every_word_is_there_in_order(cues: list[list[str]], format_: str) -> None:
    head = "WEBVTT\n\n" if format_ == "vtt" else ""
    body = "\n\n".join(
        f"{n}\n00:00:{n:02}.000 --> 00:00:{n:02}.500\n{' '.join(words)}"
        for n, words in enumerate(cues, 1)
    )
    said = [word for word in text_of(head + body, f"a.{format_}").split() if "[" not in word]
    assert said == [word for words in cues for word in words]
