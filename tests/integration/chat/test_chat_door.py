"""The chat door: messages kept before answers, answers kept once, and what is refused."""

import asyncio
import re
from typing import Any

import httpx2
import pytest

from models.chat.messages import ChatMessage
from models.config import Config
from models.store.database import Database
from tests.fakes.assistant import ScriptedAssistant
from tests.fakes.barrier import Barrier
from tests.integration.chat.sites.chat_door_site import (
    Configure,
    make_assistant,
    make_barrier,
    make_base,
    make_config,
    make_rita,
    messages,
    rows,
)
from tests.integration.chat.sites.chat_site import events_of, told
from tests.integration.rest import client, served

__all__ = ["make_assistant", "make_barrier", "make_base", "make_config", "make_rita"]  # the fixtures


async def test_a_message_is_answered_whole(
    rita: httpx2.AsyncClient, database: Database, assistant: ScriptedAssistant
) -> None:
    answer = await rita.post("/api/chat", json={"message": "Hello", "topic": "equity", "article_id": 4})
    assert answer.status_code == 200
    told = answer.json()
    assert told == {
        "response": "You said Hello",
        "agent_type": "article_query",
        "tools_used": ["search_articles"],
        "workflow_state": None,
        "task_id": None,
        "status": "completed",
        "conversation_id": told["conversation_id"],
        "message_id": 2,
        "topic": "equity",
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        "took_as": None,
    }
    [turn] = assistant.turns
    assert (turn.caller.subject, turn.topic, turn.article_id) == ("rita", "equity", 4)
    assert turn.conversation_id == told["conversation_id"]
    [call] = await rows(database, "SELECT * FROM model_calls")
    assert (call["message_id"], call["workflow_id"], call["prompt_tokens"]) == (2, None, 7)
    await rita.post("/api/chat", json={"message": "More", "conversation_id": told["conversation_id"]})
    assert assistant.turns[1].history == (
        ChatMessage(role="user", content="Hello"),
        ChatMessage(role="assistant", content="You said Hello"),
    )


@pytest.mark.parametrize("asking", [{"json": {"stream": True}}, {"headers": {"Accept": "text/event-stream"}}])
async def test_a_message_is_answered_in_events(rita: httpx2.AsyncClient, asking: dict[str, Any]) -> None:
    body = {"message": "Hello", **asking.get("json", {})}
    async with rita.stream("POST", "/api/chat", json=body, headers=asking.get("headers")) as response:
        events = [event async for event in events_of(response)]
    assert [name for name, _ in events] == ["conversation", "routed", "text", "tool", "text", "done"]
    ids, routed, *_, done = (data for _, data in events)
    assert ids == {"conversation_id": done["conversation_id"], "question_id": 1}
    assert routed["agent_type"] == "article_query"
    assert "".join(data["text"] for name, data in events if name == "text") == done["response"]
    assert events[3][1] == {"name": "search_articles", "status": "ok", "about": "article:1"}
    assert done["message_id"] == 2


async def test_the_first_piece_comes_before_the_last_is_made(
    rita: httpx2.AsyncClient, barrier: Barrier, database: Database
) -> None:
    barrier.hold("middle")
    body = {"message": "Hello", "stream": True}
    async with rita.stream("POST", "/api/chat", json=body) as response:
        seen = events_of(response)
        assert [(await anext(seen))[0] for _ in range(3)] == ["conversation", "routed", "text"]
        # The question is kept before anything is answered.
        assert await messages(database) == [("user", "Hello", None)]
        barrier.release()
        assert [name async for name, _ in seen][-1] == "done"


async def test_a_task_that_goes_on_is_named(rita: httpx2.AsyncClient) -> None:
    answer = (await rita.post("/api/chat", json={"message": "research"})).json()
    assert (answer["status"], answer["task_id"], answer["agent_type"]) == (
        "processing", "t" * 32, "analyst",
    )  # fmt: skip


async def test_the_same_request_is_answered_once(
    rita: httpx2.AsyncClient, assistant: ScriptedAssistant, database: Database
) -> None:
    first = await rita.post("/api/chat", json={"message": "Hello", "request_id": "r1"})
    again = await rita.post("/api/chat", json={"message": "Hello"}, headers={"Idempotency-Key": "r1"})
    assert first.json() == again.json()
    events = await told(rita, message="Hello", request_id="r1")
    assert [name for name, _ in events] == ["conversation", "text", "done"]
    assert events[-1][1] == first.json()
    assert len(assistant.turns) == 1
    assert len(await messages(database)) == 2


async def test_the_same_request_id_for_something_else_is_refused(
    config: Config, base: str, rita: httpx2.AsyncClient, database: Database
) -> None:
    made = (await rita.post("/api/chat", json={"message": "Hello", "request_id": "r1"})).json()
    other = (await rita.post("/api/chat", json={"message": "Else"})).json()["conversation_id"]
    for body, field in (
        ({"message": "Bye", "request_id": "r1"}, "message"),
        ({"message": "Hello", "request_id": "r1", "conversation_id": other}, "conversation_id"),
    ):
        answer = await rita.post("/api/chat", json=body)
        assert answer.status_code == 409
        assert answer.json()["type"] == "urn:signoff:problem:RequestConflict"
        assert f"another {field}" in answer.json()["detail"]
    answer = await rita.post(
        "/api/chat", json={"message": "Hello", "request_id": "r1"}, headers={"Idempotency-Key": "r2"}
    )
    assert answer.status_code == 422
    # Somebody else's r1 is another request.
    async with client(config, base, "ron", "macro:reader") as ron:
        answer = await ron.post("/api/chat", json={"message": "Bye", "request_id": "r1"})
        assert answer.status_code == 200
        assert answer.json()["conversation_id"] != made["conversation_id"]


@pytest.mark.parametrize("stream", [False, True])
async def test_of_the_same_request_twice_at_once_one_answer_is_kept_and_both_get_it(
    rita: httpx2.AsyncClient, barrier: Barrier, database: Database, stream: bool
) -> None:
    barrier.hold("end")

    async def ask() -> Any:
        if stream:
            return (await told(rita, message="Hello", request_id="r1"))[-1][1]
        return (await rita.post("/api/chat", json={"message": "Hello", "request_id": "r1"})).json()

    asking = [asyncio.create_task(ask()) for _ in range(2)]
    await asyncio.to_thread(barrier.until, lambda: barrier.runs("Hello", "end") == 2)
    barrier.release()
    one, other = await asyncio.gather(*asking)
    assert one == other
    assert [role for role, *_ in await messages(database)] == ["user", "assistant"]
    assert len(await rows(database, "SELECT 1 FROM model_calls")) == 1


def untraced(problem: dict[str, Any]) -> dict[str, Any]:
    """A problem without the id of its trace: each failure has its own."""
    return {**problem, "detail": re.sub(r" \(trace [0-9a-f]{6}\)$", "", problem["detail"])}


@pytest.mark.parametrize(
    ("message", "status", "type_"), [("too long", 422, "PromptTooLong"), ("break", 500, "AnswerFailed")]
)
async def test_an_assistant_that_fails_says_why_and_what_it_said_is_kept(
    rita: httpx2.AsyncClient, database: Database, message: str, status: int, type_: str
) -> None:
    answer = await rita.post("/api/chat", json={"message": message})
    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:signoff:problem:{type_}")
    assert "secret" not in answer.text
    assert await messages(database) == [("user", message, None), ("assistant", "You said ", "failed")]
    events = await told(rita, message=message)
    assert [name for name, _ in events] == ["conversation", "routed", "text", "error"]
    assert untraced(events[-1][1]) == untraced(answer.json())


async def test_what_can_t_be_kept_of_an_answer_is_left_out(
    rita: httpx2.AsyncClient, database: Database
) -> None:
    answer = await rita.post("/api/chat", json={"message": "no bytes"})
    assert answer.json()["response"] == "ab?c"


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "message"),
    ({"message": ""}, "message"),
    ({"message": " \n"}, "message"),
    ({"message": "x" * 20_001}, "message"),
    ({"message": "a\u0000b"}, "message"),
    ({"message": 7}, "message"),
    ({"message": "x", "colour": "red"}, "colour"),
    ({"message": "x", "request_id": ""}, "request_id"),
    ({"message": "x", "request_id": " "}, "request_id"),
    ({"message": "x", "request_id": "y" * 201}, "request_id"),
    ({"message": "x", "conversation_id": "a\u0000"}, "conversation_id"),
    ({"message": "x", "article_id": 0}, "article_id"),
    ({"message": "x", "topic": "sports"}, "topic"),
    ({"message": "x", "stream": "maybe"}, "stream"),
]


async def test_bad_input_names_the_field_and_keeps_nothing(
    rita: httpx2.AsyncClient, database: Database
) -> None:
    for body, field in BAD:
        answer = await rita.post("/api/chat", json=body)
        assert (body, answer.status_code) == (body, 422)
        assert answer.headers["content-type"] == "application/problem+json"
        assert field in answer.json()["detail"]
    assert await messages(database) == []


async def test_half_a_character_is_refused(rita: httpx2.AsyncClient) -> None:
    answer = await rita.post(
        "/api/chat", content=b'{"message": "\\ud800"}', headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, "message" in answer.json()["detail"]) == (422, True)


async def test_the_longest_message_is_answered(rita: httpx2.AsyncClient) -> None:
    message = "ż" * 20_000
    assert (await rita.post("/api/chat", json={"message": message})).json()["response"].endswith(message)


async def test_the_chat_can_be_switched_off_and_says_so(
    configure: Configure, database_url: str, assistant: ScriptedAssistant, database: Database
) -> None:
    off = configure({"features.enable_new_agent_system": False})
    with served(off, database_url, assistant=assistant) as url:
        async with client(off, url, "rita", "macro:reader") as rita:
            answer = await rita.post("/api/chat", json={"message": "Hello"})
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:signoff:problem:FeatureOff")
    assert "features.enable_new_agent_system" in answer.json()["detail"]
    assert await messages(database) == []


async def test_a_site_without_an_assistant_says_so(config: Config, database_url: str) -> None:
    with served(config, database_url) as url:
        async with client(config, url, "rita", "macro:reader") as rita:
            answer = await rita.post("/api/chat", json={"message": "Hello"})
    assert (answer.status_code, answer.json()["type"]) == (503, "urn:signoff:problem:ModelUnavailable")


async def test_asking_too_often_gets_429_and_keeps_nothing(
    configure: Configure, database_url: str, assistant: ScriptedAssistant, database: Database
) -> None:
    config = configure({"tools.rate_limits": {"chat": {"calls": 2, "per_seconds": 60}}})
    with served(config, database_url, assistant=assistant) as url:
        async with client(config, url, "rita", "macro:reader") as rita:
            answers = [await rita.post("/api/chat", json={"message": "Hello"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 20 <= int(answers[-1].headers["retry-after"]) <= 31
    assert len(await messages(database)) == 4


async def test_nobody_chats_without_a_token_or_in_another_s_conversation(
    config: Config, base: str, rita: httpx2.AsyncClient, database: Database
) -> None:
    async with httpx2.AsyncClient(base_url=base, trust_env=False) as stranger:
        assert (await stranger.post("/api/chat", json={"message": "Hello"})).status_code == 401
    hers = (await rita.post("/api/chat", json={"message": "Hello"})).json()["conversation_id"]
    # With global:admin, too: conversations are their owner's.
    async with client(config, base, "root", "global:admin") as root:
        answer = await root.post("/api/chat", json={"message": "Hi", "conversation_id": hers})
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:signoff:problem:ConversationNotFound")
    assert len(await messages(database)) == 2
