"""Asking for a research: the tool, its doors, and the analyst in a chat. No runner: it only begins."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from actors.systems.chat.agents.analyst import Analyst
from models.chat.messages import Done, Intent, Piece, Route, Said, Turn
from models.config import Config
from models.errors import ArticleConflict, ArticleNotFound, InputInvalid, PermissionMissing, RequestConflict
from models.people.users import UserContext
from models.store.database import Database
from models.store.runtime import workflows
from tests.integration.conftest import ROOT
from tests.integration.drafting.research_site import QUERY, Site, configured
from tests.integration.editorial.desk import Desk
from tests.integration.rest import client, served

Configure = Callable[..., Config]


@pytest.fixture
async def site(database: Database, configure: Configure) -> Any:
    """A site whose model is never asked."""
    return Site(Desk(database, configure(configured("http://127.0.0.1:9/v1"))))


async def test_a_request_is_a_queued_workflow_of_its_requester(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst")
    answer = await site.desk.call(ann, "research_article", topic="macro", query=f" {QUERY} ")
    assert (answer.status, answer.topic) == ("processing", "macro")
    workflow = await site.workflow(answer.task_id)
    assert (workflow.kind, workflow.status, workflow.requested_by) == ("research_article", "queued", "ann")
    assert workflow.input == {"topic": "macro", "query": QUERY, "article_id": None, "tonality": None}
    assert workflow.permission is not None
    assert (workflow.permission.role, workflow.permission.topic) == ("analyst", "macro")


async def test_the_same_request_again_is_the_same_task_even_after_its_end(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst")
    made = await site.desk.call(ann, "create_draft_article", topic="macro", headline="Mine")
    more = {"request_id": "r1", "article_id": made.article_id}
    first = await site.ask(ann, **more)
    assert await site.ask(ann, **more) == first
    async with site.desk.database.transaction() as connection:
        await workflows.cancel(connection, first, reason="enough")
    await site.desk.call(ann, "write_article_content", article_id=made.article_id, content="Words.")
    await site.desk.call(ann, "submit_for_review", article_id=made.article_id)
    assert await site.ask(ann, **more) == first
    assert await site.ask(ann, request_id="r2") != first
    assert await site.count("workflows") == 2


async def test_the_same_request_at_once_is_one_task(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst")
    asked = await asyncio.gather(*(site.ask(ann, request_id="r1") for _ in range(6)))
    assert len(set(asked)) == 1
    assert await site.count("workflows") == 1


async def test_a_request_id_is_of_one_person_and_of_one_request(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst", "equity:analyst")
    first = await site.ask(ann, request_id="r1")
    for other in ({"query": "Else?"}, {"topic": "equity"}):
        with pytest.raises(RequestConflict, match="'r1' was used for another research"):
            await site.ask(ann, **{"request_id": "r1", **other})
    assert await site.ask(await site.desk.person("bob", "macro:analyst"), request_id="r1") != first
    # Names that would run into each other if they were only strung together.
    odd = await site.desk.person('ann", "r1', "macro:analyst")
    assert await site.ask(odd, request_id="r2") != await site.ask(ann, request_id='r1", "r2')


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": " "},
        {"query": "x" * 2001},
        {"topic": "nowhere"},
        {"query": "a\x00b"},
        {"more": 1},
        {"request_id": ""},
    ],
)
async def test_what_can_t_be_asked_is_refused(site: Site, wrong: dict[str, Any]) -> None:
    ann = await site.desk.person("ann", "global:analyst")
    with pytest.raises(InputInvalid):
        await site.ask(ann, **wrong)
    assert await site.count("workflows") == 0


async def test_it_takes_an_analyst_of_the_topic_and_a_draft_of_it(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst", "equity:analyst")
    for scope in ("macro:editor", "equity:analyst"):
        with pytest.raises(PermissionMissing):
            await site.ask(await site.desk.person("eve", scope))
    equity = await site.desk.call(ann, "create_draft_article", topic="equity", headline="Shares")
    with pytest.raises(InputInvalid, match="is in 'equity', not in 'macro'"):
        await site.ask(ann, article_id=equity.article_id)
    with pytest.raises(ArticleNotFound):
        await site.ask(await site.desk.person("bob", "macro:analyst"), article_id=equity.article_id)
    submitted = await site.desk.with_editor()
    with pytest.raises(ArticleConflict, match="only a draft"):
        await site.ask(ann, article_id=submitted)
    assert await site.count("workflows") == 0


async def test_it_is_a_rest_endpoint(database_url: str, configure: Configure) -> None:
    config = configure()
    body = {"topic": "macro", "query": QUERY, "request_id": "r1"}
    with served(config, database_url) as base:
        async with client(config, base, "ann", "macro:analyst") as ann:
            answer = await ann.post("/api/tools/research/article", json=body)
            assert answer.status_code == 200, answer.text
            again = await ann.post("/api/tools/research/article", json=body)
            assert answer.json() == again.json()
            assert answer.json()["status"] == "processing"
            tools = {tool["name"]: tool for tool in (await ann.get("/api/tools")).json()}
            assert tools["research_article"]["path"] == "/api/tools/research/article"
        async with client(config, base, "eve", "macro:editor") as eve:
            assert (await eve.post("/api/tools/research/article", json=body)).status_code == 403


async def answered(
    site: Site, who: UserContext, message: str, intent: Intent, topic: str | None = "macro", **more: Any
) -> list[Piece]:
    """What the analyst answers."""
    prompts = {file.stem: file.read_text() for file in (ROOT / "configs/prompts/chat").glob("*.md")}
    directory: Any = site
    analyst = Analyst(config=site.desk.config, directory=directory, prompts=prompts)
    route = Route(intent=intent, agent_type="analyst", topic=topic, reason="", score=1, by="example")
    turn = Turn(caller=who, message=message, topic=topic, **more)
    try:
        return [piece async for batch in analyst.stream_answer(turn, route) for piece in batch]  # type: ignore[misc]
    finally:
        await analyst._context.tools.close()


def done(pieces: list[Piece]) -> Done:
    """The last piece, whose text is that of the pieces before it."""
    last = pieces[-1]
    assert isinstance(last, Done)
    assert last.response == "".join(piece.text for piece in pieces if isinstance(piece, Said))
    return last


async def test_what_is_asked_for_in_a_chat_is_only_proposed(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst")
    end = done(await answered(site, ann, QUERY, "research", request_id="r1"))
    assert (end.status, end.agent_type, end.tools_used, end.task_id) == ("asks", "analyst", (), None)
    asked = (
        f"Shall I begin a research in macro and write a new draft from it, on these words of yours: "
        f'"{QUERY}"? Answer yes and I do it; anything else drops it.'
    )
    assert re.fullmatch(re.escape(asked) + r" \(Question [0-9a-f]{12}\)", end.response)
    assert await site.count("workflows") == 0


async def test_without_a_topic_it_asks_which(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst", "esg:analyst", "equity:editor")
    end = done(await answered(site, ann, "write about it", "research", topic=None))
    assert (end.status, end.task_id) == ("completed", None)
    assert "esg, macro." in end.response
    assert "equity" not in end.response
    eve = await site.desk.person("eve", "macro:editor")
    end = done(await answered(site, eve, "write about it", "research", topic=None))
    assert end.status == "refused"
    assert "role analyst" in end.response
    assert await site.count("workflows") == 0


async def test_what_the_tool_refuses_is_told(site: Site) -> None:
    eve = await site.desk.person("eve", "macro:editor", "esg:analyst")
    pieces = await answered(site, eve, QUERY, "research")
    assert done(pieces).status == "refused"
    assert "macro:analyst" in done(pieces).response
    ann = await site.desk.person("ann", "macro:analyst")
    end = done(await answered(site, ann, "x" * 2001, "research"))
    assert end.status == "failed"
    assert "2000" in end.response


async def test_a_draft_is_submitted_by_its_number_in_the_person_s_own_words(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst")
    made = await site.desk.call(ann, "create_draft_article", topic="macro", headline="Mine")
    await site.desk.call(ann, "write_article_content", article_id=made.article_id, content="Words.")
    for message, wanted in (
        ("submit it", "Which article"),
        ("submit articles 1 and 2", "several articles: 1, 2"),
    ):
        end = done(await answered(site, ann, message, "submit"))
        assert wanted in end.response
        assert end.tools_used == ()
    assert (await site.desk.article(made.article_id)).status == "draft"
    pieces = await answered(site, ann, f"please submit article {made.article_id}", "submit")
    assert done(pieces).status == "asks"
    assert done(pieces).response.startswith(
        f'Shall I hand article {made.article_id}, "Mine" (macro, version 2), to'
    )
    assert (await site.desk.article(made.article_id)).status == "draft"
    await site.desk.call(ann, "submit_for_review", article_id=made.article_id)
    end = done(await answered(site, ann, "submit it", "submit", article_id=made.article_id))
    assert end.status == "failed"
    assert "only one in status draft can be submitted for review; it is with the editors" in end.response
