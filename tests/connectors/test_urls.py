"""Addresses of the web: one reading each, or none."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.connectors.urls import WebAddress, file_name, follow, parse_url
from chapterhouse.errors import RejectedError


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTPS://Example.ORG:443/A", "https://example.org/A"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://example.org:08080/", "http://example.org:8080/"),
        ("http://example.org?x=1", "http://example.org/?x=1"),
        ("http://example.org/?", "http://example.org/?"),
        ("http://example.org/a#b?c", "http://example.org/a"),
        ("http://example.org#@127.0.0.1/", "http://example.org/"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/../../a/..", "http://example.org/"),
        ("http://example.org//a//b", "http://example.org//a//b"),
        ("http://example.org/é?ü=港", "http://example.org/%C3%A9?%C3%BC=%E6%B8%AF"),
        ("http://example.org/%C3%A9%20%", "http://example.org/%C3%A9%20%"),
        ('http://example.org/"<>^`{|}', "http://example.org/%22%3C%3E%5E%60%7B%7C%7D"),
        ("http://example.org/x_(y)", "http://example.org/x_(y)"),
        ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://XN--MNCHEN-3YA.example/", "http://xn--mnchen-3ya.example/"),
        ("http://a_b.example/", "http://a_b.example/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://[2606:4700:0::1]:8080/", "http://[2606:4700::1]:8080/"),
    ],
)
def test_normal_forms(text: str, normal: str) -> None:
    assert parse_url(text).url == normal
    assert parse_url(normal).url == normal


def test_an_address_is_longest_at_its_limit() -> None:
    start = "http://example.org/"
    assert parse_url(start + "a" * (4_096 - len(start)))
    with pytest.raises(RejectedError, match="longer"):
        parse_url(start + "a" * (4_097 - len(start)))


@pytest.mark.parametrize(
    ("reference", "leads"),
    [
        ("", "https://a.example/x/y?z"),
        ("#part", "https://a.example/x/y?z"),
        ("?q", "https://a.example/x/y?q"),
        ("b", "https://a.example/x/b"),
        ("./b", "https://a.example/x/b"),
        ("../b", "https://a.example/b"),
        ("../../../b", "https://a.example/b"),
        ("/b", "https://a.example/b"),
        ("/.//b.example/", "https://a.example//b.example/"),
        ("//b.example/c", "https://b.example/c"),
        ("http://b.example", "http://b.example/"),
        ("b/c:d", "https://a.example/x/b/c:d"),
        ("/ü", "https://a.example/%C3%BC"),
    ],
)
def test_where_a_location_leads(reference: str, leads: str) -> None:
    assert follow(parse_url("https://a.example/x/y?z"), reference).url == leads


@pytest.mark.parametrize(
    "reference",
    [
        "http:b",
        "http:/b",
        "http:///b.example",
        "///b.example",
        "/\\b.example",
        "\\\\b.example/",
        "javascript:alert(1)",
        "data:text/html,x",
        "b c",
        "b\tc",
        "//b.example:22/",
        "//u@b.example",
    ],
)
def test_locations_that_lead_nowhere(reference: str) -> None:
    with pytest.raises(RejectedError) as caught:
        follow(parse_url("https://a.example/x/y?z"), reference)
    assert caught.value.code == "url-refused"


def test_a_refusal_shows_no_password() -> None:
    with pytest.raises(RejectedError, match="names a user") as caught:
        parse_url("https://user:pass1234@example.org/")
    assert "pass1234" not in caught.value.message + caught.value.hint


@given(st.text(max_size=80))
def test_any_text_is_an_address_in_normal_form_or_refused(text: str) -> None:
    for candidate in (
        text,
        f"http://{text}",
        f"http://a.example/{text}",
        f"https://a.example?{text}",
    ):
        try:
            address = parse_url(candidate)
        except RejectedError:
            continue
        assert parse_url(address.url) == address
        assert address.url.isascii()
        assert address.url.isprintable()
        assert not set(address.url) & set(' "<>\\^`{}')


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_location_never_changes_the_host_unseen(path: str, reference: str) -> None:
    base = WebAddress("http", "a.example", 80, "/x")
    if not reference.startswith("//") and "://" not in reference:
        with suppress(RejectedError):
            assert follow(base, reference).host == "a.example"


@given(st.text(max_size=200), st.sampled_from(["html", "pdf"]))
def test_a_file_name_is_one_plain_part_of_a_path(url: str, extension: str) -> None:
    url = url.encode("utf-8", "replace").decode()
    name = file_name(url, extension)
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,80}\.(html|pdf)", name)
    assert name == file_name(url, extension)
    assert not re.search("--|^-", name)


def test_file_names() -> None:
    name = file_name("https://example.org/École/%C3%9Cber.pdf?id=1", "pdf")
    assert re.fullmatch(r"example-org-ecole-uber-pdf-[0-9a-f]{8}\.pdf", name)
    assert file_name("https://example.org/École/%C3%9Cber.pdf?id=2", "pdf") != name
    assert file_name("https://example.org/../../etc/passwd%00", "html").startswith(
        "example-org-etc"
    )
