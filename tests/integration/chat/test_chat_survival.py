"""The chat door when something ends in mid-answer: clients leave, conversations go, replicas die."""

import asyncio
import time
from pathlib import Path

import httpx2
import pytest

from models.config import Config
from models.store.database import Database
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.chat.sites.chat_door_site import (
    make_assistant,
    make_barrier,
    make_base,
    make_config,
    make_rita,
    messages,
    rows,
    until,
)
from tests.integration.chat.sites.chat_site import events_of, replica
from tests.integration.rest import client

__all__ = ["make_assistant", "make_barrier", "make_base", "make_config", "make_rita"]  # the fixtures


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_stops_the_assistant_and_what_was_said_is_kept(
    rita: httpx2.AsyncClient, barrier: Barrier, database: Database, stream: bool
) -> None:
    barrier.hold("middle")
    asking = asyncio.create_task(rita.post("/api/chat", json={"message": "Hello", "stream": stream}))
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "middle") == 1)
    asking.cancel()
    begun = time.monotonic()
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "stopped") == 1, timeout=10)
    assert time.monotonic() - begun < 1

    async def kept() -> bool:
        return (await messages(database))[1:] == [("assistant", "You said ", "interrupted")]

    await until(kept)
    [answer] = await rows(
        database, "SELECT agent_type, topic, answers FROM messages WHERE role = 'assistant'"
    )
    assert answer == {"agent_type": "article_query", "topic": "macro", "answers": 1}


async def test_a_client_that_leaves_before_anything_was_said_leaves_its_message_unanswered(
    rita: httpx2.AsyncClient, barrier: Barrier, database: Database, assistant: ScriptedAssistant
) -> None:
    barrier.hold("begun")
    body = {"message": "Hello", "request_id": "r1"}
    asking = asyncio.create_task(rita.post("/api/chat", json=body))
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "begun") == 1)
    asking.cancel()
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "stopped") == 1)
    barrier.release()
    answer = await rita.post("/api/chat", json=body)
    assert answer.json()["response"] == "You said Hello"
    assert await messages(database) == [
        ("user", "Hello", None),
        ("assistant", "You said Hello", "completed"),
    ]
    assert assistant.turns[1].history == ()


async def test_an_answer_that_was_interrupted_gives_way_to_a_whole_one(
    rita: httpx2.AsyncClient, barrier: Barrier, database: Database
) -> None:
    barrier.hold("middle")
    body = {"message": "Hello", "request_id": "r1"}
    asking = asyncio.create_task(rita.post("/api/chat", json=body))
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "middle") == 1)
    asking.cancel()

    async def kept() -> bool:
        return len(await messages(database)) == 2

    await until(kept)
    barrier.release()
    answer = (await rita.post("/api/chat", json=body)).json()
    assert (answer["response"], answer["status"], answer["message_id"]) == ("You said Hello", "completed", 2)
    assert await messages(database) == [
        ("user", "Hello", None),
        ("assistant", "You said Hello", "completed"),
    ]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_conversation_that_is_deleted_in_mid_answer_is_gone(
    rita: httpx2.AsyncClient, barrier: Barrier, database: Database, stream: bool
) -> None:
    barrier.hold("end")
    asking = asyncio.create_task(rita.post("/api/chat", json={"message": "Hello", "stream": stream}))
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "end") == 1)
    [found] = (await rita.get("/api/conversations")).json()
    assert (await rita.delete(f"/api/conversations/{found['id']}")).status_code == 204
    barrier.release()
    answer = await asking
    assert answer.status_code == (200 if stream else 404)
    assert "urn:signoff:problem:ConversationNotFound" in answer.text
    assert await messages(database) == []


async def test_a_replica_killed_in_mid_answer_loses_no_conversation(
    config: Config, tmp_path: Path, database_url: str, database: Database, barrier: Barrier
) -> None:
    body = {"message": "Hello", "request_id": "r1"}
    barrier.hold("middle")
    with replica(tmp_path / "config.yaml", database_url, barrier.address) as (process, url):
        async with (
            client(config, url, "rita", "macro:reader") as rita,
            rita.stream("POST", "/api/chat", json={**body, "stream": True}) as response,
        ):
            seen = events_of(response)
            ids = (await anext(seen))[1]
            await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "middle") == 1)
            process.kill()
            with pytest.raises(httpx2.TransportError):
                await anext(event async for event in seen if event[0] == "done")
    barrier.release()
    with replica(tmp_path / "config.yaml", database_url, barrier.address) as (_, url):
        async with client(config, url, "rita", "macro:reader") as rita:
            found = (await rita.get(f"/api/conversations/{ids['conversation_id']}")).json()
            assert [message["content"] for message in found["messages"]] == ["Hello"]
            answer = (await rita.post("/api/chat", json=body)).json()
    assert (answer["response"], answer["conversation_id"]) == ("You said Hello", ids["conversation_id"])
    assert len(await messages(database)) == 2


async def test_a_replica_that_is_told_to_stop_keeps_what_was_said(
    config: Config, tmp_path: Path, database_url: str, database: Database, barrier: Barrier
) -> None:
    barrier.hold("middle")
    with replica(tmp_path / "config.yaml", database_url, barrier.address) as (process, url):
        async with client(config, url, "rita", "macro:reader") as rita:
            asking = asyncio.create_task(rita.post("/api/chat", json={"message": "Hello"}))
            await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "middle") == 1)
            process.terminate()
            await asyncio.to_thread(process.wait, 20)
            await asyncio.gather(asking, return_exceptions=True)
    assert (await messages(database))[1:] == [("assistant", "You said ", "interrupted")]
