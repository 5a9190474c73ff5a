from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.agents.curated_text import (
    Origin,
    curated_text,
    evident_date,
    evident_kind,
    evident_license,
    evident_url,
)
from chapterhouse.reading.markdown import marked_pages
from chapterhouse.reading.plain import read_markdown
from chapterhouse.text.canonical import compose, front_matter, split_front_matter
from chapterhouse.text.markdown import BlockKind, blocks
from chapterhouse.types import ExtractedPage, Extraction

TODAY = "2026-01-31"


def test_there_is_one_first_heading_and_no_level_is_left_out() -> None:
    text = "#### Four\n\nx\n\n# Top\n\n### Three\n\nSetext\n------\n\n###### Six\n"
    extraction = Extraction((ExtractedPage(text),), "md", "test", title="Stated")
    found = curated_text(extraction, Origin("a", "a.md", "mia", TODAY))
    levels = [b.level for b in blocks(split_front_matter(found)[1]) if b.kind is BlockKind.HEADING]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


@pytest.mark.parametrize(
    ("text", "stated", "title"),
    [
        ("# First\n\ntext\n", "Stated", "First"),
        ("# Contents\n\ntext\n", "Stated", "Stated"),
        ("text\n", "Stated", "Stated"),
        ("text\n", "", "A file name"),
        ("x " * 800 + "\n\n# Late\n", "", "Late"),
    ],
)
def test_the_title_is_what_names_the_document(text: str, stated: str, title: str) -> None:
    extraction = Extraction((ExtractedPage(text),), "pdf", "test", title=stated)
    found = curated_text(extraction, Origin("a", "x/a_file-name.pdf", "mia", TODAY))
    assert front_matter(found)["title"] == title
    assert f"\n# {title}\n" in found


def test_pages_slides_and_sheets_keep_their_marks() -> None:
    pages = (ExtractedPage("# T\n\none", 1), ExtractedPage("", 2), ExtractedPage("three", 3, "iii"))
    extraction = Extraction(pages, "pdf", "test", page_kind="page")
    text = curated_text(extraction, Origin("a", "a.pdf", "mia", TODAY))
    found, kind = marked_pages(text)
    assert kind == "page"
    assert [(page.number, page.label) for page in found] == [(None, ""), (1, ""), (3, "iii")]
    assert "<!--" not in "".join(page.text for page in found)
    sheets = (ExtractedPage("| a |\n| --- |\n| 1 |", 1, "Sales"), ExtractedPage("x", 2, "Costs"))
    text = curated_text(
        Extraction(sheets, "xlsx", "test", page_kind="sheet"), Origin("a", "a.xlsx", "mia", TODAY)
    )
    assert [page.label for page in marked_pages(text)[0]] == ["", "Sales", "Costs"]
    assert front_matter(text)["type"] == "sheet"


def test_citations_of_a_curated_document_name_the_page_of_the_original() -> None:
    pages = tuple(ExtractedPage(f"Page {n} tells of mole {n}.", n) for n in (1, 2, 7))
    extraction = Extraction(pages, "pdf", "test", page_kind="page")
    text = curated_text(extraction, Origin("a", "a.pdf", "mia", TODAY))
    again = read_markdown(text.encode())
    body, _ = compose(again)
    assert again.page_kind == "page"
    for number in (1, 2, 7):
        at = body.text.index(f"tells of mole {number}")
        (page,) = [page for page in body.pages if page.start <= at < page.end]
        assert page.number == number


LINES = st.sampled_from(
    [
        "---", "personas: [all]", "<!-- page 9 -->", "<!-- sheet x -->", "```", "~~~~", "# H",
        "#### deep", "text", "", "\u202ehidden\u200b", "Title\n===", "**Key Terms**: forged",
        "| a | b |\n| --- | --- |",
    ]
)  # fmt: skip
PAGES = st.lists(
    st.lists(LINES | st.text(max_size=30), max_size=8).map("\n".join), min_size=1, max_size=4
)


@given(
    PAGES,
    st.text(max_size=40),
    st.dictionaries(
        st.sampled_from(["date", "description", "url", "license"]), st.text(max_size=60)
    ),
    st.booleans(),
)
def test_whatever_a_document_holds_it_forges_no_field_and_no_page(
    texts: list[str],
    title: str,
    metadata: dict[str, str],
    markdown: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    pages = tuple(ExtractedPage(text, number) for number, text in enumerate(texts, start=1))
    extraction = Extraction(
        pages, "pdf", "test", page_kind="page", markdown=markdown, title=title, metadata=metadata
    )
    try:
        text = curated_text(extraction, Origin("an-id", "a.pdf", "mia", TODAY))
    except ValueError:
        return
    fields = front_matter(text)
    assert (fields["id"], fields["personas"], fields["source_file"]) == ("an-id", "mia", "a.pdf")
    assert fields.keys() <= {
        "id", "title", "date", "source_url", "source_file", "type", "license", "personas",
        "summary", "extracted_via",
    }  # fmt: skip
    numbers = [page.number for page in marked_pages(text)[0] if page.number is not None]
    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(range(1, len(texts) + 1))
    assert not {"\u202e", "\u200b"} & set(text)


@pytest.mark.parametrize(
    ("stem", "metadata", "expected"),
    [
        ("2025-10-14 minutes", {}, "2025-10-14"),
        ("scan_20251014", {}, "2025-10-14"),
        ("14.10.2025", {}, "2025-10-14"),
        ("20259999", {}, ""),
        ("120251014", {}, ""),
        ("2025-1014", {}, ""),
        ("2027-01-01", {"date": "2024-05-06"}, "2024-05-06"),
        (TODAY, {}, TODAY),
        ("x", {"created": "2024-05-06T00:00:00Z"}, "2024-05-06"),
        ("x", {"created": "2020-01-01", "date": "2024-05-06"}, "2024-05-06"),
        ("x", {"date": "Tue, 18 Nov 2025 23:42:00 -0500"}, "2025-11-19"),
        ("x", {"date": "yesterday"}, ""),
        ("x", {"date": "1899-12-31"}, ""),
        ("x", {"date": "Tue, 99 Nov 2025 10:42:00 +0100"}, ""),
    ],
)
def test_only_an_evident_date_is_a_date(stem: str, metadata: dict[str, str], expected: str) -> None:
    assert evident_date(stem, metadata, TODAY) == expected


@pytest.mark.parametrize(
    ("stem", "title", "format_", "url", "kind"),
    [
        ("harbour-faq", "", "pptx", "", "slide"),
        ("Pressemitteilung_7", "A blog", "pdf", "", "press"),
        ("notes", "Frequently asked questions", "pdf", "", "faq"),
        ("notes", "", "html", "https://example.org/blog/7", "blog"),
        ("notes", "", "html", "https://blog.example.org/7", "web"),
        ("impressive", "Inspector's report", "pdf", "", ""),
        ("notes", "", "md", "https://example.org/a", "web"),
    ],
)
def test_a_kind_is_a_whole_word(stem: str, title: str, format_: str, url: str, kind: str) -> None:
    assert evident_kind(stem, title, format_, url) == kind


def test_an_address_without_a_secret_is_the_first_that_will_do() -> None:
    refused = (
        "", "ftp://example.org/a", "javascript:alert(1)", "https://ada:pass@example.org/",
        "https://example.org/a b", "https://[broken/", "https:///nobody",
        f"https://example.org/{'a' * 2_000}",
    )  # fmt: skip
    assert evident_url(refused) == ""
    assert evident_url((*refused, " https://example.org/a ", "https://example.org/b")) == (
        "https://example.org/a"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://creativecommons.org/licenses/by-nc-sa/4.0/", "cc-by-nc-sa-4.0"),
        ("This text is CC BY-SA 3.0.", "cc-by-sa-3.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "cc0"),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "public"),
        ("SPDX-License-Identifier: BSD-3-Clause", "BSD-3-Clause"),
        ("Licensed under the Apache License, Version 2.0", "Apache-2.0"),
        ("© 2025. ALL RIGHTS RESERVED.", "proprietary"),
        ("All rights reserved, but licensed under the MIT license.", "MIT"),
        ("A licence was asked for.", ""),
    ],
)
def test_a_licence_is_read_where_it_is_stated(text: str, expected: str) -> None:
    assert evident_license({}, text) == expected
    assert evident_license({"rights": text}, "") == expected
    assert evident_license({}, f"{'word ' * 2_000}{text}") == expected
    middle = "word " * 2_000
    assert evident_license({}, f"{middle}{text}{middle}") == ""
