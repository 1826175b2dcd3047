"""Clients that ask for something and say yes: over the API, and with OpenAI's package."""

from typing import Any

import httpx2


class Api:
    """Eve in `/api/chat`, in one conversation."""

    def __init__(self, who: httpx2.AsyncClient) -> None:
        self._who = who
        self._conversation: str | None = None

    async def say(self, message: str, **more: Any) -> dict[str, Any]:
        """The answer to a message."""
        body = {"message": message, **more}
        if self._conversation is not None:
            body["conversation_id"] = self._conversation
        answer = await self._who.post("/api/chat", json=body)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        self._conversation = told["conversation_id"]
        return told


class OpenAI:
    """Eve in `/v1`, whose client keeps the conversation."""

    def __init__(self, who: httpx2.AsyncClient) -> None:
        self._who = who
        self.said: list[dict[str, str]] = []

    async def say(self, message: str, *, request_id: str | None = None) -> dict[str, Any]:
        """The answer to a message."""
        self.said.append({"role": "user", "content": message})
        headers = {} if request_id is None else {"Idempotency-Key": request_id}
        body = {"model": "signoff", "messages": self.said}
        answer = await self._who.post("/v1/chat/completions", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        text = answer.json()["choices"][0]["message"]["content"]
        self.said.append({"role": "assistant", "content": text})
        return {"response": text, **answer.json()["signoff"]}
