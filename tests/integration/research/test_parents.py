"""Researches below others: a parent is of the same topic, and one that the person may see."""

import asyncio
import threading

import pytest

from models.errors import InputInvalid, ResearchNotFound
from tests.fakes.outside.page_site import Answer, Hit, PageSite, article
from tests.integration.research.research_desk import QUESTION, ResearchDesk
from tests.integration.research.test_tree_tools import call, person

_READ = (
    "SELECT url, source_id FROM url_candidates WHERE research_id = %s AND source_id IS NOT NULL ORDER BY url"
)


async def test_a_parent_is_one_of_the_topic_that_the_person_may_see(desk: ResearchDesk) -> None:
    asked = {"user_query": QUESTION, "task_type": "research"}
    eve = person("eve", "equity:analyst")
    parent = (await call(desk, "start_research", eve, topic="equity", **asked)).workflow_id
    with pytest.raises(ResearchNotFound) as none:
        await call(desk, "start_research", topic="macro", parent_workflow_id=parent + 1, **asked)
    # To who may not see it, it does not exist.
    with pytest.raises(ResearchNotFound) as hidden:
        await call(desk, "start_research", topic="macro", parent_workflow_id=parent, **asked)
    assert str(hidden.value) == str(none.value).replace(str(parent + 1), str(parent))
    both = person("bob", "macro:analyst", "equity:analyst")
    with pytest.raises(InputInvalid, match=f"parent_workflow_id: {parent} is of the topic equity"):
        await call(desk, "start_research", both, topic="macro", parent_workflow_id=parent, **asked)
    await call(desk, "start_research", both, topic="equity", parent_workflow_id=parent, **asked)
    rows = await desk.rows("SELECT requested_by, parent_id FROM agent_workflows ORDER BY id")
    assert [(row["requested_by"], row["parent_id"]) for row in rows] == [("eve", None), ("bob", parent)]


async def test_what_was_read_before_it_was_stopped_is_kept_and_not_fetched_again(
    desk: ResearchDesk, site: PageSite
) -> None:
    stopped = threading.Event()

    def held(hit: Hit) -> Answer:
        assert stopped.wait(60)
        return article("Wheel", f"The wheel of {hit.path} turns in winter. " * 20)

    site.pages |= dict.fromkeys(("/wheel/2", "/wheel/3"), held)
    for path in ("/wheel/0", "/wheel/1"):
        site.pages[path] = article("Wheel", f"The wheel of {path} turns in winter. " * 20)
    urls = [f"{site.origin}/wheel/{n}" for n in range(4)]
    asked = {"task_type": "scrape", "urls": urls}
    async with desk.running():
        first = await desk.start(**asked)
        await desk.approve(await desk.gate(first))
        async with asyncio.timeout(60):
            while len(read := await desk.rows(_READ, first.id)) < 2:  # noqa: ASYNC110  # asked of Postgres
                await asyncio.sleep(0.02)
        await call(desk, "stop_research", workflow_id=first.id, reason="enough")
        stopped.set()
    async with desk.running():
        again = await desk.start(
            **asked, parent_workflow_id=first.id, config={"language": "any", "require_approval": False}
        )
        assert (await desk.ended(again)).status == "succeeded"
    assert [row["url"] for row in read] == urls[:2]
    assert await desk.rows(_READ, first.id) == read
    assert len(await desk.rows(_READ, again.id)) == 4
    assert [site.asked(f"/wheel/{n}") for n in range(4)] in ([1, 1, 1, 1], [1, 1, 2, 1])
