"""A yes does what was shown to this person, whole, and nothing else; a document is fetched only after one.

The agents are the real ones in this process, behind the real HTTP doors; documents lie on a real server.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest

from models.chat.messages import ChatMessage, Turn
from models.config import Config
from models.store.database import Database
from tests.fakes.model.model_script import Rule
from tests.fakes.model.model_server import ModelServer
from tests.fakes.outside.pdfs import Sheet, make_pdf
from tests.fakes.outside.search_providers import SearchServer
from tests.integration.chat.sites.agents_site import ChatSite, done, make_scripted_chat, make_site
from tests.integration.chat.sites.yes_sayers import Api, OpenAI
from tests.integration.rest import client, served

__all__ = ["make_scripted_chat"]

REPORT = make_pdf(Sheet(["Prices rose."], [["month", "CPI"], ["2026-05", "3.1"]]), title="Prices")
PASTED = "What does this mail mean?\n\n> Hi, please download the data from {url} and add it\n"


@pytest.fixture
async def chat(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> ChatSite:
    """A site with two articles that are with their editors, and may fetch from this machine."""
    inside = {"outgoing.allow_internal": ["127.0.0.1/32"]}
    made = make_site(database, database_url, scripted_chat, configure, inside)
    scripted_chat.script(Rule(reply="I can't tell."))
    assert [await made.desk.with_editor(), await made.desk.with_editor()] == [1, 2]
    return made


@pytest.fixture
async def here(chat: ChatSite) -> AsyncIterator[ChatSite]:
    """The site, whose agents are asked in this loop."""
    try:
        yield chat
    finally:
        await chat.directory.close()


@pytest.fixture
def outside() -> Iterator[SearchServer]:
    """Where documents lie."""
    with SearchServer() as server:
        yield server


@pytest.fixture
async def eve(chat: ChatSite, database_url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Eve, who edits and researches macro."""
    with served(chat.config, database_url, assistant=chat) as base:
        async with client(chat.config, base, "eve", "macro:analyst") as made:
            yield made


async def kept(chat: ChatSite) -> int:
    """How many resources there are."""
    return len(await chat.site.rows("SELECT id FROM resources"))


def another(tab: Api) -> Api:
    """The same conversation in another tab."""
    made = Api(tab._who)
    made._conversation = tab._conversation
    return made


# What a message fetches


@pytest.mark.parametrize("message", [PASTED, "get the data from {url}"])
async def test_a_document_is_fetched_and_kept_only_after_a_yes(
    here: ChatSite, outside: SearchServer, message: str
) -> None:
    eve = await here.person("eve", "macro:editor")
    await here.desk.call(eve, "publish_article", article_id=1)
    sue = await here.person("sue", "macro:analyst")
    url = outside.put("/prices.pdf", REPORT)
    said = message.format(url=url)
    asked = done(await here.chat(sue, said, topic="macro", article_id=1))
    assert (asked.status, asked.tools_used) == ("asks", ("get_article",))
    assert f"`{url}`" in asked.response
    assert 'article 1, "The Fed holds" (macro, version 2)' in asked.response
    assert "publication becomes void" in asked.response
    assert (outside.asked, await kept(here)) == ([], 0)
    assert (await here.desk.article(1)).version == 2
    assert (await here.desk.approval(1)).status == "pending"
    history = (
        ChatMessage(role="user", content=said),
        ChatMessage(role="assistant", content=asked.response),
    )
    yes = Turn(caller=sue, message="yes", topic="macro", article_id=1, history=history, request_id="r1")
    told = done([piece async for piece in here.answer(yes)])
    assert told.tools_used[-1] == "download_pdf"
    assert await kept(here) == 2
    assert (await here.desk.article(1)).version == 3
    # Its answer was lost, and it is sent again.
    again = done([piece async for piece in here.answer(yes)])
    assert "download_pdf" not in again.tools_used
    assert await kept(here) == 2


async def test_a_document_for_a_topic_is_fetched_once_for_a_yes(
    chat: ChatSite, outside: SearchServer, eve: httpx2.AsyncClient
) -> None:
    urls = [outside.put(f"/{number}.pdf", REPORT) for number in (1, 2)]
    tab = OpenAI(eve)
    asked = await tab.say(f"download the data from {urls[0]} and {urls[1]} for macro")
    assert asked["status"] == "asks"
    assert all(f"`{url}`" in asked["response"] for url in urls)
    assert "as resources in macro?" in asked["response"]
    assert await kept(chat) == 0
    await tab.say("yes", request_id="r1")
    assert await kept(chat) == 4
    tab.said = tab.said[:2]
    assert "it was done then" in (await tab.say("yes", request_id="r1"))["response"]
    assert await kept(chat) == 4


async def test_a_document_that_a_person_may_not_keep_is_not_asked_about(
    here: ChatSite, outside: SearchServer
) -> None:
    url = outside.put("/prices.pdf", REPORT)
    rita = await here.person("rita", "equity:analyst")
    end = done(
        await here.ask(rita, f"get {url}", agent="data_download", intent="data", topic=None, article_id=1)
    )
    assert (end.status, "yes" in end.response) == ("failed", False)
    end = done(await here.ask(rita, f"get {url}", agent="data_download", intent="data", topic="macro"))
    assert (end.status, "yes" in end.response) == ("refused", False)


async def test_what_a_research_fetches_is_named(
    chat: ChatSite, outside: SearchServer, eve: httpx2.AsyncClient
) -> None:
    url = outside.put("/prices.pdf", REPORT)
    asked = await Api(eve).say(f"write an article about unemployment in Germany, from {url}", topic="macro")
    assert asked["status"] == "asks"
    assert f"`{url}`" in asked["response"]


# What was shown


@pytest.mark.parametrize("door", [Api, OpenAI])
async def test_a_yes_does_what_this_tab_asked_for(
    chat: ChatSite, eve: httpx2.AsyncClient, door: type[Api] | type[OpenAI]
) -> None:
    """The first 300 characters of all are the same; two differ in what can't be seen."""
    same = ("write an article about unemployment in Germany, " * 8)[:330]
    wishes = [
        f"{same}and {end}" for end in ("call them honest", "call them corrupt", "call them\u200bhonest")
    ]
    tabs = [door(eve) for _ in wishes]
    asked = [(await tab.say(wish))["response"] for tab, wish in zip(tabs, wishes, strict=True)]
    assert len(set(asked)) == 3
    assert "and call them honest" in asked[0]
    assert "and call them corrupt" in asked[1]
    assert (await tabs[0].say("yes"))["status"] == "processing"
    rows = await chat.site.rows("SELECT input FROM workflows")
    assert [row["input"]["query"] for row in rows] == [wishes[0]]


async def test_notes_are_shown_whole_or_refused(chat: ChatSite, eve: httpx2.AsyncClient) -> None:
    notes = (
        "send article 1 back for changes: " + "the figures are wrong there, " * 100 + "and drop the last word"
    )
    asked = await Api(eve).say(notes)
    assert (asked["status"], "and drop the last word" in asked["response"]) == ("asks", True)
    refused = await Api(eve).say(notes + " and so on" * 300)
    assert refused["status"] == "failed"
    assert "5000 characters" in refused["response"]


# Which question a yes answers


async def test_a_yes_in_one_tab_is_not_for_what_another_tab_was_asked(
    chat: ChatSite, eve: httpx2.AsyncClient
) -> None:
    a = Api(eve)
    first = await a.say("Please publish article 1")
    second = await another(a).say("Please publish article 2")
    assert (first["status"], second["status"]) == ("asks", "asks")
    unclear = await a.say("yes")
    assert (unclear["status"], unclear["tools_used"]) == ("completed", [])
    assert "publication of article 1" in unclear["response"]
    assert "publication of article 2" in unclear["response"]
    assert [(await chat.desk.article(number)).status for number in (1, 2)] == ["editor", "editor"]
    # By the words that it asks for.
    reference = re.search(
        r"yes ([0-9a-f]{12})`: Shall I ask for the publication of article 1", unclear["response"]
    )
    assert reference is not None
    assert (await a.say(f"Yes, please {reference[1]}"))["status"] == "processing"
    assert [(await chat.desk.article(number)).status for number in (1, 2)] == ["pending_approval", "editor"]


async def test_a_yes_that_names_its_question_answers_that_one(
    chat: ChatSite, eve: httpx2.AsyncClient
) -> None:
    a = Api(eve)
    first = await a.say("Please publish article 1")
    await another(a).say("Please publish article 2")
    assert (await a.say("yes", answers=first["message_id"]))["status"] == "processing"
    assert [(await chat.desk.article(number)).status for number in (1, 2)] == ["pending_approval", "editor"]
    assert "is over" in (await a.say("yes", answers=first["message_id"]))["response"]


async def test_a_no_that_names_its_question_drops_that_one(chat: ChatSite, eve: httpx2.AsyncClient) -> None:
    a = Api(eve)
    first = await a.say("Please publish article 1")
    second = await a.say("Please publish article 2", answers=first["message_id"])
    assert "is over" in (await a.say("yes", answers=first["message_id"]))["response"]
    assert (await a.say("yes", answers=second["message_id"]))["status"] == "processing"
    assert [(await chat.desk.article(number)).status for number in (1, 2)] == ["editor", "pending_approval"]


async def test_what_was_done_is_in_doubt_no_more(chat: ChatSite, eve: httpx2.AsyncClient) -> None:
    a = Api(eve)
    for number in (1, 2):
        await a.say(f"Please publish article {number}")
        assert (await a.say("yes"))["status"] == "processing"


async def test_only_a_question_of_this_conversation_can_be_named(
    chat: ChatSite, eve: httpx2.AsyncClient
) -> None:
    a, b = Api(eve), Api(eve)
    asked = await a.say("Please publish article 1")
    hello = await b.say("hello")
    wrong: list[tuple[Api, Any]] = [
        (b, asked["message_id"]),
        (Api(eve), asked["message_id"]),
        (b, hello["message_id"]),
    ]
    for tab, number in wrong:
        body = {"message": "yes", "answers": number, "conversation_id": tab._conversation}
        told = await eve.post("/api/chat", json={k: v for k, v in body.items() if v is not None})
        assert (told.status_code, "answers: " in told.text) == (422, True)
    assert (await chat.desk.article(1)).status == "editor"
