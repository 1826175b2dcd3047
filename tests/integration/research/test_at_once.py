"""How many researches a person may have under way: two that are begun at once can't both slip through."""

import asyncio
from typing import Any

import pytest

from models.errors import ResearchLimited
from models.research.agent_workflows import AgentWorkflow, StartRequest
from models.store.database import Connection, Database
from models.store.knowledge import projects
from models.store.research import agent_workflows
from models.store.runtime import workflows

QUESTION = "How do watermills turn in winter, and who runs them?"


async def begin(
    connection: Connection, person: str, most: int, *, topic: str = "macro", **request: Any
) -> tuple[AgentWorkflow, bool]:
    """Begin one in a transaction."""
    project, _ = await projects.find_or_create(connection, topic=topic, name=f"Of {person}", by=person)
    asked = StartRequest.model_validate({"user_query": QUESTION} | request)
    return await agent_workflows.start(
        connection, asked, project=project, requested_by=person, most_at_once=most
    )


async def started(
    database: Database, person: str = "ann", most: int = 2, **request: Any
) -> tuple[AgentWorkflow, bool]:
    """Begin one."""
    async with database.transaction() as connection:
        return await begin(connection, person, most, **request)


async def test_as_many_as_the_plan_allows_and_then_one_has_to_end(database: Database) -> None:
    first, _ = await started(database)
    await started(database, topic="equities")
    with pytest.raises(ResearchLimited) as refused:
        await started(database)
    assert str(refused.value) == (
        "2 researches of yours are under way, and 2 may be at once (research.limits, max_workflows): stop "
        "one, or wait until one has ended"
    )
    assert refused.value.http_status == 429
    # Others' are others'.
    await started(database, "bob")
    async with database.transaction() as connection:
        await workflows.cancel(connection, first.workflow_id, reason="enough")
    await started(database)


async def test_nothing_is_left_of_one_that_is_refused(database: Database) -> None:
    await started(database, most=1)
    with pytest.raises(ResearchLimited):
        await started(database, most=1, request_id="again")
    async with database.connection() as connection:
        cursor = await connection.execute("SELECT count(*) AS n FROM workflows")
        assert (await cursor.fetchone() or {})["n"] == 1


async def test_the_same_request_again_is_answered_when_there_is_no_room(database: Database) -> None:
    first, is_new = await started(database, most=1, request_id="r1")
    again, is_new_again = await started(database, most=1, request_id="r1")
    assert (is_new, is_new_again, again.id) == (True, False, first.id)


async def waiting_for_a_lock(database: Database) -> None:
    """Until somebody waits for an advisory lock."""
    async with asyncio.timeout(30):
        while True:
            async with database.connection() as connection:
                cursor = await connection.execute(
                    """SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
                )
                if await cursor.fetchone():
                    return


@pytest.mark.parametrize("request_id", [None, "r1"])
async def test_of_two_that_are_begun_at_once_the_second_sees_the_first(
    database: Database, request_id: str | None
) -> None:
    # The project is there before: what they wait for is the person, not the project's row.
    async with database.transaction() as connection:
        await projects.find_or_create(connection, topic="macro", name="Of ann", by="ann")
    async with database.transaction() as connection:
        first, _ = await begin(connection, "ann", 1, request_id=request_id)
        second = asyncio.create_task(started(database, most=1, request_id=request_id))
        await waiting_for_a_lock(database)
    if request_id is None:
        with pytest.raises(ResearchLimited):
            await second
    else:
        assert ((await second)[0].id, (await second)[1]) == (first.id, False)
