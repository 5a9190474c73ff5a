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


def test_the_year_is_that_of_the_stated_day() -> None:
    assert year_of(stating(date="2024-03-07")) == "2024"
    assert year_of(stating()) == ""
