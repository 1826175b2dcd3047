"""What the tests of the door for OpenAI clients share: the `openai` package, and who answers it.

The app is that of the chat door: its fixtures are in `chat_door_site`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from openai import AsyncOpenAI

from models.config import Config
from models.errors import PromptTooLong
from models.store.database import Database
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.rest import token

HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture(name="assistant")
def make_assistant(barrier: Barrier) -> ScriptedAssistant:
    """Who answers."""
    return ScriptedAssistant(
        barrier.address,
        {
            "break": ZeroDivisionError("secret detail"),
            "too long": PromptTooLong("the conversation is too long: begin a new one"),
            "research": {"status": "processing", "task_id": "t" * 32, "agent_type": "analyst"},
            "limits": {"status": "limited"},
            "cut short": {"status": "interrupted"},
        },
    )


@asynccontextmanager
async def openai_client(base: str, key: str) -> AsyncIterator[Any]:
    """The openai package, as somebody would use it; it asks once. Its types would take each literal apart."""
    async with AsyncOpenAI(api_key=key, base_url=f"{base}/v1", max_retries=0, timeout=120) as made:
        yield made


@pytest.fixture(name="rita")
async def make_rita(config: Config, base: str) -> AsyncIterator[Any]:
    """Rita, who reads about macro."""
    async with openai_client(base, token(config, "rita", "macro:reader")) as made:
        yield made


async def calls(database: Database) -> list[dict[str, Any]]:
    """The model calls that are recorded."""
    async with database.connection() as connection:
        return await (await connection.execute("SELECT * FROM model_calls")).fetchall()
