"""What is packed, unpacked as it is read: never much more than may be kept, however it is packed.

Bodies of answers, for `fetching` and the scraper: only what was asked for is undone, gzip and deflate. And
files, for sitemaps and lists of addresses.
"""

import io
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import httpx2

from actors.platform.web.plain_text import plain_text

_ZLIB_OR_GZIP, _GZIP = 47, 31
_CHUNK = 65_536
# Of gzip files that follow each other in one: some programs pack by blocks of 64 KiB.
_MOST_MEMBERS = 50_000


class NotUnpacked(Exception):
    """A body that can't be unpacked, is cut off, or is packed in a way that was not asked for."""


async def unpacked(answer: httpx2.Response, most: int) -> AsyncIterator[bytes]:
    """The body's parts; it ends soon after `most` bytes.

    Raises:
        NotUnpacked: the message says what is wrong with the answer.
    """
    packing = answer.headers.get("content-encoding", "identity").strip().lower()
    if packing in ("identity", ""):
        async for part in answer.aiter_raw():
            yield part
        return
    if packing not in ("gzip", "x-gzip", "deflate"):
        raise NotUnpacked(f"the answer is packed as {plain_text(packing, 40)}, which was not asked for")
    inflater, given = zlib.decompressobj(wbits=_ZLIB_OR_GZIP), 0
    try:
        async for part in answer.aiter_raw():
            whole = inflater.decompress(part, most - given + 1)
            given += len(whole)
            yield whole
            if given > most:
                return
    except zlib.error as error:
        raise NotUnpacked("the answer can't be unpacked") from error
    if not inflater.eof:
        raise NotUnpacked("the answer breaks off")


def gunzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    """A gzip file's content in parts of 64 KiB at most: nothing more is held, however much it comes to.

    Raises:
        NotUnpacked: as above.
    """
    inflater, members = zlib.decompressobj(wbits=_GZIP), 1
    try:
        for part in parts:
            while part:
                if inflater.eof:  # another one follows; zeros between them are padding
                    if not (part := part.lstrip(b"\0")):
                        break
                    inflater, members = zlib.decompressobj(wbits=_GZIP), members + 1
                    if members > _MOST_MEMBERS:
                        raise NotUnpacked(f"it is packed in over {_MOST_MEMBERS:,} pieces")
                whole = inflater.decompress(part, _CHUNK)
                while whole:
                    yield whole
                    part = inflater.unconsumed_tail
                    whole = b"" if inflater.eof else inflater.decompress(part, _CHUNK)
                part = inflater.unused_data if inflater.eof else b""
    except zlib.error as error:
        raise NotUnpacked(str(error)) from error
    if not inflater.eof:
        raise NotUnpacked("it breaks off")


class Unpacked(io.RawIOBase):
    """Parts of bytes as one stream, of which no more is read than is asked for.

    Raises:
        NotUnpacked: where they come to more than `most` bytes.
    """

    def __init__(self, parts: Iterable[bytes], *, most: int) -> None:
        self._parts = iter(parts)
        self._part = memoryview(b"")
        self._most = self._left = most

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there into a buffer."""
        while not self._part:
            if (part := next(self._parts, None)) is None:
                return 0
            self._part = memoryview(part)
            self._left -= len(part)
            if self._left < 0:
                raise NotUnpacked(f"it is over {self._most:,} bytes unpacked")
        count = min(len(buffer), len(self._part))
        buffer[:count], self._part = self._part[:count], self._part[count:]
        return count


def cut_lines(parts: Iterable[bytes], *, most: int, longest: int) -> Iterator[str]:
    """A text's lines with their ends, each cut after so many characters; what is no UTF-8 is replaced.

    Raises:
        NotUnpacked: as `Unpacked`.
    """
    stream = io.BufferedReader(Unpacked(parts, most=most))
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    while line := text.readline(longest):
        yield line
        while len(line) == longest and not line.endswith(("\n", "\r")):
            line = text.readline(longest)
