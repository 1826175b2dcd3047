"""The chat on the real stack, with the bundled model: the whole story, with processes killed."""

import asyncio
import uuid
from typing import Any

import httpx2
import pytest

from cluster.postgres import server
from tests.e2e.chat_story import Chat, ChatStory
from tests.e2e.cluster import Cluster
from tests.e2e.story import People

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


@pytest.fixture
def chat(cluster: Cluster) -> Chat:
    """Everyone can talk."""
    return Chat(People(cluster))


async def said(chat: Chat, conversation: str) -> list[tuple[str, str | None]]:
    """A conversation's messages: who spoke, and how an answer ended."""
    read = await chat.people.request("rita", "GET", f"/api/conversations/{conversation}")
    return [(message["role"], message["status"]) for message in read["messages"]]


async def test_the_story_by_chat_while_processes_are_killed_in_turn(cluster: Cluster, chat: Chat) -> None:
    """Before each step something dies: the API, the agents, the runners, the database."""
    restarts: list[asyncio.Task[Any]] = []

    async def disturb(step: str) -> None:
        if step in ("research", "publish", "ask"):
            await asyncio.to_thread(cluster.kill, "ServeReplica:api")
        if step in ("submit", "decide"):
            await asyncio.to_thread(cluster.kill, "MainChat")
            await asyncio.to_thread(cluster.kill, "RunnerActor")
        if step in ("submit", "ask"):
            cluster.kill_postgres()
            restarts.append(asyncio.create_task(asyncio.to_thread(server.start, cluster.folder / "data")))

    await ChatStory(chat, "inflation in Poland", disturb).walk()
    await asyncio.gather(*restarts)


@pytest.mark.parametrize("victim", ["ServeReplica:api", "MainChat"])
async def test_a_conversation_outlives_who_answers_it(cluster: Cluster, chat: Chat, victim: str) -> None:
    """Killed in mid-answer: the question stays, and the same request is answered once more and kept once."""
    request_id = uuid.uuid4().hex
    question = {"message": "hello, what can you do for me?", "request_id": request_id}
    conversation = ""
    try:
        async with chat.stream("rita", **question) as events:
            async for name, data in events:
                conversation = data["conversation_id"] if name == "conversation" else conversation
                if name == "text":
                    await asyncio.to_thread(cluster.kill, victim)
    except httpx2.TransportError:
        pass
    assert conversation
    answer = await chat.people.request("rita", "POST", "/api/chat", question)
    assert answer["conversation_id"] == conversation
    assert answer["response"]
    messages = await said(chat, conversation)
    assert messages[0] == ("user", None)
    assert len(messages) == 2
    await chat.people.request("rita", "GET", f"/api/conversations/{conversation}")


async def test_people_who_wait_come_before_batches(cluster: Cluster, chat: Chat) -> None:
    """The model is kept busy with more calls of batches than it takes at once; a person is answered first."""
    url = f"{cluster.http}/llm/v1/chat/completions"
    story = [{"role": "user", "content": "Tell me a long story about a harbour."}]
    ended: list[str] = []

    async def call(client: httpx2.AsyncClient, name: str, priority: int, tokens: int) -> None:
        body = {"model": "smollm2-135m-instruct", "messages": story, "max_tokens": tokens, "ignore_eos": True}
        answer = await client.post(url, json={**body, "priority": priority})
        assert answer.status_code == 200, answer.text
        ended.append(name)

    headers = {"Authorization": f"Bearer {cluster.serving_key}"}
    async with httpx2.AsyncClient(trust_env=False, timeout=300, headers=headers) as client:
        # Of different lengths, so that room is made for one after the other.
        batch = [asyncio.create_task(call(client, f"batch {n}", 10, 30 + 8 * (n % 16))) for n in range(40)]
        await asyncio.wait(batch, return_when=asyncio.FIRST_COMPLETED)  # the model is at work
        await call(client, "person", 0, 10)
        await asyncio.gather(*batch)
    # 16 run at a time: by the order of arrival the person would begin when 24 of the batch had ended.
    assert ended.index("person") < 16, ended
