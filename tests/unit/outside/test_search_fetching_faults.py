"""Fetching that goes wrong: sizes, time, statuses, limits, and what the errors say without the key."""

import asyncio
import gzip
import tracemalloc
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from models.errors import DocumentUnreadable, ProviderLimited
from tests.fakes.outside.search_providers import Reply, SearchServer, json_reply
from tests.unit.outside.fetching_site import SECRET, failure, get, make_server
from tests.unit.outside.search_config import configured

__all__ = ["make_server"]  # the fixture


async def test_a_body_over_the_limit_is_refused(server: SearchServer) -> None:
    server.put("/data", b"x" * 100_000)
    assert len((await get(server.url + "/data")).body) == 100_000
    server.put("/data", b"x" * 100_001)
    assert "outside.max_bytes" in await failure(server.url + "/data")
    with pytest.raises(DocumentUnreadable, match="acme is too large"):
        await get(server.url + "/data", oversized=DocumentUnreadable("acme is too large"))
    assert len((await get(server.url + "/data", max_bytes=200_000)).body) == 100_001


async def test_an_endless_body_ends_at_the_limit(server: SearchServer) -> None:
    server.script(Reply(200, b"x" * 1000, endless=True))
    assert "over 100,000 bytes" in await failure(server.url)


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
        ("gzip", gzip.compress(b"hello" * 1000, mtime=0)[:-20], "breaks off"),
        ("br", b"x", "packed as br"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"x", mtime=0), mtime=0), "packed as gzip, gzip"),
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
    assert "within 0.3 s (outside.timeout_seconds)" in await failure(server.url, config=config)
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
    assert "packed as ***" in await failure(server.url, params={"key": SECRET})


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
