"""Bodies of answers, unpacked as they come: never much more than may be kept, however they are packed.

Called by `fetching` and by the scraper. Only what was asked for is undone: gzip and deflate.
"""

import zlib
from collections.abc import AsyncIterator

import httpx2

from actors.outside.plain_text import plain_text

_ZLIB_OR_GZIP = 47


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
