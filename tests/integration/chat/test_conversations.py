"""Conversations: listed, read in pages and deleted by their owner, and seen by nobody else."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest

from models.chat.messages import Done
from models.config import Config
from models.store.database import Database
from models.store.people import conversations
from tests.fakes.assistant import CALL, ScriptedAssistant
from tests.integration.rest import client, served


@pytest.fixture
def config(configure: Callable[..., Config]) -> Config:
    """The configuration of the app."""
    return configure()


@pytest.fixture
def assistant() -> ScriptedAssistant:
    """Who answers."""
    return ScriptedAssistant()


@pytest.fixture
def base(config: Config, database_url: str, assistant: ScriptedAssistant) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url, assistant=assistant) as url:
        yield url


@pytest.fixture
async def rita(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Rita, who chats."""
    async with client(config, base, "rita", "macro:reader") as made:
        yield made


async def say(who: httpx2.AsyncClient, message: str, conversation_id: str | None = None) -> str:
    """Say something; the conversation's id."""
    answer = await who.post("/api/chat", json={"message": message, "conversation_id": conversation_id})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["conversation_id"])


async def test_they_are_listed_newest_first_in_pages(rita: httpx2.AsyncClient) -> None:
    made = [await say(rita, f"Message {n}") for n in range(5)]
    await say(rita, "Once more", made[1])
    order = [made[n] for n in (1, 4, 3, 2, 0)]
    listed = (await rita.get("/api/conversations")).json()
    assert [each["id"] for each in listed] == order
    assert listed[0]["title"] == "Message 1"
    assert listed[0]["created_at"] < listed[0]["updated_at"]
    paged: list[str] = []
    while page := (
        await rita.get("/api/conversations", params={"limit": 2, **({"before": paged[-1]} if paged else {})})
    ).json():
        paged += [each["id"] for each in page]
    assert paged == order


async def test_the_title_is_the_first_message_on_one_line_shortened(rita: httpx2.AsyncClient) -> None:
    await say(rita, "What\n did   the Fed say? " + "very " * 40)
    [found] = (await rita.get("/api/conversations")).json()
    assert found["title"].startswith("What did the Fed say? very")
    assert (len(found["title"]) <= 80, found["title"][-1]) == (True, "…")


async def test_one_is_read_in_order_in_pages(rita: httpx2.AsyncClient) -> None:
    made = await say(rita, "M0")
    for n in range(1, 4):
        await say(rita, f"M{n}", made)
    path = f"/api/conversations/{made}"
    whole = (await rita.get(path)).json()
    said = [text for n in range(4) for text in (f"M{n}", f"You said M{n}")]
    assert [message["content"] for message in whole["messages"]] == said
    assert (whole["has_more"], whole["conversation"]["id"]) == (False, made)
    answer = whole["messages"][1]
    assert answer == answer | {
        "role": "assistant", "answers": whole["messages"][0]["id"], "status": "completed",
        "agent_type": "article_query", "topic": "macro", "tools_used": ["search_articles"],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }  # fmt: skip
    page = (await rita.get(path, params={"limit": 3})).json()
    read = page["messages"]
    while page["has_more"]:
        page = (await rita.get(path, params={"limit": 3, "before": read[0]["id"]})).json()
        read = page["messages"] + read
    assert [message["content"] for message in read] == said


async def test_an_answer_stands_after_its_question_though_more_was_said_meanwhile(
    database: Database,
) -> None:
    def done(text: str) -> Done:
        return Done(response=text, agent_type="main_chat", topic=None, status="completed", calls=(CALL, CALL))

    async with database.transaction() as connection:
        first = await conversations.ask(connection, "rita", "One")
        second = await conversations.ask(connection, "rita", "Two", conversation_id=first.conversation_id)
        third = await conversations.ask(connection, "rita", "Three", conversation_id=first.conversation_id)
        await conversations.keep(connection, "rita", second, done("To two"))
        await conversations.keep(connection, "rita", first, done("To one"))
        read = await conversations.dialogue(connection, "rita", first.conversation_id, limit=9)
        assert [message.content for message in read.messages] == [
            "One", "To one", "Two", "To two", "Three",
        ]  # fmt: skip
        told = await conversations.history(connection, third, limit=3)
        assert [message.content for message in told] == ["To one", "Two", "To two"]
        assert await conversations.history(connection, first, limit=3) == ()


async def test_a_deleted_one_is_gone_with_its_messages(rita: httpx2.AsyncClient, database: Database) -> None:
    gone, stays = await say(rita, "Gone"), await say(rita, "Stays")
    assert (await rita.delete(f"/api/conversations/{gone}")).status_code == 204
    assert [each["id"] for each in (await rita.get("/api/conversations")).json()] == [stays]
    for answer in (
        await rita.get(f"/api/conversations/{gone}"),
        await rita.delete(f"/api/conversations/{gone}"),
        await rita.post("/api/chat", json={"message": "Hello?", "conversation_id": gone}),
    ):
        assert (answer.status_code, answer.json()["type"]) == (
            404, "urn:signoff:problem:ConversationNotFound",
        )  # fmt: skip
    async with database.connection() as connection:
        for table, left in (("messages", 2), ("model_calls", 1)):
            cursor = await connection.execute(f"SELECT count(*) AS n FROM {table}".encode())
            assert ((await cursor.fetchone()) or {})["n"] == left


async def test_nobody_else_sees_reads_or_deletes_them(
    config: Config, base: str, rita: httpx2.AsyncClient, database: Database
) -> None:
    hers = await say(rita, "Between us")
    async with client(config, base, "root", "global:admin") as root:
        assert (await root.get("/api/conversations")).json() == []
        for answer in (
            await root.get(f"/api/conversations/{hers}"),
            await root.delete(f"/api/conversations/{hers}"),
        ):
            assert answer.status_code == 404
            assert "Between" not in answer.text
        assert (await root.get("/api/conversations", params={"before": hers})).status_code == 422
        others = await say(root, "Mine")
    number = (await rita.get(f"/api/conversations/{hers}")).json()["messages"][-1]["id"]
    answer = await rita.get(f"/api/conversations/{hers}", params={"before": number + 1})
    assert (answer.status_code, "before" in answer.json()["detail"]) == (422, True)
    assert others != hers


async def test_bad_input_names_the_field(rita: httpx2.AsyncClient) -> None:
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("", {"limit": 0}, "limit"),
        ("", {"limit": "x"}, "limit"),
        ("", {"before": "nobody's"}, "before"),
        ("/a%00b", {}, "conversation_id"),
        ("/" + "x" * 65, {}, "conversation_id"),
    ]
    for path, query, field in bad:
        answer = await rita.get(f"/api/conversations{path}", params=query)
        assert (path, answer.status_code, field in answer.json()["detail"]) == (path, 422, True)


async def test_two_messages_at_once_in_one_conversation_are_both_answered(rita: httpx2.AsyncClient) -> None:
    made = await say(rita, "M0")
    await asyncio.gather(*(say(rita, f"M{n}", made) for n in range(1, 6)))
    read = (await rita.get(f"/api/conversations/{made}")).json()["messages"]
    assert len(read) == 12
    for question, answer in zip(read[::2], read[1::2], strict=True):
        assert (answer["answers"], answer["content"]) == (question["id"], f"You said {question['content']}")
