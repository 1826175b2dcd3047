"""Agents for the runtime's tests: one asks a model server, which tests can hold, another dies."""

import asyncio
import os
from collections.abc import AsyncGenerator
from typing import Any

from actors.platform.llm.client import ModelClient
from actors.platform.runtime.directory import Directory
from actors.platform.system import AgentRole
from models.config import AgentConfig, Config, ModelSettings


class Oracle:
    """Answers a question with its model's words."""

    def __init__(self, *, settings: ModelSettings) -> None:
        self._model = ModelClient(agent="oracle", settings=settings)

    async def answer(self, question: str) -> str:
        """The model's answer."""
        answer = await self._model.ask_text(system="You are an oracle.", user=question, accept=str)
        return answer.value

    async def pid(self) -> int:
        """The agent's process."""
        return os.getpid()


class Mortal:
    """Ends or fails in every way that an agent may; `stillborn` ones do as they are made."""

    def __init__(self, *, stillborn: bool) -> None:
        if stillborn:
            raise ValueError("its prompts are gone")

    async def die(self) -> None:
        """Take the process with it."""
        os._exit(1)

    async def note_and_die(self, file: str) -> None:
        """Add a line to a file, and take the process with it."""
        await asyncio.to_thread(_add_line, file)
        os._exit(1)

    async def fail(self, error: Exception) -> None:
        """Raise what it is given."""
        raise error

    async def dictate(self) -> AsyncGenerator[str, None]:
        """The process's id, and then nothing: whoever listens may end it."""
        yield str(os.getpid())
        await asyncio.Event().wait()


def _add_line(file: str) -> None:
    with open(file, "a", encoding="utf-8") as notes:
        notes.write("called\n")


def _mortal(*, stillborn: bool) -> AgentRole:
    return "tests.fakes.agents:Mortal", lambda config, directory: {"stillborn": stillborn}


def _oracle(config: Config, directory: Directory) -> dict[str, Any]:
    return {"settings": config.article_generation.agents.writer_llm}


ROLES: dict[str, AgentRole] = {
    "oracle": ("tests.fakes.agents:Oracle", _oracle),
    "mortal": _mortal(stillborn=False),
    "stillborn": _mortal(stillborn=True),
}


def with_roles(config: Config, *roles: str) -> Config:
    """A configuration with resources for roles that tests alone have; its file may not name them."""
    small = AgentConfig(num_cpus=0.1, replicas=1, max_concurrency=8)
    return config.model_copy(update={"agents": config.agents | dict.fromkeys(roles, small)})
