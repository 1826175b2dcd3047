"""What a browser asks of its proxy: which host, and which headers go on. Pure; strict, for nobody else asks.

Two forms are known: `CONNECT host:port`, and an absolute `http://` address (RFC 9112 §3.2).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import h11

# Of one connection, and never passed on (RFC 9110 §7.6.1); `transfer-encoding` is made anew.
HOP_BY_HOP = frozenset(
    (
        *(b"connection", b"proxy-connection", b"keep-alive", b"te", b"trailer", b"upgrade"),
        *(b"proxy-authorization", b"proxy-authenticate", b"proxy-authentication-info", b"http2-settings"),
    )
)
# What the proxy says itself: nobody else may say it in its name.
_OURS = b"x-signoff-"
_AUTHORITY = re.compile(rb"(\[[0-9A-Fa-f:.]{2,45}\]|[^\[\]:/?#@\s]{1,255})(?::([0-9]{1,5}))?\Z")
_ABSOLUTE = re.compile(rb"http://([^/?#]*)([^#]*)\Z", re.IGNORECASE)


class NotProxied(Exception):
    """What is asked for is in neither form."""


@dataclass(frozen=True)
class Authority:
    """Where to: `host` without brackets; `path` is what an origin is asked for, and empty for a tunnel."""

    host: str
    port: int
    path: bytes = b""
    as_written: bytes = b""

    @property
    def tunnel(self) -> bool:
        """Whether bytes are carried, whatever they are."""
        return not self.path

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def target_of(request: h11.Request) -> Authority:
    """Where a request goes. NotProxied where it is in neither form."""
    if request.method == b"CONNECT":
        host, port = _parts(request.target)
        if port is None:
            raise NotProxied("CONNECT names host and port")
        return Authority(host, port)
    parts = _ABSOLUTE.match(request.target)
    if parts is None:
        raise NotProxied("a proxy is asked with an absolute http address, or with CONNECT")
    authority, path = parts.groups()
    host, port = _parts(authority)
    if not path.startswith(b"/"):
        path = b"/" + path
    return Authority(host, 80 if port is None else port, path, authority)


def without_hops(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What goes on of some headers: not what is of this connection, by its name or by `Connection`'s word."""
    given = list(headers)
    named = {
        word.strip().lower() for name, value in given if name == b"connection" for word in value.split(b",")
    }
    # How a body is framed is for h11 to say, of what it has read; nobody may call that a matter of one hop.
    stays = HOP_BY_HOP | (named - {b"content-length", b"transfer-encoding", b"host"})
    return [(name, value) for name, value in given if name not in stays and not name.startswith(_OURS)]


def _parts(authority: bytes) -> tuple[str, int | None]:
    found = _AUTHORITY.match(authority)
    if found is None:
        raise NotProxied("the host is not written as a host is")
    host, port = found.groups()
    return host.decode("latin-1").strip("[]").lower(), None if port is None else int(port)
