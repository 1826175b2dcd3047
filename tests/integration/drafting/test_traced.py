"""One trace, over real HTTP: the request, its tool call, its workflow in a runner, steps, and model calls.

And what is counted of it.
"""

import asyncio
from collections.abc import Callable

from actors.platform import tracing
from models.config import Config
from models.store.database import Database
from models.store.upkeep import observations
from tests.fakes.collector import Collector
from tests.fakes.model.model_server import ModelServer
from tests.integration.drafting.research_site import QUERY, TWO_STATEMENTS, Site, configured
from tests.integration.editorial.desk import Desk
from tests.integration.rest import client, served


async def test_a_research_is_one_trace_from_the_request_to_the_model_calls(
    database: Database, database_url: str, configure: Callable[..., Config], model: ModelServer
) -> None:
    model.script(TWO_STATEMENTS)
    with Collector() as collector:
        settings = {"monitoring.otlp_endpoint": collector.url}
        config = configure(configured(model.base_url, **settings))
        site = Site(Desk(database, config))
        with served(config, database_url) as base:
            async with client(config, base, "ann", "macro:analyst") as ann, site.running():
                asked = {"topic": "macro", "query": QUERY}
                answer = await ann.post("/api/tools/research/article", json=asked)
                await site.done(answer.json()["task_id"])
        await asyncio.to_thread(tracing.end)
    spans = {span.id: span for span in collector.spans}
    [request] = [span for span in spans.values() if not span.parent]
    assert request.name == "POST /api/tools/research/article"
    assert {span.trace for span in spans.values()} == {request.trace}
    [call] = [span for span in spans.values() if span.name == "chat scripted"]
    way = [call.name]
    while call.parent:
        call = spans[call.parent]
        way.append(call.name)
    assert way == [
        "chat scripted", "step", "workflow research_article", "tool research_article", request.name,
    ]  # fmt: skip
    [workflow] = [span for span in spans.values() if span.name == "workflow research_article"]
    assert workflow.facts == {"signoff.workflow": answer.json()["task_id"], "signoff.epoch": 1}
    # Its steps are spans beneath it, and are counted as often.
    steps = {str(span.facts["signoff.step"]) for span in spans.values() if span.parent == workflow.id}
    async with database.connection() as connection:
        await observations.add(connection, limit=1000)
        counts = await observations.read(connection)
        kept = await (await connection.execute("SELECT key FROM documents")).fetchall()
    assert steps <= {row["key"] for row in kept}
    counted = {
        measure: sum(each.times for each in counts if each.measure == measure)
        for measure in ("step", "workflow", "model_call")
    }
    assert counted == {"step": len(steps), "workflow": 1, "model_call": 1}
