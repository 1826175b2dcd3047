"""What a research has used so far, in Postgres: as its tools and its model calls tell."""

from models.research.agent_workflows import AgentWorkflow
from models.research.limits import SpentSoFar
from models.store.database import Connection


async def so_far(connection: Connection, research: AgentWorkflow) -> SpentSoFar:
    """All that is kept of it: calls under way are not in it, nor is time that it waited."""
    cursor = await connection.execute(
        """SELECT coalesce(sum(prompt_tokens + completion_tokens), 0)::bigint AS tokens,
                  coalesce(sum(latency_seconds), 0)
                  + (SELECT coalesce(sum(duration_ms), 0) / 1000.0 FROM workflow_tools
                     WHERE research_id = %s)::float8 AS seconds
           FROM model_calls WHERE workflow_id = %s""",
        (research.id, research.workflow_id),
    )
    return SpentSoFar.model_validate(await cursor.fetchone())
