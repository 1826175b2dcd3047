"""What is told over a socket that stays open: by the rights of now, as it is asked now, and up to the end."""

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from models.config import Config
from models.people.users import UserContext
from models.store.database import Database
from models.store.people import users
from serve.streams.feed import Feed
from tests.integration.events.event_streams import closed
from tests.integration.operations.operations_desk import OperationsDesk, operations_config
from tests.integration.operations.test_doors import SOON, socket, told
from tests.integration.rest import served

BOTH = ("macro:analyst", "macro:admin")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets are told where they stand every moment, which is when they look at their rights."""
    monkeypatch.setattr("serve.api.Feed", partial(Feed, heartbeat_seconds=0.2))


async def up_to(opened: ClientConnection, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """All messages up to the first that is wanted, without positions."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(SOON):
        async for text in opened:
            message = json.loads(text)
            found += [message] if message["type"] != "position" else []
            if wanted(message):
                return found
    raise AssertionError(f"it was closed: {opened.close_code} {opened.close_reason}")


def is_end(message: dict[str, Any]) -> bool:
    """Whether it says how the operation ended."""
    ends = ("completed", "cancelled", "failed", "expired")
    return message["type"] == "workflow_progress_update" and message["data"].get("status") in ends


async def take(database: Database, person: str, scope: str) -> None:
    """Take a scope from somebody."""
    async with database.transaction() as connection:
        await users.revoke(connection, person, scope, reason="left", revoked_by="eve")


async def decide_plan(desk: OperationsDesk, by: UserContext, number: int, **answer: Any) -> None:
    """Somebody's answer to the plan that waits."""
    found = await desk.desk.call(by, "get_operation", operation_id=number)
    assert found.approval is not None, found
    await desk.desk.call(
        by, "decide_operation_plan", operation_id=number, digest=found.approval.digest, **answer
    )


async def test_whoever_gets_the_right_to_decide_is_shown_what_waits(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure, **{"operations.approval.role": "admin"})
    desk = OperationsDesk(config, database)
    await take(database, "bob", "macro:admin")
    with served(config, database.url) as base:
        async with desk.running():
            number = await desk.start()
            gate = await desk.gate(number, "operation_plan")
            async with socket(base, config, number, who="bob", scopes=BOTH) as opened:
                seen = await up_to(opened, lambda message: message["type"] == "position")
                assert [message["type"] for message in seen] == ["workflow_progress_update"]
                async with database.transaction() as connection:
                    await users.restore(connection, "bob", "macro:admin", restored_by="eve")
                asked = await told(opened, "plan_approval_request")
                assert asked["data"]["digest"] == gate.digest
                assert asked["id"] >= seen[-1]["id"]
            # He was away while he got it: what waits is older than where he goes on.
            async with socket(base, config, number, asked["id"], who="bob", scopes=BOTH) as opened:
                assert (await told(opened, "plan_approval_request"))["data"]["digest"] == gate.digest


async def test_whoever_loses_the_right_to_decide_is_shown_no_more_of_it(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure, **{"operations.approval.role": "admin"})
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running():
            number = await desk.start()
            await desk.gate(number, "operation_plan")
            async with socket(base, config, number, who="bob", scopes=BOTH) as opened:
                await told(opened, "plan_approval_request")
                await take(database, "bob", "macro:admin")
                cat = await desk.desk.person("cat", *BOTH)
                await decide_plan(desk, cat, number, approved=False, feedback="without mail")
                await desk.gate(number, "operation_plan")
                await desk.call("cancel_operation", number, reason="enough")
                seen = await up_to(opened, is_end)
            assert "plan_approval_request" not in [message["type"] for message in seen]


async def test_who_is_no_analyst_any_more_is_closed_though_nothing_happens(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    number = await desk.start()
    with served(config, database.url) as base:
        async with socket(base, config, number, who="bob") as opened:
            await told(opened, "position")
            await take(database, "bob", "macro:analyst")
            assert (await closed(opened))[0] == 4404


async def test_what_somebody_made_of_it_is_told_and_told_again(
    configure: Callable[..., Config], database: Database
) -> None:
    config = operations_config(configure, **{"operations.approval.quorum": 2})
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running():
            number = await desk.start()
            await desk.gate(number, "operation_plan")
            async with socket(base, config, number) as opened:
                first = await told(opened, "plan_approval_request")
                bob = await desk.desk.person("bob", "macro:analyst")
                changed = {"skip_agents": ["crm"]}
                await decide_plan(desk, bob, number, approved=True, modified_plan=changed)
                second = await told(opened, "plan_approval_request")
            gate = await desk.gate(number, "operation_plan")
            assert second["data"]["digest"] == gate.digest != first["data"]["digest"]
            assert second["data"]["amended_by"] == "bob"
            assert "crm" not in second["data"]["plan"]["agent_sequence"]
            async with socket(base, config, number, after=first["id"]) as opened:
                again = await told(opened, "plan_approval_request")
            assert again == second
            await desk.approve_plan(number)  # Ann is the second
            assert (await desk.gate(number, "operation_results")).content["plan"]["agent_sequence"]


async def complete(desk: OperationsDesk, number: int) -> None:
    """Say yes to all."""
    await desk.approve_plan(number)
    await desk.decide_results(number, approved=True)


async def let_expire(desk: OperationsDesk, number: int) -> None:
    """Nobody decides in time."""
    async with desk.database.transaction() as connection:
        await connection.execute("UPDATE approvals SET expires_at = now() WHERE status = 'pending'")


async def test_why_it_ended_stands_in_its_history_and_wherever_it_is_shown(
    configure: Callable[..., Config], database: Database
) -> None:
    desk = OperationsDesk(operations_config(configure), database)
    async with desk.running():
        number = await desk.start()
        await desk.gate(number)
        assert (await desk.call("read_operation_history", number)).ended is None
        await cancel(desk, number)
        late = await desk.start()
        await desk.gate(late)
        await let_expire(desk, late)
        await desk.stopped(late)
    for one, status, reason in (
        (number, "cancelled", "not needed (ann)"),
        (late, "expired", "nobody decided in time"),
    ):
        assert (await desk.call("get_operation", one)).reason == reason
        ended = (await desk.call("read_operation_history", one)).ended
        assert (ended.status, ended.reason) == (status, reason)
    listed = await desk.desk.call(await desk.ann(), "list_operations")
    assert [one.reason for one in listed.operations] == ["nobody decided in time", "not needed (ann)"]


async def cancel(desk: OperationsDesk, number: int) -> None:
    """Ann does not want it any more."""
    await desk.call("cancel_operation", number, reason="not needed")


async def fail(desk: OperationsDesk, number: int) -> None:
    """It goes on in the name of somebody who may no more."""
    await take(desk.database, "ann", "macro:analyst")
    await decide_plan(desk, await desk.desk.person("cat", "macro:analyst"), number, approved=True)


@pytest.mark.parametrize(
    ("end", "status", "stage", "reason"),
    [
        (complete, "completed", "completed", None),
        (let_expire, "expired", "plan_approval", "nobody decided"),
        (cancel, "cancelled", "plan_approval", "not needed"),
        (fail, "failed", "plan_approval", "macro:analyst"),
    ],
)
async def test_each_end_is_told_and_told_again(
    configure: Callable[..., Config],
    database: Database,
    end: Callable[..., Any],
    status: str,
    stage: str,
    reason: str | None,
) -> None:
    config = operations_config(configure)
    desk = OperationsDesk(config, database)
    with served(config, database.url) as base:
        async with desk.running():
            number = await desk.start()
            await desk.gate(number, "operation_plan")
            async with socket(base, config, number, who="bob") as opened:
                await told(opened, "plan_approval_request")
                await end(desk, number)
                last = (await up_to(opened, is_end))[-1]
            data = last["data"]
            assert (data["status"], data["current_stage"], data["current_agent"]) == (status, stage, None)
            assert (data["progress_percentage"] == 100.0) == (status == "completed")
            assert (data["reason"] is None) == (reason is None)
            assert (reason or "") in (data["reason"] or "")
            async with socket(base, config, number, after=last["id"] - 1, who="bob") as opened:
                assert await up_to(opened, is_end) == [last]
