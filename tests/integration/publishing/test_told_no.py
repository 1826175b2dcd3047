"""Who was told no is told why, wherever the request is shown; and what came to nothing is never a success."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import get_args

import httpx2
import pytest
from psycopg.types.json import Jsonb

from actors.platform import systems
from models.config import Config
from models.runtime.tasks import TaskStatus
from models.runtime.workflows import ENDED_STATUSES, OPEN_STATUSES, Workflow, WorkflowRequest
from models.store.database import Database
from models.store.runtime import batches, workflows
from tests.integration.editorial.desk import Desk, settled
from tests.integration.rest import client, served

WHY = "The second source is older than the figures."


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
async def eve(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Eve, who asks for publications."""
    async with client(config, base, "eve", "macro:editor", "global:editor") as made:
        yield made


async def rejected(desk: Desk) -> tuple[int, str]:
    """An article whose publication was refused: its number, and the request's workflow."""
    number = await desk.with_editor()
    eve, bob = await desk.person("eve", "macro:editor"), await desk.person("bob", "macro:editor")
    await desk.call(eve, "publish_article", article_id=number)
    approval = await desk.approval(number)
    await desk.decide(bob, approval, "reject", notes=WHY)
    await settled(desk, number, "editor")
    return number, approval.workflow_id


async def test_a_rejection_and_its_reason_stand_wherever_the_request_is_shown(
    desk: Desk, press: None, eve: httpx2.AsyncClient
) -> None:
    number, workflow_id = await rejected(desk)
    why = f"rejected by bob: {WHY}"
    task = (await eve.get(f"/api/tasks/{workflow_id}")).json()
    assert (task["status"], task["reason"]) == ("rejected", why)
    [listed] = (await eve.get("/api/tasks")).json()
    assert (listed["status"], listed["reason"]) == ("rejected", why)
    [workflow] = (await eve.get("/api/workflows")).json()
    assert (workflow["outcome"], workflow["reason"]) == ("rejected", why)
    [approval] = (await eve.get("/api/approvals", params={"status": "rejected"})).json()
    assert (approval["status"], approval["reason"]) == ("rejected", why)
    request = (await eve.get(f"/api/tools/articles/{number}")).json()["article"]["last_request"]
    assert (request["status"], request["reason"], request["decided_by"]) == ("rejected", why, "bob")


async def test_who_reads_how_work_stands_is_told_of_a_rejection_without_its_words(
    desk: Desk, press: None, config: Config, base: str
) -> None:
    _, workflow_id = await rejected(desk)
    async with client(config, base, "rita", "global:reader") as rita:
        [listed] = (await rita.get("/api/workflows")).json()
        seen = (await rita.get(f"/api/workflows/{workflow_id}")).json()
    for workflow in (listed, seen):
        assert (workflow["outcome"], workflow["reason"]) == ("rejected", None)


async def test_what_was_stopped_says_so_wherever_the_request_is_shown(
    desk: Desk, press: None, eve: httpx2.AsyncClient
) -> None:
    number = await desk.with_editor()
    person = await desk.person("eve", "macro:editor")
    await desk.call(person, "publish_article", article_id=number)
    approval = await desk.approval(number)
    stopped = {"reason": "typed by mistake"}
    await eve.post(f"/api/workflows/{approval.workflow_id}/cancel", json=stopped)
    why = "stopped before anybody decided: typed by mistake (eve)"
    [listed] = (await eve.get("/api/approvals", params={"status": "void"})).json()
    seen = (await eve.get(f"/api/approvals/{approval.id}")).json()
    request = (await eve.get(f"/api/tools/articles/{number}")).json()["article"]["last_request"]
    for told in (listed, seen, request):
        assert (told["status"], told["reason"]) == ("void", why)
    [task], [workflow] = (await eve.get("/api/tasks")).json(), (await eve.get("/api/workflows")).json()
    said = ("cancelled", "typed by mistake (eve)")
    assert (task["status"], task["reason"]) == (workflow["outcome"], workflow["reason"]) == said
    happened = (await eve.get(f"/api/workflows/{approval.workflow_id}/events")).json()
    [void] = [event["data"] for event in happened if event["type"] == "approval.void"]
    assert (void["approval_id"], void["by"]) == (approval.id, None)


async def test_the_chat_tells_of_a_rejection_with_its_reason(
    desk: Desk, press: None, eve: httpx2.AsyncClient
) -> None:
    from actors.systems.chat.agents.main_chat import _shown
    from models.runtime.tasks import Task

    number, workflow_id = await rejected(desk)
    task = Task.model_validate((await eve.get(f"/api/tasks/{workflow_id}")).json())
    told = _shown(task)
    assert told["status"] == "rejected"
    assert WHY.rstrip(".") in told["more"]
    assert number == task.workflow_state.current_article_id


@pytest.mark.parametrize(("shown", "status"), [("void", "void"), ("expired", "expired")])
async def test_what_nobody_decided_is_no_success(
    desk: Desk, press: None, eve: httpx2.AsyncClient, shown: str, status: str
) -> None:
    number = await desk.with_editor()
    ann, person = await desk.person("ann", "macro:analyst"), await desk.person("eve", "macro:editor")
    await desk.call(person, "publish_article", article_id=number)
    approval = await desk.approval(number)
    if shown == "void":
        await desk.call(ann, "write_article_content", article_id=number, content="Other words.")
    else:
        async with desk.database.connection() as connection:
            await connection.execute("UPDATE approvals SET expires_at = now() - interval '1 second'")
    await settled(desk, number, "editor")
    task = (await eve.get(f"/api/tasks/{approval.workflow_id}")).json()
    assert task["status"] == status
    assert task["reason"]


async def begun(database: Database, kind: str, **facts: object) -> Workflow:
    """A workflow that eve began."""
    request = WorkflowRequest(
        kind=kind, input={"topic": "macro", **facts}, input_digest="d", requested_by="eve"
    )
    async with database.transaction() as connection:
        return await workflows.create(connection, request)


async def test_too_little_to_write_from_is_an_outcome_of_its_own(
    eve: httpx2.AsyncClient, database: Database
) -> None:
    workflow = await begun(database, "research_article", query="gold")
    result = {"status": "not_enough", "article_id": None, "desk_notes": ["Nothing found: web search"]}
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE workflows SET status = 'succeeded', result = %s WHERE id = %s",
            (Jsonb(result), workflow.id),
        )
    task = (await eve.get(f"/api/tasks/{workflow.id}")).json()
    assert (task["status"], task["reason"]) == ("not_enough", "Nothing found: web search")


async def test_what_nobody_drives_says_so_and_how_to_go_on(
    eve: httpx2.AsyncClient, database: Database
) -> None:
    alone, held = await begun(database, "editorial"), await begun(database, "editorial")
    batch = await batches.begin(database, requested_by="eve", lease_seconds=600)
    async with database.transaction() as connection:
        await batches.hold(connection, batch_id=batch, workflow_id=held.id)
        await connection.execute("UPDATE workflows SET status = 'running' WHERE id = %s", (held.id,))
        await connection.execute(
            """INSERT INTO runners (id, name, node, pid, lease_until)
               VALUES ('r', 'r', 'n', 1, now() + interval '1 hour')"""
        )

    async def still() -> dict[str, str | None]:
        return {one["id"]: one["stands_still"] for one in (await eve.get("/api/workflows")).json()}

    assert await still() == {alone.id: None, held.id: None}
    await batches.end(database, batch_id=batch)
    told = await still()
    assert told[alone.id] is None
    assert told[held.id] == (
        "its batch is gone, so nobody drives it: submit the batch again to go on, or end it with "
        f"`signoff workflows cancel {held.id}`"
    )
    async with database.connection() as connection:
        await connection.execute("UPDATE runners SET lease_until = now() - interval '1 hour'")
    assert (await still())[alone.id] == "no runner is up, so nobody takes it: `signoff up` starts them"


def test_each_way_in_which_a_kind_ends_without_its_result_is_a_status_of_tasks() -> None:
    statuses = {one for part in get_args(TaskStatus) for one in get_args(part) or (part,)}
    assert {*OPEN_STATUSES, *ENDED_STATUSES} < statuses
    for kind in systems.kinds().values():
        if kind.ending is None:
            continue
        assert kind.result is not None
        schema = json.loads(json.dumps(kind.result.model_json_schema()))
        ways = set(schema["properties"][kind.ending.field]["enum"])
        assert kind.ending.reached in ways
        assert kind.outcome("succeeded", {kind.ending.field: kind.ending.reached}) == "succeeded"
        for way in ways - {kind.ending.reached}:
            assert kind.outcome("succeeded", {kind.ending.field: way}) == way
            assert way in statuses
