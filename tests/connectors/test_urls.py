"""Addresses of the web: one reading each, or none."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import steps

from chapterhouse.connectors.fetch import charset, extension, media_type
from chapterhouse.connectors.links import Link, parse_links
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


def only(text: str) -> Link:
    found = parse_links(text)
    assert found.problems == ()
    (link,) = found.links
    return link


@pytest.mark.parametrize(
    ("line", "url", "title"),
    [
        ("https://a.example/x", "https://a.example/x", ""),
        ("  https://a.example/x\t", "https://a.example/x", ""),
        ("https://a.example/x | The x", "https://a.example/x", "The x"),
        ("https://a.example/x |", "https://a.example/x", ""),
        ("https://a.example/x | a | b", "https://a.example/x", "a | b"),
        ("https://a.example/?a|b", "https://a.example/?a%7Cb", ""),
        ("<https://a.example/x>", "https://a.example/x", ""),
        ("- https://a.example/x", "https://a.example/x", ""),
        ("12. <https://a.example/x> | X", "https://a.example/x", "X"),
        ("* [x] [The x](https://a.example/x)", "https://a.example/x", "The x"),
        ("[The x](https://a.example/x)", "https://a.example/x", "The x"),
        ('+ [The x](<https://a.example/x> "tip") - read this', "https://a.example/x", "The x"),
        ("See [X (y)](https://a.example/x_(y)).", "https://a.example/x_(y)", "X (y)"),
        ("https://a.example/x#part", "https://a.example/x", ""),
        ("https://a.example/x | \u202etitle\u202c\u200b", "https://a.example/x", "title"),
    ],
)
def test_ways_to_write_a_page(line: str, url: str, title: str) -> None:
    assert only(line) == Link(url, 1, title)


def test_blank_lines_comments_headings_and_rules_are_passed_over() -> None:
    text = "\ufeff# Heading\n\n   \n#https://a.example/no\r\n---\r\n<!-- https://b.example/ -->\rhttps://c.example/\n"
    assert only(text) == Link("https://c.example/", 7)


def test_a_line_may_hold_several_links_and_one_of_them_be_bad() -> None:
    found = parse_links("- [a](https://a.example/), [b](other.md), [c](https://c.example/)")
    assert [link.url for link in found.links] == ["https://a.example/", "https://c.example/"]
    assert [problem.line for problem in found.problems] == [1]


def test_a_picture_is_no_page() -> None:
    assert parse_links("![x](https://a.example/x.png)").links == ()


def test_duplicates_are_folded_and_keep_the_first_title() -> None:
    text = "https://a.example/b\nhttps://A.example:443/x/../b#c | One\n[Two](https://a.example/b)"
    assert only(text) == Link("https://a.example/b", 1, "One")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a.example/x", "http"),
        ("ftp://a.example/x", "http"),
        ("file:///etc/passwd", "http"),
        ("//a.example/x", "http"),
        ("https://a.example/x and more", "behind"),
        ("https://localhost/", "local network"),
        ("https://127.1/", "number"),
        ("https://a.example:22/", "port 22"),
        ("https://a.example/\u200bx", "cannot be seen"),
        ("https://a.example/" + "x" * 5_000, "longer"),
        ("x" * 20_000, "longer"),
    ],
)
def test_problems_name_the_line_and_the_reason(line: str, reason: str) -> None:
    found = parse_links(f"# one\n{line}\nhttps://b.example/\n")
    (problem,) = found.problems
    assert problem.line == 2
    assert reason in problem.reason
    assert len(problem.text) <= 201
    assert [link.url for link in found.links] == ["https://b.example/"]


def test_a_problem_shows_no_password() -> None:
    (problem,) = parse_links("https://user:pass1234@a.example/x").problems
    assert problem.text == "https://…@a.example/x"


@given(st.text(max_size=300))
def test_any_text_is_a_list(text: str) -> None:
    found = parse_links(text)
    assert len({link.url for link in found.links}) == len(found.links)
    for link in found.links:
        assert parse_url(link.url).url == link.url
        assert link.title.isprintable()
    assert parse_links(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "[" * 9_990,
        "[a](" * 2_400,
        "[](<" * 2_400,
        "[a](x(" * 1_600,
        "[a](" + "a" * 9_900,
        "[a](" + "()" * 4_900,
        "- " * 4_900,
        "https://" + "a " * 4_900,
        "//" * 4_900 + " ",
    ],
)
def test_a_hostile_line_takes_no_more_work_than_any(text: str) -> None:
    assert steps(lambda: parse_links(text)) < 100 * len(text)
