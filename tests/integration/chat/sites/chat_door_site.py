"""The app over a test's database with a scripted assistant, Rita who asks it, and what it keeps.

The tests of the door for OpenAI clients take its `config`, `barrier` and `base`, and those of `signoff chat`
its `barrier`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest

from models.config import Config
from models.errors import PromptTooLong
from models.store.database import Database
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.rest import client, served

Configure = Callable[..., Config]


@pytest.fixture(name="config")
def make_config(configure: Configure) -> Config:
    """The configuration of the app."""
    return configure()


@pytest.fixture(name="barrier")
def make_barrier() -> Iterator[Barrier]:
    """What the assistant reports to."""
    with Barrier() as made:
        yield made


@pytest.fixture(name="assistant")
def make_assistant(barrier: Barrier) -> ScriptedAssistant:
    """Who answers."""
    return ScriptedAssistant(
        barrier.address,
        {
            "too long": PromptTooLong("the conversation is too long: begin a new one"),
            "break": ZeroDivisionError("secret detail"),
            "no bytes": {"response": "a\x00b\ud83dc"},
            "research": {"status": "processing", "task_id": "t" * 32, "agent_type": "analyst"},
        },
    )


@pytest.fixture(name="base")
def make_base(config: Config, database_url: str, assistant: ScriptedAssistant) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url, assistant=assistant) as url:
        yield url


@pytest.fixture(name="rita")
async def make_rita(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Rita, who reads about macro."""
    async with client(config, base, "rita", "macro:reader") as made:
        yield made


async def rows(database: Database, query: str, *values: Any) -> list[dict[str, Any]]:
    """What the database holds."""
    async with database.connection() as connection:
        return await (await connection.execute(query.encode(), values)).fetchall()


async def messages(database: Database) -> list[tuple[Any, ...]]:
    """All messages: role, content and how an answer ended."""
    found = await rows(database, "SELECT role, content, status FROM messages ORDER BY id")
    return [tuple(row.values()) for row in found]


async def until(condition: Callable[[], Any], timeout: float = 10) -> None:
    """Wait until an async condition holds."""
    async with asyncio.timeout(timeout):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.01)
