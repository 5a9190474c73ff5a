"""Names, dates and links come from documents, so none of them is trusted."""

import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.answering.provenance import (
    citation_name,
    link_of,
    marker_of,
    section_name,
    stated_date,
    year_of,
)
from chapterhouse.types import Document

DOCUMENT = Document(
    "sr-runtime-0a1b2c3d",
    "papers/sr-runtime.md",
    "/papers/sr-runtime.md",
    "SR Runtime",
    "md",
    "markdown",
    "",
    "",
    1,
    0,
)


def stating(**metadata: str) -> Document:
    return replace(DOCUMENT, metadata=metadata)


@pytest.mark.parametrize(
    "name", ["leia-2024-sr-runtime-overview", "a", "2024", "press_2025.v2", "höhe-3", "a..b"]
)
def test_a_document_is_cited_by_the_id_that_it_states(name: str) -> None:
    assert citation_name(stating(id=name)) == name
    assert citation_name(stating(id=f" {name} ")) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a]b",
        "[^x",
        "a\nb",
        "a b",
        "../x",
        "x/../y",
        "/etc",
        "-a",
        "a-",
        "_a",
        ".a",
        "a:b",
        "a§b",
        "x" * 101,
        "a<b",
        "ａ]b",
        "a\u200bb",
        "a\u3164b",
        "\u115f",
        "a\u202eb",
        "a\u2028b",
        "a|b",
        "a`b",
        "a\\b",
        "a^b",
        "a\x00b",
    ],
)
def test_a_name_that_is_none_is_replaced_by_the_id(name: str) -> None:
    assert citation_name(stating(id=name)) == DOCUMENT.id


@given(st.text(max_size=120))
def test_no_name_and_no_section_can_end_a_marker(text: str) -> None:
    document = stating(id=text)
    assert re.fullmatch(r"[\w.\-]+", citation_name(document))
    marker = marker_of(document, ("Top", text))
    assert not re.search(r"[\[\]<>|｜\n\r\u2028]", marker)
    assert len(section_name((text, text))) <= 120


def test_a_marker_names_the_innermost_section() -> None:
    assert marker_of(stating(id="guide"), ("Guide", "Eye  tracking")) == "guide:Eye tracking"
    assert marker_of(stating(id="guide"), ()) == "guide"
    assert marker_of(DOCUMENT, ("\u200b",)) == DOCUMENT.id


@pytest.mark.parametrize(
    ("metadata", "day"),
    [
        ({"date": "2024-03-07"}, "2024-03-07"),
        ({"date": "2024-03-07T10:00:00Z"}, "2024-03-07"),
        ({"date": "2024-03"}, "2024-03"),
        ({"date": "2024"}, "2024"),
        ({"date": "2024 (second edition)"}, "2024"),
        ({"published": "2023-01-02", "modified": "2024-01-01"}, "2023-01-02"),
        ({"date": "soon", "created": "2022-05-06"}, "2022-05-06"),
        ({"date": "2024-13-01"}, ""),
        ({"date": "2024-02-30"}, ""),
        ({"date": "0999"}, ""),
        ({"date": "2024-1-1"}, ""),
        ({"date": "20240307"}, ""),
        ({"date": "[2024](http://evil)"}, ""),
        ({}, ""),
    ],
)
def test_the_day_that_a_document_states_is_a_day(metadata: dict[str, str], day: str) -> None:
    assert stated_date(stating(**metadata)) == day
    assert year_of(stating(**metadata)) == day[:4]


@pytest.mark.parametrize(
    ("source", "day"),
    [
        ("minutes-2024-03-07.md", "2024-03-07"),
        ("minutes_2024_03.md", "2024-03"),
        ("report-2023.pdf", "2023"),
        ("2022 and 2023.md", ""),
        ("ISO-20245.md", ""),
        ("2019/notes.md", ""),
        ("model-2024-13.md", "2024"),
        ("a1999b.md", ""),
    ],
)
def test_the_one_date_in_a_files_name_counts_where_none_is_stated(source: str, day: str) -> None:
    assert stated_date(replace(DOCUMENT, source=f"papers/{source}")) == day


def test_a_letter_is_dated_as_mail_is() -> None:
    letter = replace(stating(date="Tue, 05 Mar 2024 10:00:00 +0100"), format="eml")
    assert stated_date(letter) == "2024-03-05"
    assert stated_date(replace(letter, metadata={"date": "never"})) == ""
    assert stated_date(replace(letter, metadata={"date": "Tue, 99 Mar 99999 10:00"})) == ""


def test_a_link_leads_to_the_section() -> None:
    document = stating(source_url="https://docs.example/guide?v=2")
    assert link_of(document, ()) == "https://docs.example/guide?v=2"
    assert link_of(document, ("Guide",)) == "https://docs.example/guide?v=2"
    assert (
        link_of(document, ("Guide", "Eye tracking: how?"))
        == "https://docs.example/guide?v=2#eye-tracking-how"
    )
    own = stating(source_url="https://docs.example/guide#own")
    assert link_of(own, ("Guide", "Other")) == "https://docs.example/guide#own"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://host/x",
        "//host",
        "https://",
        "https:///x",
        "https://user:key@host/",
        "https://good.example\\@evil.example/",
        "https://good.example\\.evil.example",
        "https://host/ x",
        "https://host/\nx",
        "http://[",
        "https://host/><script>alert(1)</script>",
        'https://host/"onclick=x',
        "https://host/`x`",
        "https://host/\u200bx",
        "https://host/\u202ex",
        "https://ho\u3164st/",
        "https://h/" + "x" * 2_000,
        "/papers/x.md",
        "vbscript:x",
        " javascript:x",
        "https://host/{x}|^",
    ],
)
def test_what_is_no_plain_web_address_is_no_link(url: str) -> None:
    assert link_of(stating(source_url=url), ("A", "B")) == ""


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_link_stays_on_the_host_that_was_stated_and_ends_nowhere(url: str, heading: str) -> None:
    link = link_of(stating(source_url=f"https://host.example/{url}"), ("Top", heading))
    if link:
        assert urlsplit(link).hostname == "host.example"
        assert not re.search(r"[<>\"\\`\s|^]", link)
