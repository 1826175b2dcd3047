"""Reading JSON from an address that the configuration names: key sets, and the list of grants.

Not for addresses that users give: those pass the URL guard. TLS is checked against the machine's own
certificate store, where a site's private authority is.
"""

import asyncio
import ssl

import httpx2


async def fetched(url: str, max_bytes: int, seconds: float) -> bytes:
    """What the address answers with, cut one part after `max_bytes`.

    Raises:
        httpx2.HTTPError, TimeoutError, and ValueError: it answers with another status than 200.
    """
    store = ssl.create_default_context()
    async with (
        asyncio.timeout(seconds),
        httpx2.AsyncClient(trust_env=False, verify=store, timeout=seconds) as client,
        client.stream("GET", url, headers={"Accept": "application/json"}) as answer,
    ):
        if answer.status_code != httpx2.codes.OK:
            raise ValueError(f"it answered with status {answer.status_code}")
        body = bytearray()
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > max_bytes:
                break
        return bytes(body)
