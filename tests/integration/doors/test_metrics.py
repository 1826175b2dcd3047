"""`/metrics` as Prometheus asks for it: each family with its labels, the same on every replica, and cheap.

Alert rules and dashboards are held to what it says, beside the list of families that unit tests hold them to.
"""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from models.config import Config
from models.store.database import Database
from serve.monitoring.families import FAMILIES
from tests.integration.rest import client, served
from tests.promql.naming import check
from tests.promql.parsing import parse

Configure = Callable[..., Config]
DEPLOY = Path(__file__).resolve().parents[3] / "configs/deploy"
# One of everything that is counted, and of everything that stands.
FILL = [
    """INSERT INTO workflows (id, kind, input, input_digest, requested_by, status, parked_for, parked_since,
                              not_before)
       VALUES ('a', 'editorial', '{}', 'd', 'ann', 'running', NULL, NULL, NULL),
              ('b', 'publish_article', '{}', 'd', 'ann', 'waiting', NULL, NULL, NULL),
              ('c', 'editorial', '{}', 'd', 'ann', 'parked', 'model m at http://m', now(), now())""",
    """INSERT INTO approvals (id, workflow_id, gate, kind, content, digest, requested_by, required_scope,
                              four_eyes, status, expires_at)
       SELECT n, 'b', n, 'publish_article', '{}', 'd', 'ann', 'global:editor', true, 'pending',
              now() + interval '1 day' FROM unnest(ARRAY['1', '2']) n""",
    "UPDATE approvals SET status = 'approved', decided_at = now() WHERE id = '1'",
    """INSERT INTO model_calls (workflow_id, step, agent, model, prompt_sha256, prompt_tokens,
                                completion_tokens, latency_seconds)
       VALUES ('a', 's', 'writer', 'm', 'd', 10, 3, 0.5)""",
    """INSERT INTO incoming_observations (measure, labels, value, total)
       VALUES ('step', '{editorial}', 2, 2), ('lost_connection', '{signoff}', 0, 1)""",
    "UPDATE workflows SET status = 'succeeded', finished_at = now() WHERE id = 'a'",
    "INSERT INTO projects (topic, name, created_by) VALUES ('macro', 'P', 'ann')",
    "INSERT INTO sources (project_id, url) SELECT id, 'https://e.org/' FROM projects",
    "UPDATE sources SET settled_at = now(), engine = 'http', text = 't'",
    """INSERT INTO webhooks (name, event_type, url, method, max_retries, retry_delay_seconds, secret,
                             created_by)
       VALUES ('w', 'content.published', 'https://example.org', 'POST', 3, 1, 's', 'ann')""",
    "INSERT INTO deliveries (id, webhook_id, event_type, body, status) VALUES ('d', 1, 'e', '{}', 'pending')",
    "UPDATE deliveries SET status = 'delivered', ended_at = now()",
]


@pytest.fixture
def config(configure: Configure) -> Config:
    """The configuration of the app."""
    return configure({"database.old_transaction_seconds": 0.001})


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """A replica of the app."""
    with served(config, database_url) as url:
        yield url


@pytest.fixture
async def analyst(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Somebody who drafts."""
    async with client(config, base, "ann", "macro:analyst") as made:
        yield made


async def scraped(config: Config, base: str) -> str:
    """What `/metrics` says."""
    headers = {"Authorization": f"Bearer {config.http.scrape_token.get_secret_value()}"}
    async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False, timeout=30) as prometheus:
        answer = await prometheus.get("/metrics")
    assert answer.status_code == 200
    return answer.text


def labels_of(text: str) -> dict[str, set[frozenset[str]]]:
    """The names of labels that a sample has, by its name."""
    found: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name].add(frozenset(sample.labels))
    return found


def line(text: str, name: str, **labels: str) -> float:
    """The value of one sample."""
    [value] = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and sample.labels == labels
    ]
    return value


async def test_calls_are_counted_alike_on_every_replica_and_outlive_their_record(
    config: Config, base: str, database_url: str, analyst: httpx2.AsyncClient
) -> None:
    for headline in ("A", "B", ""):
        await analyst.post("/api/tools/articles/create", json={"topic": "macro", "headline": headline})
    await analyst.post("/api/tools/articles/create", json={"topic": "equity", "headline": "C"})
    # A person's token is not enough.
    assert (await analyst.get(f"{base}/metrics")).status_code == 401
    with served(config, database_url) as other:
        for url in (base, other, base):
            text = await scraped(config, url)
            made = {"tool_name": "create_draft_article"}
            assert line(text, "tool_calls_total", **made, status="ok") == 2
            assert line(text, "tool_calls_total", **made, status="PermissionMissing") == 1
            assert line(text, "signoff_tool_call_seconds_count", **made, status="ok", door="rest") == 2
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        await connection.execute("DELETE FROM tool_calls")
    await analyst.post("/api/tools/articles/create", json={"topic": "macro", "headline": "D"})
    assert line(await scraped(config, base), "tool_calls_total", **made, status="ok") == 3


async def test_requests_to_all_replicas_are_one_count_by_their_route(
    config: Config, base: str, database_url: str, analyst: httpx2.AsyncClient
) -> None:
    with served(config, database_url) as other:
        async with client(config, other, "bob", "macro:analyst") as bob:
            for number in range(3):
                assert (await analyst.get(f"/api/tools/articles/{number + 1}")).status_code == 404
                assert (await bob.get(f"/api/tools/articles/{number + 1}")).status_code == 404
            await bob.get(f"{other}/nothing/{'of the kind'}")
            await bob.post(f"{other}/mcp", json={})
            assert (await httpx2.AsyncClient(trust_env=False).get(f"{other}/api/me")).status_code == 401
    # That replica has ended, and wrote what it had seen before.
    text = await scraped(config, base)
    name = "signoff_http_request_seconds_count"
    assert line(text, name, method="GET", route="/api/tools/articles/{id}", status="4xx") == 6
    assert line(text, name, method="GET", route="none", status="4xx") == 2
    assert line(text, name, method="POST", route="/mcp", status="4xx") == 1
    again = await scraped(config, base)
    assert line(again, name, method="GET", route="/metrics", status="2xx") == 1


async def test_every_family_has_the_labels_that_it_is_listed_with_and_rules_and_dashboards_ask_for_them(
    config: Config, base: str, database: Database, analyst: httpx2.AsyncClient
) -> None:
    await analyst.post("/api/tools/articles/create", json={"topic": "macro", "headline": "A"})
    async with database.transaction() as connection:
        for statement in FILL:
            await connection.execute(statement.encode())
    async with database.transaction() as connection:
        await connection.execute("SELECT 1")  # open for long, as far as this site is concerned
        found = labels_of(await scraped(config, base))
    listed = {
        sample: {frozenset(family.labels) | ({"le"} if sample.endswith("_bucket") else frozenset())}
        for family in FAMILIES
        for sample in family.samples
    }
    assert found == listed
    known = {name: next(iter(labels)) for name, labels in found.items()}
    asked = [
        rule["expr"]
        for group in yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
        for rule in group["rules"]
    ]
    for file in sorted((DEPLOY / "grafana").glob("*.json")):
        for panel in json.loads(file.read_text(encoding="utf-8"))["panels"]:
            asked += [target["expr"].replace("$__rate_interval", "5m") for target in panel.get("targets", ())]
    assert len(asked) > 50
    for expression in asked:
        check(parse(expression), known)


async def test_how_the_site_is_is_told(config: Config, base: str, database: Database) -> None:
    async with database.transaction() as connection:
        for statement in FILL:
            await connection.execute(statement.encode())
    text = await scraped(config, base)
    assert line(text, "active_workflows") == 2
    assert line(text, "workflow_duration_seconds_count", task_type="editorial", status="succeeded") == 1
    assert line(text, "signoff_approvals_waiting", kind="publish_article") == 1
    assert line(text, "signoff_parked_workflows", waits_for="model m at http://m") == 1
    assert line(text, "signoff_ready", thing="database") == 1
    assert line(text, "signoff_ready", thing="runners") == 0
    assert line(text, "signoff_workflow_budget_seconds", task_type="editorial") == 1200
