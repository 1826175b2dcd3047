"""Who floods a socket, or sends what is no message, is answered with a code and holds up nobody else."""

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from models.config import Config
from models.store.database import Database
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.test_doors import SOON, socket, told
from tests.integration.rest import served, token

MOST, PER_SECONDS = 240, 60  # `tools.rate_limit` of the site
PING = '{"type": "ping"}'


async def flood(opened: ClientConnection, said: Any, times: int) -> Counter[str]:
    """Say it again and again; what came back until it was closed, by its type."""
    answers: Counter[str] = Counter()

    async def hear() -> None:
        async for text in opened:
            answers[json.loads(text)["type"]] += 1

    hearing = asyncio.create_task(hear())
    with contextlib.suppress(ConnectionClosed):
        for _ in range(times):
            await opened.send(said)
        await opened.send("[]")
    async with asyncio.timeout(SOON):
        with contextlib.suppress(ConnectionClosed):
            await hearing
    return answers


@pytest.mark.parametrize(
    ("said", "times", "code", "answered"),
    [
        (PING, 10_000, 4429, "pong"),
        ("{", 10_000, 4429, "error"),
        ("[" * 32_000, 1_000, 4429, "error"),
        ('{"type": "agent_decision", "data": {"answer": "retry"}}', 1_000, 4429, "error"),
        ("x" * 10_000_000, 1, 1009, None),
        ("x" * 40_000, 1, 1009, None),
        (b"\0" * 100, 1_000, 1003, None),
    ],
    ids=["pings", "no_json", "deep", "answers", "huge", "long", "binary"],
)
async def test_who_floods_is_closed_and_the_others_are_served(
    configure: Callable[..., Config],
    database: Database,
    said: Any,
    times: int,
    code: int,
    answered: str | None,
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    number = await desk.start()
    with served(config, database.url) as base:
        async with socket(base, config, number) as calm:
            for _ in range(2):  # it is let in again, and is no better off
                since = time.monotonic()
                async with socket(base, config, number, who="bob") as opened:
                    flooding = asyncio.create_task(flood(opened, said, times))
                    await calm.send(PING)
                    await told(calm, "pong")
                    answers = await flooding
                    assert opened.close_code == code, (opened.close_code, opened.close_reason)
                    assert opened.close_reason
                    filled_up = MOST * (time.monotonic() - since) / PER_SECONDS
                    assert answered is None or 0 < answers[answered] <= MOST + 1 + filled_up


async def test_who_floods_the_socket_of_events_is_closed_too(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    with served(config, database.url) as base:
        url = f"{base.replace('http', 'ws')}/ws/ann"
        headers = {"Authorization": f"Bearer {token(config, 'ann', 'macro:reader')}"}
        async with connect(url, additional_headers=headers, proxy=None) as opened:
            await flood(opened, "{", 10_000)
            assert opened.close_code == 4429
