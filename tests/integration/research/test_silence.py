"""Silence at the gates of a research is no yes, and neither is what somebody made of what they show."""

import pytest

from models.config import Config
from models.errors import WorkflowConflict
from models.runtime.approvals import Approval
from models.store.database import Database
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.research_desk import ResearchDesk, under
from tests.integration.research.test_tree_tools import call

EXPIRE = "UPDATE approvals SET expires_at = now() WHERE id = %s RETURNING id"


@pytest.fixture
def strict(config: Config, database: Database) -> ResearchDesk:
    """A desk of a site where somebody else decides."""
    return ResearchDesk(under(config, four_eyes=True), database)


async def end(desk: ResearchDesk, approval: Approval, how: str) -> None:
    """Have somebody else say no, or let its time pass."""
    if how == "rejected":
        await desk.reject(approval, by="carl")
    else:
        await desk.rows(EXPIRE, approval.id)


async def test_a_list_that_nobody_decides_on_in_time_lets_no_page_in(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start()
        await end(desk, await desk.gate(research), "expired")
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert done.result is not None
    assert (done.result["outcome"], done.result["ended_at"]) == ("expired", "urls")
    assert site.hits == []
    urls = await desk.rows("SELECT DISTINCT user_approval, decided_by FROM url_candidates")
    assert urls == [{"user_approval": "rejected", "decided_by": None}]


async def test_a_tree_that_nobody_decides_on_in_time_is_not_kept(desk: ResearchDesk, site: PageSite) -> None:
    async with desk.running():
        research = await desk.start(
            task_type="full_pipeline", urls=[f"{site.origin}/mill"], config={"max_urls": 1, "language": "any"}
        )
        await desk.approve(await desk.gate(research))
        tree = await desk.gate(research)
        assert tree.kind == "research_tree"
        await end(desk, tree, "expired")
        done = await desk.ended(research)
    assert done.result is not None
    assert (done.result["outcome"], done.result["ended_at"]) == ("expired", "tree")
    assert (done.result["tree_id"], done.result["sentences"]) == (None, 0)
    assert await desk.rows("SELECT 1 FROM knowledge_trees") == []


@pytest.mark.parametrize("how", ["rejected", "expired"])
async def test_a_list_that_somebody_changed_lets_no_page_in_without_another_s_yes(
    strict: ResearchDesk, site: PageSite, how: str
) -> None:
    async with strict.running():
        research = await strict.start()
        urls = await strict.gate(research)
        alone = [url for url in urls.content["urls"] if url["url"].endswith("/mill")]
        await end(strict, await strict.amend(urls, urls.content | {"urls": alone}, by="bob"), how)
        done = await strict.ended(research)
    assert (done.result or {})["outcome"] == how
    assert site.hits == []


@pytest.mark.parametrize("how", ["rejected", "expired"])
async def test_what_was_given_in_place_of_pages_is_not_read_without_another_s_yes(
    strict: ResearchDesk, site: PageSite, how: str
) -> None:
    async with strict.running():
        urls = [f"{site.origin}/mill", f"{site.origin}/login", f"{site.origin}/gone"]
        research = await strict.start(task_type="scrape", urls=urls)
        await strict.approve(await strict.gate(research), by="bob")
        blocked = await strict.gate(research)
        login, gone = (one["number"] for one in blocked.content["unreadable"])
        instead = [
            {"number": login, "url": f"{site.origin}/ice", "pasted": None},
            {"number": gone, "url": None, "pasted": {"text": "It is cold. " * 20, "title": "Ice"}},
        ]
        given = await strict.amend(blocked, blocked.content | {"instead": instead}, by="bob")
        assert given.status == "pending"
        await end(strict, given, how)
        done = await strict.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert (done.result or {})["pages"] == 1
    assert site.asked("/ice") == 0
    assert await strict.rows("SELECT url FROM sources WHERE text IS NOT NULL") == [
        {"url": f"{site.origin}/mill"}
    ]


@pytest.mark.parametrize("how", ["rejected", "expired"])
async def test_a_result_that_nobody_said_yes_to_becomes_no_article(
    desk: ResearchDesk, site: PageSite, how: str
) -> None:
    async with desk.running():
        research = await desk.start(
            task_type="full_pipeline", urls=[f"{site.origin}/mill"], config={"max_urls": 1, "language": "any"}
        )
        await desk.approve(await desk.gate(research))
        await desk.approve(await desk.gate(research))
        result = await desk.gate(research)
        assert result.kind == "research_result"
        await end(desk, result, how)
        await desk.ended(research)
    with pytest.raises(WorkflowConflict, match=f"ended with {how}"):
        await call(desk, "write_article_from_research", workflow_id=research.id)
    assert await desk.rows("SELECT 1 FROM articles") == []
