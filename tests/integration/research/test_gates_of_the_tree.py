"""The gates of the tree and of the result: what was approved is what is kept, and no is not yes."""

import asyncio
from typing import Any

from actors.systems.research.tree.naming import NameReply
from models.config import Config
from models.llm import Answer
from models.store.database import Database
from models.store.research import overviews
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.research_desk import ResearchDesk, under

CHANGED = b"UPDATE knowledge_trees SET tree = jsonb_set(tree, '{title}', '\"Mills and their owners\"')"
WAITS = """
SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
STEP = "SELECT status, result FROM research_tasks WHERE research_id = %s AND step = %s"


def only_mill(shown: dict[str, Any]) -> dict[str, Any]:
    """The list with the page of the mills alone."""
    return shown | {"urls": [url for url in shown["urls"] if url["url"].endswith("/mill")]}


def renamed(review: dict[str, Any], name: str) -> dict[str, Any]:
    """The review with another name for its first node."""
    first, *others = review["tree"]["nodes"]
    nodes = [first | {"name": name, "named_by": "person"}, *others]
    return review | {"tree": review["tree"] | {"nodes": nodes}}


async def a_tree(desk: ResearchDesk) -> int:
    """A tree that a research has made of the page of the mills."""
    first = await desk.start()
    await desk.amend(await desk.gate(first), only_mill((await desk.gate(first)).content))
    return int(((await desk.ended(first)).result or {})["tree_id"])


async def test_a_tree_that_is_rejected_is_not_kept(desk: ResearchDesk, site: PageSite) -> None:
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        await desk.amend(await desk.gate(research), only_mill((await desk.gate(research)).content))
        await desk.reject(await desk.gate(research))
        done = await desk.ended(research)
    assert done.result is not None
    assert (done.result["outcome"], done.result["ended_at"]) == ("rejected", "tree")
    assert (done.result["tree_id"], done.result["sentences"], done.result["points"]) == (None, 0, 1)
    assert await desk.rows("SELECT 1 FROM knowledge_trees") == []
    [step] = await desk.rows(STEP, research.id, "await_category_review")
    assert (step["status"], step["result"]) == ("done", {"decision": "rejected"})


async def test_a_result_that_nobody_decides_on_in_time_has_expired_and_was_not_rejected(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        await desk.amend(await desk.gate(research), only_mill((await desk.gate(research)).content))
        await desk.approve(await desk.gate(research))
        result = await desk.gate(research)
        async with desk.database.connection() as connection:
            await connection.execute("UPDATE approvals SET expires_at = now() WHERE id = %s", (result.id,))
        done = await desk.ended(research)
    assert done.result is not None
    assert (done.result["outcome"], done.result["ended_at"]) == ("expired", "result")
    [step] = await desk.rows(STEP, research.id, "await_final_review")
    assert step["result"] == {"decision": "expired"}


async def test_under_four_eyes_what_one_has_made_of_it_another_approves(
    config: Config, database: Database, site: PageSite
) -> None:
    strict = under(config, four_eyes=True)
    desk = ResearchDesk(strict, database)
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        urls = await desk.gate(research)
        amended = await desk.amend(urls, only_mill(urls.content), by="bob")
        assert amended.status == "pending"
        await desk.approve(amended, by="carl")
        tree = await desk.gate(research)
        amended = await desk.amend(tree, renamed(tree.content, "Who runs them"), by="bob")
        await desk.approve(amended, by="carl")
        await desk.approve(await desk.gate(research), by="bob")
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    [kept] = await desk.rows("SELECT tree FROM knowledge_trees")
    assert [node["name"] for node in kept["tree"]["nodes"]] == ["Who runs them"]
    assert {hit.path for hit in site.hits} == {"/mill"}


async def test_a_tree_that_was_chosen_at_the_gate_grows_and_loses_nothing_that_others_made_of_it(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        grown = await a_tree(desk)
        second = await desk.start(task_type="full_pipeline")
        urls = (await desk.gate(second)).content
        chosen = only_mill(urls) | {"config": urls["config"] | {"category_id": grown}}
        await desk.amend(await desk.gate(second), chosen)
        shown = await desk.gate(second)
        assert shown.content["tree"]["id"] == grown
        async with desk.database.connection() as connection:
            await connection.execute(CHANGED)
        await desk.approve(shown)
        anew = await desk.gate(second)
        assert (anew.gate, anew.content["tree"]["title"]) == ("tree/2", "Mills and their owners")
        assert anew.content["notes"] == [
            f"tree {grown} was changed by others meanwhile: the points are laid out anew in what it is now"
        ]
        assert (await desk.rows(STEP, second.id, "await_category_review"))[0]["status"] == "running"
        await desk.amend(anew, renamed(anew.content, "Who runs them"))
        await desk.approve(await desk.gate(second))
        done = await desk.ended(second)
    assert (done.status, (done.result or {})["tree_id"]) == ("succeeded", grown)
    [kept] = await desk.rows("SELECT tree FROM knowledge_trees")
    assert kept["tree"]["title"] == "Mills and their owners"
    assert kept["tree"]["nodes"][0]["name"] == "Who runs them"


async def test_who_rejects_what_was_laid_out_anew_is_named(desk: ResearchDesk, site: PageSite) -> None:
    async with desk.running():
        grown = await a_tree(desk)
        config = {"language": "any", "category_id": grown}
        second = await desk.start(task_type="analyze", config=config)
        shown = await desk.gate(second)
        async with desk.database.connection() as connection:
            await connection.execute(CHANGED)
        await desk.approve(shown)
        await desk.reject(await desk.gate(second), by="eve")
        await desk.ended(second)
    async with desk.database.connection() as connection:
        found = await overviews.results(connection, second)
    assert (found.result and found.result.ended_at, found.ended_by) == ("tree", "eve")


async def test_what_others_do_while_a_result_is_looked_at_changes_nothing_of_it(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        await desk.amend(await desk.gate(research), only_mill((await desk.gate(research)).content))
        await desk.approve(await desk.gate(research))
        shown = await desk.gate(research)
        assert [source["let_in_by"] for source in shown.content["sources"]] == ["ann"]
        async with desk.database.connection() as connection:
            await connection.execute("UPDATE url_candidates SET metadata = metadata - 'text_sha256'")
        await desk.approve(shown)
        done = await desk.ended(research)
    assert (done.status, (done.result or {})["outcome"]) == ("succeeded", "done")


async def test_a_tree_that_others_change_while_it_is_laid_out_is_laid_out_again_where_nobody_is_asked(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        grown = await a_tree(desk)
        desk.agents["organizer"] = _Interrupted(desk, desk.agents["organizer"])
        second = await desk.start(
            task_type="analyze", config={"require_approval": False, "category_id": grown}
        )
        done = await desk.ended(second)
    assert (done.status, (done.result or {})["tree_id"]) == ("succeeded", grown)
    [kept] = await desk.rows("SELECT tree FROM knowledge_trees")
    assert kept["tree"]["title"] == "Mills and their owners"
    said = await desk.rows(
        "SELECT content FROM agent_messages WHERE research_id = %s AND step = 'build_tree' ORDER BY id",
        second.id,
    )
    assert "was changed by others meanwhile" in said[0]["content"]
    assert len(said) == 2


class _Interrupted:
    """The organizer; another changes the tree while it first works on it."""

    def __init__(self, desk: ResearchDesk, organizer: Any) -> None:
        self._desk, self._organizer, self._times = desk, organizer, 0

    async def grow(self, *of: Any) -> Any:
        self._times += 1
        if self._times == 1:
            async with self._desk.database.connection() as connection:
                await connection.execute(CHANGED)
        return await self._organizer.grow(*of)

    async def name(self, *of: Any) -> Any:
        return await self._organizer.name(*of)


async def test_where_no_more_is_to_be_asked_the_later_gates_are_skipped_and_the_work_is_followed(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        urls = await desk.gate(research)
        alone = only_mill(urls.content)
        await desk.amend(urls, alone | {"config": alone["config"] | {"require_approval": False}})
        done = await desk.ended(research)
    assert (done.status, (done.result or {})["outcome"]) == ("succeeded", "done")
    tasks = await desk.rows(
        "SELECT step, status, started_at < completed_at AS took FROM research_tasks WHERE research_id = %s",
        research.id,
    )
    assert {row["step"] for row in tasks if row["status"] == "skipped"} == {
        "await_unreadable_review",
        "await_category_review",
        "await_final_review",
    }
    assert {row["step"] for row in tasks if row["took"]} >= {"build_tree", "synthesize_results"}


async def test_what_others_make_of_a_tree_in_the_moment_in_which_it_is_kept_is_not_lost(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        grown = await a_tree(desk)
        second = await desk.start(task_type="analyze", config={"category_id": grown})
        shown = await desk.gate(second)
        async with desk.database.transaction() as connection:
            await connection.execute(CHANGED)
            await desk.approve(shown)
            await waiting_for_a_lock(desk)
        anew = await desk.gate(second)
    assert (anew.gate, anew.content["tree"]["title"]) == ("tree/2", "Mills and their owners")
    [kept] = await desk.rows("SELECT tree FROM knowledge_trees")
    assert kept["tree"]["title"] == "Mills and their owners"


async def waiting_for_a_lock(desk: ResearchDesk) -> None:
    """Until somebody waits for a row that another holds."""
    async with asyncio.timeout(30):
        while not await desk.rows(WAITS):
            pass


class _Naming:
    """The organizer, whose model has another name each time."""

    def __init__(self, organizer: Any) -> None:
        self.grow = organizer.grow
        self.names: list[str] = []

    async def name(self, *of: Any) -> Answer[NameReply]:
        self.names.append(f"Mills, the {len(self.names) + 1}th time")
        return Answer(value=NameReply(name=self.names[-1]))


async def test_the_name_that_was_shown_is_the_one_that_is_kept(desk: ResearchDesk, site: PageSite) -> None:
    desk.agents["organizer"] = naming = _Naming(desk.agents["organizer"])
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        await desk.amend(await desk.gate(research), only_mill((await desk.gate(research)).content))
        tree = await desk.gate(research)
        [shown] = tree.content["tree"]["nodes"]
        await desk.approve(tree)
        await desk.approve(await desk.gate(research))
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    [kept] = await desk.rows("SELECT tree FROM knowledge_trees")
    assert [node["name"] for node in kept["tree"]["nodes"]] == [shown["name"]] == naming.names


class _Interrupted:
    """The organizer; another changes the tree while it first works on it."""

    def __init__(self, desk: ResearchDesk, organizer: Any) -> None:
        self._desk, self._organizer, self._times = desk, organizer, 0

    async def grow(self, *of: Any) -> Any:
        self._times += 1
        if self._times == 1:
            async with self._desk.database.connection() as connection:
                await connection.execute(CHANGED)
        return await self._organizer.grow(*of)

    async def name(self, *of: Any) -> Any:
        return await self._organizer.name(*of)
