"""Which addresses of the internet may be connected to: public ones, whatever they are wrapped in.

``ipaddress.is_global`` is not asked: what it says differs between patch releases of Python, and
several of them call addresses public that lead back to this machine (``64:ff9b::7f00:1``,
``2002:7f00:1::``, ``fec0::1``). The tables below are the IANA special-purpose registries
(https://www.iana.org/assignments/iana-ipv4-special-registry,
https://www.iana.org/assignments/iana-ipv6-special-registry) and a few addresses of clouds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

Address = IPv4Address | IPv6Address

_DENIED_4: Final = (
    ("0.0.0.0/8", "RFC 791: this network; many systems take 0.0.0.0 for themselves"),
    ("10.0.0.0/8", "RFC 1918: private"),
    ("100.64.0.0/10", "RFC 6598: carrier's own; 100.100.100.200 is Alibaba's metadata"),
    ("127.0.0.0/8", "RFC 1122: this machine"),
    ("168.63.129.16/32", "Azure: the host's own services, at a public address"),
    ("169.254.0.0/16", "RFC 3927: link-local; 169.254.169.254 is the metadata of most clouds"),
    ("172.16.0.0/12", "RFC 1918: private"),
    ("192.0.0.0/24", "RFC 6890: protocol assignments; 192.0.0.192 is Oracle's metadata"),
    ("192.0.2.0/24", "RFC 5737: documentation"),
    ("192.31.196.0/24", "RFC 7535: AS112, names of private networks"),
    ("192.52.193.0/24", "RFC 7450: multicast tunnels"),
    ("192.88.99.0/24", "RFC 7526: 6to4 relays, deprecated"),
    ("192.168.0.0/16", "RFC 1918: private"),
    ("192.175.48.0/24", "RFC 7534: AS112, names of private networks"),
    ("198.18.0.0/15", "RFC 2544: benchmarks"),
    ("198.51.100.0/24", "RFC 5737: documentation"),
    ("203.0.113.0/24", "RFC 5737: documentation"),
    ("224.0.0.0/4", "RFC 5771: multicast"),
    ("240.0.0.0/4", "RFC 1112: reserved; RFC 919: broadcast"),
)
_DENIED_6: Final = (
    # The first three leave 2000::/3, all that RFC 4291, section 2.4, and IANA call global unicast.
    # They hold ::, ::1, 100::/64 (RFC 6666), 5f00::/16 (RFC 9602), fc00::/7 (RFC 4193; the
    # metadata of AWS at fd00:ec2::254, of Google at fd20:ce::254), fe80::/10, fec0::/10 (RFC 3879)
    # and multicast ff00::/8.
    ("::/3", "RFC 4291: unspecified, loopback, embedded and reserved addresses"),
    ("4000::/2", "RFC 4291: reserved; 5f00::/16 is RFC 9602, segment routing"),
    ("8000::/1", "RFC 4193, 4291, 3879: unique local, link-local, site-local, multicast"),
    ("2001::/23", "RFC 2928: protocol assignments; Teredo in it is unwrapped"),
    ("2001:db8::/32", "RFC 3849: documentation"),
    ("2620:4f:8000::/48", "RFC 7534: AS112, names of private networks"),
    ("3ffe::/16", "RFC 3701: 6bone, given back"),
    ("3fff::/20", "RFC 9637: documentation"),
)


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """Addresses that carry IPv4 addresses, where packets to them end.

    Attributes:
        network: Which addresses are of this form.
        embedded: Return the IPv4 addresses inside one, as numbers.
        replaces: Whether only what is inside counts; otherwise the address itself counts too.
    """

    network: IPv6Network
    embedded: Callable[[int], tuple[int, ...]]
    replaces: bool


_LOW = 0xFFFF_FFFF
# An interface identifier of ISATAP: 0:5efe or 200:5efe and the IPv4 address (RFC 5214, 6.1).
_ISATAP = 0x5EFE
_UNIVERSAL_BIT = 0x0200_0000


def _last(number: int) -> tuple[int, ...]:
    return (number & _LOW,)


def _six_to_four(number: int) -> tuple[int, ...]:
    return (number >> 80 & _LOW,)


def _teredo(number: int) -> tuple[int, ...]:
    return (number >> 64 & _LOW, ~number & _LOW)  # the server; the client, whose bits are flipped


def _local_nat64(number: int) -> tuple[int, ...]:
    """Return what RFC 6052, 2.2, may have put behind prefixes of 48, 56, 64 and 96 bits.

    Bits 64 to 71 are skipped. Which of the lengths a network uses, only the network knows.
    """
    by_48 = (number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF
    by_56 = (number >> 64 & 0xFF) << 24 | number >> 32 & 0xFF_FFFF
    return (by_48, by_56, number >> 24 & _LOW, number & _LOW)


_WRAPPERS: Final = (
    _Wrapper(IPv6Network("::ffff:0:0/96"), _last, replaces=True),  # RFC 4291: IPv4-mapped
    _Wrapper(IPv6Network("::/96"), _last, replaces=False),  # RFC 4291: IPv4-compatible
    _Wrapper(IPv6Network("::ffff:0:0:0/96"), _last, replaces=False),  # RFC 2765: translated
    _Wrapper(IPv6Network("64:ff9b::/96"), _last, replaces=True),  # RFC 6052: NAT64
    _Wrapper(IPv6Network("64:ff9b:1::/48"), _local_nat64, replaces=False),  # RFC 8215: NAT64
    _Wrapper(IPv6Network("2002::/16"), _six_to_four, replaces=True),  # RFC 3056: 6to4
    _Wrapper(IPv6Network("2001::/32"), _teredo, replaces=True),  # RFC 4380: Teredo
)
_NETWORKS: Final[tuple[IPv4Network | IPv6Network, ...]] = tuple(
    ip_network(network) for network, _ in (*_DENIED_4, *_DENIED_6)
)


def unwrap(address: Address) -> tuple[Address, ...]:
    """Return every address where packets to ``address`` may end: itself or what it carries.

    An address may be of several forms at once: ISATAP inside 6to4, for one.
    """
    if isinstance(address, IPv4Address):
        return (address,)
    number = int(address)
    forms = [wrapper for wrapper in _WRAPPERS if address in wrapper.network]
    embedded = [IPv4Address(inside) for form in forms for inside in form.embedded(number)]
    if (number >> 32 & _LOW) & ~_UNIVERSAL_BIT == _ISATAP:
        embedded.append(IPv4Address(number & _LOW))
    itself = () if any(form.replaces for form in forms) else (address,)
    return (*itself, *embedded)


def is_public(address: str | Address) -> bool:
    """Say whether an address, and all that it carries, is one of the public internet.

    Args:
        address: An address, or its text. Text with a zone (``fe80::1%eth0``), a port, or in a
            form other than four decimal numbers or RFC 4291's is not public.
    """
    parsed = parse_address(address) if isinstance(address, str) else address
    if parsed is None or getattr(parsed, "scope_id", None):
        return False
    return not any(end in network for end in unwrap(parsed) for network in _NETWORKS)


def parse_address(text: str) -> Address | None:
    """Return the address that ``text`` is, in its one strict spelling; zones have none."""
    if not text.isascii() or "%" in text:
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None
