"""What a browser asks of its proxy: which address, and which headers go on. Pure; strict: nobody else asks.

Two forms are known: `CONNECT host:port`, and an absolute `http://` address (RFC 9112 §3.2). Within a tunnel a
request names its path alone: whose it is, the tunnel has said.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import h11

# Of one connection, and never passed on (RFC 9110 §7.6.1); `transfer-encoding` is made anew.
HOP_BY_HOP = frozenset(
    (
        *(b"connection", b"proxy-connection", b"keep-alive", b"te", b"trailer", b"upgrade"),
        *(b"proxy-authorization", b"proxy-authenticate", b"proxy-authentication-info", b"http2-settings"),
    )
)
# What the proxy says itself: nobody else may say it in its name. And what names another address or method
# than was asked about, which some servers, and those before them, go by.
_NOT_PASSED_ON = (
    b"x-signoff-",
    b"x-forwarded-",
    b"x-original-",
    b"x-rewrite-",
    b"x-http-method",
    b"x-method",
    b"forwarded",
)
# A page's scripts may add headers of any name; what in them looks like an address goes on in these alone.
_ADDRESS = re.compile(rb"\s*(?:[/\\]|[A-Za-z][A-Za-z0-9+.-]*:[/\\])")
_MAY_NAME_ADDRESSES = frozenset((b"referer", b"origin", b"cookie", b"authorization", b"user-agent"))
_AUTHORITY = re.compile(rb"(\[[0-9A-Fa-f:.]{2,45}\]|[^\[\]:/?#@\s]{1,255})(?::([0-9]{1,5}))?\Z")
_ABSOLUTE = re.compile(rb"http://([^/?#]*)([^#]*)\Z", re.IGNORECASE)


class NotProxied(Exception):
    """What is asked for is in neither form."""


@dataclass(frozen=True)
class Authority:
    """Where to: `host` without brackets, and `as_written` for the origin. `path` is none for a tunnel."""

    host: str
    port: int
    path: bytes = b""
    as_written: bytes = b""
    secure: bool = False

    @property
    def tunnel(self) -> bool:
        """Whether requests come within it, which name their paths themselves."""
        return not self.path

    def within(self, *, secure: bool) -> "Authority":
        """The same tunnel, now that it is known whether TLS is spoken in it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == (443 if secure else 80)
        return replace(self, secure=secure, as_written=(host if usual else f"{host}:{self.port}").encode())

    def url(self, path: bytes) -> str:
        """The whole address of a path there."""
        return f"{'https' if self.secure else 'http'}://{(self.as_written + path).decode('latin-1')}"

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


def path_of(request: h11.Request) -> bytes:
    """What a request within a tunnel asks for. NotProxied where that is no path."""
    if request.method == b"CONNECT" or not request.target.startswith(b"/"):
        raise NotProxied("within a tunnel, an origin is asked for a path")
    return bytes(request.target)


def of_a_worker(request: h11.Request) -> bool:
    """Whether it is for the script of a worker that would outlive its page, or serve several."""
    told = dict(request.headers)
    return b"service-worker" in told or told.get(b"sec-fetch-dest") in (b"serviceworker", b"sharedworker")


def without_hops(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What goes on of some headers: not what is of this connection, by its name or by `Connection`'s word.

    Nor what may not be said in our name, or of another address.
    """
    given = list(headers)
    named = {
        word.strip().lower() for name, value in given if name == b"connection" for word in value.split(b",")
    }
    # How a body is framed is for h11 to say, of what it has read; nobody may call that a matter of one hop.
    stays = HOP_BY_HOP | (named - {b"content-length", b"transfer-encoding", b"host"})
    return [
        (name, value) for name, value in given if name not in stays and not name.startswith(_NOT_PASSED_ON)
    ]


def of_a_request(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What goes on of a request's headers: nothing that a server may take for the address it is asked for."""
    return [
        (name, value)
        for name, value in without_hops(headers)
        if name != b"host" and (name in _MAY_NAME_ADDRESSES or _ADDRESS.match(value) is None)
    ]


def _parts(authority: bytes) -> tuple[str, int | None]:
    found = _AUTHORITY.match(authority)
    if found is None:
        raise NotProxied("the host is not written as a host is")
    host, port = found.groups()
    return host.decode("latin-1").strip("[]").lower(), None if port is None else int(port)
