"""Deep research in both doors of the chat: begun on a yes, asked after, stopped on a yes; nobody else's."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest

from models.config import Config
from models.store.database import Database
from tests.fakes.model.model_server import ModelServer
from tests.integration.chat.sites.agents_site import ChatSite, make_scripted_chat, make_site
from tests.integration.chat.sites.yes_sayers import Api, OpenAI
from tests.integration.rest import client, served

__all__ = ["make_scripted_chat"]

ASKED = "zrób deep research o AI w medycynie"


@pytest.fixture
def chat(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> ChatSite:
    """A site without a runner."""
    return make_site(database, database_url, scripted_chat, configure)


@pytest.fixture
def base(chat: ChatSite, database_url: str) -> Iterator[str]:
    """The doors of the site."""
    with served(chat.config, database_url, assistant=chat) as url:
        yield url


@pytest.fixture
async def ann(chat: ChatSite, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Ann, who is an analyst of macro."""
    async with client(chat.config, base, "ann", "macro:analyst") as made:
        yield made


async def researches(chat: ChatSite) -> list[dict[str, Any]]:
    """What there is."""
    return await chat.site.rows(
        "SELECT a.id, a.name, w.status FROM agent_workflows a JOIN workflows w ON w.id = a.workflow_id"
    )


@pytest.mark.parametrize("door", [Api, OpenAI])
async def test_it_is_begun_asked_after_and_stopped(
    chat: ChatSite, ann: httpx2.AsyncClient, door: type[Api] | type[OpenAI]
) -> None:
    talk = door(ann)
    asked = await talk.say(ASKED)
    assert asked["status"] == "asks"
    question = f"Czy mam zacząć pogłębione badanie w temacie macro na podstawie tych Twoich słów: „{ASKED}”?"
    assert question in asked["response"]
    assert await researches(chat) == []
    begun = await talk.say("tak")
    assert (begun["status"], begun["tools_used"][-1]) == ("processing", "start_research")
    assert begun["workflow_state"]["workflow_type"] == "deep research"
    [row] = await researches(chat)
    assert (row["name"], row["status"]) == (ASKED, "queued")
    assert f"Pogłębione badanie {row['id']} zaczęło się w temacie macro" in begun["response"]

    stands = await talk.say(f"How far is research {row['id']}?")
    assert "pending: 0 of" in stands["response"]
    assert stands["tools_used"] == ["get_research"]
    sure = await talk.say(f"stop research {row['id']}")
    assert sure["status"] == "asks"
    assert f"Shall I stop deep research {row['id']}" in sure["response"]
    assert (await researches(chat))[0]["status"] == "queued"
    stopped = await talk.say("yes")
    assert stopped["tools_used"][-1] == "stop_research"
    assert f"Deep research {row['id']} is stopped" in stopped["response"]
    assert (await researches(chat))[0]["status"] == "cancelled"
    stands = await talk.say(f"How far is research {row['id']}?")
    assert "It was stopped: stopped in the chat (ann)." in stands["response"]


async def test_anything_but_a_yes_leaves_it_going(chat: ChatSite, ann: httpx2.AsyncClient) -> None:
    talk = Api(ann)
    await talk.say(ASKED)
    await talk.say("yes")
    [row] = await researches(chat)
    await talk.say(f"stop research {row['id']}")
    await talk.say("no")
    await talk.say("yes")
    assert (await researches(chat))[0]["status"] == "queued"


async def test_others_are_told_that_there_is_none(chat: ChatSite, ann: httpx2.AsyncClient, base: str) -> None:
    talk = Api(ann)
    await talk.say(ASKED)
    await talk.say("yes")
    [row] = await researches(chat)
    async with client(chat.config, base, "rita", "macro:reader", "equity:analyst") as rita:
        for message in (f"How far is research {row['id']}?", f"stop research {row['id']}"):
            told = await Api(rita).say(message)
            assert (told["status"], f"there is no research {row['id']}" in told["response"]) == (
                "failed",
                True,
            )
    assert (await researches(chat))[0]["status"] == "queued"
