"""An agent for the runtime's tests: it asks a model server, which tests can hold."""

import os
from typing import Any

from actors.runtime.directory import Directory, Role
from actors.runtime.llm import ModelClient
from models.config import Config, ModelSettings


class Oracle:
    """Answers a question with its model's words."""

    def __init__(self, *, settings: ModelSettings) -> None:
        self._model = ModelClient(agent="oracle", settings=settings)

    async def answer(self, question: str) -> str:
        """The model's answer."""
        answer = await self._model.text(system="You are an oracle.", user=question, accept=str)
        return answer.value

    async def pid(self) -> int:
        """The agent's process."""
        return os.getpid()


def _oracle(config: Config, directory: Directory) -> dict[str, Any]:
    return {"settings": config.article_generation.agents.writer_llm}


ROLES: dict[str, Role] = {"oracle": ("tests.fakes.agents:Oracle", _oracle)}
