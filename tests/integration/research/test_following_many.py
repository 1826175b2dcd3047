"""Researches beside each other: how long their steps take is learnt, and the newest come first."""

from typing import Any

import pytest

from models.research.agent_workflows import AgentWorkflow, Step
from models.research.following import ResearchList
from models.store.research import durations, overviews
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.mill_knowledge import ask, make_desk, make_site, only, status
from tests.integration.research.research_desk import ResearchDesk

__all__ = ["make_desk", "make_site"]  # the fixtures

STEPS: tuple[Step, ...] = (
    "create_plan",
    "discover_urls",
    "await_user_review",
    "scrape_urls",
    "extract_knowledge",
    "build_tree",
    "synthesize_results",
)


async def take(desk: ResearchDesk, research: AgentWorkflow, *, lays_out: float, **seconds: float) -> None:
    """As if its steps had taken so long; a tree is laid out before its gate, while that is under way."""
    async with desk.database.connection() as connection:
        for step, took in seconds.items():
            await connection.execute(
                """UPDATE research_tasks t SET started_at = completed_at - make_interval(secs => %s)
                   WHERE research_id = %s AND step = %s""",
                (took, research.id, step),
            )
        await connection.execute(
            """UPDATE research_tasks t SET started_at = a.created_at - make_interval(secs => %s)
               FROM approvals a WHERE a.workflow_id = %s AND a.gate = 'tree'
                 AND t.research_id = %s AND t.step = 'await_category_review'""",
            (lays_out, research.workflow_id, research.id),
        )


async def test_how_long_it_takes_is_learnt_from_those_that_ended_well(
    desk: ResearchDesk, site: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def estimated() -> float | None:
        found: float | None = await ask(desk, lambda c: overviews.estimate(c, STEPS))
        return found

    async def left(research: AgentWorkflow) -> float | None:
        return (await status(desk, research)).progress.estimated_minutes_left

    async with desk.running():
        first = await desk.start(task_type="full_pipeline")
        urls = await desk.gate(first)
        assert (await estimated(), await left(first)) == (None, None)
        await desk.amend(urls, only(urls.content, "/mill", "/ice"))
        await desk.approve(await desk.gate(first))
        await desk.approve(await desk.gate(first))
        await desk.ended(first)
        took = {"discover_urls": 60, "scrape_urls": 120, "extract_knowledge": 180}
        await take(desk, first, **took, lays_out=240, synthesize_results=300)
        assert (await estimated(), await left(first)) == (15, None)
        second = await desk.start(task_type="full_pipeline")
        urls = await desk.gate(second)
        # A minute for each of the four addresses that may be read, and all that comes after them.
        assert await left(second) == 4 + 3 + 4 + 5
        await desk.amend(urls, only(urls.content, "/mill", "/login"))
        unreadable = await desk.gate(second)
        assert await left(second) == 3 + 4 + 5
        [one] = unreadable.content["unreadable"]
        instead = [{"number": one["number"], "url": f"{site.origin}/ice", "pasted": None}]
        await desk.amend(unreadable, unreadable.content | {"instead": instead})
        tree = await desk.gate(second)
        assert await left(second) == 5
        await desk.approve(tree)
        result = await desk.gate(second)
        assert await left(second) == 0
        await desk.approve(result)
        await desk.ended(second)
    third = await desk.start(task_type="full_pipeline")
    assert await left(third) is None
    # What people take does not count; of two, the median is the mean.
    took = {"discover_urls": 60, "scrape_urls": 240, "await_user_review": 9000, "await_final_review": 9000}
    await take(desk, second, **took, extract_knowledge=180, lays_out=240, synthesize_results=420)
    assert await estimated() == 1 + 3 + 3 + 4 + 6
    monkeypatch.setattr(durations, "_LATEST", 1)
    assert await estimated() == 1 + 4 + 3 + 4 + 7
    # What was given in place of a page that had been tried was not read in that step.
    assert (await ask(desk, durations.learnt))["scrape_urls"].per_url == 120


async def test_the_newest_come_first_and_only_those_that_are_asked_for(desk: ResearchDesk) -> None:
    async def recent(**of: Any) -> ResearchList:
        every = dict.fromkeys(("requested_by", "status", "project_id", "parent_workflow_id", "before")) | {
            "limit": 9
        }
        found: ResearchList = await ask(
            desk, lambda c: overviews.recent(c, **({"topics": ["macro"]} | every | of))
        )
        return found

    async def numbers(**of: Any) -> list[int]:
        return [one.id for one in (await recent(**of)).workflows]

    async with desk.running():
        first = await desk.start()
        await desk.gate(first)
    second = await desk.start("bob", parent_workflow_id=first.id)
    third = await desk.start()
    assert await numbers() == [third.id, second.id, first.id]
    assert await numbers(requested_by="ann") == [third.id, first.id]
    assert await numbers(status="awaiting_approval") == [first.id]
    assert await numbers(status="pending", before=third.id) == [second.id]
    assert await numbers(project_id=first.project_id) == [third.id, second.id, first.id]
    assert await numbers(project_id=first.project_id + 1) == await numbers(topics=["fx"]) == []
    assert (await numbers(parent_workflow_id=first.id), await numbers(parent_workflow_id=third.id)) == (
        [second.id],
        [],
    )
    page = await recent(limit=2)
    assert ([one.id for one in page.workflows], page.next_before) == ([third.id, second.id], second.id)
    last = await recent(limit=1, before=second.id)
    assert ([one.id for one in last.workflows], last.next_before) == ([first.id], None)
    [waiting] = last.workflows
    assert (waiting.waits_for_decision, waiting.status, waiting.task_type) == (
        True,
        "awaiting_approval",
        "research",
    )
    assert waiting.updated_at == (await status(desk, first)).updated_at > waiting.created_at
    newer = page.workflows[1]
    assert (newer.requested_by, newer.parent_workflow_id, newer.waits_for_decision) == (
        "bob",
        first.id,
        False,
    )
