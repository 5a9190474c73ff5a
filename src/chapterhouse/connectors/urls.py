"""Addresses of the web, read once and strictly.

One parser decides what host is looked up, what certificate is asked for and what is sent: guards
have been passed because two parsers read one text differently. What browsers repair (backslashes,
tabs, ``http:host``, hosts like ``0x7f.1``) is refused here, with the reason.
"""

import hashlib
import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from chapterhouse import lazy
from chapterhouse.errors import RejectedError
from chapterhouse.text.sanitise import sanitise

if TYPE_CHECKING:
    import idna
else:
    idna = lazy("idna")

URL_REFUSED: Final = "url-refused"
URL_TIMEOUT: Final = "url-timeout"
URL_UNREACHABLE: Final = "url-unreachable"
_LONGEST: Final = 4_096  # characters of an address
_LONGEST_HOST: Final = 253
_NAME_CHARACTERS: Final = 60

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WHOLE = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::([0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNWRITTEN = re.compile(r"[\x00-\x20\x7f-\x9f\\]|\s")
_CAPITALS: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_FIRST_OPEN_PORT: Final = 1024
_LAST_PORT: Final = 65_535
# Above 1023, where other services listen: the bad ports of https://fetch.spec.whatwg.org, and
# databases, caches and consoles that may take a request for orders.
_FOREIGN_PORTS: Final = frozenset(
    {1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 3306, 3389, 3659, 4045, 4190, 5060}
    | {5061, 5432, 5900, 5984, 6000, 6379, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697}
    | {9100, 9200, 9300, 10080, 10250, 11211, 27017}
)


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address of a page, in its normal form and all ASCII.

    Attributes:
        scheme: ``http`` or ``https``.
        host: In lower case; an international name in its ``xn--`` form, an IPv6 address without
            brackets.
        path: Begins with a slash, without ``.`` and ``..``; escaped.
        query: What stands behind the question mark, escaped; ``None`` where there is none.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str | None = None

    @property
    def authority(self) -> str:
        """Host and port, as a ``Host`` header has them; the usual port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.authority}"

    @property
    def target(self) -> str:
        """What is asked of the host."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    @property
    def url(self) -> str:
        """The whole address."""
        return self.origin + self.target


def parse_url(text: str) -> WebAddress:
    """Return the address that ``text`` is. The fragment, which no server sees, is dropped.

    Raises:
        RejectedError: ``url-refused``; the message says what is wrong with it.
    """
    _require_writable(text)
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise _refused("is not one of http:// or https://", "Only web pages are fetched.")
    scheme, authority = match[1].lower(), match[2]
    if "@" in authority:
        raise _refused("names a user", "Leave out what stands before the @.")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise _refused("names no host, or not in the usual form")
    return WebAddress(
        scheme=scheme,
        host=_host(parts[1]),
        port=_port(parts[2], scheme),
        path=_escaped(_without_dots(match[3])),
        query=None if match[4] is None else _escaped(match[4]),
    )


def follow(base: WebAddress, reference: str) -> WebAddress:
    """Return where a ``Location`` of ``base`` leads (RFC 3986, 5.2), checked like any address."""
    if _SCHEME.match(reference):
        return parse_url(reference)
    if reference.startswith("//"):
        return parse_url(f"{base.scheme}:{reference}")
    if reference.startswith("/"):
        return parse_url(base.origin + reference)
    if reference.startswith("?"):
        return parse_url(base.origin + base.path + reference)
    if not reference or reference.startswith("#"):
        return base
    return parse_url(f"{base.origin}{base.path.rpartition('/')[0]}/{reference}")


def file_name(url: str, extension: str, digits: int = 8) -> str:
    """Return the name of the file that keeps a page: kebab case, part of a hash, the extension.

    It is made of ``a-z``, ``0-9``, hyphens and one dot, whatever the address is made of.

    Args:
        url: The address in its normal form.
        digits: Of the SHA-256 of the address, in hexadecimal.
    """
    shown = unquote(url.partition("://")[2].partition("?")[0], errors="replace")
    plain = unicodedata.normalize("NFKD", shown).encode("ascii", "ignore").decode().lower()
    words = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:_NAME_CHARACTERS].strip("-")
    return f"{words or 'page'}-{hashlib.sha256(url.encode()).hexdigest()[:digits]}.{extension}"


def _require_writable(text: str) -> None:
    if len(text) > _LONGEST:
        raise _refused(f"is longer than {_LONGEST:,} characters")
    if _UNWRITTEN.search(text) or sanitise(text).text != text:
        raise _refused(
            "holds a space, a backslash or a character that cannot be seen",
            "Copy it again; a space in an address is written %20.",
        )


def _host(text: str) -> str:
    if text.startswith("["):
        try:
            return str(ipaddress.IPv6Address(text[1:-1]))
        except ValueError:
            raise _refused("has brackets around what is no IPv6 address") from None
    host = _ascii_name(text.translate(_CAPITALS))
    labels = host.split(".")
    if len(host) > _LONGEST_HOST or not all(map(_LABEL.fullmatch, labels)):
        raise _refused("has a host whose name cannot be")
    if _NUMBER.fullmatch(labels[-1]):
        # 127.1, 0177.0.0.1, 0x7f.1 and 2130706433 are 127.0.0.1 to the system's own parser.
        if parse_address(host) is None:
            raise _refused("has a number for a host, and not as four decimal numbers")
    elif len(labels) == 1:
        raise _refused("names a host of a local network", "Write the whole name, with its dots.")
    return host


def _ascii_name(name: str) -> str:
    """Return an international name in its ``xn--`` form, by IDNA 2008 without any mapping.

    Mapping would make ``。`` and ``①`` into dots and digits, so it is not done.
    """
    if name.isascii() and "xn--" not in name:
        return name
    try:
        return idna.encode(name, strict=True).decode("ascii")
    except UnicodeError:  # the base of the library's errors
        raise _refused(
            "has a host whose name is not in the form of international names",
            "Write it in lower case, or copy it from the browser.",
        ) from None


def _port(text: str | None, scheme: str) -> int:
    usual = _DEFAULT_PORTS[scheme]
    port = usual if text is None else int(text)
    if port in _DEFAULT_PORTS.values():
        return port
    if not _FIRST_OPEN_PORT <= port <= _LAST_PORT or port in _FOREIGN_PORTS:
        raise _refused(f"names port {port}, where no web pages are")
    return port


def _without_dots(path: str) -> str:
    """Return an absolute path without ``.`` and ``..`` (RFC 3986, 5.2.4)."""
    parts = path.split("/")[1:] or [""]
    segments: list[str] = []
    for part in parts:
        if part == "..":
            del segments[-1:]
        elif part != ".":
            segments.append(part)
    if parts[-1] in {".", ".."}:
        segments.append("")
    return "/" + "/".join(segments)


def _escaped(text: str) -> str:
    return quote(text, safe="%/:@!$&'()*+,;=?-._~")


def _refused(why: str, hint: str = "") -> RejectedError:
    # Without the address: it may hold a password, and whoever wrote it knows it.
    return RejectedError(URL_REFUSED, f"The address {why}.", hint=hint)


# --- which addresses may be connected to: public ones, whatever they are wrapped in --------------

# ``ipaddress.is_global`` is not asked: what it says differs between patch releases of Python, and
# several of them call addresses public that lead back to this machine (``64:ff9b::7f00:1``,
# ``2002:7f00:1::``, ``fec0::1``). The tables are the IANA special-purpose registries
# (https://www.iana.org/assignments/iana-ipv4-special-registry,
# https://www.iana.org/assignments/iana-ipv6-special-registry) and a few addresses of clouds.
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
    ("2001::/23", "RFC 2928: protocol assignments, Teredo among them"),
    ("2001:db8::/32", "RFC 3849: documentation"),
    ("2002::/16", "RFC 7526: 6to4, deprecated"),
    ("2620:4f:8000::/48", "RFC 7534: AS112, names of private networks"),
    ("3ffe::/16", "RFC 3701: 6bone, given back"),
    ("3fff::/20", "RFC 9637: documentation"),
)


_NETWORKS: Final[tuple[IPv4Network | IPv6Network, ...]] = tuple(
    ip_network(network) for network, _ in (*_DENIED_4, *_DENIED_6)
)
# The IPv4 address inside, which is where packets end, is its last 32 bits.
_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOW: Final = 0xFFFF_FFFF
# An interface identifier of ISATAP: 0:5efe or 200:5efe and an IPv4 address (RFC 5214, 6.1).
_ISATAP: Final = 0x5EFE
_UNIVERSAL_BIT: Final = 0x0200_0000


def _packets_end_at(address: Address) -> Address | None:
    """Return the address where packets end; None where a tunnel leads to an IPv4 address."""
    if isinstance(address, IPv4Address):
        return address
    number = int(address)
    if address.ipv4_mapped or address in _NAT64:
        return IPv4Address(number & _LOW)
    is_tunnel = (number >> 32 & _LOW) & ~_UNIVERSAL_BIT == _ISATAP
    return None if is_tunnel else address


def is_public(address: str | Address) -> bool:
    """Say whether an address, and what it carries, is one of the public internet.

    Tunnels over IPv4 (6to4, Teredo, ISATAP) are not: no page is at their ends.

    Args:
        address: An address, or its text. Text with a zone (``fe80::1%eth0``), a port, or in a
            form other than four decimal numbers or RFC 4291's is not public.
    """
    parsed = parse_address(address) if isinstance(address, str) else address
    if parsed is None or getattr(parsed, "scope_id", None):
        return False
    end = _packets_end_at(parsed)
    return end is not None and not any(end in network for network in _NETWORKS)


def parse_address(text: str) -> Address | None:
    """Return the address that ``text`` is, in its one strict spelling; zones have none."""
    if not text.isascii() or "%" in text:
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None
