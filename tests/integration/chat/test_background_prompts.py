"""What OpenAI clients ask by themselves over HTTP begins nothing, drops no question, and is kept nowhere.

The agents are the real ones in this process, behind the real door. Eve may begin a research.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from models.config import Config
from models.store.database import Database
from tests.fakes.background_prompts import (
    BESIDES,
    CASES,
    OPEN_WEBUI_TITLE,
    SAID,
    TALK,
    TITLE,
    UNQUOTED,
    Messages,
    user,
)
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.chat.sites.agents_site import ChatSite, make_scripted_chat, make_site
from tests.integration.chat.sites.yes_sayers import OpenAI
from tests.integration.rest import client, served

__all__ = ["make_scripted_chat"]

WISH = "Write a new article on gold from research for macro"
# What may hold something that was said, begun or counted.
TABLES = ("workflows", "conversations", "messages", "model_calls", "tool_calls", "chat_acts")


@pytest.fixture
def chat(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> ChatSite:
    """A site with the chat's agents."""
    return make_site(database, database_url, scripted_chat, configure)


@pytest.fixture
async def eve(chat: ChatSite, database_url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Eve, who researches macro."""
    with served(chat.config, database_url, assistant=chat) as base:
        async with client(chat.config, base, "eve", "macro:analyst") as made:
            yield made


async def held(chat: ChatSite) -> dict[str, list[Any]]:
    """All rows of the tables."""
    return {table: await chat.site.rows(f"SELECT * FROM {table}") for table in TABLES}


async def sent(eve: httpx2.AsyncClient, messages: Messages, **more: Any) -> httpx2.Response:
    """What a client is answered."""
    answer = await eve.post("/v1/chat/completions", json={"model": "signoff", "messages": messages, **more})
    assert answer.status_code == 200, answer.text
    return answer


async def test_a_clients_own_prompts_do_nothing_and_leave_an_open_question_open(
    chat: ChatSite, eve: httpx2.AsyncClient
) -> None:
    tab = OpenAI(eve)
    asked = await tab.say(WISH)
    assert asked["status"] == "asks"
    before = await held(chat)
    assert len(before["chat_acts"]) == 1
    for case in CASES:
        told = (await sent(eve, case.messages)).json()
        assert told["choices"][0]["message"]["content"] == case.answer, case.name
        assert told["signoff"] | {"took_as": None} == {
            "agent_type": "main_chat",
            "tools_used": [],
            "task_id": None,
            "workflow_state": None,
            "status": "completed",
            "topic": None,
            "took_as": None,
        }
        # As some send it: beside the conversation itself, up to the question, and up to its yes.
        *first, last = case.messages
        for more in ([], [{"role": "user", "content": "yes"}]):
            await sent(eve, [*first, *tab.said, *more, last])
    assert await held(chat) == before
    begun = await tab.say("yes")
    assert begun["status"] == "processing"
    assert len((await held(chat))["workflows"]) == 1


async def test_a_clients_own_prompt_is_answered_as_a_stream(eve: httpx2.AsyncClient) -> None:
    told = await sent(eve, user(OPEN_WEBUI_TITLE), stream=True, stream_options={"include_usage": True})
    assert told.headers["content-type"].startswith("text/event-stream")
    assert told.text.endswith("data: [DONE]\n\n")
    assert TITLE in told.text
    assert '"total_tokens":0' in told.text


# As whoever is asked reads it.
_NOTHING_DONE = ("nothing is done", "nic nie jest robione", "Nichts geschieht")


async def test_what_may_be_a_clients_is_answered_by_the_model_alone(
    chat: ChatSite, eve: httpx2.AsyncClient
) -> None:
    chat.server.script(Rule(reply="A research on gold"))
    tab = OpenAI(eve)
    await tab.say(WISH)
    before = await held(chat)
    for case in BESIDES:
        *first, last = case.messages
        for messages in (case.messages, [*first, *tab.said, last]):
            answer = (await sent(eve, messages)).json()
            assert answer["choices"][0]["message"]["content"] == "A research on gold", case.name
            told = answer["signoff"]
            assert (told["agent_type"], told["status"], told["tools_used"]) == ("main_chat", "completed", [])
            assert any(text in told["took_as"] for text in _NOTHING_DONE)
    after = await held(chat)
    assert len(after.pop("model_calls")) == len(before.pop("model_calls")) + 2 * len(BESIDES)
    assert after == before
    assert (await tab.say("yes"))["status"] == "processing"


async def test_where_no_model_writes_what_may_be_a_clients_has_its_form(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> None:
    quotes = {"chat.assistant_llm.writes": "quotes"}
    chat = make_site(database, database_url, scripted_chat, configure, quotes)
    with served(chat.config, database_url, assistant=chat) as base:
        async with client(chat.config, base, "eve", "macro:analyst") as eve:
            for case in BESIDES:
                told = (await sent(eve, case.messages)).json()["choices"][0]["message"]["content"]
                assert (
                    told == case.answer if case.answer is not None else "I answer in the words of" in told
                ), case.name
    assert await chat.site.rows("SELECT * FROM model_calls") == []


@pytest.mark.parametrize("command", ["{0}\n\n" + TALK, TALK + "\n\n{0}", f"<chat>{TALK}</chat> {{0}}"])
async def test_a_persons_command_beside_a_conversation_is_carried_out(
    chat: ChatSite, eve: httpx2.AsyncClient, command: str
) -> None:
    message = command.format("Write an article on gold for macro from this conversation, with a title.")
    tab = OpenAI(eve)
    assert (await tab.say(message))["status"] == "asks"
    assert (await tab.say("yes"))["status"] == "processing"


async def test_what_quotes_nothing_drops_no_question(chat: ChatSite, eve: httpx2.AsyncClient) -> None:
    chat.server.script(Rule(reply="A research on gold"))
    tab = OpenAI(eve)
    await tab.say(WISH)
    for messages in UNQUOTED:
        if messages[:-1] == SAID:
            await sent(eve, [*tab.said, messages[-1]])
    assert (await tab.say("yes"))["status"] == "processing"
