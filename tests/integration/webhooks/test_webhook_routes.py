"""Webhooks over HTTP: admins make them, change them, try them out and see what was sent."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from standardwebhooks.webhooks import Webhook as StandardWebhook

from cluster.cli.tokens import mint_token
from models.config import Config
from models.store import events
from models.store.database import Database
from serve.auth.tokens import TokenVerifier
from serve.problems import add_problem_handlers
from serve.routes import webhooks
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.integration.webhooks.deliveries import dispatching, ended, put

Configure = Callable[..., Config]
HOOK = {
    "name": "newsroom",
    "event_type": "article_published",
    "url": "https://hooks.example.com/signoff",
    "headers": {"Authorization": "Bearer 1f2e3d"},
}


@pytest.fixture
def config(configure: Configure) -> Config:
    """Loopback is allowed."""
    return configure({"outgoing.allow_internal": ["127.0.0.1/32"]})


def bearer(config: Config, *scopes: str) -> dict[str, str]:
    """The header of a user with scopes."""
    token = mint_token(config.auth, user="root", scopes=scopes, now=datetime.now(UTC))
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
async def api(config: Config, database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    """An admin's client of an app with these routes."""
    app = FastAPI()
    app.state.database = database
    app.state.config = config
    app.state.verifier = TokenVerifier(config.auth)
    add_problem_handlers(app)
    app.include_router(webhooks.router)
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app),
        base_url="http://signoff",
        headers=bearer(config, "global:admin"),
    ) as client:
        yield client


async def created(api: httpx2.AsyncClient, **more: Any) -> dict[str, Any]:
    """Make a webhook: it and its secret."""
    answer = await api.post("/api/webhooks", json=HOOK | more)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def created_webhook(api: httpx2.AsyncClient, **more: Any) -> dict[str, Any]:
    """Make a webhook: as it is shown from then on, without its secret."""
    made = await created(api, **more)
    del made["secret"]
    return made


async def test_a_webhook_is_made_read_changed_and_taken_away(
    api: httpx2.AsyncClient, database: Database
) -> None:
    made = await created(api, topic="macro")
    secret = made.pop("secret")
    webhook = made
    assert secret.startswith("whsec_")
    assert webhook["header_names"] == ["Authorization"]
    assert (webhook["method"], webhook["max_retries"], webhook["retry_delay_seconds"]) == ("POST", 3, 60)
    assert (webhook["created_by"], webhook["is_active"], webhook["topic"]) == ("root", True, "macro")
    url = f"/api/webhooks/{webhook['id']}"
    assert (await api.get(url)).json() == webhook
    assert (await api.get("/api/webhooks")).json() == [webhook]
    changes = {"topic": None, "is_active": False, "url": "http://127.0.0.1:9/x", "headers": {}}
    changed = (await api.patch(url, json=changes)).json()
    assert changed["header_names"] == []
    assert {k: changed[k] for k in ("topic", "is_active", "url")} == {
        k: changes[k] for k in ("topic", "is_active", "url")
    }
    assert changed["name"] == webhook["name"]
    untouched = (await api.patch(url, json={})).json()
    assert untouched == changed | {"updated_at": untouched["updated_at"]}
    assert (await api.delete(url)).status_code == 204
    assert (await api.get(url)).status_code == 404
    async with database.connection() as connection:
        said = await events.read(connection, after=0)
    assert [(e.type, e.role, e.data["by"]) for e in said] == [
        ("webhook.created", "admin", "root"),
        ("webhook.changed", "admin", "root"),
        ("webhook.changed", "admin", "root"),
        ("webhook.deleted", "admin", "root"),
    ]
    assert said[1].data["fields"] == ["headers", "is_active", "topic", "url"]


async def test_headers_for_one_host_are_not_sent_to_another(
    api: httpx2.AsyncClient, database: Database
) -> None:
    webhook = (await created(api))["id"]

    async def kept(**changes: Any) -> dict[str, str]:
        answer = await api.patch(f"/api/webhooks/{webhook}", json=changes)
        assert answer.status_code == 200
        async with database.connection() as connection:
            cursor = await connection.execute("SELECT headers FROM webhooks WHERE id = %s", (webhook,))
            row = await cursor.fetchone()
        assert row is not None
        return dict(row["headers"])

    before = await kept(name="other")
    assert set(before) == {"Authorization"}
    assert await kept(url="https://HOOKS.example.com/elsewhere") == before
    assert set(await kept(url="http://127.0.0.1:9/x", headers={"X-A": "1"})) == {"X-A"}
    assert await kept(url="http://127.0.0.1:10/x") == {}


async def test_a_secret_may_have_the_seed_s_name(api: httpx2.AsyncClient) -> None:
    chosen = "an old secret of the receiver's"
    assert (await created(api, secret_key=chosen))["secret"] == chosen
    both = await api.post("/api/webhooks", json={**HOOK, "secret": chosen, "secret_key": chosen})
    assert both.status_code == 422


async def test_no_answer_tells_a_stored_secret(api: httpx2.AsyncClient, database: Database) -> None:
    chosen = "an old secret of the receiver's"
    made = await created(api, secret=chosen)
    assert made["secret"] == chosen
    path = f"/api/webhooks/{made['id']}"
    rotated = (await api.post(f"{path}/rotate-secret")).json()
    new = rotated["secret"]
    assert rotated["previous_secret_until"] is not None
    tried = (await api.post(f"{path}/test")).json()["delivery_id"]
    answers = [
        await api.get(path),
        await api.get("/api/webhooks"),
        await api.patch(path, json={"name": "other"}),
        await api.get(f"{path}/deliveries"),
        await api.post(f"{path}/deliveries/{tried}/replay"),
    ]
    for answer in answers:
        assert answer.is_success
        assert all(kept not in answer.text for kept in (chosen, new, "1f2e3d"))
    async with database.connection() as connection:
        for event in await events.read(connection, after=0):
            assert all(kept not in event.model_dump_json() for kept in (chosen, new, "1f2e3d"))


async def test_a_test_message_is_sent_signed_and_listed_and_can_be_replayed(
    api: httpx2.AsyncClient, config: Config, database: Database
) -> None:
    async with WebhookReceiver() as receiver, dispatching(database, config):
        made = await created(api, url=receiver.at("/hook"), max_retries=0, topic="macro")
        path = f"/api/webhooks/{made['id']}"
        receiver.script("/hook", Reply(500))
        sent = await api.post(f"{path}/test")
        assert sent.status_code == 202
        delivery_id = sent.json()["delivery_id"]
        await ended(database, delivery_id)
        [dead] = (await api.get(f"{path}/deliveries", params={"status": "dead"})).json()
        assert (dead["id"], dead["response_status"], dead["error"]) == (delivery_id, 500, "HTTP 500")
        again = await api.post(f"{path}/deliveries/{delivery_id}/replay")
        assert (again.status_code, again.json()["status"]) == (202, "pending")
        await ended(database, delivery_id)
        got = receiver.to("/hook")[1]
        message = StandardWebhook(made["secret"]).verify(got.body, got.headers)
        assert (message["event"], message["webhook_id"]) == ("test", delivery_id)
        assert message["webhook"]["event_type"] == "article_published"
        more = [(await put(database))[0] for _ in range(3)]
        page = (await api.get(f"{path}/deliveries", params={"limit": 2})).json()
        assert [d["id"] for d in page] == more[:0:-1]
        rest = (await api.get(f"{path}/deliveries", params={"before": page[-1]["id"]})).json()
        assert [d["id"] for d in rest] == [more[0], delivery_id]
        assert (await api.get(f"{path}/deliveries", params={"status": "dead"})).json() == []


async def test_nothing_is_tried_out_while_it_is_switched_off(api: httpx2.AsyncClient) -> None:
    made = await created(api, is_active=False)
    answer = await api.post(f"/api/webhooks/{made['id']}/test")
    assert answer.status_code == 409
    assert "is_active" in answer.json()["detail"]


async def test_another_s_delivery_can_t_be_replayed_through_a_webhook(
    api: httpx2.AsyncClient, database: Database
) -> None:
    first, second = await created_webhook(api), await created_webhook(api)
    mine, other = await put(database)
    path = f"/api/webhooks/{first['id']}/deliveries"
    assert (await api.post(f"{path}/{other}/replay")).status_code == 404
    assert (await api.get(path, params={"before": other})).status_code == 404
    assert (await api.post(f"{path}/{mine}/replay")).status_code == 202
    assert second["id"] != first["id"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"url": "ftp://example.com"}, "url"),
        ({"url": "http://169.254.169.254/latest"}, "url"),
        ({"url": "http://127.1/"}, "url"),
        ({"url": "http://localhost../"}, "url"),
        ({"url": "http://ann:pw@example.com/"}, "url"),
        ({"url": "http://example.com/" + "x" * 500}, "url"),
        ({"url": None}, "url"),
        ({"topic": "cooking"}, "topic"),
        ({"topic": "global"}, "topic"),
        ({"topic": "ma\x00cro"}, "topic"),
        ({"event_type": "article_deleted"}, "event_type"),
        ({"method": "GET"}, "method"),
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"headers": {"Host": "elsewhere"}}, "headers"),
        ({"headers": {"X-A": 1}}, "headers"),
        ({"headers": None}, "headers"),
        ({"max_retries": -1}, "max_retries"),
        ({"max_retries": 101}, "max_retries"),
        ({"max_retries": "3"}, "max_retries"),
        ({"max_retries": True}, "max_retries"),
        ({"retry_delay_seconds": 0}, "retry_delay_seconds"),
        ({"retry_delay_seconds": 1e9}, "retry_delay_seconds"),
        ({"is_active": "yes"}, "is_active"),
        ({"is_active": None}, "is_active"),
        ({"id": 7}, "id"),
    ],
)
async def test_bad_settings_are_refused_by_name_and_change_nothing(
    api: httpx2.AsyncClient, change: dict[str, Any], told: str
) -> None:
    made = await created_webhook(api)
    for answer in (
        await api.post("/api/webhooks", json=HOOK | change),
        await api.patch(f"/api/webhooks/{made['id']}", json=change),
    ):
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert told in answer.json()["detail"]
    assert (await api.get("/api/webhooks")).json() == [made]


async def test_a_bad_secret_is_refused_and_not_told_back(api: httpx2.AsyncClient) -> None:
    made = await created_webhook(api)
    for answer in (
        await api.post("/api/webhooks", json=HOOK | {"secret": "too short"}),
        await api.post(f"/api/webhooks/{made['id']}/rotate-secret", json={"secret": "too short"}),
    ):
        assert answer.status_code == 422
        assert "secret: " in answer.json()["detail"]
        assert "too short" not in answer.text


@pytest.mark.parametrize("scopes", [("macro:admin",), ("global:analyst", "macro:admin"), ("global:reader",)])
async def test_all_of_it_takes_global_admin(
    api: httpx2.AsyncClient, config: Config, database: Database, scopes: tuple[str, ...]
) -> None:
    path = f"/api/webhooks/{(await created_webhook(api))['id']}"
    [delivery_id] = await put(database)
    for method, url, body in (
        ("POST", "/api/webhooks", HOOK),
        ("GET", "/api/webhooks", None),
        ("GET", path, None),
        ("PATCH", path, {"name": "mine"}),
        ("DELETE", path, None),
        ("POST", f"{path}/rotate-secret", None),
        ("POST", f"{path}/test", None),
        ("GET", f"{path}/deliveries", None),
        ("POST", f"{path}/deliveries/{delivery_id}/replay", None),
    ):
        answer = await api.request(method, url, json=body, headers=bearer(config, *scopes))
        assert (method, url, answer.status_code) == (method, url, 403)
        assert answer.json()["scope"] == "global:admin"
        assert (await api.request(method, url, json=body, headers={"Authorization": ""})).status_code == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/rotate-secret"),
        ("POST", "/test"),
        ("GET", "/deliveries"),
        ("POST", "/deliveries/wh_1/replay"),
    ],
)
async def test_what_is_not_there(api: httpx2.AsyncClient, method: str, path: str) -> None:
    body = {"name": "x"} if method == "PATCH" else None
    for webhook_id, status in (("7", 404), (str(2**63), 422), ("x", 422), ("0", 422)):
        answer = await api.request(method, f"/api/webhooks/{webhook_id}{path}", json=body)
        assert (webhook_id, answer.status_code) == (webhook_id, status)


async def test_the_schema_names_operations_as_the_code_does(api: httpx2.AsyncClient) -> None:
    schema = (await api.get("/openapi.json")).json()
    named = {operation["operationId"] for path in schema["paths"].values() for operation in path.values()}
    assert named == {
        *("create_webhook", "list_webhooks", "get_webhook", "change_webhook", "delete_webhook"),
        *("rotate_webhook_secret", "test_webhook", "list_deliveries", "replay_delivery"),
    }
    assert schema["components"]["schemas"]["NewWebhook"]["examples"]
    fields = schema["components"]["schemas"]["WebhookChange"]
    assert "required" not in fields
    assert "default" not in fields["properties"]["name"]
