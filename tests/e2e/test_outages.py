"""An outage is not a verdict: vLLM's engine is killed in mid batch, and every topic ends as it should.

`pytest tests/e2e/test_outages.py` brings the site up by itself, in about two minutes.
"""

import asyncio
import json
import time
from typing import Any

import httpx2
import psutil
import pytest

from tests.e2e.cluster import ROOT, Cluster
from tests.e2e.story import People, Rest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

ENGINE = "VLLM::EngineCore"
# All samples: two are done before anything could be killed.
SAMPLES = ROOT / "configs/samples/topics"
MODEL = "model smollm2-135m-instruct"
LEVY = (
    "The ferry levy at Orra is 40 cents a passenger. The council voted for the ferry levy at Orra in May. "
    "The ferry levy pays for two piers. Lorries that cross at Orra pay a levy of 12 euros."
)


def workflows(cluster: Cluster, token: str) -> list[dict[str, Any]]:
    """The newest workflows, as the API lists them."""
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.get(f"{cluster.http}/api/workflows", headers=headers, trust_env=False, timeout=30)
    found: list[dict[str, Any]] = answer.raise_for_status().json()
    return found


async def published(people: People, headline: str, content: str) -> None:
    """An article that readers see."""
    door = Rest(people)
    made = await door.call("ann", "create_draft_article", topic="macro", headline=headline)
    article = int(made["article_id"])
    await door.call("ann", "write_article_content", article_id=article, content=content)
    await door.call("ann", "submit_for_review", article_id=article)
    asked = await door.call("eve", "publish_article", article_id=article)
    path = f"/api/approvals/{asked['approval_request_id']}"
    shown = await people.request("bob", "GET", path)
    decision = {"decision": "approve", "digest": shown["digest"]}
    await people.request("bob", "POST", f"{path}/decision", decision)

    async with asyncio.timeout(60):
        while True:
            read = await people.request("ann", "GET", f"/api/tools/articles/{article}")
            if read["article"]["status"] == "published":
                return
            await asyncio.sleep(0.2)  # over HTTP


async def until(what: str, found: Any, seconds: float) -> Any:
    """What `found` returns, once that is something; it is asked in a thread."""
    ends = time.monotonic() + seconds
    while not (seen := await asyncio.to_thread(found)):
        assert time.monotonic() < ends, f"not within {seconds:g} s: {what}"
        await asyncio.sleep(0.5)  # over HTTP
    return seen


async def test_the_engine_is_killed_in_mid_batch_and_all_topics_end_as_they_should(cluster: Cluster) -> None:
    told = [json.loads(path.read_text())["source_metadata"] for path in SAMPLES.glob("*.json")]
    names = [f"{one['channel_name']}/{one['topic_slug']}" for one in told]
    token = cluster.token("olga", "global:editor")
    known = {workflow["id"] for workflow in workflows(cluster, token)}

    def ours() -> list[dict[str, Any]]:
        return [workflow for workflow in workflows(cluster, token) if workflow["id"] not in known]

    def under_way() -> bool:
        """Every topic has a step behind it, and none is over: it is mid batch."""
        topics = ours()
        headers = {"Authorization": f"Bearer {token}"}
        begun = [
            any(event["type"] == "step.done" for event in httpx2.get(
                f"{cluster.http}/api/workflows/{workflow['id']}/events",
                headers=headers, trust_env=False, timeout=30,
            ).json())
            for workflow in topics
        ]  # fmt: skip
        open_yet = {topic["status"] for topic in topics} <= {"queued", "running"}
        return len(begun) == len(names) and all(begun) and open_yet

    batch = asyncio.create_task(asyncio.to_thread(cluster.edit, "--force", topics=SAMPLES))
    await until("every topic has a step behind it, and none is over", under_way, 300)
    before = cluster.engine(ENGINE)
    before.kill()
    psutil.wait_procs([before], timeout=20)
    parked = await until("work is parked", lambda: [w for w in ours() if w["status"] == "parked"], 120)
    # Parked work is tried again now and then, and is running meanwhile.
    await until("the status says what work waits for", lambda: MODEL in str(cluster.status()["parked"]), 60)
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as anybody:
        ready = await anybody.get(f"{cluster.http}/health/ready")
    assert ready.status_code == 503
    assert [need["ready"] for need in ready.json()["needs"] if need["name"] == MODEL] == [False]
    assert {workflow["status"] for workflow in ours()} <= {"parked", "queued", "running"}, parked

    done = await batch
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert len(ours()) == len(names)
    assert {workflow["status"] for workflow in ours()} == {"succeeded"}
    for name in names:
        result = cluster.article(name)
        assert (result.error, result.article is not None) == (None, True)
    assert "Traceback" not in done.stdout
    assert "\x1b[36mray::" not in done.stdout
    assert cluster.engine(ENGINE).pid != before.pid
    assert cluster.status()["parked"] == []


async def test_people_are_answered_at_once_while_the_engine_is_away(cluster: Cluster) -> None:
    """With 503 and Retry-After, from the first second to the last; then they are answered again."""
    await published(People(cluster), "The ferry levy at Orra", LEVY)
    token = cluster.token("rita", "macro:reader")
    # The model chooses what is quoted of the article.
    asked = {"message": "what did we write about the ferry levy at Orra?", "topic": "macro"}

    async def ask(client: httpx2.AsyncClient) -> tuple[httpx2.Response, float]:
        begun = time.monotonic()
        return await client.post("/api/chat", json=asked), time.monotonic() - begun

    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(
        base_url=cluster.http, headers=headers, trust_env=False, timeout=120
    ) as rita:
        # Agents that saw the last outage ask again after a pause.
        async with asyncio.timeout(60):
            while (first := (await ask(rita))[0]).status_code != 200:
                assert first.status_code == 503, first.text
                await asyncio.sleep(int(first.headers["retry-after"]))  # as a person would who is told to
        await asyncio.to_thread(lambda: cluster.engine(ENGINE).kill())
        refused, ends = [], time.monotonic() + 600
        while True:
            answer, seconds = await ask(rita)
            if answer.status_code == 200 and refused:
                break
            assert time.monotonic() < ends, "the engine did not come back"
            if answer.status_code != 200:
                assert answer.status_code == 503, answer.text
                assert int(answer.headers["retry-after"]) >= 1
                assert seconds < 20, (seconds, answer.text)
                refused.append(answer.json()["detail"])
            await asyncio.sleep(1)  # as a person would who is told to
    assert all(detail.startswith("The model smollm2-135m-instruct is away") for detail in refused), refused
