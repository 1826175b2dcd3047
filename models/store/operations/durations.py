"""How long agents of operations take, as it is learnt from what they took."""

from models.store.database import Connection

_LATEST = 200


async def learnt(connection: Connection) -> dict[str, float]:
    """Seconds of each agent, the median of its latest readings; nothing of one that has not read yet."""
    cursor = await connection.execute(
        """SELECT agent, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds
           FROM (SELECT agent, (result #>> '{metadata,execution_time}')::float8 AS seconds
                 FROM operation_history
                 WHERE stage = 'agent_execution' AND result ->> 'status' = 'completed'
                 ORDER BY id DESC LIMIT %s) AS latest
           WHERE seconds IS NOT NULL GROUP BY agent""",
        (_LATEST,),
    )
    return {row["agent"]: row["seconds"] for row in await cursor.fetchall()}
