"""Lists of pages, as people write and paste them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import steps

from chapterhouse.connectors.links import Link, parse_links
from chapterhouse.connectors.urls import parse_url


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
