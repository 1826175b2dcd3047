"""A head of a request that is huge, endless or slow costs next to nothing, and what is ordinary is served."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import repeat
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.sync.client import connect

from serve.admission import heads
from serve.admission.heads import HEAD_BYTES, LINE_BYTES, MOST_HEADERS
from tests.unit.serve.admission_site import AdmissionSite

_GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
_POST = _GET.replace(b"GET", b"POST")
_UPGRADE = (
    _GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
_MEGABYTE = 1024 * 1024


class App:
    """Answers with the length of the body, and knows how many heads came through."""

    def __init__(self) -> None:
        self.asked = 0
        self.headers: list[tuple[bytes, bytes]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await receive()
            if scope["path"] == "/closed":
                await send({"type": "websocket.close"})
                return
            if scope["path"] == "/broken":
                raise ValueError
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": "hello"})
            await send({"type": "websocket.close"})
            return
        if scope["path"] == "/broken":
            raise ValueError
        self.asked += 1
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            size += len(message["body"])
            more = message["more_body"]
        self.headers = list(scope["headers"])
        if scope["path"] == "/silent":
            return
        told = [(b"x-size", b"%d" % size)]
        if scope["path"] == "/kept":
            told.append((b"Cache-Control", b"max-age=60"))
        await send({"type": "http.response.start", "status": 200, "headers": told})
        await send({"type": "http.response.body", "body": b""})


class Site(AdmissionSite):
    """The app behind a server of ours."""

    def __init__(self) -> None:
        self.app = App()
        super().__init__(self.app)

    def open(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    made = Site()
    with made.running():
        yield made


def send_on(made: socket.socket, pieces: Iterator[bytes], most: int) -> int:
    """Send until the other side has closed, `most` bytes at most; how many it was."""
    sent = 0
    with suppress(OSError):
        for piece in pieces:
            made.sendall(piece)
            sent += len(piece)
            if sent >= most:
                break
    return sent


def answer_of(made: socket.socket) -> tuple[int, dict[str, Any]]:
    """The status of what is told before the connection is closed, and its problem; 0 where nothing is."""
    told = b""
    with suppress(OSError):
        while part := made.recv(65536):
            told += part
    if not told:
        return 0, {}
    head, _, body = told.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body) if body.startswith(b"{") else {}


@pytest.mark.parametrize(
    ("before", "piece"),
    [
        (_GET, b"X-A: " + b"a" * 1000 + b"\r\n"),
        (_GET + b"X-A: ", b"a" * 65536),
        (_GET, b"a" * 65536),
        (b"GET /", b"a" * 65536),
        (b"", b"\r\n" * 32768),
        (b"", b"A" * 65536),
        (_GET, b"X: y\r\n" * 10000),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            b"X-T: " + b"t" * 65536 + b"\r\n",
        ),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-T: ", b"t" * 65536),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;e=", b"x" * 65536),
    ],
    ids=[
        "headers",
        "value",
        "name",
        "address",
        "lines",
        "method",
        "many",
        "trailers",
        "trailer",
        "extension",
    ],
)
def test_a_head_without_an_end_is_not_read_to_its_end(site: Site, before: bytes, piece: bytes) -> None:
    process = psutil.Process()
    memory = process.memory_info().rss
    with site.open() as made:
        made.sendall(before)
        # What the kernel holds for both sides is a few megabytes.
        assert send_on(made, repeat(piece), 128 * _MEGABYTE) < 32 * _MEGABYTE
        assert answer_of(made)[0] in (0, 400, 431)
    assert process.memory_info().rss - memory < 20 * _MEGABYTE
    with site.open() as made:  # the others are served
        made.sendall(_GET + b"Connection: close\r\n\r\n")
        assert answer_of(made)[0] == 200


@pytest.mark.parametrize(
    ("head", "status", "said"),
    [
        (_GET + b"X: y\r\n" * (MOST_HEADERS - 2) + b"Connection: close\r\n\r\n", 200, None),
        (_GET + b"X: y\r\n" * MOST_HEADERS + b"\r\n", 431, f"more than {MOST_HEADERS} headers"),
        (_GET + b"Connection: close\r\nX: " + b"y" * (LINE_BYTES - 1) + b"\r\n\r\n", 200, None),
        (_GET + b"X: " + b"y" * LINE_BYTES + b"\r\n\r\n", 431, f"a header is over {LINE_BYTES} bytes"),
        (b"GET /" + b"y" * LINE_BYTES + b" HTTP/1.1\r\n\r\n", 431, f"the address is over {LINE_BYTES} bytes"),
        (
            _GET
            + b"".join(b"X-%d: " % n + b"y" * 8000 + b"\r\n" for n in range(HEAD_BYTES // 8000 + 2))
            + b"\r\n",
            431,
            f"the head is over {HEAD_BYTES} bytes",
        ),
    ],
    ids=["headers", "one more", "line", "longer", "address", "together"],
)
def test_the_bounds_are_those_that_are_told(site: Site, head: bytes, status: int, said: str | None) -> None:
    asked = site.app.asked
    with site.open() as made:
        made.sendall(head)
        found, problem = answer_of(made)
    assert found == status
    assert site.app.asked == asked + (status == 200)
    if said is not None:
        assert (problem["status"], said in problem["detail"]) == (431, True)


@pytest.mark.parametrize("sent", [b"", b"GET", _GET, _GET + b"X-A: ", b"\r\n"])
@pytest.mark.parametrize("first", [False, True], ids=["the first", "the second"])
def test_a_head_that_does_not_come_whole_is_not_waited_for(
    site: Site, monkeypatch: pytest.MonkeyPatch, sent: bytes, first: bool
) -> None:
    if not first:
        monkeypatch.setattr(heads, "HEAD_SECONDS", 0.2)
    with site.open() as made:
        if first:
            made.sendall(_GET + b"\r\n")
            assert made.recv(12) == b"HTTP/1.1 200"
            while not made.recv(65536).endswith(b"\r\n\r\n"):
                pass
            monkeypatch.setattr(heads, "HEAD_SECONDS", 0.2)
            sent = sent or b"G"  # who sends nothing is let go as one who keeps a connection
        made.sendall(sent)
        status, problem = answer_of(made)
    assert (status, "did not come whole" in problem["detail"]) == (408, True)


@given(st.lists(st.integers(1, 400), max_size=30), st.lists(st.integers(0, 70_000), min_size=1, max_size=4))
def test_requests_are_read_wherever_they_are_cut(site: Site, cuts: list[int], sizes: list[int]) -> None:
    """Several on one connection, one after the other without waiting, in whatever pieces they come."""
    asked = site.app.asked
    bodies = [
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size + b"b" * size
        if n % 2
        else b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        + (b"%x\r\n" % size + b"b" * size + b"\r\n" if size else b"")
        + b"0\r\n\r\n"
        for n, size in enumerate(sizes)
    ]
    whole = b"".join(bodies) + _GET + b"Connection: close\r\n\r\n"
    with site.open() as made:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for cut in cuts:
            made.sendall(whole[:cut])
            whole = whole[cut:]
        made.sendall(whole)
        told = b""
        while part := made.recv(65536):
            told += part
    found = [int(line.split(b": ")[1]) for line in told.split(b"\r\n") if line.startswith(b"x-size")]
    assert found == [*sizes, 0]
    assert site.app.asked == asked + len(sizes) + 1


def test_what_follows_a_large_body_in_one_piece_is_read(site: Site) -> None:
    post = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    with site.open() as made:
        made.sendall(post % _MEGABYTE + b"b" * (_MEGABYTE - 10))
        made.sendall(b"b" * 10 + post.replace(b"Host", b"Connection: close\r\nHost") % 10 + b"b" * 10)
        told = b""
        while part := made.recv(65536):
            told += part
    assert told.count(b"HTTP/1.1 200") == 2


def test_a_body_in_small_chunks_is_taken(site: Site) -> None:
    with site.open() as made:
        made.sendall(_POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
        made.sendall(b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n")
        assert answer_of(made)[0] == 200


@pytest.mark.parametrize("body", [0, 600_000], ids=["no body", "a large body"])
@pytest.mark.parametrize(
    ("end", "status"),
    [
        (b"0\r\n\r\n", 200),
        (b"0\r\n" + b"X-T: t\r\n" * MOST_HEADERS + b"\r\n", 200),
        (b"0\r\n" + b"X-T: t\r\n" * (MOST_HEADERS + 1) + b"\r\n", 431),
        (b"0\r\n" + b"X-T: " + b"t" * LINE_BYTES + b"\r\n\r\n", 431),
        (b"0\r\n" + (b"X-T: " + b"t" * 12_000 + b"\r\n") * (5 * _MEGABYTE // 12_000) + b"\r\n", 431),
        (b"0\r\n" + (b"X-T: " + b"t" * 12_000 + b"\r\n") * 7 + b"\r\n", 431),
        (b"0\r\nX-T: " + b"t" * 5 * _MEGABYTE + b"\r\n\r\n", 431),
        (b"1;e=" + b"e" * 5 * _MEGABYTE + b"\r\nx\r\n0\r\n\r\n", 431),
    ],
    ids=["none", "as many as headers", "one more", "a long one", "5 MB", "84 kB", "one of 5 MB", "extension"],
)
def test_the_end_of_a_body_in_chunks_has_the_bounds_of_a_head(
    site: Site, body: int, end: bytes, status: int
) -> None:
    chunk = b"%x\r\n" % body + b"b" * body + b"\r\n" if body else b""
    with site.open() as made:
        made.sendall(_POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
        send_on(made, iter([end]), len(end))
        # An answer that the app is about to give is broken off.
        assert answer_of(made)[0] in ((200,) if status == 200 else (0, status))


def test_what_comes_after_the_body_is_no_header(site: Site) -> None:
    with site.open() as made:
        made.sendall(_POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
        made.sendall(b"1\r\nx\r\n0\r\nX-Late: 1\r\n\r\n")
        assert answer_of(made)[0] == 200
    assert b"x-late" not in [name for name, _ in site.app.headers]


@pytest.mark.parametrize("come", [b"", b"x" * 5, b"x" * 50], ids=["none of it", "all of it", "more"])
@pytest.mark.parametrize(
    "said", [b"Content-Length: 5", b"Transfer-Encoding: chunked"], ids=["5 bytes", "chunks"]
)
def test_a_socket_that_is_asked_for_with_a_body_is_answered(site: Site, said: bytes, come: bytes) -> None:
    with site.open() as made:
        made.sendall(_UPGRADE + said + b"\r\n\r\n" + come)
        status, problem = answer_of(made)
    assert (status, "without a body" in problem["detail"]) == (400, True)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (_UPGRADE.replace(b"GET /", b"GET /" + b"y" * 9000), 431),
        (_UPGRADE + b"X: " + b"y" * 9000 + b"\r\n", 431),
        (_UPGRADE.replace(b"GET", b"POST"), 405),
        (_UPGRADE.replace(b"GET /", b"GET http://x/ y"), 400),
    ],
    ids=["a long address", "a long header", "another method", "two addresses"],
)
def test_whoever_asks_for_a_socket_otherwise_is_answered_and_let_go(
    site: Site, head: bytes, status: int
) -> None:
    with site.open() as made:
        made.sendall(head + b"\r\n")
        assert answer_of(made)[0] == status


def test_another_upgrade_is_passed_over_and_the_request_is_served(site: Site) -> None:
    with site.open() as made:
        made.sendall(_POST + b"Connection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello")
        assert answer_of(made)[0] == 200


@pytest.mark.parametrize("more", [{}, {"Content-Length": "0"}])
def test_a_socket_is_opened(site: Site, more: dict[str, str]) -> None:
    with connect(f"ws://127.0.0.1:{site.port}/", proxy=None, additional_headers=more) as opened:
        assert opened.recv(timeout=20) == "hello"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (_GET + b"X: " + b"y" * LINE_BYTES + b"\r\n\r\n", 431),
        (_GET + b"X: y\r\n" * MOST_HEADERS + b"\r\n", 431),
        (_GET, 408),
        (b"\x16\x03\x01 hello\r\n\r\n", 400),
        (_GET.replace(b"GET", b"NONE") + b"\r\n", 400),
        (_POST + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n", 400),
        (_UPGRADE + b"Content-Length: 5\r\n\r\nhello", 400),
        (_UPGRADE.replace(b": 13", b": 12") + b"\r\n", 400),
        (_UPGRADE.replace(b"Sec-WebSocket-Key", b"X-Key") + b"\r\n", 400),
        (_UPGRADE.replace(b"GET /", b"GET /closed") + b"\r\n", 403),
        (_UPGRADE.replace(b"GET /", b"GET /broken") + b"\r\n", 500),
        (_GET.replace(b"GET /", b"GET /broken") + b"\r\n", 500),
        (_GET.replace(b"GET /", b"GET /silent") + b"\r\n", 500),
        (_GET + b"\r\n", 200),
    ],
    ids=[
        "line", "headers", "late", "no HTTP", "method", "chunk", "body", "version", "key", "closed", "broken",
        "broken app", "silent app", "answered",
    ],
)  # fmt: skip
def test_an_answer_is_kept_by_no_cache_and_taken_for_no_other_type(
    site: Site, monkeypatch: pytest.MonkeyPatch, sent: bytes, status: int
) -> None:
    if status == 408:
        monkeypatch.setattr(heads, "HEAD_SECONDS", 0.2)
    told = b""
    with site.open() as made:
        send_on(made, iter([sent]), len(sent))
        while not told.endswith(b"\r\n\r\n") and (part := made.recv(1)):
            told += part
    lines = told.lower().split(b"\r\n")
    assert int(lines[0].split()[1]) == status
    assert lines.count(b"cache-control: no-store") == 1
    assert lines.count(b"x-content-type-options: nosniff") == 1


def test_an_answer_that_may_be_kept_says_so_itself(site: Site) -> None:
    """Each of several on one connection, also those that wait for their turn."""
    told = b""
    with site.open() as made:
        made.sendall(_GET.replace(b"GET /", b"GET /kept") + b"\r\n" + _GET + b"\r\n")
        while told.count(b"0\r\n\r\n") < 2 and (part := made.recv(65536)):
            told += part
    first, second = told.lower().split(b"http/1.1 200")[1:]
    assert (first.count(b"cache-control: max-age=60"), first.count(b"no-store")) == (1, 0)
    assert second.count(b"cache-control: no-store") == 1
    assert first.count(b"nosniff") == second.count(b"nosniff") == 1


def test_a_socket_s_messages_are_not_compressed(site: Site) -> None:
    with connect(f"ws://127.0.0.1:{site.port}/", proxy=None, compression="deflate") as opened:
        assert opened.response is not None
        assert "Sec-WebSocket-Extensions" not in opened.response.headers
