"""Internet addresses: which are public, and which others the configuration allows. Pure.

The URL guard asks here about every address that a user's URL names or resolves to. The networks are
those of IANA's special-purpose registries, kept here rather than asked of `ipaddress`, whose idea of
`is_global` differs between Python's patch releases.
"""

import ipaddress
import re
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\Z")
_NUMBER = re.compile(r"(0x[0-9a-f]*|[0-9]+)\Z")
_LONGEST_NAME = 253

_NOT_PUBLIC_4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # a carrier's own
        "127.0.0.0/8",
        "168.63.129.16/32",  # where Azure answers its virtual machines
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
_GLOBAL_UNICAST_6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo among them, which leads to the IPv4 address within
        "2001:db8::/32",
        "2002::/16",  # 6to4, likewise
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Allowed:
    """Public addresses, and what `outgoing.allow_internal` lists beside them."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._names: set[str] = set()
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        for entry in entries:
            try:
                self._networks.append(ipaddress.ip_network(entry))
            except ValueError:
                self._names.add(_plain(entry))

    def names(self, host: str) -> bool:
        """Whether a host is allowed by its name, wherever it may be."""
        return _plain(host) in self._names

    def reaches(self, address: Address) -> bool:
        """Whether an address is public, or in a network that is listed."""
        meant = _meant(address)
        return is_public(address) or any(a in network for network in self._networks for a in (address, meant))


def check_entry(entry: str) -> None:
    """ValueError, with what to write, where an entry of `outgoing.allow_internal` could never match."""
    try:
        network = ipaddress.ip_network(entry, strict=False)
    except ValueError:
        network = None
    name = _plain(entry)
    if "%" in entry or (network is None and (ends_in_number(name) or not is_host_name(name))):
        raise ValueError(
            f"{entry!r} matches nothing: write a network (10.1.0.0/16), an address (10.1.2.3) or a host's "
            "name (hooks.internal), without scheme, port, path, brackets and *"
        )
    if network is not None and ipaddress.ip_interface(entry).ip != network[0]:
        raise ValueError(f"{entry} has host bits set: write {network}")


def is_host_name(name: str) -> bool:
    """Whether a name has the form of a host's: letters, digits, `-` and `_` between single dots."""
    return len(name) <= _LONGEST_NAME and all(_LABEL.match(label) for label in name.lower().split("."))


def ends_in_number(name: str) -> bool:
    """Whether a name would be read as an IPv4 address, however oddly written (`127.1`, `0x7f000001`)."""
    return _NUMBER.match(name.lower().rpartition(".")[2]) is not None


def _plain(name: str) -> str:
    """A host's name without the dot of the root at its end, which changes nothing."""
    return name.lower().removesuffix(".")


def is_public(address: Address) -> bool:
    """Whether an address belongs to somebody on the Internet, and to no special purpose."""
    address = _meant(address)
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _GLOBAL_UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _meant(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for (RFC 4291 §2.5.5.2, RFC 6052), or the address itself."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def is_loopback(host: str) -> bool:
    """Whether what listens on a host is reached from its own machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"
