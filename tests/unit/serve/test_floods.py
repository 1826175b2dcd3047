"""Who takes nothing of what he is sent, or floods a connection, is let go; the others are served."""

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from serve.admission import frames, taken
from serve.admission.frames import MOST_PIECES, BoundedFrames
from serve.admission.heads import MOST_WAITING
from serve.admission.taken import Taken
from tests.unit.serve.admission_site import AdmissionSite

_BIG = 8 * 1024 * 1024
_GET = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n"
_MOST_HEARD = 3


class App:
    """Answers with much at `/big`; of a socket it hears three messages, and closes it with 4429."""

    def __init__(self) -> None:
        self.asked = self.left = 0
        self.heard: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept"})
            if scope["path"] == "/big":
                await send({"type": "websocket.send", "bytes": bytes(_BIG)})
            self.heard = []
            for _ in range(_MOST_HEARD):
                message = await receive()
                if message["type"] == "websocket.disconnect":
                    return
                self.heard.append(message["text"])
            await send({"type": "websocket.close", "code": 4429})
            return
        self.asked += 1
        if scope["path"] == "/held":
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left += 1
            return
        size = _BIG if scope["path"] == "/big" else 2
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]}
        await send(start)
        await send({"type": "http.response.body", "body": bytes(size)})


class Site(AdmissionSite):
    """The app behind a server of ours."""

    def __init__(self) -> None:
        self.app = App()
        super().__init__(self.app)

    def open(self) -> socket.socket:
        """A connection that takes little at once."""
        made = socket.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        made.settimeout(30)
        made.connect(("127.0.0.1", self.port))
        return made

    def socket(self, path: str = "/") -> ClientConnection:
        return connect(f"ws://127.0.0.1:{self.port}{path}", proxy=None, compression=None, max_size=None)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    made = Site()
    with made.running():
        yield made


def all_of(made: socket.socket) -> bytes:
    """What comes until the other side has closed, or broken off."""
    told = bytearray()
    with suppress(ConnectionResetError):
        while part := made.recv(1024 * 1024):
            told += part
    return bytes(told)


@pytest.mark.parametrize(
    "sent",
    [
        _GET % b"/big",
        (_GET % b"/big").replace(b"Host", b"Connection: close\r\nHost"),
        _GET % b"/big" * 5,
        _GET % b"/big" + b"GET / HTTP/1.1\r\nX: ",
    ],
    ids=["kept", "closed", "several", "and half a head"],
)
def test_an_answer_that_nobody_takes_is_given_up(
    site: Site, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(taken, "TAKE_SECONDS", 0.2)
    with site.open() as made:
        made.sendall(sent)
        assert made.recv(12) == b"HTTP/1.1 200"
        _until_nobody_is_there(site)
        assert len(all_of(made)) < _BIG


def test_a_message_of_a_socket_that_nobody_takes_is_given_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taken, "TAKE_SECONDS", 0.2)
    with site.open() as made:
        made.sendall(
            _GET[:-2]
            % b"/big"
            + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert made.recv(12) == b"HTTP/1.1 101"
        _until_nobody_is_there(site)
        assert len(all_of(made)) < _BIG


def test_who_takes_it_gets_all_of_it(site: Site) -> None:
    with site.open() as made:
        made.sendall((_GET % b"/big").replace(b"Host", b"Connection: close\r\nHost"))
        assert len(all_of(made).partition(b"\r\n\r\n")[2]) == _BIG


class _Clock:
    """A loop and a transport, of which a test says what they do."""

    def __init__(self) -> None:
        self.left = 0
        self.ended = False
        self.timers: list[Any] = []

    def call_later(self, seconds: float, work: Any) -> Any:
        self.timers.append((seconds, work))
        return asyncio.TimerHandle(0, work, (), asyncio.new_event_loop())

    def get_write_buffer_size(self) -> int:
        return self.left

    def set_write_buffer_limits(self, *, high: int) -> None:
        assert high == 0

    def get_extra_info(self, name: str) -> socket.socket:
        return socket.socket()

    def abort(self) -> None:
        self.ended = True


def test_who_takes_a_little_is_waited_for_and_who_takes_nothing_is_not() -> None:
    clock = _Clock()
    watched: Any = clock
    of_one = Taken(watched, watched)
    clock.left = 1000
    of_one.wait()
    for left in (900, 899, 1):
        (_, look), clock.left = clock.timers[-1], left
        look()
        assert not clock.ended
    assert [seconds for seconds, _ in clock.timers] == [taken.TAKE_SECONDS] * 4
    clock.timers[-1][1]()
    assert clock.ended
    assert len(clock.timers) == 4


def test_many_requests_at_once_are_not_read(site: Site) -> None:
    site.app.asked = 0
    with site.open() as made:
        with suppress(OSError):
            made.sendall(_GET % b"/held" + _GET % b"/" * 10_000)
        assert all_of(made) == b""
    assert site.app.asked == 1


def test_whoever_leaves_is_missed_though_another_request_of_his_waits(site: Site) -> None:
    site.app.left = 0
    with site.open() as made:
        made.sendall(_GET % b"/held" + _GET % b"/")
        _until(lambda: bool(site.server.server_state.connections))
    _until(lambda: site.app.left == 1)


def test_some_requests_at_once_are_answered_in_their_order(site: Site) -> None:
    last = (_GET % b"/").replace(b"Host", b"Connection: close\r\nHost")
    with site.open() as made:
        made.sendall(_GET % b"/" * MOST_WAITING + last)
        assert all_of(made).count(b"HTTP/1.1 200") == MOST_WAITING + 1


@pytest.mark.parametrize(
    ("opcode", "begun"),
    [(Opcode.PING, False), (Opcode.PONG, False), (Opcode.CONT, True)],
    ids=["pings", "pongs", "pieces"],
)
def test_a_flood_of_what_is_no_message_ends_its_socket(site: Site, opcode: Opcode, begun: bool) -> None:
    piece = Frame(opcode, b"", fin=opcode != Opcode.CONT).serialize(mask=True)
    with site.socket() as opened:
        if begun:
            opened.socket.sendall(Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True))
        with suppress(OSError):
            opened.socket.sendall(piece * 100_000)
        with pytest.raises(ConnectionClosedError) as ended:
            opened.recv(timeout=20)
    assert ended.value.rcvd is not None
    assert (ended.value.rcvd.code, "pings and pieces" in ended.value.rcvd.reason) == (4429, True)
    assert site.app.heard == []


def test_some_pings_are_answered_and_what_is_said_after_them_is_heard(site: Site) -> None:
    with site.socket() as opened:
        opened.socket.sendall(Frame(Opcode.PING, b"").serialize(mask=True) * (MOST_PIECES - 1))
        opened.ping().wait(20)
        for _ in range(_MOST_HEARD):
            opened.send("hello")
        with pytest.raises(ConnectionClosedError):
            opened.recv(timeout=20)
    assert site.app.heard == ["hello"] * _MOST_HEARD


def test_of_a_flood_of_messages_little_more_is_read_than_the_app_asks_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Counter[str] = Counter()

    of_uvicorn = WebSocketsSansIOProtocol.handle_text

    def counted(self: WebSocketsSansIOProtocol, event: Frame) -> None:
        read["messages"] += 1
        of_uvicorn(self, event)

    monkeypatch.setattr(WebSocketsSansIOProtocol, "handle_text", counted)
    one = Frame(Opcode.TEXT, b"").serialize(mask=True)
    with site.socket() as opened:
        with suppress(OSError):
            opened.socket.sendall(one * 100_000)
        with pytest.raises(ConnectionClosedError) as ended:
            opened.recv(timeout=20)
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == 4429
    assert _MOST_HEARD <= read["messages"] < 5_000  # what it has not asked for is not put together


def test_who_goes_on_talking_to_nobody_is_let_go(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_UNHEARD", 1_000)
    read: Counter[str] = Counter()
    of_ours = BoundedFrames.handle_text

    def counted(self: BoundedFrames, event: Frame) -> None:
        read["messages"] += 1
        of_ours(self, event)

    monkeypatch.setattr(BoundedFrames, "handle_text", counted)
    one = Frame(Opcode.TEXT, b"").serialize(mask=True)
    with site.open() as made:
        made.sendall(
            _GET[:-2] % b"/" + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert made.recv(12) == b"HTTP/1.1 101"
        with suppress(OSError):  # it never answers the closing
            made.sendall(one * 100_000)
        _until_nobody_is_there(site)
    assert 1_000 < read["messages"] < 5_000


def test_a_message_in_pieces_is_heard(site: Site) -> None:
    with site.socket() as opened:
        for _ in range(_MOST_HEARD):
            opened.send(iter(["x" * 1024] * 64))
        with pytest.raises(ConnectionClosedError):
            opened.recv(timeout=20)
    assert site.app.heard == ["x" * 65536] * _MOST_HEARD


def _until_nobody_is_there(site: Site) -> None:
    _until(lambda: not site.server.server_state.connections)


def _until(condition: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(600):
        if condition():
            return
        waiting.wait(0.05)
    raise AssertionError("it does not come to that")
