"""Which addresses are public, in every form that an address may be written or wrapped in."""

import ipaddress
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterhouse.connectors.urls import is_public, parse_address, unwrap

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
CARRIERS = {
    "mapped": "::ffff:{0}",
    "nat64": "64:ff9b::{0}",
    "6to4": "2002:{0}::",
    "6to4 with a host": "2002:{0}:1:2:3:4:5",
    "teredo server": "2001:0:{0}:0:0:f7f7:f7f7",
    "teredo client": "2001:0:808:808:0:0:{1}",
}
DEPRECATED = {
    "compatible": "::{0}",
    "translated": "::ffff:0:{0}",
    "local nat64": "64:ff9b:1::{0}",
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


@pytest.mark.parametrize("form", CARRIERS)
def test_a_wrapped_address_is_judged_by_what_it_carries(form: str) -> None:
    wrapped = [(address, carried(CARRIERS[form], address)) for address in FORBIDDEN_4 + PUBLIC_4]
    assert [one for one in wrapped if is_public(one[0]) != is_public(one[1])] == []


@pytest.mark.parametrize("form", DEPRECATED)
@pytest.mark.parametrize("address", ["127.0.0.1", "8.8.8.8"])
def test_forms_of_no_public_use_are_forbidden_whatever_they_carry(form: str, address: str) -> None:
    wrapped = carried(DEPRECATED[form], address)
    assert not is_public(wrapped)
    assert ipaddress.ip_address(address) in unwrap(ipaddress.ip_address(wrapped))


@pytest.mark.parametrize("wrapped", ["64:ff9b:1:c000:2:2100::", "64:ff9b:1:c0:0:221::"])
def test_local_nat64_is_unwrapped_at_every_length(wrapped: str) -> None:
    """The examples of RFC 6052, 2.4, below the prefix of RFC 8215."""
    assert ipaddress.ip_address("192.0.2.33") in unwrap(ipaddress.ip_address(wrapped))


@pytest.mark.parametrize("prefix", ["2606:4700:1:2:", "2606:4700:1:2:200:5efe:", "2002:808:808:1:"])
def test_isatap_is_unwrapped_under_any_prefix(prefix: str) -> None:
    middle = "" if prefix.endswith("5efe:") else "0:5efe:"
    assert is_public(f"{prefix}{middle}8.8.8.8")
    assert not is_public(f"{prefix}{middle}10.0.0.1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        "2606:4700::1%eth0",
        "fe80::1%1",
        "8.8.8.8:80",
        "[2606:4700::1]",
        "8.8.8",
        "134744072",
        "0x8.8.8.8",
        "8.8.8.08",
        "８.8.8.8",
        "8.8.8.8 ",
        "8.8.8.8/32",
        "8。8。8。8",
    ],
)
def test_other_spellings_are_no_addresses(text: str) -> None:
    assert parse_address(text) is None
    assert not is_public(text)


def test_an_address_object_with_a_zone_is_not_public() -> None:
    assert not is_public(ipaddress.IPv6Address("2606:4700::1%eth0"))


@given(st.ip_addresses(v=4))
def test_every_ipv4_address_is_itself_in_all_its_carriers(address: ipaddress.IPv4Address) -> None:
    for form in CARRIERS.values():
        assert is_public(carried(form, str(address))) == is_public(address)


@given(st.ip_addresses())
def test_what_the_standard_library_knows_as_special_is_not_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        special = address.is_multicast or address.is_loopback or address.is_link_local
        special = special or address.is_unspecified
    if special:
        assert not is_public(address)
    if unwrap(address) == (address,) and address.is_private:
        assert not is_public(address)


@given(st.ip_addresses(v=6))
def test_outside_global_unicast_only_mapped_and_nat64_can_be_public(
    address: ipaddress.IPv6Address,
) -> None:
    if int(address) >> 125 != 1 and address not in unwrap(address):
        assert address.ipv4_mapped or address in ipaddress.ip_network("64:ff9b::/96")
    elif int(address) >> 125 != 1:
        assert not is_public(address)
