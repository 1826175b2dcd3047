"""The HTTP endpoints over a real database, through the ASGI interface that Serve drives."""

import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute

from cluster.cli.tokens import mint_token
from models.config import AuthConfig, Config
from models.runtime.workflows import WorkflowRequest
from models.store import events
from models.store.database import Database
from models.store.runtime import workflows
from serve.api import make_app
from tests.fakes.barrier import Barrier
from tests.integration.authority.identity import client_of
from tests.integration.workflows import begin

Configure = Callable[..., Config]
# RFC 9728: where whoever has no token yet looks up how to get one.
METADATA = "/.well-known/oauth-protected-resource"
OPEN = ("/health", "/health/ready", METADATA, f"{METADATA}/mcp")


@pytest.fixture
def config(configure: Configure) -> Config:
    """The app's configuration."""
    return configure()


@pytest.fixture
def auth(config: Config) -> AuthConfig:
    """How tokens are checked."""
    return config.auth


@pytest.fixture
async def api(config: Config, database_url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the app, with its lifespan run."""
    async with client_of(make_app(config, database_url)) as client:
        yield client


def bearer(auth: AuthConfig, *scopes: str, user: str = "ann", now: datetime | None = None) -> dict[str, str]:
    """The header of a user with scopes."""
    token = mint_token(auth, user=user, scopes=scopes, now=now or datetime.now(UTC))
    return {"Authorization": f"Bearer {token}"}


async def test_health_needs_no_token_and_asks_the_database(api: httpx2.AsyncClient) -> None:
    answer = await api.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_every_other_door_asks_for_a_token_before_it_looks_at_anything(
    config: Config, database_url: str
) -> None:
    app = make_app(config, database_url)
    doors = [
        (method, re.sub(r"\{\w+\}", "1", route.path))
        for route in app.routes
        if isinstance(route, APIRoute) and route.path not in OPEN
        for method in route.methods
    ]
    assert ("POST", "/api/revocations") in doors
    async with client_of(app) as client:
        for method, path in doors:
            for headers in ({}, {"Authorization": "Bearer rubbish"}):
                answer = await client.request(method, path, headers=headers)
                assert (method, path, answer.status_code) == (method, path, 401)


async def test_workflows_are_listed_by_status_and_page_by_page(
    api: httpx2.AsyncClient, auth: AuthConfig, database: Database
) -> None:
    reader = bearer(auth, "global:reader")
    async with database.transaction() as connection:
        # One transaction: three are of the same moment.
        made = [
            await workflows.create(
                connection,
                WorkflowRequest(kind="k", key=f"k:{n}", input={}, input_digest="d", requested_by="ann"),
            )
            for n in range(3)
        ]
        await workflows.cancel(connection, made[0].id, reason="done with it")
    async with database.transaction() as connection:
        request = WorkflowRequest(kind="k", key="k:3", input={}, input_digest="d", requested_by="ann")
        newest = await workflows.create(connection, request)

    async def listed(**asked: Any) -> list[str]:
        answer = await api.get("/api/workflows", headers=reader, params=asked)
        assert answer.status_code == 200, answer.text
        return [workflow["id"] for workflow in answer.json()]

    every = [newest.id, *sorted(workflow.id for workflow in made)]
    assert await listed() == every
    pages = [await listed(limit=1)]
    while pages[-1]:
        pages.append(await listed(limit=1, before=pages[-1][-1]))
    assert [one for page in pages for one in page] == every
    assert await listed(status="cancelled") == [made[0].id]
    assert await listed(status=["cancelled", "queued"]) == every
    assert await listed(status="parked") == []
    for asked, status, word in [({"status": "lost"}, 422, "status"), ({"before": "nobody"}, 404, "'nobody'")]:
        answer = await api.get("/api/workflows", headers=reader, params=asked)
        assert (answer.status_code, word in answer.text) == (status, True)


async def test_a_workflow_can_be_listed_read_followed_and_cancelled(
    api: httpx2.AsyncClient, auth: AuthConfig, database: Database
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    reader, editor = bearer(auth, "global:reader"), bearer(auth, "global:editor", user="bob")
    assert [w["id"] for w in (await api.get("/api/workflows", headers=reader)).json()] == [workflow.id]
    assert (await api.get(f"/api/workflows/{workflow.id}", headers=reader)).json()["status"] == "queued"
    told = (await api.get(f"/api/workflows/{workflow.id}/events", headers=reader)).json()
    assert [event["type"] for event in told] == ["workflow.queued"]
    url = f"/api/workflows/{workflow.id}/cancel"
    assert (await api.post(url, headers=reader, json={"reason": "no"})).status_code == 403
    stopped = await api.post(url, headers=editor, json={"reason": "wrong topic"})
    assert (stopped.status_code, stopped.json()["error"]) == (200, "wrong topic (bob)")
    again = await api.post(url, headers=editor, json={"reason": "wrong topic"})
    assert again.status_code == 409
    assert again.headers["content-type"] == "application/problem+json"
    assert "already ended (cancelled)" in again.json()["detail"]
    later = await api.get(
        f"/api/workflows/{workflow.id}/events", headers=reader, params={"after": told[0]["id"]}
    )
    assert [event["type"] for event in later.json()] == ["workflow.cancelled"]
    assert later.json()[0]["data"] == {"reason": None}  # it may name what a topic keeps
    shown = (await api.get(f"/api/workflows/{workflow.id}", headers=reader)).json()
    assert (shown["error"], shown["key"], shown["input"]) == (None, None, {})


async def test_where_a_model_is_is_not_told_to_readers(
    api: httpx2.AsyncClient, auth: AuthConfig, database: Database
) -> None:
    with Barrier() as barrier:
        workflow = await begin(database, barrier)
    waits_for = "model m at http://head.internal:8000/llm/v1"
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE workflows SET status = 'parked', parked_for = %s, parked_since = now()", (waits_for,)
        )
        await events.append(connection, "workflow.parked", workflow.id, {"waits_for": waits_for})
    reader, editor = bearer(auth, "global:reader"), bearer(auth, "global:editor", user="bob")
    path = f"/api/workflows/{workflow.id}"
    for place in ("/api/workflows", path, f"{path}/events"):
        told = (await api.get(place, headers=reader)).text
        assert ("model m" in told, "head.internal" in told) == (True, False)
        assert "head.internal" in (await api.get(place, headers=editor)).text


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/workflows/nobody", None, 404),
        ("GET", "/api/workflows/nobody/events", None, 404),
        ("GET", "/api/workflows/%00", None, 422),
        ("GET", "/api/workflows?limit=0", None, 422),
        ("GET", "/api/workflows?limit=many", None, 422),
        ("POST", "/api/workflows/nobody/cancel", {"reason": "x"}, 404),
        ("POST", "/api/workflows/nobody/cancel", {"reason": ""}, 422),
        ("POST", "/api/workflows/nobody/cancel", {"reason": "x", "more": 1}, 422),
        ("POST", "/api/workflows/nobody/cancel", None, 422),
    ],
)
async def test_bad_requests_get_a_problem(
    api: httpx2.AsyncClient, auth: AuthConfig, method: str, path: str, body: Any, status: int
) -> None:
    answer = await api.request(method, path, headers=bearer(auth, "global:admin"), json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
