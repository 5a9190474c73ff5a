"""What a document says of itself plainly: its date, kind, address and licence; else nothing."""

import pytest

from chapterhouse.agents.curated_text import (
    evident_date,
    evident_kind,
    evident_license,
    evident_url,
)

TODAY = "2026-01-31"


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
def test_a_kind_is_a_whole_word_of_the_name_then_of_the_title_then_of_the_address(
    stem: str, title: str, format_: str, url: str, kind: str
) -> None:
    assert evident_kind(stem, title, format_, url) == kind


def test_an_address_without_a_secret_is_the_first_that_will_do() -> None:
    refused = (
        "",
        "ftp://example.org/a",
        "javascript:alert(1)",
        "https://ada:pass@example.org/",
        "https://example.org/a b",
        "https://[broken/",
        "https:///nobody",
        f"https://example.org/{'a' * 2_000}",
    )
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
