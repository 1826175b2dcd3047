"""Gated kinds at every door: what `GET /api/kinds` tells, and a system of one folder that works by that.

The folder is `tests/fakes/workshop`. No other file knows of it.
"""

from collections.abc import Callable
from typing import Any

import pytest

from actors.platform import systems
from models.config import Config
from models.store.database import Database
from tests.integration.doors.mcp_client import mcp_client
from tests.integration.rest import client, served, token
from tests.integration.workflows import ended, running


async def test_a_kind_is_told_to_whoever_has_its_role_somewhere(
    configure: Callable[..., Config], database_url: str
) -> None:
    config = configure()
    with served(config, database_url) as base:
        async with client(config, base, "rea", "macro:reader") as rea:
            assert (await rea.get("/api/kinds")).json() == {"kinds": []}
        async with client(config, base, "ed", "macro:editor") as ed:
            told = (await ed.get("/api/kinds", headers={"Accept-Language": "pl"})).json()["kinds"]
        async with client(config, base, "ann", "macro:analyst") as ann:
            kinds = {kind["name"]: kind for kind in (await ann.get("/api/kinds")).json()["kinds"]}
    [publishing] = [kind for kind in told if kind["name"] != "tool_call"]
    assert (publishing["name"], publishing["title"]) == ("publish_article", "Publikacje")
    assert publishing["gates"][0]["decide"] == {
        "method": "POST",
        "path": "/api/approvals/{approval_id}/decision",
    }
    assert kinds.keys() >= {"publish_article", "research_article", "research"}
    research = kinds["research"]
    actions = {action["name"]: action for action in research["actions"]}
    assert actions["get"]["path"] == "/api/v1/agent-workflows/{workflow_id}"
    assert "workflow_id" in actions["get"]["input"]["properties"]
    gates = {gate["kind"]: gate for gate in research["gates"]}
    assert gates["research_urls"]["content"]["properties"]["urls"]["x-show"] == "table"
    assert "modifications" in gates["research_urls"]["answer"]["properties"]


@pytest.fixture
def _workshop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "SYSTEMS", (*systems.SYSTEMS, "tests.fakes.workshop.system:SYSTEM"))


@pytest.mark.usefixtures("_workshop")
async def test_a_client_that_knows_nothing_of_it_begins_changes_and_follows_it(
    configure: Callable[..., Config], database: Database, database_url: str
) -> None:
    config = configure()
    with served(config, database_url) as base:
        async with (
            client(config, base, "ed", "macro:editor") as ed,
            client(config, base, "rea", "macro:reader") as rea,
            running(database, config, kinds=systems.graphs()),
        ):
            kinds = {kind["name"]: kind for kind in (await ed.get("/api/kinds")).json()["kinds"]}
            toys = kinds["order_toy"]
            does = {action["name"]: action["path"] for action in toys["actions"]}
            order = {"topic": "macro", "wish": "a horse", "request_id": "r1"}
            begun = await ed.post(does["start"], json=order)
            assert begun.status_code == 201, begun.text
            task = begun.json()["task_id"]
            again = await ed.post(does["start"], json=order)
            assert (again.json()["task_id"], again.json()["new"]) == (task, False)
            assert (await ed.post(does["start"], json=order | {"wish": "a cow"})).status_code == 409
            assert (await ed.post(does["start"], json={"topic": "macro"})).status_code == 422
            await ended(database, task, "waiting")

            named = {toys["number"]: task}
            for path in (does["get"], does["cancel"], does["retry"]):
                refused = await rea.request("GET" if path == does["get"] else "POST", path.format(**named))
                assert refused.status_code == 403, "whoever has the role nowhere is told nothing"
            standing = (await ed.get(does["get"].format(**named))).json()
            [gate] = [each for each in toys["gates"] if each["kind"] == standing["approval"]["kind"]]
            assert gate["content"]["properties"]["parts"]["x-show"] == "table"
            assert standing["approval"]["content"].keys() <= gate["content"]["properties"].keys()

            decide = gate["decide"]["path"].format(**named)
            answer = {"decision": "modify", "digest": standing["approval"]["digest"]}
            for wrong in (
                answer,  # a change of nothing
                answer | {"changes": {"wood": "plastic"}},
                answer | {"decision": "approve", "changes": {"wood": "oak"}},
                {"decision": "approve"},
            ):
                assert (await ed.post(decide, json=wrong)).status_code == 422
            stale = answer | {"digest": "0" * 64, "changes": {"wood": "oak"}}
            assert (await ed.post(decide, json=stale)).status_code == 409
            assert (await rea.post(decide, json=answer | {"changes": {"wood": "oak"}})).status_code == 404
            decided = await ed.post(decide, json=answer | {"changes": {"wood": "oak"}})
            assert (decided.status_code, decided.json()["status"]) == (200, "approved"), decided.text
            await ended(database, task, "succeeded")
            ended_as = (await ed.get(does["get"].format(**named))).json()
            assert ended_as["result"] == {"decision": "approved", "toy": "a horse of oak"}
            assert (ended_as["approval"], ended_as["outcome"]) == (None, "succeeded")
            listed = (await ed.get(does["list"], params={"mine": True})).json()["tasks"]
            assert [each["task_id"] for each in listed] == [task]
            assert (await ed.post(does["cancel"].format(**named))).status_code == 409, "it is over"


@pytest.mark.usefixtures("_workshop")
async def test_a_model_begins_and_follows_it_over_mcp_and_people_alone_decide(
    configure: Callable[..., Config], database: Database, database_url: str
) -> None:
    config = configure()
    with served(config, database_url) as base:
        headers = {"Authorization": f"Bearer {token(config, 'ed', 'macro:editor')}"}
        async with mcp_client(base, headers) as model, running(database, config, kinds=systems.graphs()):
            offered = {tool.name: tool for tool in (await model.list_tools()).tools}
            assert "decide_order_toy" not in offered
            assert offered["start_order_toy"].input_schema["required"] == ["topic", "wish"]
            begun = await model.call_tool("start_order_toy", {"topic": "macro", "wish": "a cow"})
            assert begun.structured_content is not None, begun
            task = begun.structured_content["task_id"]
            await ended(database, task, "waiting")
            standing = (await model.call_tool("get_order_toy", {"task_id": task})).structured_content
            assert standing is not None
            assert standing["approval"]["content"]["wood"] == "pine"
            async with client(config, base, "bob", "macro:editor") as bob:
                path = f"/api/kinds/order-toy/{task}"
                assert (await bob.post(f"{path}/cancel")).status_code == 403, "it is not his"
                answer = {"decision": "reject", "digest": standing["approval"]["digest"]}
                assert (await bob.post(f"{path}/decision", json=answer)).status_code == 422, "say why"
                no = await bob.post(f"{path}/decision", json=answer | {"notes": "no cows"})
                assert no.json()["status"] == "rejected", no.text
            await ended(database, task, "succeeded")
            over = (await model.call_tool("get_order_toy", {"task_id": task})).structured_content
            assert over is not None
            assert (over["outcome"], over["result"]["toy"]) == ("rejected", None)


@pytest.mark.usefixtures("_workshop")
async def test_a_call_that_takes_a_yes_is_shown_exactly_and_made_once_after_it(
    configure: Callable[..., Config], database: Database, database_url: str
) -> None:
    config = configure()

    async def painted() -> list[str]:
        async with database.connection() as connection:
            rows = await connection.execute("SELECT name, created_by FROM resources ORDER BY id")
            return [f"{row['name']} by {row['created_by']}" for row in await rows.fetchall()]

    with served(config, database_url) as base:
        async with (
            client(config, base, "ann", "macro:analyst", "macro:admin") as ann,
            client(config, base, "bob", "macro:admin") as bob,
            running(database, config, kinds=systems.graphs()),
        ):
            paint = "/api/tools/toys/paint"
            white = (await ann.post(paint, json={"topic": "macro", "colour": "white"})).json()
            assert (white["task_id"], white["answer"]["resource_id"] > 0) == (None, True)
            assert await painted() == ["painted white by ann"]

            async def asked(colour: str) -> tuple[str, Any]:
                told = (await ann.post(paint, json={"topic": "macro", "colour": colour})).json()
                assert told["answer"] is None, "nothing is done yet"
                await ended(database, told["task_id"], "waiting")
                [waiting] = (await bob.get("/api/approvals", params={"kind": "tool_call"})).json()
                return told["task_id"], (await bob.get(f"/api/approvals/{waiting['id']}")).json()

            task, shown = await asked("red")
            assert shown["content"] == {
                "tool": "paint_toy",
                "description": "Paint a toy.",
                "arguments": {"topic": "macro", "colour": "red"},
                "topic": "macro",
                "requested_by": "ann",
            }
            path = f"/api/approvals/{shown['id']}/decision"
            yes = {"decision": "approve", "digest": shown["digest"]}
            assert (await ann.post(path, json=yes)).status_code == 403, "four eyes"
            assert (await bob.post(path, json=yes | {"digest": "0" * 64})).status_code == 409
            assert await painted() == ["painted white by ann"]
            assert (await bob.post(path, json=yes)).status_code == 200
            done = await ended(database, task)
            assert (done.status, done.error) == ("succeeded", None)
            assert await painted() == ["painted white by ann", "painted red by ann"]
            assert done.result is not None
            assert done.result["answer"]["resource_id"] > white["answer"]["resource_id"]

            task, shown = await asked("red")
            no = {"decision": "reject", "digest": shown["digest"], "notes": "it is red already"}
            assert (await bob.post(f"/api/approvals/{shown['id']}/decision", json=no)).status_code == 200
            await ended(database, task, "succeeded")
            assert (await ann.get(f"/api/tasks/{task}")).json()["status"] == "rejected"
            assert len(await painted()) == 2, "a no does nothing"
