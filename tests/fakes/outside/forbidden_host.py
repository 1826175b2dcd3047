"""A host that nobody may reach: on 127.0.0.2, over TCP and UDP on one port. It counts whoever comes."""

import asyncio
from typing import Self


class ForbiddenHost:
    """`hits` are the first bytes of each connection, and each datagram."""

    def __init__(self) -> None:
        self.hits: list[bytes] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.2", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(self.hits), local_addr=("127.0.0.2", self.port)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._udp.close()
        self._server.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = len(self.hits)
        self.hits.append(b"")  # a connection is one, also when nothing is said
        self.hits[place] = await reader.read(200)
        writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, hits: list[bytes]) -> None:
        self._hits = hits

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._hits.append(data)
