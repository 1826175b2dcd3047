"""The URL guard: every fetch of an address that a user gave goes through `guarded_client`, and what a browser
asks for through `guarded_connection`.

`check_url` judges an address as it is written, when it is taken in; the client judges it again, resolves
its host itself, checks every address that it gets and connects to one of those: a name that resolves to
something else a moment later changes nothing. Public addresses only, unless `outgoing.allow_internal`
says otherwise; see `models.addresses`.
"""

import asyncio
import ipaddress
import logging
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpcore2
import httpx2

from actors.platform.checked_stream import LookedAtBackend
from actors.platform.sending import Clearance
from actors.platform.web.resolver import system_resolver
from models.addresses import Address, Allowed, ends_in_number, is_host_name
from models.config import OutgoingConfig
from models.errors import AddressRefused

_log = logging.getLogger("signoff.url_guard")

# A host's addresses, as texts; OSError when it has none.
Resolve = Callable[[str], Awaitable[list[str]]]

_MAX_LENGTH = 2000
_SHOWN = 40
_AUTHORITY = re.compile(r"[^/?#]*")
# How long a connection that nobody uses stays open.
_KEPT_SECONDS = 15.0

_FAULTS = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
)


def check_url(url: str, allow_internal: Iterable[str]) -> httpx2.URL:
    """The URL, if it is plain and leads to no internal address on its face; names are resolved later.

    Args:
        allow_internal: networks and host names that are allowed, as in `outgoing.allow_internal`.

    Raises:
        AddressRefused: the message names the field, what is wrong and the remedy.
    """
    if (
        not url
        or len(url) > _MAX_LENGTH
        or not (url.isascii() and url.isprintable())
        or set(url) & set(" \\")
    ):
        raise AddressRefused(
            f"url: give 1 to {_MAX_LENGTH} printable ASCII characters without spaces and backslashes; "
            "write other characters percent-encoded, and a host's name in its xn-- form"
        )
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise AddressRefused(f"url: {error}") from error
    if parsed.scheme not in ("http", "https"):
        raise AddressRefused(f"url: {parsed.scheme or 'no'} scheme: it must begin with http:// or https://")
    if parsed.userinfo:
        raise AddressRefused(
            "url: it holds a user or a password: send them in a header, such as Authorization"
        )
    # As it is written, too: Python reads `8_1` as 81, and browsers read no port there.
    port = _port_of(url)
    if (port and not port.isdigit()) or (parsed.port is not None and not 1 <= parsed.port <= 65535):
        raise AddressRefused(f"url: there is no port {port[:_SHOWN]}: use 1 to 65535, or none")
    # Not `host`, which reads xn-- names back into other letters: this is what is connected to.
    host = parsed.raw_host.decode("ascii")
    # The name as it is written in full (RFC 3986 §3.2.2); certificates and lists have it without its dot.
    plain = host.removesuffix(".") or host
    _check_host(plain, Allowed(allow_internal))
    return parsed if plain == host else parsed.copy_with(host=plain)


def guarded_client(
    outgoing: OutgoingConfig,
    *,
    timeout: float,
    resolve: Resolve | None = None,
    ssl_context: ssl.SSLContext | None = None,
    kept: int = 0,
    http2: bool = False,
) -> httpx2.AsyncClient:
    """A client that raises AddressRefused rather than connect to where it may not.

    It follows no redirect, keeps no cookie, and knows no proxy and no environment.

    Args:
        timeout: seconds for each of connecting, writing and reading; the caller bounds the whole.
        resolve: what resolves names; the system's when absent, shared by all clients of the process.
        ssl_context: what checks certificates; those known to the system and to certifi when absent.
        kept: connections that stay open for the next request to the same host, each to a checked address.
        http2: whether it is offered to servers.
    """
    if ssl_context is None:
        ssl_context = httpx2.create_ssl_context(trust_env=False)
        ssl_context.load_default_certs()
    return httpx2.AsyncClient(
        transport=_GuardedTransport(outgoing, resolve or system_resolver(), ssl_context, kept, http2),
        timeout=timeout,
        trust_env=False,
        follow_redirects=False,
        # None is kept: what one page sets is nothing to the next.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
    )


async def guarded_connection(
    host: str, port: int, *, outgoing: OutgoingConfig, timeout: float, resolve: Resolve | None = None
) -> httpcore2.AsyncNetworkStream:
    """A TCP connection to a host, for what speaks its own protocol over it (a browser's proxy).

    Args:
        host: a name, or an address without brackets.
        timeout: seconds until it is resolved and connected.
        resolve: what resolves names; the system's when absent.

    Raises:
        AddressRefused: it may not be reached from here, as it is written or as it is resolved.
        httpcore2.ConnectError, httpcore2.ConnectTimeout: it has no address, or none that answers in time.
    """
    allowed = Allowed(outgoing.allow_internal)
    name = host.removesuffix(".") or host
    _check_host(name, allowed)
    if not 1 <= port <= 65535:
        raise AddressRefused(f"url: there is no port {port}: use 1 to 65535, or none")
    return await _GuardedBackend(allowed, resolve or system_resolver()).connect_tcp(name, port, timeout)


def _port_of(url: str) -> str:
    """The port as it is written in a URL; "" for none."""
    authority = _AUTHORITY.match(url.partition("://")[2])
    assert authority is not None, "it matches nothing, too"
    return authority.group().rpartition("]")[2].partition(":")[2]


def _check_host(host: str, allowed: Allowed) -> None:
    if not host:
        raise AddressRefused("url: the host is missing: write http://host/path")
    if allowed.names(host):
        return
    try:
        address: Address | None = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if address is None:
        if ends_in_number(host):
            raise AddressRefused(f"url: {host} is an odd way to write an address: write it like 192.0.2.1")
        if not is_host_name(host):
            raise AddressRefused(
                f"url: {host!r} is no host's name: use letters, digits and - between single dots"
            )
        # Names that mean this machine wherever they are resolved (RFC 6761 §6.3).
        here = host.lower().rpartition(".")[2] == "localhost"
        address = ipaddress.IPv4Address("127.0.0.1") if here else None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        raise AddressRefused(f"url: {host} names a zone of this machine: write the address without %")
    if address is not None and not allowed.reaches(address):
        raise _refused(f"{host} is not a public address")


def _refused(what: str) -> AddressRefused:
    return AddressRefused(f"url: {what}: if it is meant, have it added to outgoing.allow_internal")


class _GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections: to checked addresses, and to nothing else."""

    def __init__(self, allowed: Allowed, resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve
        self._network = LookedAtBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address of `host` that takes it, each within its share of `timeout`."""
        until = None if timeout is None else time.monotonic() + timeout
        addresses = await self._addresses(host, timeout)
        for left in range(len(addresses), 0, -1):
            share = None if until is None else max(until - time.monotonic(), 0.0) / left
            try:
                return await self._network.connect_tcp(
                    addresses[-left], port, share, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if left == 1:
                    raise
        raise httpcore2.ConnectError(f"{host} has no address")

    async def sleep(self, seconds: float) -> None:
        """Wait; httpcore2 asks for it between its own retries, of which there are none here."""
        await self._network.sleep(seconds)

    async def _addresses(self, host: str, timeout: float | None) -> list[str]:
        try:
            found = [str(ipaddress.ip_address(host))]
        except ValueError:
            found = await self._look_up(host, timeout)
        if not self._allowed.names(host):
            for address in found:
                if not self._allowed.reaches(ipaddress.ip_address(address)):
                    # Where names lead to inside is for operators, and not for whoever gave the URL.
                    _log.warning("refused: %s leads to %s, which is not public", host, address)
                    raise _refused(f"{host} leads to an address that is not public")
        return list(dict.fromkeys(found))

    async def _look_up(self, host: str, timeout: float | None) -> list[str]:
        try:
            async with asyncio.timeout(timeout):
                return await self._resolve(host)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"{host} is not resolved in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"{host} can't be resolved: {error}") from error


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """What httpx2 sends through: httpcore2 over the guarded backend, and not a pool that httpx2 made."""

    def __init__(
        self,
        outgoing: OutgoingConfig,
        resolve: Resolve,
        ssl_context: ssl.SSLContext,
        kept: int,
        http2: bool,
    ) -> None:
        self._allow_internal = outgoing.allow_internal
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context,
            http2=http2,
            max_connections=None,
            max_keepalive_connections=kept,
            keepalive_expiry=_KEPT_SECONDS if kept else None,
            network_backend=_GuardedBackend(Allowed(outgoing.allow_internal), resolve),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Check the address, send if that may still be, and return the answer, its body still to be read."""
        url = check_url(str(request.url), self._allow_internal)
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        headers = request.headers.raw
        if url.raw_host != request.url.raw_host:  # it was written with a dot at its end
            headers = [(name, url.netloc if name.lower() == b"host" else value) for name, value in headers]
        clearance = Clearance()
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=headers,
            content=request.stream,
            extensions=clearance.around(request.extensions),
        )
        try:
            answer = await self._pool.handle_async_request(sent)
        except _FAULTS as error:
            raise _as_httpx2(error) from error
        finally:
            await clearance.end()
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions
        )

    async def aclose(self) -> None:
        """Close what is open."""
        await self._pool.aclose()


class _Body(httpx2.AsyncByteStream):
    """An answer's body, with httpcore2's errors told as httpx2's."""

    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._answer.aiter_stream():
                yield part
        except _FAULTS as error:
            raise _as_httpx2(error) from error

    async def aclose(self) -> None:
        await self._answer.aclose()


def _as_httpx2(error: Exception) -> httpx2.TransportError:
    """The error of the same name that httpx2 has."""
    kind: type[httpx2.TransportError] = getattr(httpx2, type(error).__name__, httpx2.TransportError)
    return kind(str(error) or type(error).__name__)
