"""Who leaves in the middle of a call: the new era takes it for a cancellation, the old one does not."""

import asyncio
from typing import Any

import httpx2
from fastapi import FastAPI
from pydantic import BaseModel

from tests.integration.doors.eras.asking import ERAS, LEGACY, ask, asked
from tests.integration.doors.mcp_client import MODERN


class Slow:
    """A registry whose tools take until they are let go; it says how each ended."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.let_go = asyncio.Event()
        self.ended: asyncio.Queue[str] = asyncio.Queue()

    async def call(self, *_: Any, **__: Any) -> BaseModel:
        """Wait."""
        self.begun.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.ended.put_nowait("cancelled")
            raise
        self.ended.put_nowait("done")
        return BaseModel()


@ERAS
async def test_who_leaves_cancels_what_was_asked_in_the_new_era(
    http: httpx2.AsyncClient, app: FastAPI, era: str
) -> None:
    app.state.registry = slow = Slow()
    headers, body = asked(era, "tools/call", name="get_article", arguments={})
    asking = asyncio.create_task(http.post("/mcp", headers=headers, json=body))
    await asyncio.wait_for(slow.begun.wait(), 10)
    asking.cancel()
    if era == LEGACY:
        # There a connection that is lost says nothing of what the client wants.
        await asyncio.wait({asking})
        slow.let_go.set()
    ended = await asyncio.wait_for(slow.ended.get(), 10)
    assert ended == {MODERN: "cancelled", LEGACY: "done"}[era]
    slow.let_go.set()
    assert (await ask(http, era, "tools/call", name="get_article", arguments={}))[0] == 200
