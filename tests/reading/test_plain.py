import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.errors import RejectedError
from chapterhouse.reading.dispatch import read
from chapterhouse.reading.encodings import decode
from chapterhouse.reading.limits import Limits
from chapterhouse.reading.plain import (
    code_block,
    first_heading,
    is_page_mark,
    marked_pages,
    page_mark,
    running_text,
)
from chapterhouse.text.sanitise import sanitise_line
from chapterhouse.types import Extraction

LIMITS = Limits()
GERMAN = "Die Fähre fährt um neun Uhr über den Sund; für Schüler gilt ein ermäßigter Preis. " * 8
RUSSIAN = "Паром отправляется в девять часов утра и возвращается вечером до захода солнца. " * 8
JAPANESE = "渡し船は朝九時に港を出て、夕方までに島から戻ってきます。切符は船の中で買えます。" * 8


def one(data: bytes, name: str) -> Extraction:
    return read(data, name, LIMITS)


def codes(extraction: Extraction) -> list[str]:
    return [notice.code for notice in extraction.notices]


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
    ],
)
def test_old_encodings_are_guessed_and_say_so(text: str, encoding: str) -> None:
    extraction = one(text.encode(encoding), "a.txt")
    assert extraction.pages[0].text == text
    assert codes(extraction) == ["encoding-guessed"]


def test_escape_sequences_name_their_encoding() -> None:
    assert decode(JAPANESE.encode("iso2022_jp")) == (JAPANESE, ())


def test_a_text_cut_inside_a_character_stays_utf8() -> None:
    text, (notice,) = decode(RUSSIAN.encode()[:-3])
    assert text.startswith("Паром")
    assert notice.code == "undecodable-characters"


def test_line_ends_and_nuls_are_cleaned() -> None:
    assert decode(b"a\r\nb\rc\0d\n")[0] == "a\nb\ncd\n"


def test_plain_text_has_no_headings() -> None:
    extraction = one(b"# not a heading\n", "a.txt")
    assert (extraction.markdown, extraction.title) == (False, "")


def test_markdown_is_kept_and_titled() -> None:
    text = "```sh\n# a comment\n```\n"
    assert one(text.encode(), "a.md").title == ""
    extraction = one(b"intro\n\n## Timetable ##\n\n# Other\n", "a.md")
    assert extraction.title == "Timetable"
    assert extraction.pages[0].text == "intro\n\n## Timetable ##\n\n# Other\n"


def test_a_heading_needs_its_space() -> None:
    assert first_heading("#tag\n####### seven\n### Three\n") == "Three"


def test_code_stands_in_a_fence_of_its_language() -> None:
    extraction = one(b"fn main() {}\n", "main.rs")
    assert extraction.pages[0].text == "```rust\nfn main() {}\n```\n"
    assert extraction.format == "code"


@given(st.text("`~a\n", max_size=60))
def test_no_code_can_close_its_own_fence(code: str) -> None:
    block = code_block(code, "text")
    if not code.strip():
        assert block == ""
        return
    fence = block[: len(block) - len(block.lstrip("`"))]
    assert fence not in code
    assert block.endswith(f"\n{fence}\n")


def test_minified_json_is_laid_out_without_changing_a_value() -> None:
    source = '{"a":[1.10,2e5,{"b":"x\\u00e9,:{}"}],"a":null,"empty":{},"none":[],"n":' + "1" * 600
    source += "}"
    text = one(source.encode(), "a.json").pages[0].text
    inner = text.removeprefix("```json\n").removesuffix("```\n")
    assert '"a": [\n    1.10,\n    2e5,\n' in inner
    assert "".join(inner.split()) == source
    assert json.loads(inner) == json.loads(source)


def test_json_that_a_person_wrote_stays_as_it_is() -> None:
    source = b'{\n    "a":   1\n}\n'
    assert one(source, "a.json").pages[0].text == f"```json\n{source.decode()}```\n"


def test_json_lines_and_broken_json_keep_their_words() -> None:
    assert '{"b": 2}' in one(b'{"a": 1}\n{"b": 2}\n', "a.jsonl").pages[0].text
    assert '{"a": ' in one(b'{"a": ', "a.json").pages[0].text


def test_yaml_is_never_evaluated() -> None:
    source = "a: !!python/object/apply:os.system ['echo']\n"
    assert source in one(source.encode(), "a.yaml").pages[0].text


def test_xml_is_kept_as_it_stands() -> None:
    source = b'<?xml version="1.0" encoding="iso-8859-1"?><a><title>F\xe4hre</title></a>'
    extraction = one(source, "a.xml")
    assert "<title>Fähre</title>" in extraction.pages[0].text
    assert extraction.title == "Fähre"


def test_entities_of_xml_are_written_out() -> None:
    source = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y &#233;">]><a><title>&x;</title></a>'
    extraction = one(source, "a.xml")
    assert "<title>y é</title>" in extraction.pages[0].text
    assert extraction.title == "y é"


def test_xml_with_entities_that_are_no_characters_is_refused_by_the_reader_too() -> None:
    with pytest.raises(RejectedError) as caught:
        one(b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "a.xml")
    assert caught.value.code == "xml-doctype"


def test_xml_with_a_plain_document_type_is_read() -> None:
    source = b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG [1.1]//EN" "http://x/svg.dtd"><svg>x</svg>'
    assert "<svg>x</svg>" in one(source, "a.svg").pages[0].text


def test_nothing_but_blanks_says_so() -> None:
    for name in ("a.txt", "a.md", "a.py", "a.csv", "a.yaml"):
        assert codes(one(b" \n\n", name)) == ["no-text"], name


def test_every_plain_format_names_its_method(documents: Mapping[str, bytes]) -> None:
    for name in ("txt", "md", "csv", "json", "yaml", "xml"):
        assert one(documents[name], f"a.{name}").method.startswith("Python 3.")


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


@pytest.mark.parametrize(
    "line",
    [
        " <!-- page 3 -->",
        "<!-- page 0 -->",
        "<!-- page three -->",
        "<!-- page 3 --> more",
        "<!--page 3-->",
        "<!-- sheet  -->",
        "\\<!-- page 3 -->",
        "```\n<!-- page 3 -->\n```",
        "~~~~\n~~~\n<!-- page 3 -->",
    ],
)
def test_what_is_no_mark_stays(line: str) -> None:
    text = f"a\n{line}\nb\n"
    extraction = one(text.encode(), "a.md")
    assert extraction.page_kind == ""
    assert extraction.pages[0].text == text


def test_marks_of_another_kind_than_the_first_stay() -> None:
    text = "<!-- slide 1 -->\na\n<!-- page 2 -->\nb\n"
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
