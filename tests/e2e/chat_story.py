"""The story of a question nobody could answer yet: researched, signed off, then answered with links."""

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from openai import AsyncOpenAI

from tests.e2e.story import People

Disturb = Callable[[str], Awaitable[None]]


class Chat:
    """Talking to the site, as anybody."""

    def __init__(self, people: People) -> None:
        self.people = people

    async def ask(self, who: str, message: str, **more: Any) -> dict[str, Any]:
        """The whole answer. A request that is repeated, because nobody was there, is answered once."""
        body = {"message": message, "request_id": uuid.uuid4().hex, **more}
        answer: dict[str, Any] = await self.people.request(who, "POST", "/api/chat", body)
        return answer

    async def agreed(self, who: str, message: str, **more: Any) -> dict[str, Any]:
        """The answer to a yes, after the assistant has asked for it."""
        asked = await self.ask(who, message, **more)
        assert asked["status"] == "asks", asked
        return await self.ask(who, "yes", conversation_id=asked["conversation_id"])

    @asynccontextmanager
    async def stream(
        self, who: str, message: str, **more: Any
    ) -> AsyncIterator[AsyncIterator[tuple[str, Any]]]:
        """The answer's events as they come: their names and data."""
        headers = {"Authorization": f"Bearer {self.people.tokens[who]}"}
        body = {"message": message, "stream": True, **more}
        url = f"{self.people.cluster.http}/api/chat"
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=120) as client,
            client.stream("POST", url, headers=headers, json=body) as answer,
        ):
            assert answer.status_code == 200, (await answer.aread()).decode()
            yield ((event.event, event.json()) async for event in httpx2.EventSource(answer))

    async def openai(self, who: str, message: str, model: str = "signoff-macro") -> str:
        """What the `openai` package gets, streamed."""
        async with AsyncOpenAI(
            base_url=f"{self.people.cluster.http}/v1",
            api_key=self.people.tokens[who],
            max_retries=5,
            timeout=120,
        ) as client:
            stream = await client.chat.completions.create(
                model=model, messages=[{"role": "user", "content": message}], stream=True
            )
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

    async def finished(self, who: str, task_id: str) -> dict[str, Any]:
        """A task when it has ended."""
        async with asyncio.timeout(400):
            while True:
                task: dict[str, Any] = await self.people.request(who, "GET", f"/api/tasks/{task_id}")
                if task["status"] in ("succeeded", "failed", "cancelled"):
                    return task
                await asyncio.sleep(0.3)  # asked again over HTTP


class ChatStory:
    """One subject, from the refusal to the answer. `disturb` is called before each step, with its name."""

    def __init__(self, chat: Chat, subject: str, disturb: Disturb) -> None:
        self._chat = chat
        self._people = chat.people
        self._subject = subject
        self._disturb = disturb

    async def walk(self) -> int:
        """Walk it; the article's id."""
        await self._refused()
        await self._disturb("research")
        article = await self._researched()
        await self._disturb("submit")
        submitted = await self._chat.agreed("ann", f"submit article {article}")
        assert submitted["tools_used"] == ["get_article", "submit_for_review"], submitted
        await self._disturb("publish")
        asked = await self._chat.agreed("eve", f"publish article {article}")
        assert (asked["agent_type"], asked["status"]) == ("editor", "processing"), asked
        approval = asked["workflow_state"]["approval_request_id"]
        await self._disturb("decide")
        shown = await self._people.request("bob", "GET", f"/api/approvals/{approval}")
        decision = {"decision": "approve", "digest": shown["digest"]}
        await self._people.request("bob", "POST", f"/api/approvals/{approval}/decision", decision)
        published = await self._chat.finished("eve", asked["task_id"])
        assert published["status"] == "succeeded", published
        await self._disturb("ask")
        await self._answered(article)
        return article

    async def _refused(self) -> None:
        """A reader may not have it researched, and is told what that takes."""
        refused = await self._chat.ask("rita", f"write an article about {self._subject}", topic="macro")
        assert (refused["agent_type"], refused["status"]) == ("main_chat", "refused"), refused
        assert "macro:analyst" in refused["response"]
        assert (refused["task_id"], refused["tools_used"]) == (None, [])

    async def _researched(self) -> int:
        begun = await self._chat.agreed("ann", f"write an article about {self._subject}", topic="macro")
        assert (begun["agent_type"], begun["status"]) == ("analyst", "processing"), begun
        return await self._drafted(begun["task_id"])

    async def _drafted(self, task_id: str) -> int:
        """The draft: it rests on resources, and every statement says on which."""
        task = await self._chat.finished("ann", task_id)
        assert task["status"] == "succeeded", task
        result = task["result"]
        assert result["status"] == "completed", result
        path = f"/api/tools/articles/{result['article_id']}"
        article = (await self._people.request("ann", "GET", path))["article"]
        assert article["status"] == "draft"
        attached = {resource["id"] for resource in article["resources"]}
        assert attached
        assert attached == {int(each) for each in re.findall(r"\(resource (\d+)\)", article["content"])}
        cited = set(re.findall(r"\[\^(\d+)\](?!:)", article["content"]))
        defined = set(re.findall(r"^\[\^(\d+)\]:", article["content"], re.MULTILINE))
        assert cited
        assert cited == defined
        return int(result["article_id"])

    async def _answered(self, article: int) -> None:
        """A reader's question is answered with a link to it: over the chat, and to an OpenAI client."""
        question = f"what did we write about {self._subject}?"
        link = f"/articles/{article})"
        answer = await self._chat.ask("rita", question, topic="macro")
        assert (answer["agent_type"], answer["status"]) == ("article_query", "completed"), answer
        assert "search_articles" in answer["tools_used"]
        assert link in answer["response"], answer
        assert link in await self._chat.openai("rita", question)
