"""Addresses of the web: one reading each, or none."""

import ipaddress
import re
import warnings
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.steps import steps

from chapterhouse.connectors.fetch import charset, extension, media_type
from chapterhouse.connectors.links import Link, parse_links
from chapterhouse.connectors.urls import (
    WebAddress,
    file_name,
    follow,
    is_public,
    parse_address,
    parse_url,
)
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


NOWHERE = r"http:b|http:/b|http:///b.example|///b.example|/\b.example|\\b.example/|b c|b	c"
NOWHERE += "|javascript:alert(1)|data:text/html,x|//b.example:22/|//u@b.example"


def test_locations_that_lead_nowhere() -> None:
    for reference in NOWHERE.split("|"):
        with pytest.raises(RejectedError) as caught:
            follow(parse_url("https://a.example/x/y?z"), reference)
        assert caught.value.code == "url-refused", reference
    with pytest.raises(RejectedError, match="names a user") as caught:
        parse_url("https://user:pass1234@example.org/")
    assert "pass1234" not in caught.value.message + caught.value.hint
    (problem,) = parse_links("https://user:pass1234@a.example/x").problems
    assert problem.text == "https://…@a.example/x"


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


def test_types_are_read_without_parameters_and_character_sets_by_theirs() -> None:
    for stated, read in (
        ("Text/HTML ; charset=utf-8", "text/html"),
        ("", ""),
        ("; charset=utf-8", ""),
        ("html", "unknown"),
        ("text/html, text/plain", "unknown"),
        (f"text/{'a' * 101}", "unknown"),
    ):
        assert media_type(stated) == read
    for stated, read in (
        ('text/html; Charset="ISO-8859-1"', "iso-8859-1"),
        ("text/html;charset=utf-8; q=1", "utf-8"),
        ("text/html", ""),
        ("text/html; mycharset=utf-8", ""),
    ):
        assert charset(stated) == read


def test_the_path_counts_only_where_the_type_leaves_it_open() -> None:
    for content_type, ending, read_as in (
        ("text/html", "pdf", "html"),
        ("text/plain", "md", "md"),
        ("text/plain", "exe", "txt"),
        ("application/octet-stream", "pdf", "pdf"),
        ("", "htm", "htm"),
        ("", "exe", ""),
        ("unknown", "pdf", ""),
        ("image/png", "pdf", ""),
    ):
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


@given(st.text(max_size=300))
def test_any_text_is_a_list(text: str) -> None:
    found = parse_links(text)
    assert len({link.url for link in found.links}) == len(found.links)
    for link in found.links:
        assert parse_url(link.url).url == link.url
        assert link.title.isprintable()
    assert parse_links(text) == found


@pytest.mark.parametrize(
    "unit", ["[", "[a](", "[](<", "[a](x(", "[a](" + "a" * 99, "()", "- ", "https://a ", "// "]
)
def test_a_hostile_line_takes_no_more_work_than_any(unit: str) -> None:
    text = unit * (9_900 // len(unit))
    assert steps(lambda: parse_links(text)) < 100 * len(text)


# --- which addresses are public, in every form that an address may be written or wrapped in ---


PUBLIC_4 = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.15.0.1"]
PUBLIC_4 += ["172.32.0.1", "192.0.1.1", "192.167.1.1", "198.17.0.1", "198.20.0.1", "223.255.255.1"]
PUBLIC_6 = ["2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001::1", "2001:200::1"]
PUBLIC_6 += ["2001:db7::1", "2001:db9::1", "3ffd::1", "3fff:1000::1", "2400:cb00::1"]

FORBIDDEN_4 = ["0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200"]
FORBIDDEN_4 += ["100.127.255.255", "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.0.1"]
FORBIDDEN_4 += ["169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.1"]
FORBIDDEN_4 += ["192.0.0.8", "192.0.0.170", "192.0.0.192", "192.0.2.1", "192.31.196.1"]
FORBIDDEN_4 += ["192.52.193.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "192.175.48.1"]
FORBIDDEN_4 += ["198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"]
FORBIDDEN_4 += ["239.255.255.250", "240.0.0.1", "255.255.255.255"]

FORBIDDEN_6 = ["::", "::1", "::2", "100::1", "100:0:0:1::1", "200::1", "400::1", "1000::1"]
FORBIDDEN_6 += ["2001::", "2001:1::1", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1"]
FORBIDDEN_6 += ["2001:20::1", "2001:30::1", "2001:1ff::1", "2001:db8::1", "2620:4f:8000::1"]
FORBIDDEN_6 += ["3ffe::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1", "8000::1", "e000::1"]
FORBIDDEN_6 += ["fc00::1", "fd00::1", "fd00:ec2::254", "fd20:ce::254", "fe00::1", "fe80::1"]
FORBIDDEN_6 += ["febf::1", "fec0::1", "feff::1", "ff02::1", "ff0e::1", "ffff::1"]

# Ways of carrying the IPv4 address {0}: in hexadecimal, or with the bits flipped ({1}).
CARRIERS = {"mapped": "::ffff:{0}", "nat64": "64:ff9b::{0}"}
TUNNELS = {
    "6to4": "2002:{0}::",
    "6to4 with a host": "2002:{0}:1:2:3:4:5",
    "teredo server": "2001:0:{0}:0:0:f7f7:f7f7",
    "teredo client": "2001:0:808:808:0:0:{1}",
    "compatible": "::{0}",
    "translated": "::ffff:0:{0}",
    "local nat64": "64:ff9b:1::{0}",
    "isatap": "2606:4700:1:2:0:5efe:{0}",
    "isatap, universal": "2606:4700:1:2:200:5efe:{0}",
}


def carried(form: str, address: str) -> str:
    number = int(ipaddress.IPv4Address(address))
    pairs = [f"{n >> 16:x}:{n & 0xFFFF:x}" for n in (number, number ^ 0xFFFFFFFF)]
    return form.format(*pairs)


@pytest.mark.parametrize("address", PUBLIC_4 + PUBLIC_6)
def test_public_addresses(address: str) -> None:
    assert is_public(address)
    assert is_public(ipaddress.ip_address(address))


def test_forbidden_addresses() -> None:
    forbidden = FORBIDDEN_4 + FORBIDDEN_6
    assert [one for one in forbidden if is_public(one)] == []
    assert [one for one in forbidden if is_public(ipaddress.ip_address(one))] == []


def test_a_tunnel_is_not_public_whatever_it_carries() -> None:
    tunnels = [carried(form, end) for form in TUNNELS.values() for end in ("127.0.0.1", "8.8.8.8")]
    assert [one for one in tunnels if is_public(one)] == []


@pytest.mark.parametrize(
    "text",
    [
        "", "localhost", "2606:4700::1%eth0", "fe80::1%1", "8.8.8.8:80", "[2606:4700::1]",
        "8.8.8", "134744072", "0x8.8.8.8", "8.8.8.08", "８.8.8.8", "8.8.8.8 ", "8.8.8.8/32",
        "8。8。8。8",
    ],
)  # fmt: skip
def test_other_spellings_are_no_addresses(text: str) -> None:
    assert parse_address(text) is None
    assert not is_public(text)


def test_an_address_object_with_a_zone_is_not_public() -> None:
    assert not is_public(ipaddress.IPv6Address("2606:4700::1%eth0"))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_itself_in_all_its_carriers(address: ipaddress.IPv4Address) -> None:
    for one in (str(address), *FORBIDDEN_4, *PUBLIC_4):
        for form in CARRIERS.values():
            assert is_public(carried(form, one)) == is_public(one)


@given(st.ip_addresses())
def test_what_the_standard_library_knows_as_special_is_not_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        special = address.is_multicast or address.is_loopback or address.is_link_local
        special = special or address.is_unspecified or (address.version == 4 and address.is_private)
    if special:
        assert not is_public(address)


@given(st.ip_addresses(v=6))
def test_outside_global_unicast_only_mapped_and_nat64_can_be_public(
    address: ipaddress.IPv6Address,
) -> None:
    if int(address) >> 125 != 1 and is_public(address):
        assert address.ipv4_mapped or address in ipaddress.ip_network("64:ff9b::/96")
