"""Media types of pages: what a server states decides, and the path where it knows no better."""

import pytest

from chapterhouse.connectors.media_types import charset, extension, media_type


@pytest.mark.parametrize(
    ("stated", "read"),
    [
        ("Text/HTML ; charset=utf-8", "text/html"),
        ("", ""),
        ("; charset=utf-8", ""),
        ("html", "unknown"),
        ("text/html, text/plain", "unknown"),
        (f"text/{'a' * 101}", "unknown"),
    ],
)
def test_parameters_and_case_do_not_count(stated: str, read: str) -> None:
    assert media_type(stated) == read


@pytest.mark.parametrize(
    ("stated", "read"),
    [
        ('text/html; Charset="ISO-8859-1"', "iso-8859-1"),
        ("text/html;charset=utf-8; q=1", "utf-8"),
        ("text/html", ""),
        ("text/html; mycharset=utf-8", ""),
    ],
)
def test_a_character_set_is_told_by_its_parameter_alone(stated: str, read: str) -> None:
    assert charset(stated) == read


@pytest.mark.parametrize(
    ("content_type", "ending", "read_as"),
    [
        ("text/html", "pdf", "html"),
        ("text/plain", "md", "md"),
        ("text/plain", "exe", "txt"),
        ("application/octet-stream", "pdf", "pdf"),
        ("", "htm", "htm"),
        ("", "exe", ""),
        ("unknown", "pdf", ""),
        ("image/png", "pdf", ""),
    ],
)
def test_the_path_counts_only_where_the_type_leaves_it_open(
    content_type: str, ending: str, read_as: str
) -> None:
    assert extension(content_type, ending) == read_as
