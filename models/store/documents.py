"""Documents of a workflow: the drafts, reviews and verdicts that are too big for a checkpoint.

Each is written once, under a key that names its step, in one fenced statement together with the
model calls it took and the event that tells of it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from psycopg.types.json import Jsonb
from pydantic import BaseModel

from models.errors import Fenced
from models.llm import ModelCall
from models.store import events, workflows
from models.store.database import Connection, Database
from models.workflows import Claim

_PUT = """
WITH fence AS (
    SELECT id FROM workflows WHERE id = %(id)s AND epoch = %(epoch)s AND status = 'running' FOR SHARE
), kept AS (
    INSERT INTO documents (workflow_id, key, value) SELECT id, %(key)s, %(value)s FROM fence
    ON CONFLICT (workflow_id, key) DO NOTHING RETURNING workflow_id
), called AS (
    INSERT INTO model_calls (workflow_id, step, agent, model, prompt_sha256, prompt_tokens,
                             completion_tokens, latency_seconds, error)
    SELECT kept.workflow_id, %(key)s, c.agent, c.model, c.prompt_sha256, c.prompt_tokens, c.completion_tokens,
           c.latency_seconds, c.error
    FROM kept, jsonb_to_recordset(%(calls)s) AS c(agent text, model text, prompt_sha256 text,
         prompt_tokens int, completion_tokens int, latency_seconds float8, error text)
), said AS (
    INSERT INTO incoming_events (type, workflow_id, data)
    SELECT 'step.done', workflow_id, jsonb_build_object('step', %(key)s::text) FROM kept
)
SELECT id FROM fence
"""


async def put(
    database: Database, claim: Claim, *, key: str, value: Any, calls: Sequence[ModelCall] = ()
) -> None:
    """Keep a document (JSON). The first one under a key stays. Raises Fenced."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            _PUT,
            {
                "id": claim.workflow_id,
                "epoch": claim.epoch,
                "key": key,
                "value": Jsonb(value),
                "calls": Jsonb([call.model_dump() for call in calls]),
            },
        )
        if await cursor.fetchone() is None:
            raise Fenced(f"workflow {claim.workflow_id} is no longer this runner's (epoch {claim.epoch})")


async def effect(
    database: Database, claim: Claim, *, key: str, act: Callable[[Connection], Awaitable[BaseModel]]
) -> Any:
    """Do `act` and keep its outcome under `key`, in one transaction; or return what is kept already.

    The idempotency key of a step is (workflow, key). Raises Fenced, and what `act` raises.
    """
    async with database.transaction() as connection:
        await workflows.fence(connection, claim)
        cursor = await connection.execute(
            "SELECT value FROM documents WHERE workflow_id = %s AND key = %s", (claim.workflow_id, key)
        )
        if (row := await cursor.fetchone()) is not None:
            return row["value"]
        value = (await act(connection)).model_dump(mode="json")
        await connection.execute(
            "INSERT INTO documents (workflow_id, key, value) VALUES (%s, %s, %s)",
            (claim.workflow_id, key, Jsonb(value)),
        )
        await events.append(connection, "step.done", claim.workflow_id, {"step": key})
        return value


async def get_all(database: Database, workflow_id: str) -> dict[str, Any]:
    """All documents of a workflow by key."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT key, value FROM documents WHERE workflow_id = %s", (workflow_id,)
        )
        return {row["key"]: row["value"] for row in await cursor.fetchall()}


async def tokens(database: Database, workflow_ids: Sequence[str]) -> dict[str, int]:
    """Prompt and completion tokens together, by workflow id."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            """SELECT workflow_id, sum(prompt_tokens + completion_tokens)::bigint AS tokens
               FROM model_calls WHERE workflow_id = ANY(%s) GROUP BY workflow_id""",
            (list(workflow_ids),),
        )
        return {row["workflow_id"]: row["tokens"] for row in await cursor.fetchall()}
