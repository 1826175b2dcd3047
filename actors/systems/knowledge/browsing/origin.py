"""The other side of a connection through the proxy: the host that was named, asked as an origin is.

The proxy opens it through the URL guard; `Caller` asks it. Where it is spoken to by TLS, its certificate is
checked here, before the first request: Chromium sees none but the proxy's.
"""

import ssl

import h11
import httpcore2

from actors.systems.knowledge.browsing.page_egress import PageEgress
from actors.systems.knowledge.browsing.proxy_request import Authority

_CHUNK = 65_536
# Of a request's or an answer's head, in bytes; Chromium itself takes four times that.
LONGEST_HEAD = 65_536


class Origin:
    """A connection to a host: one request after another. `asked` counts them."""

    def __init__(
        self,
        stream: httpcore2.AsyncNetworkStream,
        where: Authority,
        *,
        way_out: PageEgress,
        idle_seconds: float,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`tls`: what checks its certificate, where TLS is to be spoken."""
        self.where = where
        self.asked = 0
        self._stream = stream
        self._way_out = way_out
        self._idle = idle_seconds
        self._tls = tls
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)

    async def ask(self, request: h11.Request) -> None:
        """Send a request's head; TLS is begun before the first, where there is to be any."""
        self.asked += 1
        if self._tls is not None:
            tls, self._tls = self._tls, None
            name = self.where.host.removesuffix(".")
            self._stream = await self._stream.start_tls(tls, name, self._idle)
        await self.send(request)

    async def send(self, event: h11.Event) -> None:
        """Send a part of a request."""
        data = self._http.send(event)
        assert data is not None
        await self.write(data)

    async def next_event(self) -> h11.Event:
        """What it answers next."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self.read(self._idle))
        if not isinstance(event, h11.Event):
            raise h11.RemoteProtocolError("it broke off")
        return event

    async def read(self, seconds: float | None = None) -> bytes:
        """Bytes as they come; none where it has ended."""
        data = await self._stream.read(_CHUNK, seconds)
        self._way_out.took(data)
        return data

    async def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._way_out.took(data)
        await self._stream.write(data, self._idle)

    def early(self) -> bytes:
        """What came behind its last answer."""
        return self._http.trailing_data[0]

    def again(self) -> bool:
        """Whether it can be asked once more."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True
