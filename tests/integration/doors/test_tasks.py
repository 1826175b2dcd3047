"""Tasks: what became of a research or a publication, told to who asked for it, and stopped by them."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest
from psycopg.types.json import Jsonb

from actors.platform import systems
from models.config import Config
from models.errors import TaskNotFound
from models.runtime.workflows import Workflow, WorkflowRequest
from models.store.database import Database
from models.store.people import users
from models.store.runtime import tasks, workflows
from tests.integration.editorial.desk import Desk
from tests.integration.rest import client, served


@pytest.fixture
def config(configure: Callable[..., Config]) -> Config:
    """The configuration of the app."""
    return configure()


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url) as url:
        yield url


@pytest.fixture
async def ann(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Ann, who has something researched."""
    async with client(config, base, "ann", "macro:analyst") as made:
        yield made


async def begun(
    database: Database, kind: str = "research_article", by: str = "ann", **facts: Any
) -> Workflow:
    """A workflow that somebody began."""
    async with database.transaction() as connection:
        return await workflows.create(
            connection,
            WorkflowRequest(
                kind=kind,
                input={"topic": "macro", "query": "rates", **facts},
                input_digest="d",
                requested_by=by,
            ),
        )


async def ended(database: Database, workflow: Workflow, result: dict[str, Any]) -> None:
    """The workflow comes to a result."""
    async with database.connection() as connection:
        await connection.execute(
            """UPDATE workflows SET status = 'succeeded', result = %s, started_at = now(), finished_at = now()
               WHERE id = %s""",
            (Jsonb(result), workflow.id),
        )


async def test_a_research_tells_what_came_of_it(
    ann: httpx2.AsyncClient, desk: Desk, database: Database
) -> None:
    workflow = await begun(database)
    path = f"/api/tasks/{workflow.id}"
    told = (await ann.get(path)).json()
    assert told == told | {
        "task_id": workflow.id, "kind": "research_article", "status": "queued", "requested_by": "ann",
        "finished_at": None, "error": None, "result": None,
    }  # fmt: skip
    assert told["workflow_state"] == {
        "workflow_id": workflow.id, "workflow_type": "research", "started_at": told["created_at"],
        "current_article_id": None, "current_topic": "macro", "pending_resources": [],
        "attached_resources": [], "approval_pending": False, "approval_request_id": None,
        "approval_callback_url": None,
    }  # fmt: skip
    writer = await desk.person("ann", "macro:analyst")
    article = await desk.call(writer, "create_draft_article", topic="macro", headline="H")
    for name in ("one", "two"):
        await desk.call(writer, "create_text_resource", name=name, content=f"Text {name}.", topic="macro")
    await desk.call(
        writer, "write_article_content", article_id=article.article_id, content="x", resource_ids=[1]
    )
    result = {"status": "completed", "article_id": 1, "resources_created": [1, 2], "content_preview": "x"}
    await ended(database, workflow, result)
    told = (await ann.get(path)).json()
    assert (told["status"], told["result"]) == ("succeeded", result)
    state = told["workflow_state"]
    assert (state["current_article_id"], state["attached_resources"], state["pending_resources"]) == (
        1, [1], [2],
    )  # fmt: skip


@pytest.mark.parametrize("scope", ["*", "macro:analyst"])
async def test_who_sees_no_drafts_any_more_is_not_shown_what_was_written(
    ann: httpx2.AsyncClient, database: Database, scope: str
) -> None:
    workflow = await begun(database)
    await ended(database, workflow, {"status": "completed", "content_preview": "The bank held."})
    assert "The bank held" in (await ann.get(f"/api/tasks/{workflow.id}")).text
    async with database.transaction() as connection:
        await users.revoke(connection, "ann", scope, reason="left", revoked_by="root")
    for path in ("/api/tasks", f"/api/tasks/{workflow.id}"):
        told = await ann.get(path)
        assert (told.status_code, "The bank held" in told.text) == (200, False)


@pytest.mark.parametrize("scope", ["*", "macro:analyst"])
async def test_who_sees_no_drafts_any_more_is_told_nothing_of_the_article_that_came_of_it(
    ann: httpx2.AsyncClient, desk: Desk, database: Database, scope: str
) -> None:
    writer = await desk.person("ann", "macro:analyst")
    article = await desk.call(writer, "create_draft_article", topic="macro", headline="H")
    await desk.call(writer, "create_text_resource", name="one", content="Text.", topic="macro")
    await desk.call(
        writer, "write_article_content", article_id=article.article_id, content="x", resource_ids=[1]
    )
    workflow = await begun(database)
    await ended(database, workflow, {"article_id": article.article_id, "resources_created": [1, 2]})
    async with database.transaction() as connection:
        await connection.execute("UPDATE workflows SET error = 'the draft on the bank is too long'")
        state = (await ann.get(f"/api/tasks/{workflow.id}")).json()["workflow_state"]
        assert (state["current_topic"], state["attached_resources"]) == ("macro", [1])
        await users.revoke(connection, "ann", scope, reason="left", revoked_by="root")
    for path in ("/api/tasks", f"/api/tasks/{workflow.id}"):
        answer = (await ann.get(path)).json()
        told = answer[0] if isinstance(answer, list) else answer
        assert (told["status"], told["error"], told["result"]) == ("succeeded", None, None)
        state = told["workflow_state"]
        assert (state["current_article_id"], state["current_topic"]) == (None, None)
        assert (state["attached_resources"], state["pending_resources"]) == ([], [])


async def test_where_a_model_is_is_told_to_who_edits_all_topics(
    config: Config, base: str, ann: httpx2.AsyncClient, database: Database
) -> None:
    workflow = await begun(database)
    where = "model qwen3:8b at http://head.internal:8000/llm/v1"
    error = f"waited 60 s in vain for {where}: writer: {where}: can't be reached, see https://example.org/a"
    async with database.connection() as connection:
        await connection.execute("UPDATE workflows SET status = 'failed', error = %s", (error,))
    model = "model qwen3:8b"
    assert (await ann.get(f"/api/tasks/{workflow.id}")).json()["error"] == (
        f"waited 60 s in vain for {model}: writer: {model}: can't be reached, see https://example.org/a"
    )
    async with client(config, base, "root", "global:editor") as root:
        assert (await root.get(f"/api/tasks/{workflow.id}")).json()["error"] == error


async def test_a_research_on_an_article_that_is_not_there_is_told_all_the_same(
    ann: httpx2.AsyncClient, database: Database
) -> None:
    workflow = await begun(database, article_id=99)
    state = (await ann.get(f"/api/tasks/{workflow.id}")).json()["workflow_state"]
    assert (state["current_article_id"], state["current_topic"]) == (99, "macro")


async def test_a_publication_tells_of_its_approval_and_is_stopped_by_who_asked(
    config: Config, base: str, desk: Desk
) -> None:
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    path = f"/api/tasks/{approval.workflow_id}"
    async with client(config, base, "eve", "macro:editor") as eve:
        told = (await eve.get(path)).json()
        site = config.publishing.public_url.rstrip("/")
        assert told["workflow_state"] == told["workflow_state"] | {
            "workflow_type": "publish", "current_article_id": number, "current_topic": "macro",
            "approval_pending": True, "approval_request_id": int(approval.id),
            "approval_callback_url": f"{site}/api/approvals/{number}",
        }  # fmt: skip
        assert [task["task_id"] for task in (await eve.get("/api/tasks")).json()] == [approval.workflow_id]
        stopped = await eve.post(f"{path}/cancel", json={"reason": "wrong one"})
        assert (stopped.status_code, stopped.json()["status"]) == (200, "cancelled")
        assert stopped.json()["error"] == "wrong one (eve)"
        assert stopped.json()["workflow_state"]["approval_pending"] is False
        assert (await desk.article(number)).status == "editor"
        assert (await desk.approval(number)).status == "void"
        again = await eve.post(f"{path}/cancel")
        assert (again.status_code, again.json()["type"]) == (409, "urn:signoff:problem:WorkflowEnded")


async def test_others_don_t_learn_that_it_exists_but_who_edits_everywhere_may_stop_it(
    config: Config, base: str, ann: httpx2.AsyncClient, database: Database
) -> None:
    workflow = await begun(database)
    path = f"/api/tasks/{workflow.id}"
    absent = await ann.get(f"/api/tasks/{'0' * 32}")
    async with client(config, base, "bob", "macro:admin", "global:reader") as bob:
        for answer in (await bob.get(path), await bob.post(f"{path}/cancel")):
            assert (answer.status_code, answer.json()["title"]) == (404, absent.json()["title"])
        assert (await bob.get("/api/tasks")).json() == []
        assert (await bob.get("/api/tasks", params={"before": workflow.id})).status_code == 422
    assert (await ann.get(path)).json()["status"] == "queued"
    async with client(config, base, "root", "global:editor") as root:
        assert (await root.get(path)).json()["requested_by"] == "ann"
        assert (await root.get("/api/tasks")).json() == []
        assert (await root.post(f"{path}/cancel")).json()["status"] == "cancelled"


async def test_they_are_listed_newest_first_in_pages_and_only_what_is_a_task(
    ann: httpx2.AsyncClient, database: Database, config: Config
) -> None:
    made = [(await begun(database, kind)).id for kind in ("editorial", "research_article") * 2]
    other = await begun(database, kind="steps")
    await begun(database, by="bob")
    paged: list[str] = []
    while page := (
        await ann.get("/api/tasks", params={"limit": 3, **({"before": paged[-1]} if paged else {})})
    ).json():
        paged += [task["task_id"] for task in page]
    assert paged == made[::-1]
    assert (await ann.get(f"/api/tasks/{other.id}")).status_code == 404
    async with database.connection() as connection:
        assert (
            await tasks.state_of(connection, made[0], config, kinds=systems.kinds())
        ).workflow_type == "write"
        with pytest.raises(TaskNotFound, match="steps"):
            await tasks.state_of(connection, other.id, config, kinds=systems.kinds())


async def test_a_malformed_cancellation_changes_nothing(ann: httpx2.AsyncClient, database: Database) -> None:
    workflow = await begun(database)
    bad: list[dict[str, Any]] = [{"reason": ""}, {"reason": "x\u0000"}, {"why": "x"}, {"reason": 7}]
    for body in bad:
        answer = await ann.post(f"/api/tasks/{workflow.id}/cancel", json=body)
        assert (answer.status_code, next(iter(body)) in answer.json()["detail"]) == (422, True)
    assert (await ann.get(f"/api/tasks/{workflow.id}")).json()["status"] == "queued"
