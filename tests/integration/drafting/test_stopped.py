"""What happens while a research is under way: its draft is changed, its scope taken away, it is stopped."""

import asyncio
from collections.abc import Callable

from models.config import Config
from models.store.people import users
from models.store.runtime import workflows
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.drafting.research_site import TWO_STATEMENTS, Site

Configure = Callable[..., Config]


async def test_what_a_person_writes_meanwhile_stays(site: Site, model: ModelServer) -> None:
    model.script(Rule(kind="DraftReply", hold=True, reply=TWO_STATEMENTS.reply))
    ann = await site.desk.person("ann", "macro:analyst")
    async with site.running():
        task_id = await site.ask(ann)
        await model.await_calls(1, "DraftReply", state="held")
        async with site.desk.database.connection() as connection:
            cursor = await connection.execute("SELECT id FROM articles")
            [row] = await cursor.fetchall()
        await site.desk.call(ann, "write_article_content", article_id=row["id"], content="My own words.")
        model.release()
        workflow = await site.ended(task_id)
    assert workflow.status == "failed"
    assert workflow.error == (
        f"article {row['id']} was changed while its research was under way: it stays as it is, with the "
        "resources that were found"
    )
    version = await site.version(row["id"])
    assert version.content == "My own words."
    assert len(version.resources) == 2
    [told] = await site.notifications(task_id)
    assert (told.data["outcome"], told.data["reason"]) == ("failed", workflow.error)


async def test_a_draft_that_was_submitted_meanwhile_is_not_written(site: Site, model: ModelServer) -> None:
    model.script(Rule(kind="DraftReply", hold=True, reply=TWO_STATEMENTS.reply))
    ann = await site.desk.person("ann", "macro:analyst")
    made = await site.desk.call(ann, "create_draft_article", topic="macro", headline="Mine")
    await site.desk.call(ann, "write_article_content", article_id=made.article_id, content="My own words.")
    async with site.running():
        task_id = await site.ask(ann, article_id=made.article_id)
        await model.await_calls(1, "DraftReply", state="held")
        await site.desk.call(ann, "submit_for_review", article_id=made.article_id)
        model.release()
        workflow = await site.ended(task_id)
    assert workflow.error is not None
    assert "is editor in macro" in workflow.error
    assert (await site.version(made.article_id)).content == "My own words."


async def take_away(site: Site) -> None:
    """Ann's scope."""
    async with site.desk.database.transaction() as connection:
        await users.revoke(connection, "ann", "macro:analyst", reason="left", revoked_by="root")


async def test_a_scope_taken_away_before_the_search_stops_it_before_anybody_is_asked(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst")
    task_id = await site.ask(ann)
    await take_away(site)
    async with site.running():
        workflow = await site.ended(task_id)
    assert workflow.error == "ann asked for this research and no longer has macro:analyst"
    assert site.web.briefs == site.data.briefs == site.stored.briefs == []


async def test_a_scope_taken_away_after_the_search_stops_it_before_anything_is_written(site: Site) -> None:
    ann = await site.desk.person("ann", "macro:analyst")
    site.web.go = asyncio.Event()
    async with site.running():
        task_id = await site.ask(ann)
        await site.web.asked.wait()
        await take_away(site)
        site.web.go.set()
        workflow = await site.ended(task_id)
    assert (workflow.status, workflow.error) == (
        "failed",
        "ann asked for this research and no longer has macro:analyst",
    )
    assert (await site.count("articles"), await site.count("resources")) == (0, 0)


async def test_a_scope_taken_away_while_it_is_written_leaves_the_draft_unwritten(
    site: Site, model: ModelServer
) -> None:
    model.script(Rule(kind="DraftReply", hold=True, reply=TWO_STATEMENTS.reply))
    ann = await site.desk.person("ann", "macro:analyst")
    async with site.running():
        task_id = await site.ask(ann)
        await model.await_calls(1, "DraftReply", state="held")
        await take_away(site)
        model.release()
        workflow = await site.ended(task_id)
    assert workflow.error == "ann asked for this research and no longer has macro:analyst"
    assert (await site.version(1)).content == ""


async def test_cancelling_ends_the_model_call_and_writes_nothing_more(site: Site, model: ModelServer) -> None:
    model.script(Rule(kind="DraftReply", hold=True))
    ann = await site.desk.person("ann", "macro:analyst")
    async with site.running():
        task_id = await site.ask(ann)
        await model.await_calls(1, "DraftReply", state="held")
        async with site.desk.database.transaction() as connection:
            await workflows.cancel(connection, task_id, reason="enough")
        await model.wait_until(lambda calls: any(call.cancelled for call in calls))
    assert (await site.workflow(task_id)).status == "cancelled"
    assert (await site.version(1)).content == ""
    assert await site.notifications(task_id) == []
