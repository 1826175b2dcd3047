"""The browser's proxy: who may use it, where it goes, what it passes on, and what it takes at most."""

import asyncio
import base64
import hashlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import h11
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import example, given
from hypothesis import strategies as st

from actors.systems.knowledge.browsing.guarded_proxy import GuardedProxy
from actors.systems.knowledge.browsing.page_egress import AllowPart, PageEgress
from actors.systems.knowledge.browsing.proxy_request import NotProxied, of_a_request, target_of, without_hops
from models.config import OutgoingConfig
from models.knowledge.reach import PageReach
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.unit.outside.certificates import certificate

LOOPBACK = OutgoingConfig(allow_internal=("127.0.0.1/32",))
NOWHERE = OutgoingConfig(allow_internal=())


class Names:
    """A resolver that answers from a script, the last answer again and again."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not found:
            raise OSError("no such host")
        return found


class Asking:
    """A proxy, one page's way_out through it, and raw requests."""

    def __init__(self, proxy: GuardedProxy, way_out: PageEgress) -> None:
        self.proxy = proxy
        self.way_out = way_out
        self.port = int(proxy.url.rpartition(":")[2])

    @property
    def credential(self) -> str:
        """The header that the way_out is known by."""
        given = base64.b64encode(f"{self.way_out.user}:{self.way_out.password}".encode()).decode()
        return f"Proxy-Authorization: Basic {given}\r\n"

    async def raw(self, request: bytes) -> bytes:
        """All that is answered to some bytes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            async with asyncio.timeout(20):
                return await reader.read()
        except ConnectionResetError:
            return b""
        finally:
            writer.close()

    async def get(self, url: str, headers: str = "") -> bytes:
        """All that is answered to a GET."""
        asked = f"GET {url} HTTP/1.1\r\nHost: whatever\r\n{self.credential}{headers}\r\n"
        return await self.raw(asked.encode())

    async def tunnel(self, where: str) -> tuple[bytes, asyncio.StreamReader, asyncio.StreamWriter]:
        """A tunnel: the head of the answer, and both ways."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{self.credential}\r\n".encode())
        async with asyncio.timeout(20):
            return await reader.readuntil(b"\r\n\r\n"), reader, writer


@asynccontextmanager
async def asking(
    outgoing: OutgoingConfig = LOOPBACK,
    names: Names | None = None,
    *,
    max_bytes: int = 1_000_000,
    connections: int = 64,
    seconds: float = 10,
    allow: AllowPart | None = None,
) -> AsyncIterator[Asking]:
    """A proxy with one way_out."""
    async with GuardedProxy(
        outgoing, connect_seconds=seconds, idle_seconds=seconds, head_seconds=seconds, resolve=names
    ) as proxy:
        with proxy.way_out(max_bytes=max_bytes, connections=connections, allow=allow) as way_out:
            yield Asking(proxy, way_out)


@pytest.fixture
async def site() -> AsyncIterator[WebhookReceiver]:
    """A site on 127.0.0.1."""
    async with WebhookReceiver() as site:
        yield site


def status(answer: bytes) -> int:
    """An answer's status."""
    return int(answer.split(b" ", 2)[1])


async def test_a_request_is_passed_on_as_an_origin_is_asked(site: WebhookReceiver) -> None:
    site.always(
        "/page?a=b", Reply(200, {"Content-Type": "text/html", "X-Signoff-Refused": "guard"}, b"hello")
    )
    async with asking() as page:
        answer = await page.get(
            site.at("/page?a=b"), "Connection: X-Mine\r\nX-Mine: 1\r\nTE: trailers\r\nX-Kept: 2\r\n"
        )
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"\r\n\r\nhello")
        assert b"x-signoff-refused" not in answer.lower(), "an origin speaks in the proxy's name"
        (got,) = site.got
        assert got.headers["host"] == f"127.0.0.1:{site.port}"
        assert got.headers["x-kept"] == "2"
        assert not {"x-mine", "te", "proxy-authorization"} & set(got.headers)
        assert page.way_out.bytes > len(answer) // 2
        assert (page.way_out.refusals, page.way_out.failed) == (0, {})


async def test_nobody_without_the_credential_gets_through(site: WebhookReceiver) -> None:
    async with asking() as page:
        wrong = base64.b64encode(f"{page.way_out.user}:guess".encode()).decode()
        for header in (
            "",
            f"Proxy-Authorization: Basic {wrong}\r\n",
            "Proxy-Authorization: Basic %%%\r\n",
            "Proxy-Authorization: Basic /w==\r\n",
            page.credential.replace("Basic", "Bearer"),
            page.credential * 2,
        ):
            for first in (f"GET {site.at('/')} HTTP/1.1", f"CONNECT 127.0.0.1:{site.port} HTTP/1.1"):
                answer = await page.raw(f"{first}\r\nHost: x\r\n{header}\r\n".encode())
                assert status(answer) == 407
                assert b'proxy-authenticate: basic realm="signoff"' in answer.lower()
        with page.proxy.way_out(max_bytes=1000) as other:
            assert other.password != page.way_out.password
        gone = base64.b64encode(f"{other.user}:{other.password}".encode()).decode()
        header = f"Proxy-Authorization: Basic {gone}\r\n"
        assert (
            status(await page.raw(f"GET {site.at('/')} HTTP/1.1\r\nHost: x\r\n{header}\r\n".encode())) == 407
        )
    assert site.got == []


@pytest.mark.parametrize(
    "host",
    [
        *(
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "127.0.0.1.",
            "localhost",
            "a.localhost",
        ),
        *("[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "169.254.169.254", "0", "0.0.0.0", "loc%61lhost"),
        *(
            "10.0.0.7",
            "[fd00:ec2::254]",
            "payroll.test",
            "PAYROLL.test.",
            "_",
            "a..b",
            "\u0661\u0662\u0667.0.0.1",
        ),
    ],
)
async def test_the_guard_judges_every_host(host: str, site: WebhookReceiver) -> None:
    async with asking(NOWHERE, Names(["93.184.216.34", "127.0.0.1"])) as page:
        for first in (f"GET http://{host}:{site.port}/ HTTP/1.1", f"CONNECT {host}:{site.port} HTTP/1.1"):
            answer = await page.raw(f"{first}\r\nHost: x\r\n{page.credential}\r\n".encode())
            assert status(answer) in ((403,) if host.isascii() else (400,))
            if host.isascii():
                assert b"x-signoff-refused: guard" in answer.lower()
        if host.isascii():
            assert page.way_out.refusals == 2
            assert list(page.way_out.refused) == [f"{host.strip('[]').lower()}:{site.port}"]
    assert site.got == []


async def test_a_name_is_resolved_once_and_judged_anew_for_each_request(site: WebhookReceiver) -> None:
    names = Names(["127.0.0.1"], ["127.0.0.2"])
    async with asking(names=names) as page:
        url = f"http://rebinding.test:{site.port}/"
        assert status(await page.get(url)) == 200
        assert names.asked == ["rebinding.test"]
        assert status(await page.get(url)) == 403
        head, _, writer = await page.tunnel(f"rebinding.test:{site.port}")
        writer.close()
        assert status(head) == 403
    assert len(site.got) == 1


@pytest.mark.parametrize("port", [0, 65536, 99999])
async def test_a_port_that_there_is_not(port: int) -> None:
    async with asking() as page:
        assert status(await page.get(f"http://127.0.0.1:{port}/")) == 403


async def test_a_tunnel_carries_bytes_both_ways(site: WebhookReceiver) -> None:
    async with asking() as page:
        head, reader, writer = await page.tunnel(f"127.0.0.1:{site.port}")
        assert status(head) == 200
        for _ in range(2):
            writer.write(b"POST /in HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
            assert (await reader.readuntil(b"\r\n\r\nok")).startswith(b"HTTP/1.1 200")
        writer.close()
    assert [got.body for got in site.got] == [b"abc", b"abc"]


async def test_what_comes_with_the_head_goes_into_the_tunnel(site: WebhookReceiver) -> None:
    async with asking() as page:
        reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
        where = f"127.0.0.1:{site.port}"
        early = "GET /early HTTP/1.1\r\nHost: x\r\n\r\n"
        asked = f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{page.credential}\r\n{early}"
        writer.write(asked.encode())
        await site.until_got(1, "/early")
        assert b"ok" in await reader.readuntil(b"\r\n\r\nok")
        writer.close()


async def test_a_body_goes_on_and_its_framing_is_made_anew(site: WebhookReceiver) -> None:
    async with asking() as page:
        head = f"POST {site.at('/in')} HTTP/1.1\r\nHost: x\r\n{page.credential}Content-Length: 5\r\n"
        answer = await page.raw(f"{head}Connection: content-length\r\n\r\nhello".encode())
        assert status(answer) == 200
        assert site.got[0].body == b"hello"
        for smuggled in ("Content-Length: 6\r\n", "Transfer-Encoding: chunked, gzip\r\n"):
            assert status(await page.raw(f"{head}{smuggled}\r\nhello".encode())) in (400, 501)
    assert len(site.got) == 1


@pytest.mark.parametrize(
    "first",
    [
        "GET / HTTP/1.1",
        "GET https://127.0.0.1/ HTTP/1.1",
        "GET ftp://127.0.0.1/ HTTP/1.1",
        "GET http://u:p@127.0.0.1/ HTTP/1.1",
        "GET http:// HTTP/1.1",
        "GET http://[::1/ HTTP/1.1",
        "GET http://a:b/ HTTP/1.1",
        "GET http://a:1:2/ HTTP/1.1",
        "CONNECT 127.0.0.1 HTTP/1.1",
        "CONNECT http://127.0.0.1/ HTTP/1.1",
        "NOT HTTP",
    ],
)
async def test_what_is_no_request_to_a_proxy_is_refused(first: str) -> None:
    async with asking() as page:
        answer = await page.raw(f"{first}\r\nHost: x\r\n{page.credential}\r\n".encode())
        assert status(answer) in (400, 505)


async def test_what_is_not_reached_is_told_apart_from_what_is_refused() -> None:
    async with asking(names=Names([])) as page:
        answer = await page.get("http://nowhere.test/")
        assert status(answer) == 502
        assert b"x-signoff-refused: away" in answer.lower()
        assert "nowhere.test:80" in page.way_out.failed
        assert page.way_out.refusals == 0


async def test_an_answer_that_is_no_http_or_asks_for_the_proxys_password_is_not_passed_on() -> None:
    answers = [b"NOT HTTP\r\n\r\n", b"HTTP/1.1 407 Give\r\nProxy-Authenticate: Basic\r\n\r\n", b""]
    answers.append(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answers.pop(0))
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server, asking() as page:
        port = server.sockets[0].getsockname()[1]
        while answers:
            assert status(await page.get(f"http://127.0.0.1:{port}/")) == 502
        assert f"127.0.0.1:{port}" in page.way_out.failed


@pytest.mark.parametrize("tunnel", [False, True])
async def test_a_page_takes_no_more_than_it_may(tunnel: bool, site: WebhookReceiver) -> None:
    site.always("/endless", Reply(endless="body", body=b"x" * 10_000))
    async with asking(max_bytes=200_000) as page:
        if tunnel:
            _, reader, writer = await page.tunnel(f"127.0.0.1:{site.port}")
            writer.write(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
            async with asyncio.timeout(20):
                with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                    await reader.readexactly(10_000_000)
            writer.close()
        else:
            assert 100_000 < len(await page.get(site.at("/endless"))) < 400_000 or page.way_out.over
        assert page.way_out.over
        assert await page.get(site.at("/")) == b"", "it goes on after that"
    await site.until(lambda: not any(site.under_way.values()))


async def test_a_page_has_no_more_connections_than_it_may(site: WebhookReceiver) -> None:
    site.always("/held", Reply(hold=True))
    async with asking(connections=2) as page:
        held = [asyncio.create_task(page.get(site.at("/held"))) for _ in range(2)]
        await site.until_got(2, "/held")
        assert await page.get(site.at("/third")) == b""
        site.release()
        assert [status(answer) for answer in await asyncio.gather(*held)] == [200, 200]
        assert status(await page.get(site.at("/third"))) == 200


async def test_when_a_page_ends_its_connections_do(site: WebhookReceiver) -> None:
    site.always("/held", Reply(hold=True))
    async with GuardedProxy(LOOPBACK) as proxy:
        with proxy.way_out(max_bytes=1000) as way_out:
            asked = asyncio.create_task(Asking(proxy, way_out).get(site.at("/held")))
            await site.until_got(1, "/held")
        assert await asked == b""
        await site.until(lambda: site.under_way["/held"] == 0)


async def test_whoever_dawdles_is_let_go(site: WebhookReceiver) -> None:
    site.always("/held", Reply(hold=True))
    async with asking(seconds=0.3) as page:
        assert await page.raw(b"") == b""
        assert await page.raw(b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nX-Slow: ") == b""
        assert status(await page.get(site.at("/held"))) == 504
        _, reader, writer = await page.tunnel(f"127.0.0.1:{site.port}")
        async with asyncio.timeout(20):
            assert await reader.read() == b""
        writer.close()


async def test_a_head_is_bounded(site: WebhookReceiver) -> None:
    async with asking() as page:
        answer = await page.get(site.at("/"), "X: " + "x" * 200_000 + "\r\n")
        assert answer == b"" or status(answer) == 431
    assert site.got == []


async def test_what_robots_are_not_allowed_is_not_asked_for(site: WebhookReceiver) -> None:
    asked: list[str] = []

    async def allow(url: str) -> bool:
        asked.append(url)
        return not url.endswith("/private")

    async with asking(allow=allow) as page:
        answer = await page.get(site.at("/private"))
        assert status(answer) == 403
        assert b"x-signoff-refused: robots" in answer.lower()
        assert status(await page.get(site.at("/open"))) == 200
    assert asked == [site.at("/private"), site.at("/open")]
    assert [got.path for got in site.got] == ["/open"]


async def secured(page: Asking, where: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A tunnel with TLS in it, as far as the proxy."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    head, reader, writer = await page.tunnel(where)
    assert status(head) == 200
    await writer.start_tls(context, server_hostname="site.test")
    der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    key = x509.load_der_x509_certificate(der).public_key()
    public = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert base64.b64encode(hashlib.sha256(public).digest()).decode() == page.proxy.key_digest
    return reader, writer


async def test_whole_addresses_are_judged_within_tls_and_several_in_one_tunnel(tmp_path: Path) -> None:
    server, trusting = certificate(tmp_path, "site.test")
    async with (
        WebhookReceiver(server) as site,
        GuardedProxy(LOOPBACK, resolve=Names(["127.0.0.1"]), tls=trusting) as proxy,
    ):
        base = f"https://site.test:{site.port}/"
        reach = PageReach.of([base], left_out=[f"{base}secret"])
        with proxy.way_out(max_bytes=10**6, reach=reach) as way_out:
            reader, writer = await secured(Asking(proxy, way_out), f"site.test:{site.port}")
            for path in ("/a", "/b"):
                writer.write(f"GET {path} HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n".encode())
                assert status(await reader.readuntil(b"\r\n\r\nok")) == 200
            writer.write(b"GET /SECRET?x HTTP/1.1\r\nHost: x\r\n\r\nGET /c HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = await reader.read()
            assert status(answer) == 403
            assert answer.endswith(b"\r\n\r\n"), "a frame would show what is said"
            writer.close()
            assert way_out.refusals == 1
    assert [got.path for got in site.got] == ["/a", "/b"]
    assert {got.headers["host"] for got in site.got} == {f"site.test:{site.port}"}


async def test_a_certificate_that_is_not_believed_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    server, _ = certificate(tmp_path, "site.test")
    async with WebhookReceiver(server) as site, GuardedProxy(LOOPBACK, resolve=Names(["127.0.0.1"])) as proxy:
        with proxy.way_out(max_bytes=10**6) as way_out:
            reader, writer = await secured(Asking(proxy, way_out), f"site.test:{site.port}")
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = await reader.read()
            assert status(answer) == 502
            assert b"x-signoff-refused: away" in answer.lower()
            assert "certificate" in way_out.failed[f"site.test:{site.port}"]
            writer.close()
    assert site.got == []


@pytest.mark.parametrize(
    "said", [b"\x00\x01 TURN", b"SSH-2.0-x\r\n", b"GET http://other/ HTTP/1.1\r\nHost: x\r\n\r\n"]
)
async def test_what_is_no_request_for_a_path_goes_nowhere_within_a_tunnel(said: bytes) -> None:
    heard: list[bytes] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server, asking(seconds=2) as page:
        _, reader, writer = await page.tunnel(f"127.0.0.1:{server.sockets[0].getsockname()[1]}")
        writer.write(said)
        answer = await reader.read()
        assert answer == b"" or status(answer) == 400
        writer.close()
    assert heard in ([], [b""])


@pytest.mark.parametrize("header", ["Service-Worker: script", "Sec-Fetch-Dest: sharedworker"])
async def test_workers_that_outlive_a_page_get_no_script(header: str, site: WebhookReceiver) -> None:
    async with asking() as page:
        answer = await page.get(site.at("/worker.js"), f"{header}\r\n")
        assert status(answer) == 403
        assert b"x-signoff-refused: worker" in answer.lower()
    assert site.got == []


async def test_a_connection_that_ended_between_two_requests_breaks_off_so_that_the_browser_asks_anew() -> (
    None
):
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server, asking() as page:
        where = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        _, reader, writer = await page.tunnel(where)
        for _ in range(2):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.read()).endswith(b"\r\n\r\nok")
        writer.close()
        assert where not in page.way_out.failed


_HEADER = st.sampled_from(
    [b"connection", b"te", b"upgrade", b"x-a", b"cookie", b"content-length", b"keep-alive"]
)


@given(st.lists(st.tuples(_HEADER, st.sampled_from([b"x-a", b"cookie, x-b", b"close", b"content-length"]))))
@example([(b"connection", b"x-a, cookie"), (b"x-a", b"1"), (b"cookie", b"2"), (b"content-length", b"3")])
def test_no_header_of_one_hop_goes_on(headers: list[tuple[bytes, bytes]]) -> None:
    kept = without_hops(headers)
    named = {word.strip() for name, value in headers if name == b"connection" for word in value.split(b",")}
    assert not {name for name, _ in kept} & {b"connection", b"te", b"upgrade", b"keep-alive"}
    assert not {name for name, _ in kept} & (named - {b"content-length"})
    assert [pair for pair in headers if pair[0] == b"content-length"] == [
        pair for pair in kept if pair[0] == b"content-length"
    ]


@pytest.mark.parametrize(
    "value", [b"/left", b" //site.test/left", b"http://site.test/left", b"\\\\left", b"HTTP:/x"]
)
@pytest.mark.parametrize("name", [b"x-override-url", b"x-envoy-original-path", b"x-real-url", b"destination"])
def test_no_other_address_is_named_in_a_header_that_a_script_adds(name: bytes, value: bytes) -> None:
    ours = [(b"host", b"site.test"), (name, value), (b"referer", b"http://site.test/a"), (b"accept", b"*/*")]
    more = [(b"x-requested-with", b"XMLHttpRequest"), (b"x-time", b"2026-11-27T10:00:00"), (b"x-a", b"a/b")]
    assert of_a_request([*ours, *more]) == [*ours[2:], *more]


@given(st.binary(max_size=40))
@example(b"a:80")
@example(b"[::1]:443")
def test_a_tunnel_leads_to_one_host_and_port_or_nowhere(target: bytes) -> None:
    try:
        request = h11.Request(method="CONNECT", target=target, headers=[("Host", "x")])
        where = target_of(request)
    except (NotProxied, h11.LocalProtocolError):
        return
    assert where.tunnel
    host, _, port = target.decode("latin-1").rpartition(":")
    assert (where.host, where.port) == (host.strip("[]").lower(), int(port))
    assert not set(where.host) & set("/?#@[] ")
