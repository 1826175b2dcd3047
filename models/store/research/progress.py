"""How far a research is, and what its agents did and why, in Postgres. Seed 002 §4.

Each is written in the transaction of the step that it tells of: a step that is not kept was not told of.
"""

from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from models.research.agent_workflows import AgentType, Step
from models.research.plans import PlannedStep
from models.store.database import Connection


async def plan(connection: Connection, research_id: int, steps: Sequence[PlannedStep]) -> None:
    """Keep what is to be done, in its order; the first of it is under way."""
    async with connection.cursor() as cursor:
        await cursor.executemany(
            """INSERT INTO research_tasks (research_id, number, step, description, assigned_agent, status)
               VALUES (%s, %s, %s, %s, %s, 'planned')""",
            [
                (research_id, number, step.step, step.description, step.agent)
                for number, step in enumerate(steps, 1)
            ],
        )
    await _begin_next(connection, research_id)


async def finish(
    connection: Connection, research_id: int, step: Step, *, result: dict[str, Any] | None = None
) -> None:
    """A planned step is done, unless it was skipped, and the next one is under way."""
    await connection.execute(
        """UPDATE research_tasks SET status = 'done', completed_at = now(), result = %s,
                  started_at = coalesce(started_at, now())
           WHERE research_id = %s AND step = %s AND status <> 'skipped'""",
        (None if result is None else Jsonb(result), research_id, step),
    )
    await _begin_next(connection, research_id)


async def skip(connection: Connection, research_id: int, steps: Sequence[Step]) -> None:
    """Some planned steps will not be done after all."""
    await connection.execute(
        """UPDATE research_tasks SET status = 'skipped', completed_at = now()
           WHERE research_id = %s AND step = ANY(%s) AND status = 'planned'""",
        (research_id, list(steps)),
    )


async def skip_rest(connection: Connection, research_id: int) -> None:
    """What is still planned will not be done."""
    await connection.execute(
        """UPDATE research_tasks SET status = 'skipped', completed_at = now()
           WHERE research_id = %s AND status IN ('planned', 'running')""",
        (research_id,),
    )


async def at_and_after(connection: Connection, research_id: int) -> tuple[Step, Step | None]:
    """The step that is under way, and the one that is planned after it."""
    cursor = await connection.execute(
        """SELECT step FROM research_tasks WHERE research_id = %s AND status IN ('running', 'planned')
           ORDER BY number LIMIT 2""",
        (research_id,),
    )
    steps: list[Step] = [row["step"] for row in await cursor.fetchall()]
    if not steps:
        return "classify_intent", None
    return steps[0], steps[1] if len(steps) > 1 else None


async def say(
    connection: Connection,
    research_id: int,
    *,
    agent: AgentType,
    step: Step,
    content: str,
    reasoning: str,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Keep what an agent did, and why."""
    await connection.execute(
        """INSERT INTO agent_messages (research_id, agent_type, step, content, reasoning, metadata)
           VALUES (%s, %s, %s, %s, %s, %s)""",
        (research_id, agent, step, content, reasoning, Jsonb(metadata or {})),
    )


async def tell_tool(
    connection: Connection,
    research_id: int,
    *,
    tool: str,
    agent: AgentType,
    given: dict[str, Any],
    answer: dict[str, Any] | None,
    error: str | None,
    seconds: float,
) -> None:
    """Keep a call of a tool: what it was given, and what it answered or why it failed."""
    await connection.execute(
        """INSERT INTO workflow_tools
               (research_id, tool_name, agent_type, input, output, status, error_message, duration_ms)
           VALUES (%s, %s, %s, %s, %s, %s, %s, %s)""",
        (
            research_id,
            tool,
            agent,
            Jsonb(given),
            None if answer is None else Jsonb(answer),
            "ok" if error is None else "failed",
            error,
            round(seconds * 1000),
        ),
    )


async def _begin_next(connection: Connection, research_id: int) -> None:
    await connection.execute(
        """UPDATE research_tasks SET status = 'running', started_at = now()
           WHERE research_id = %(id)s AND status = 'planned'
             AND number = (SELECT min(number) FROM research_tasks
                           WHERE research_id = %(id)s AND status IN ('planned', 'running'))""",
        {"id": research_id},
    )
