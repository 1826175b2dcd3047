"""The door's order: the token before the body, people before each other, and a body in its time and size."""

import asyncio
import json
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
import psycopg
import pytest
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from models.config import Config
from models.store.database import Database
from serve.admission.limits import BODY_BYTES, LARGE_BODY_BYTES
from serve.admission.sockets import MESSAGE_BYTES
from serve.routes.health import DatabaseProbe
from tests.fakes.assistant import ScriptedAssistant
from tests.integration.rest import client, served, token

Configure = Callable[..., Config]
_LARGE = 31 * 1024 * 1024


@pytest.fixture
def config(configure: Configure) -> Config:
    """A site with narrow limits."""
    return configure({"http.body_seconds": 1.0, "http.requests_per_person": 2, "http.streams_per_person": 2})


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url, assistant=ScriptedAssistant()) as url:
        yield url


@contextmanager
def begun(
    base: str, path: str, *, length: int | None, bearer: str = "", sent: bytes = b""
) -> Iterator[socket.socket]:
    """A request of which only the head, and `sent` of the body, have been sent."""
    at = urlsplit(base)
    with socket.create_connection((at.hostname, at.port), timeout=20) as made:
        head = [f"POST {path} HTTP/1.1", f"Host: {at.netloc}", "Content-Type: application/json"]
        head += [f"Authorization: Bearer {bearer}"] if bearer else []
        head += ["Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"]
        made.sendall("\r\n".join([*head, "", ""]).encode() + sent)
        yield made


def answer_of(made: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer after which the connection is closed."""
    told = b""
    while part := made.recv(65536):
        told += part
    head, _, body = told.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(status.split()[1]), headers, body


@pytest.mark.parametrize("length", [_LARGE, None], ids=["told", "chunked"])
@pytest.mark.parametrize(
    "path", ["/api/chat", "/api/tools/articles/create", "/v1/chat/completions", "/mcp", "/x"]
)
@pytest.mark.parametrize("bearer", ["", "not.a.token"])
def test_without_a_token_not_a_byte_of_the_body_is_waited_for(
    base: str, path: str, length: int | None, bearer: str
) -> None:
    with begun(base, path, length=length, bearer=bearer) as made:
        status, headers, body = answer_of(made)
    assert (status, headers["connection"]) == (401, "close")
    assert headers["www-authenticate"].startswith("bearer")
    assert json.loads(body)


def test_a_crowd_without_tokens_costs_next_to_nothing(base: str) -> None:
    """60 bodies of 31 MiB that trickle: none is held, and none of it is kept."""
    before = psutil.Process().memory_info().rss
    with ExitStack() as stack:
        crowd = [stack.enter_context(begun(base, "/api/chat", length=_LARGE, sent=b"[],")) for _ in range(60)]
        assert {answer_of(made)[0] for made in crowd} == {401}
    assert psutil.Process().memory_info().rss - before < 50 * 1024 * 1024


@pytest.mark.parametrize("length", [1000, None], ids=["told", "chunked"])
def test_a_body_that_does_not_come_is_not_waited_for(config: Config, base: str, length: int | None) -> None:
    with begun(base, "/api/chat", length=length, bearer=token(config, "ann", "macro:reader")) as made:
        status, headers, body = answer_of(made)
    assert (status, headers["connection"]) == (408, "close")
    assert "http.body_seconds" in json.loads(body)["detail"]


async def test_a_body_of_very_many_parts_is_refused_before_it_is_parsed(config: Config, base: str) -> None:
    bombs = (
        b"[" + b"[]," * 2_000_000 + b"[]]",
        b"[" * 1_000_000,
        b"[" + b"1," * 2_000_000 + b"1]",
        b"{" + b",".join(b'"a%d":1' % n for n in range(40_000)) + b"}",
        b"{" + b",".join(b'"%x" :1' % n for n in range(300_000)) + b"}",
        b"{" + b",".join(b'"%x" \t\r\n :1' % n for n in range(40_000)) + b"}",
    )
    async with client(config, base, "ann", "macro:analyst") as ann:
        for bomb in bombs:
            begun_at = time.process_time()
            answer = await ann.post(
                "/api/tools/resources/create/table",
                content=bomb,
                headers={"Content-Type": "application/json"},
            )
            assert (answer.status_code, "send less" in answer.json()["detail"]) == (413, True)
            assert time.process_time() - begun_at < 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
async def test_json_comes_in_utf_8_and_nothing_else(config: Config, base: str, encoding: str) -> None:
    """What it holds too much of would be spelt with other bytes."""
    body = ("{" + ",".join(f'"{n:x}":1' for n in range(40_000)) + "}").encode(encoding)
    async with client(config, base, "ann", "macro:analyst") as ann:
        answer = await ann.post("/api/tools/resources/create/text", content=body)
        assert (answer.status_code, answer.json()["detail"]) == (
            422,
            "body: is not JSON in UTF-8: it holds NUL bytes",
        )


async def test_a_table_of_many_times_of_day_is_taken(config: Config, base: str) -> None:
    """Colons and quotes in texts are no members."""
    rows = [["2026-05-01T12:30:00Z", '"so": he said'] for _ in range(15_000)]
    async with client(config, base, "ann", "macro:analyst") as ann:
        body = {"name": "n", "topic": "macro", "columns": ["at", "b"], "rows": rows}
        assert (await ann.post("/api/tools/resources/create/table", json=body)).status_code == 200


@pytest.mark.parametrize("offered", [None, "bearer.rubbish"])
async def test_a_stranger_s_socket_is_not_opened_and_a_person_s_inflates_nothing(
    config: Config, base: str, offered: str | None
) -> None:
    address = base.replace("http", "ws") + "/ws/ann"
    protocols: list[Any] = ["signoff", offered] if offered else []
    with pytest.raises(InvalidStatus) as refused:
        connect(address, subprotocols=protocols or None, compression="deflate", proxy=None)
    assert refused.value.response.status_code == 403
    headers = {"Authorization": f"Bearer {token(config, 'ann', 'macro:reader')}"}
    with connect(address, additional_headers=headers, compression="deflate", proxy=None) as own:
        assert own.protocol.extensions == []
        own.recv(timeout=20)
        with suppress(ConnectionClosed):  # it may close before all of it is sent
            own.send("x" * (MESSAGE_BYTES + 1))
        with pytest.raises(ConnectionClosed) as closed:
            deque(iter(lambda: own.recv(timeout=20), None), maxlen=0)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


async def test_the_largest_that_is_taken_is_taken_quickly(config: Config, base: str) -> None:
    rows = [[n, f"row {n}", 0.5, None] for n in range(50_000)]
    body = {"name": "n", "topic": "macro", "columns": ["a", "b", "c", "d"], "rows": rows}
    async with client(config, base, "ann", "macro:analyst") as ann:
        answer = await ann.post("/api/tools/resources/create/table", json=body)
        assert answer.status_code == 200
        faulty = await ann.post(
            "/api/tools/resources/create/table", json={**body, "rows": [[{}] * 4 for _ in range(15_000)]}
        )
        assert (faulty.status_code, len(faulty.text) < 5000) == (422, True)
        many = {f"unknown{n}": 1 for n in range(10_000)}
        unknown = await ann.post("/api/tools/articles/create", json=many)
        assert (unknown.status_code, len(unknown.text) < 5000) == (422, True)


@pytest.mark.parametrize(
    ("path", "most"), [("/api/chat", BODY_BYTES), ("/v1/chat/completions", LARGE_BODY_BYTES)]
)
async def test_each_path_takes_what_it_needs_and_no_more(
    config: Config, base: str, path: str, most: int
) -> None:
    async with client(config, base, "ann", "macro:reader") as ann:
        refused = await ann.post(path, content=b" " * (most + 1))
        taken = await ann.post(path, content=b" " * most)
    assert (refused.status_code, taken.status_code in (400, 422)) == (413, True)


async def test_one_person_can_not_take_all_the_places(config: Config, base: str) -> None:
    ann = token(config, "ann", "macro:reader")
    async with (
        client(config, base, "ann", "macro:reader") as same,
        client(config, base, "bob", "macro:reader") as other,
    ):
        with ExitStack() as stack:
            held = [
                stack.enter_context(begun(base, "/api/chat", length=10, bearer=ann, sent=b"{"))
                for _ in range(2)
            ]
            refused = await _until(same, "/api/workflows", 429)
            assert int(refused.headers["retry-after"]) >= 1
            assert "http.requests_per_person" in refused.json()["detail"]
            assert (await other.get("/api/tools")).status_code == 200
            for made in held:
                made.close()
        assert (await _until(same, "/api/tools", 200)).status_code == 200


async def _until(asking: httpx2.AsyncClient, path: str, status: int) -> httpx2.Response:
    """Ask until the answer has a status; pytest's time limit ends a search in vain."""
    while (answer := await asking.get(path)).status_code != status:
        pass
    return answer


async def test_whoever_asks_too_often_is_refused_before_the_database_is_asked(
    config: Config, base: str, database_url: str
) -> None:
    """While it answers nobody, two of many short requests wait for it, and the others are told at once."""
    async with client(config, base, "ann", "macro:reader") as ann:
        async with locked_users(database_url):
            crowd = [asyncio.create_task(ann.get("/api/tools")) for _ in range(40)]
            await _first(crowd, 38)
        assert sorted(answer.status_code for answer in await asyncio.gather(*crowd)) == [200] * 2 + [429] * 38


async def test_so_is_whoever_opens_too_many_streams(config: Config, base: str, database_url: str) -> None:
    headers = {"Authorization": f"Bearer {token(config, 'ann', 'macro:reader')}"}
    address = base.replace("http", "ws") + "/ws/ann"

    async def open_one() -> int:
        async with open_socket(address, additional_headers=headers, proxy=None) as own:
            try:
                await own.recv()
            except ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd else 0
            return 200

    async with locked_users(database_url):
        crowd = [asyncio.create_task(open_one()) for _ in range(6)]
        await _first(crowd, 4)
    assert sorted(await asyncio.gather(*crowd)) == [200] * 2 + [4429] * 4


@asynccontextmanager
async def locked_users(database_url: str) -> AsyncIterator[None]:
    """Nobody can be looked up meanwhile."""
    async with await psycopg.AsyncConnection.connect(database_url) as holder:
        await holder.execute("LOCK TABLE users")
        yield
        await holder.rollback()


async def _first(crowd: list[asyncio.Task[Any]], count: int) -> None:
    """Wait until so many are done, for less than a statement waits for a lock."""
    async with asyncio.timeout(8):
        done: set[asyncio.Task[Any]] = set()
        while len(done) < count:
            done |= (await asyncio.wait(set(crowd) - done, return_when=asyncio.FIRST_COMPLETED))[0]


async def test_streams_are_counted_by_themselves_however_they_are_opened(config: Config, base: str) -> None:
    ann = token(config, "ann", "macro:reader")
    headers = {"Authorization": f"Bearer {ann}"}
    address = base.replace("http", "ws") + "/ws/ann"
    async with (
        client(config, base, "ann", "macro:reader") as same,
        client(config, base, "bob", "macro:reader") as bob,
    ):
        async with same.stream("GET", "/api/events") as first:
            assert first.status_code == 200
            with connect(address, additional_headers=headers, proxy=None):
                refused = await _until_stream(same, 429)
                assert refused["retry-after"]
                assert (await same.get("/api/tools")).status_code == 200
                async with bob.stream("GET", "/api/events") as others:
                    assert others.status_code == 200
                with connect(address, additional_headers=headers, proxy=None) as third:
                    with pytest.raises(ConnectionClosed) as closed:
                        third.recv(timeout=20)
                    assert closed.value.rcvd is not None
                    assert closed.value.rcvd.code == 4429
        await _until_stream(same, 200)


async def _until_stream(asking: httpx2.AsyncClient, status: int) -> dict[str, Any]:
    while True:
        async with asking.stream("GET", "/api/events") as answer:
            if answer.status_code == status:
                return dict(answer.headers)


@pytest.mark.parametrize("path", ["/health", "/openapi.json", "/.well-known/oauth-protected-resource/mcp"])
def test_what_is_open_answers_without_reading_a_body(base: str, path: str) -> None:
    at = urlsplit(base)
    with socket.create_connection((at.hostname, at.port), timeout=20) as made:
        made.sendall(f"GET {path} HTTP/1.1\r\nHost: {at.netloc}\r\nContent-Length: {_LARGE}\r\n\r\n".encode())
        with suppress(ConnectionResetError):
            status, headers, _ = answer_of(made)
    assert (status, headers["connection"]) == (200, "close")


async def test_many_who_ask_for_health_ask_the_database_once(database: Database) -> None:
    asked = 0
    go_on = asyncio.Event()

    class Slow(DatabaseProbe):
        """Its database answers when it is told to."""

        async def _ask(self) -> None:
            nonlocal asked
            asked += 1
            await go_on.wait()
            await super()._ask()

    pulse = Slow(database)
    crowd = [asyncio.create_task(pulse.beat()) for _ in range(50)]
    gone = asyncio.create_task(pulse.beat())
    await asyncio.sleep(0)
    gone.cancel()
    go_on.set()
    await asyncio.gather(*crowd)
    assert asked == 1
    await pulse.beat()
    assert asked == 2


def test_docs_lead_to_the_description_and_load_nothing_from_elsewhere(base: str) -> None:
    with httpx2.Client(base_url=base, trust_env=False, follow_redirects=True) as anybody:
        docs = anybody.get("/docs")
        assert (docs.status_code, docs.url.path) == (200, "/openapi.json")
        assert docs.headers["content-type"] == "application/json"
        assert anybody.get("/redoc").status_code == 401
