"""A research as people follow it: each figure at each moment, and all that was said and done."""

import functools
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from actors.platform.runtime.run import Run
from models.research.agent_workflows import AgentWorkflow, ResearchStatusResponse
from models.research.following import ResearchList, ResearchResults
from models.runtime.approvals import Approval
from models.store.research import overviews
from models.store.runtime import workflows
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.mill_knowledge import ask, make_desk, make_site, only, status
from tests.integration.research.research_desk import ResearchDesk

__all__ = ["make_desk", "make_site"]  # the fixtures


async def results(desk: ResearchDesk, research: AgentWorkflow) -> ResearchResults:
    """What it has come to."""
    found: ResearchResults = await ask(desk, lambda c: overviews.results(c, research))
    return found


async def researches(desk: ResearchDesk) -> ResearchList:
    """All of macro."""
    narrowed = dict.fromkeys(("requested_by", "status", "project_id", "parent_workflow_id", "before"))
    found: ResearchList = await ask(
        desk, lambda c: overviews.recent(c, topics=["macro"], limit=9, **narrowed)
    )
    return found


def figures(found: ResearchStatusResponse) -> tuple[Any, ...]:
    """All that is counted."""
    steps, results = found.progress, found.results
    assert results is not None
    return (
        (steps.completed_steps, steps.total_steps, steps.percentage),
        (steps.urls_done, steps.urls_approved, results.urls_discovered, results.urls_scraped),
        (results.knowledge_points, results.relationships, results.knowledge_tree_id),
    )


@pytest.fixture
def after_each_step(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], Awaitable[None]]]:
    """What is done whenever a step of a research is kept."""
    effect = Run.effect
    looks: list[Callable[[], Awaitable[None]]] = []

    async def look(self: Run, key: str, type_: Any, act: Any) -> Any:
        made = await effect(self, key, type_, act)
        for each in looks:
            await each()
        return made

    monkeypatch.setattr(Run, "effect", look)
    return looks


async def test_how_far_it_is_at_each_gate_and_all_that_it_did_until_its_end(
    desk: ResearchDesk, site: PageSite, after_each_step: list[Callable[[], Awaitable[None]]]
) -> None:
    research = await desk.start(task_type="full_pipeline")
    begun = await status(desk, research)
    assert (begun.status, begun.current_step, begun.current_agent) == (
        "pending",
        "classify_intent",
        "researcher",
    )
    assert figures(begun) == ((0, 0, 0), (0, 0, 0, 0), (0, 0, None))
    assert (begun.agent_reasoning, begun.approval, begun.updated_at) == (None, None, research.created_at)
    seen, steps, said, used = [begun], [], [], []

    async def look() -> None:
        seen.append(await status(desk, research))
        steps.append(seen[-1].current_step)
        whole = await ask(desk, lambda c: overviews.messages(c, research.id, after=0, limit=99))
        said.append([one.id for one in whole.messages])
        whole = await ask(desk, lambda c: overviews.tool_uses(c, research.id, after=0, limit=99))
        used.append([one.id for one in whole.tools])

    after_each_step.append(look)
    async with desk.running():
        urls = await desk.gate(research)
        at_urls = await status(desk, research)
        unseen = await status(desk, research, "bob", "other:admin")
        asker = await status(desk, research, "ann", "macro:editor")
        await desk.amend(urls, only(urls.content, "/mill", "/ice", "/login"))
        unreadable = await desk.gate(research)
        at_unreadable = await status(desk, research)
        await desk.approve(unreadable)
        tree = await desk.gate(research)
        at_tree = await status(desk, research)
        await desk.approve(tree)
        result = await desk.gate(research)
        at_result, unapproved = await status(desk, research), await results(desk, research)
        await desk.approve(result)
        assert (await desk.ended(research)).status == "succeeded"
    ended = await status(desk, research)
    [kept] = await desk.rows("SELECT id FROM knowledge_trees")
    assert figures(at_urls) == ((2, 10, 20.0), (0, 0, 4, 0), (0, 0, None))
    assert figures(at_unreadable) == ((4, 10, 40.0), (3, 3, 4, 2), (0, 0, None))
    assert figures(at_tree) == ((6, 10, 60.0), (3, 3, 4, 2), (5, 1, None))
    assert figures(at_result) == ((9, 10, 90.0), (3, 3, 4, 2), (5, 1, kept["id"]))
    assert figures(ended) == ((10, 10, 100.0), (3, 3, 4, 2), (5, 1, kept["id"]))
    gates = (at_urls, at_unreadable, at_tree, at_result, ended)
    assert [found.current_step for found in gates] == [
        "await_user_review",
        "await_unreadable_review",
        "await_category_review",
        "await_final_review",
        "await_final_review",
    ]
    assert {(found.status, found.current_agent) for found in gates[:4]} == {("awaiting_approval", None)}
    assert at_tree.progress.current_operation == "It waits for a person to look at the categories."
    assert (ended.status, ended.progress.current_operation) == ("completed", "It is done.")
    assert at_urls.approval is not None
    assert (at_urls.approval.approval_id, at_urls.approval.digest) == (urls.id, urls.digest)
    assert (at_urls.approval.content, at_urls.approval.may_decide) == (urls.content, True)
    assert (unseen.approval, unseen.status) == (None, "awaiting_approval")
    assert asker.approval == at_urls.approval.model_copy(update={"may_decide": False})
    assert (ended.approval, ended.waits_for, ended.error) == (None, None, None)
    # At each step that was kept: the percentage, and the last time that anything changed, only rise.
    seen += [ended]
    assert [one.progress.percentage for one in seen] == sorted(one.progress.percentage for one in seen)
    assert {one.progress.percentage for one in seen} >= {0, 20, 30, 40, 50, 60, 80, 90, 100}
    assert [one.progress.percentage for one in seen].count(100) == 1
    assert [one.updated_at for one in seen] == sorted(one.updated_at for one in seen)
    assert [one.progress.urls_done for one in seen] == sorted(one.progress.urls_done for one in seen)
    assert {1, 2} < {one.progress.urls_done for one in seen}
    assert "It reads the approved pages: 1 of 3 done." in {one.progress.current_operation for one in seen}
    assert [*dict.fromkeys(steps)] == [
        "classify_intent",
        "discover_urls",
        "await_user_review",
        "scrape_urls",
        "await_unreadable_review",
        "extract_knowledge",
        "await_category_review",
        "synthesize_results",
        "await_final_review",
    ]
    assert (unapproved.approved, unapproved.result, unapproved.status) == (None, None, "awaiting_approval")
    # What was seen of messages and tools before is the beginning of what is seen later.
    for lists in (said, used):
        assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(lists))
    await check_said_and_used(desk, site, research, ended)
    await check_results(desk, site, research, urls)


async def check_said_and_used(
    desk: ResearchDesk, site: PageSite, research: AgentWorkflow, ended: ResearchStatusResponse
) -> None:
    """Messages and tools are complete, in their order, and the same in pages of one."""
    whole = await ask(desk, lambda c: overviews.messages(c, research.id, after=0, limit=7))
    assert [one.step for one in whole.messages] == [
        "classify_intent",
        "create_plan",
        "discover_urls",
        "scrape_urls",
        "extract_knowledge",
        "build_tree",
        "synthesize_results",
    ]
    assert ended.agent_reasoning is not None
    assert ended.agent_reasoning.message == whole.messages[-1].content
    assert ended.agent_reasoning.timestamp == whole.messages[-1].created_at
    assert "/login: login" in whole.messages[3].reasoning
    assert await in_ones(desk, overviews.messages, research, "messages") == whole.messages
    tools = await ask(desk, lambda c: overviews.tool_uses(c, research.id, after=0, limit=4))
    assert [one.tool_name for one in tools.tools] == ["search_web", *["scrape_urls"] * 3]
    assert {one.input["url"].removeprefix(site.origin): one.status for one in tools.tools[1:]} == {
        "/mill": "ok",
        "/ice": "ok",
        "/login": "failed",
    }
    assert (whole.next_after, tools.next_after) == (None, None)
    assert await in_ones(desk, overviews.tool_uses, research, "tools") == tools.tools


async def in_ones(desk: ResearchDesk, pages: Any, research: AgentWorkflow, name: str) -> tuple[Any, ...]:
    """All of a list, read in pages of one."""
    found: list[Any] = []
    more = True
    while more:
        after = found[-1].id if found else 0
        page = await ask(desk, functools.partial(pages, research_id=research.id, after=after, limit=1))
        [one] = getattr(page, name)
        found.append(one)
        more = page.next_after is not None
        assert page.next_after in (None, one.id)
        assert one.id > after
    return tuple(found)


async def check_results(desk: ResearchDesk, site: PageSite, research: AgentWorkflow, urls: Approval) -> None:
    """Each address with what came of it, the tree, and the sentences."""
    found = await results(desk, research)
    assert (found.status, found.approved) == ("completed", True)
    assert found.result is not None
    assert (found.result.outcome, found.result.pages, found.result.points) == ("done", 2, 5)
    assert [one.number for one in found.urls] == [1, 2, 3, 4]
    assert {
        one.url.removeprefix(site.origin): (one.user_approval, one.source_id is not None, one.fault)
        for one in found.urls
    } == {
        "/mill": ("approved", True, None),
        "/ice": ("approved", True, None),
        "/login": ("approved", False, "login"),
        "/secret": ("rejected", False, None),
    }
    assert {(one.decided_by, one.approval_id, one.instead_of) for one in found.urls} == {
        ("ann", urls.id, None)
    }
    assert found.tree is not None
    assert (found.tree.id, found.tree.metadata.points) == (found.result.tree_id, 5)
    assert [one.number for one in found.sentences] == [*range(1, found.result.sentences + 1)]
    assert found.counts.all == len(found.sentences) >= 2
    assert found.counts.kept == sum(one.outcome == "kept" for one in found.sentences)


async def test_a_result_that_is_rejected_has_ended_and_was_not_approved(desk: ResearchDesk) -> None:
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        urls = await desk.gate(research)
        await desk.amend(urls, only(urls.content, "/mill"))
        await desk.approve(await desk.gate(research))
        await desk.reject(await desk.gate(research))
        await desk.ended(research)
    ended, found = await status(desk, research), await results(desk, research)
    assert (ended.status, ended.current_step, ended.progress.percentage) == (
        "completed",
        "await_final_review",
        100,
    )
    why = "rejected by ann: not these"
    assert (ended.outcome, ended.reason, found.reason) == ("rejected", why, why)
    assert ended.progress.current_operation == f"It has ended: {why}."
    [listed] = (await researches(desk)).workflows
    assert (listed.outcome, listed.reason) == ("rejected", why)
    assert (found.approved, found.counts.all) == (False, len(found.sentences))


async def test_without_a_gate_that_was_planned_it_is_at_what_comes_after_that(
    desk: ResearchDesk, after_each_step: list[Callable[[], Awaitable[None]]]
) -> None:
    research = await desk.start(task_type="full_pipeline")
    steps: list[str] = []

    async def look() -> None:
        steps.append((await status(desk, research)).current_step)

    after_each_step.append(look)
    async with desk.running():
        urls = await desk.gate(research)
        config = urls.content["config"] | {"require_approval": False}
        await desk.amend(urls, only(urls.content, "/mill") | {"config": config})
        assert (await desk.ended(research)).status == "succeeded"
    ended, found = await status(desk, research), await results(desk, research)
    assert steps[-2:] == ["synthesize_results", "synthesize_results"]
    assert "await_category_review" not in steps
    assert figures(ended)[0] == (7, 10, 100)
    assert found.approved is None
    for step in ("build_tree", "synthesize_results"):
        learnt = await ask(desk, lambda c, step=step: overviews.estimate(c, [step]))
        assert learnt is not None
        assert learnt > 0


async def test_one_that_waits_failed_or_was_stopped_says_so(desk: ResearchDesk, site: PageSite) -> None:
    research = await desk.start()
    park = "UPDATE workflows SET status = %s, parked_for = 'the model' WHERE id = %s"
    async with desk.database.connection() as connection:
        await connection.execute(park, ("parked", research.workflow_id))
        parked = await status(desk, research)
        await connection.execute(park, ("running", research.workflow_id))
        running = await status(desk, research)
        await workflows.cancel(connection, research.workflow_id, reason="enough (ann)")
    stopped = await status(desk, research)
    assert (parked.status, parked.waits_for) == ("parked", "the model")
    assert parked.progress.current_operation == "It waits for the model."
    assert (running.status, running.waits_for) == ("in_progress", None)
    assert running.progress.current_operation == "It tells what is asked for."
    assert (stopped.status, stopped.error, stopped.progress.percentage) == ("stopped", "enough (ann)", 0)
    assert stopped.progress.current_operation == "It was stopped: enough (ann)."
    assert stopped.reason == (await results(desk, research)).reason == "enough (ann)"
    [listed] = (await researches(desk)).workflows
    assert (listed.status, listed.reason) == ("stopped", "enough (ann)")
    async with desk.running():
        research = await desk.start()
        urls = await desk.gate(research)
        [mill] = only(urls.content, "/mill")["urls"]
        await desk.amend(urls, urls.content | {"urls": [mill | {"url": f"{site.origin}/elsewhere"}]})
        await desk.ended(research)
    failed = await status(desk, research)
    assert (failed.status, failed.current_step, failed.approval) == ("failed", "await_user_review", None)
    assert (failed.progress.percentage, failed.progress.estimated_minutes_left) == (25, None)
    assert "is another address here" in (failed.error or "")
    assert failed.reason == failed.error
