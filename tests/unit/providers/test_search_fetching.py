"""Fetching through the guard: redirects, sizes, time, statuses, and keys that nobody else gets to know."""

import asyncio
import gzip
import logging
import ssl
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from actors.tools.providers import fetching
from actors.tools.providers.fetching import Fetched, fetch, fetch_json
from actors.tools.providers.refusal import retry_after
from models.config import Config
from models.errors import AddressRefused, DocumentUnreadable, ProviderFailed, ProviderLimited, SignoffError
from tests.fakes.search_providers import Reply, SearchServer, json_reply, redirect
from tests.unit.providers.search_config import configured
from tests.unit.test_url_guard import certificate

SECRET = "s3cret+key/with=signs"
CONFIG = configured(max_bytes=100_000, timeout_seconds=5)


class Answer(BaseModel):
    value: int


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with SearchServer() as running:
        yield running


@pytest.fixture
def other() -> Iterator[SearchServer]:
    with SearchServer() as running:
        yield running


async def get(url: str, config: Config = CONFIG, **more: object) -> Fetched:
    return await fetch(url, config=config, provider="acme", **more)  # type: ignore[arg-type]


async def failure(url: str, kind: type[SignoffError] = ProviderFailed, **more: object) -> str:
    """The message of the error; it names the provider and holds no key, however it is spelt."""
    with pytest.raises(kind) as caught:
        await get(url, **more)  # type: ignore[arg-type]
    told = str(caught.value)
    assert type(caught.value) is kind
    assert "acme" in told
    assert "s3cret" not in told
    return told


async def test_a_body_comes_whole_and_its_url_has_no_parameters(server: SearchServer) -> None:
    server.put("/data", b"12345", "text/plain")
    got = await get(server.url + "/data?v=1#top", params={"key": SECRET, "q": "a b"})
    assert (got.status, got.body, got.headers["content-type"]) == (200, b"12345", "text/plain")
    assert got.url == server.url + "/data"
    assert server.asked[0].query == {"v": "1", "key": SECRET, "q": "a b"}


async def test_a_url_without_parameters_is_told_as_it_is(server: SearchServer) -> None:
    server.put("/data", b"1")
    assert (await get(server.url + "/data?v=1#top")).url == server.url + "/data?v=1"


async def test_the_guard_refuses_what_is_not_allowed(server: SearchServer) -> None:
    told = await failure(server.url, AddressRefused, config=configured(allow_internal=()))
    assert "outgoing.allow_internal" in told
    assert server.asked == []


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.2:1/",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://user:word@example.org/",
        "gopher://example.org/",
    ],
)
async def test_a_redirect_to_where_we_may_not_go_is_refused(server: SearchServer, target: str) -> None:
    config = configured(allow_internal=("127.0.0.1/32",))
    server.script(redirect(target))
    await failure(server.url + "/data", AddressRefused, config=config, params={"key": SECRET})
    assert len(server.asked) == 1


async def test_a_redirect_to_loopback_is_refused_where_only_the_first_host_is_allowed(
    server: SearchServer, other: SearchServer
) -> None:
    # The name is allowed, the number that it redirects to is not.
    config = configured(allow_internal=("localhost",))
    server.script(redirect(other.url + "/inside"))
    await failure(f"http://localhost:{server.port}/", AddressRefused, config=config)
    assert other.asked == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(server: SearchServer, status: int) -> None:
    server.put("/there", b"found")
    server.script(redirect("/there#part", status))
    got = await get(server.url + "/here")
    assert (got.body, got.url) == (b"found", server.url + "/there")


async def test_five_redirects_are_followed_and_no_more(server: SearchServer) -> None:
    server.put("/end", b"end")
    server.script(*[redirect("/next")] * 4, redirect("/end"))
    assert (await get(server.url)).body == b"end"
    server.script(*[redirect("/next")] * 6)
    assert "redirects more than 5 times" in await failure(server.url)


async def test_only_neutral_headers_go_to_another_host(server: SearchServer, other: SearchServer) -> None:
    other.put("/there", b"found")
    server.script(redirect(other.url + "/there"))
    sent = {"Authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET, "X-Tenant": "t", "Accept": "text/csv"}
    await get(server.url, headers=sent)
    first, second = server.asked[0].headers, other.asked[0].headers
    assert (first["x-api-key"], first["x-tenant"]) == (SECRET, "t")
    assert (second["accept"], second["host"]) == ("text/csv", f"127.0.0.1:{other.port}")
    assert not {"authorization", "x-api-key", "x-tenant"} & set(second)


async def test_headers_do_not_come_back_after_another_host(server: SearchServer, other: SearchServer) -> None:
    server.put("/end", b"end")
    server.script(redirect(other.url))
    other.script(redirect(server.url + "/end"))
    await get(server.url, headers={"X-Api-Key": SECRET})
    assert "x-api-key" not in server.asked[1].headers


async def test_headers_and_parameters_stay_with_the_same_host(server: SearchServer) -> None:
    server.put("/there", b"found")
    server.script(redirect(f"/there?key={SECRET}"))
    got = await get(server.url, headers={"X-Api-Key": SECRET}, params={"key": SECRET})
    assert server.asked[1].headers["x-api-key"] == SECRET
    assert got.url == server.url + "/there"


@pytest.mark.parametrize("spelt", [SECRET, "s3cret%2Bkey%2Fwith%3Dsigns", "s3cret%2Bkey/with%3Dsigns"])
async def test_a_key_is_not_carried_to_another_host(
    server: SearchServer, other: SearchServer, spelt: str
) -> None:
    server.script(redirect(f"{other.url}/there?key={spelt}"))
    told = await failure(server.url, params={"key": SECRET})
    assert "redirects with the key to another host" in told
    assert other.asked == []


async def test_https_is_not_left_for_http(
    server: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind, trusting = certificate(tmp_path, "localhost")
    monkeypatch.setattr(fetching, "_trusted", lambda: trusting)
    config = configured(allow_internal=("127.0.0.1/32", "localhost"))
    with SearchServer(behind) as secure:
        secure.put("/data", b"ok")
        assert (await get(f"https://localhost:{secure.port}/data", config)).body == b"ok"
        secure.script(redirect(server.url + "/data"))
        told = await failure(f"https://localhost:{secure.port}/", config=config)
    assert "from https to http" in told
    assert server.asked == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    behind, _ = certificate(tmp_path, "localhost")
    with SearchServer(behind) as secure:
        secure.put("/data", b"ok")
        told = await failure(
            f"https://localhost:{secure.port}/data", config=configured(allow_internal=("localhost",))
        )
    assert "certificate" in told.lower()
    assert isinstance(fetching._trusted(), ssl.SSLContext)


async def test_a_body_over_the_limit_is_refused(server: SearchServer) -> None:
    server.put("/data", b"x" * 100_000)
    assert len((await get(server.url + "/data")).body) == 100_000
    server.put("/data", b"x" * 100_001)
    assert "research.max_bytes" in await failure(server.url + "/data")
    with pytest.raises(DocumentUnreadable, match="acme is too large"):
        await get(server.url + "/data", oversized=DocumentUnreadable("acme is too large"))
    assert len((await get(server.url + "/data", max_bytes=200_000)).body) == 100_001


async def test_an_endless_body_ends_at_the_limit(server: SearchServer) -> None:
    server.script(Reply(200, b"x" * 1000, endless=True))
    assert "over 100,000 bytes" in await failure(server.url)


async def test_a_packed_body_is_unpacked(server: SearchServer) -> None:
    server.script(Reply(200, gzip.compress(b"hello" * 1000), {"Content-Encoding": "gzip"}))
    assert (await get(server.url)).body == b"hello" * 1000
    assert server.asked[0].headers["accept-encoding"] == "gzip"


async def test_a_bomb_is_not_unpacked_beyond_the_limit(server: SearchServer) -> None:
    packed = gzip.compress(bytes(40_000_000))
    assert len(packed) < 100_000
    server.script(Reply(200, packed, {"Content-Encoding": "gzip"}))
    tracemalloc.start()
    try:
        assert "over 100,000 bytes" in await failure(server.url)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("packing", "body", "told"),
    [
        ("gzip", b"not packed", "can't be unpacked"),
        ("gzip", gzip.compress(b"hello" * 1000)[:-20], "breaks off"),
        ("br", b"x", "packed as br"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x")), "packed as gzip, gzip"),
    ],
)
async def test_what_can_not_be_unpacked_is_an_error(
    server: SearchServer, packing: str, body: bytes, told: str
) -> None:
    server.script(Reply(200, body, {"Content-Encoding": packing}))
    assert told in await failure(server.url)


async def test_an_answer_that_does_not_come_is_given_up(server: SearchServer) -> None:
    config = configured(timeout_seconds=0.3)
    server.script(Reply(hold=True))
    assert "within 0.3 s (research.timeout_seconds)" in await failure(server.url, config=config)
    server.script(Reply(hold=True))
    assert (await failure(server.url, timeout=0.2)).endswith("within 0.2 s")


async def test_the_time_is_for_all_of_it_and_not_for_each_part() -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.02)  # each single read is short
        except ConnectionError:
            pass

    listening = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        told = await failure(f"http://127.0.0.1:{port}/", config=configured(timeout_seconds=0.4))
    assert "within 0.4 s" in told


async def test_nobody_listening_is_told(server: SearchServer) -> None:
    assert "can't be reached" in await failure("http://127.0.0.1:1/", params={"key": SECRET})


async def test_a_body_that_breaks_off_is_an_error() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(half, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        assert "broke off" in await failure(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(404, b"<h1>Gone &amp; away</h1>"), "acme: answered 404 Not Found: Gone & away"),
        (json_reply({"error": {"message": "Bad key"}}, 400), "acme: answered 400 Bad Request: Bad key"),
        (json_reply({"error": "no"}, 500), "acme: answered 500 Internal Server Error: no"),
        (json_reply({"error_message": "gone"}, 410), "acme: answered 410 Gone: gone"),
        (json_reply([1], 400), "acme: answered 400 Bad Request: [1]"),
        (Reply(503, b""), "acme: answered 503 Service Unavailable"),
        (Reply(799, b"\x00\xff\x1b[31m"), "acme: answered 799: \ufffd [31m"),
        (Reply(304, b""), "acme: answered 304 Not Modified"),
        (Reply(302, b"no location"), "acme: answered 302 Found"),
    ],
)
async def test_other_statuses_say_what_the_server_said(server: SearchServer, reply: Reply, told: str) -> None:
    server.script(reply)
    assert (await failure(server.url)).startswith(told)


async def test_much_that_is_said_is_cut(server: SearchServer) -> None:
    for reply in (Reply(500, b"word " * 100_000), Reply(500, b"word " * 1000, endless=True)):
        server.script(reply)
        told = await failure(server.url)
        assert told.startswith("acme: answered 500 Internal Server Error: word word")
        assert len(told) < 300


@pytest.mark.parametrize("way", ["text", "json", "other json", "html", "quoted", "far in"])
async def test_a_server_that_repeats_the_key_does_not_make_it_known(server: SearchServer, way: str) -> None:
    said = {
        "text": f"bad key {SECRET}!",
        "json": '{"message": "bad key ' + SECRET.replace("/", "\\/") + '"}',
        "other json": '{"why": "bad key ' + SECRET.replace("/", "\\/") + '"}',
        "html": "<p>bad key s3cret&#43;key&#x2F;with&#61;signs</p>",
        "quoted": "bad url /?key=s3cret%2Bkey%2Fwith%3Dsigns",
        "far in": "x" * 190 + SECRET,
    }[way]
    server.script(Reply(400, said.encode()))
    assert "answered 400" in await failure(server.url, params={"api_key": SECRET})


async def test_a_key_that_comes_back_in_a_header_does_not_become_known(server: SearchServer) -> None:
    server.script(Reply(200, b"x", {"Content-Encoding": SECRET}))
    assert "packed as …" in await failure(server.url, params={"key": SECRET})


async def test_the_key_is_in_no_log(server: SearchServer, caplog: pytest.LogCaptureFixture) -> None:
    server.put("/data", b"1")
    with caplog.at_level(logging.INFO):
        await get(server.url + "/data", params={"api_key": SECRET}, headers={"X-Api-Key": SECRET})
        server.script(redirect("/data?api_key=s3cret"))
        await get(server.url + "/data", params={"api_key": SECRET})
    assert f"{server.url}/data" in caplog.text, "httpx logs requests"
    assert "s3cret" not in caplog.text


async def test_accepted_statuses_come_back(server: SearchServer) -> None:
    server.script(Reply(400, b"why"))
    got = await get(server.url, accept_statuses=(400, 404))
    assert (got.status, got.body) == (400, b"why")


@pytest.mark.parametrize(
    ("status", "after", "seconds"),
    [(429, "7", 7.0), (429, None, None), (429, "soon", None), (503, "0", 0.0), (429, "9" * 10, 2_678_400.0)],
)
async def test_a_limit_says_when_to_come_back(
    server: SearchServer, status: int, after: str | None, seconds: float | None
) -> None:
    server.script(Reply(status, b"Too many", {} if after is None else {"Retry-After": after}))
    with pytest.raises(ProviderLimited, match=f"acme: answered {status} .*: Too many; try again") as caught:
        await get(server.url)
    assert caught.value.facts == ({} if seconds is None else {"retry_after_seconds": seconds})


async def test_a_date_to_come_back_at_is_read(server: SearchServer) -> None:
    at = datetime.now(UTC) + timedelta(seconds=120)
    for date in (format_datetime(at, usegmt=True), format_datetime(at.replace(tzinfo=None))):
        server.script(Reply(503, b"", {"Retry-After": date}))
        with pytest.raises(ProviderLimited) as caught:
            await get(server.url)
        assert 110 < caught.value.facts["retry_after_seconds"] <= 120
    server.script(Reply(503, b"", {"Retry-After": format_datetime(at - timedelta(days=1), usegmt=True)}))
    with pytest.raises(ProviderLimited) as caught:
        await get(server.url)
    assert caught.value.facts["retry_after_seconds"] == 0


@given(
    st.text(max_size=60)
    | st.from_regex(r"\w{3}, \d{1,3} \w{3} \d{1,9} \d\d:\d\d:\d\d [-+]?\w+", fullmatch=True)
)
def test_any_retry_after_is_read_or_left(told: str) -> None:
    seconds = retry_after(told)
    assert seconds is None or 0 <= seconds <= 31 * 24 * 3600


async def test_json_is_read_as_a_record(server: SearchServer) -> None:
    server.script(json_reply({"value": 3, "more": 1}))
    got = await fetch_json(server.url, Answer, config=CONFIG, provider="acme")
    assert got.value == 3
    assert server.asked[0].headers["accept"] == "application/json"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>Sign in</html>", {"Content-Type": "text/html"}),
        json_reply({"value": "many"}),
        json_reply([]),
        Reply(200, b"[" * 50_000),
        Reply(200, b'{"value": 1'),
        Reply(200, b"\xff\xfe"),
        Reply(204, b""),
    ],
)
async def test_what_is_not_its_json_is_an_error(server: SearchServer, reply: Reply) -> None:
    server.script(reply)
    with pytest.raises(ProviderFailed, match=r"acme: the answer .* is not JSON in its format"):
        await fetch_json(server.url, Answer, config=CONFIG, provider="acme")


async def test_a_cancelled_fetch_closes_its_connection() -> None:
    begun, closed = asyncio.Event(), asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        begun.set()
        await reader.read()
        closed.set()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        fetching_it = asyncio.create_task(get(f"http://127.0.0.1:{port}/"))
        await begun.wait()
        fetching_it.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching_it
        async with asyncio.timeout(5):
            await closed.wait()
