"""Everything, as a user has it: `signoff up`, vLLM with the bundled model, a batch, a kill."""

import json

import httpx2
import openai
import pytest

from pipelines.progress import plain
from tests.e2e.cluster import TOPICS, Cluster

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1500)]


def test_every_part_is_up_and_answers(cluster: Cluster) -> None:
    found = cluster.status()
    assert found["problems"] == []
    assert {app["name"] for app in found["apps"]} == {"api", "embeddings", "llm", "samples"}
    assert httpx2.get(f"{cluster.http}/health", trust_env=False).json() == {"status": "ok"}


def test_the_served_model_keeps_to_a_json_schema(cluster: Cluster) -> None:
    client = openai.OpenAI(base_url=f"{cluster.http}/llm/v1", api_key=cluster.serving_key, timeout=180)
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["KEEP", "REMOVE"]}, "why": {"type": "string", "maxLength": 60}},
        "required": ["verdict", "why"],
        "additionalProperties": False,
    }
    reply = client.chat.completions.create(
        model="smollm2-135m-instruct",
        messages=[{"role": "user", "content": "Is the sky green? Judge the claim."}],
        max_tokens=80,
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "v", "schema": schema, "strict": True},
        },
    )
    assert set(json.loads(reply.choices[0].message.content or "")) == {"verdict", "why"}


def test_a_batch_edits_articles_and_a_second_one_redoes_nothing(cluster: Cluster) -> None:
    done = cluster.edit()
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    for name in TOPICS:
        result = cluster.article(name)
        assert result.error is None
        assert result.article is not None
        assert len(result.article.articleBody) >= 200
        report = result.editor_report
        assert report is not None
        assert result.success == (report.final_status == "SUCCESS")
        assert bool(report.blocking_concerns) != result.success
        assert plain(result.article.headline) in done.stdout
    again = cluster.edit()
    assert again.returncode == 0
    assert again.stdout.count("finished before") == len(TOPICS)
    workflows = cluster.status()["workflows"]
    assert workflows["succeeded"] >= len(TOPICS)


def test_the_http_api_shows_the_workflows_to_who_may_see_them(cluster: Cluster) -> None:
    token = cluster.token("ann", "global:reader")
    url = f"{cluster.http}/api/workflows"
    assert httpx2.get(url, trust_env=False).status_code == 401
    listed = httpx2.get(url, headers={"Authorization": f"Bearer {token}"}, trust_env=False).json()
    assert {w["status"] for w in listed} == {"succeeded"}


def test_up_repairs_what_was_killed(cluster: Cluster) -> None:
    cluster.kill_postgres()
    assert cluster.status()["problems"] != []
    up = cluster.signoff("up", "--config", str(cluster.config))
    assert up.returncode == 0, up.stdout[-3000:] + up.stderr[-3000:]
    again = cluster.edit()
    assert again.returncode == 0, again.stdout[-3000:]
    assert again.stdout.count("finished before") == len(TOPICS)
    assert cluster.status()["problems"] == []
