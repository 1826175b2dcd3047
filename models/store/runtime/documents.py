"""Documents of a workflow: what its steps came to. They are its journal, and the only one.

Each is written once, under a key that names its step, fenced, together with the model calls it took
and the event that tells of it. Only a note that something is about to be sent may be taken back.
"""

import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb
from pydantic import BaseModel

from models.monitoring import Observed
from models.runtime.event_catalogue import StepDone
from models.runtime.workflows import Claim
from models.store import events
from models.store.database import Connection, Database
from models.store.runtime import claims
from models.store.upkeep import observations

# A gate that a workflow has come by is kept as `gate/NAME`: no later run passes over it. Its approval tells.
GATE_PREFIX = "gate/"

# What was kept is looked up in tables of hashes (`IS TRUE` keeps it from becoming a join): what the planner
# knows of a fresh site's tables decides nothing, and a group costs as much for each of its documents as one.
_KEPT = "((g.workflow_id, g.key) IN (SELECT workflow_id, key FROM kept)) IS TRUE"
_PUT = f"""
WITH given AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%s::jsonb)
        AS r(workflow_id text, epoch bigint, kind text, key text, value jsonb, calls jsonb, seconds float8,
             first bool)
), held AS MATERIALIZED (
    SELECT w.id, w.epoch FROM (SELECT DISTINCT workflow_id, epoch FROM given) g CROSS JOIN LATERAL (
        SELECT w.id, w.epoch FROM workflows w
        WHERE w.id = g.workflow_id AND w.epoch = g.epoch AND w.status = 'running'
        FOR SHARE SKIP LOCKED
    ) w
), kept AS (
    INSERT INTO documents (workflow_id, key, value, first_of)
    SELECT g.workflow_id, g.key, g.value, CASE WHEN g.first THEN g.epoch END FROM given g
    WHERE ((g.workflow_id, g.epoch) IN (SELECT id, epoch FROM held)) IS TRUE
    ON CONFLICT (workflow_id, key) DO NOTHING RETURNING workflow_id, key
), called AS (
    INSERT INTO model_calls (workflow_id, step, agent, model, prompt_sha256, prompt_tokens,
                             completion_tokens, latency_seconds, error)
    SELECT g.workflow_id, g.key, c.agent, c.model, c.prompt_sha256, c.prompt_tokens,
           c.completion_tokens, c.latency_seconds, c.error
    FROM given g CROSS JOIN LATERAL jsonb_to_recordset(g.calls) AS c(agent text, model text,
         prompt_sha256 text, prompt_tokens int, completion_tokens int, latency_seconds float8, error text)
    WHERE g.calls IS NOT NULL AND {_KEPT}
), observed AS (
    INSERT INTO incoming_observations (measure, labels, value, total)
    SELECT 'step', ARRAY[g.kind], g.seconds, g.seconds FROM given g WHERE g.seconds IS NOT NULL AND {_KEPT}
), told AS (
    INSERT INTO incoming_events (type, workflow_id, data)
    SELECT '{StepDone.type}', workflow_id, jsonb_build_object('step', key) FROM kept
    WHERE NOT starts_with(key, '{GATE_PREFIX}')
)
SELECT id, epoch FROM held
"""


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A step's outcome on its way into the journal: a document, and the model calls it took, as JSON.

    `seconds` is how long it took to make; absent where nothing was made. `first`: its claim has kept no
    other that it knows of.
    """

    claim: Claim
    key: str
    value: str
    calls: str | None
    seconds: float | None = None
    first: bool = True

    @property
    def size(self) -> int:
        """Of its texts, in characters."""
        return len(self.value) + len(self.calls or "")


async def put(database: Database, outcomes: Sequence[NewDocument]) -> set[tuple[str, int]]:
    """Keep documents of many workflows in one statement; the first one under a key stays.

    Each is fenced by itself. A workflow that somebody else has locked is passed over, so that it holds up
    no other.

    Returns:
        The (workflow id, epoch) whose documents are kept now. The others are locked or no longer theirs:
        `JournalWriter` tries the locked again, and raises Fenced for the rest.
    """
    # One text of JSON: arrays are quoted value by value, which costs more than all else here.
    given = ",".join(_as_json(outcome) for outcome in outcomes)
    async with database.connection() as connection:
        cursor = await connection.execute(_PUT, (f"[{given}]",), prepare=True)
        return {(row["id"], row["epoch"]) for row in await cursor.fetchall()}


def _as_json(outcome: NewDocument) -> str:
    claim, calls = outcome.claim, "" if outcome.calls is None else f',"calls":{outcome.calls}'
    seconds = "" if outcome.seconds is None else f',"seconds":{outcome.seconds:.6f}'
    return (
        f'{{"workflow_id":{json.dumps(claim.workflow_id)},"epoch":{claim.epoch},'
        f'"kind":{json.dumps(claim.kind)},"first":{json.dumps(outcome.first)},'
        f'"key":{json.dumps(outcome.key)},"value":{outcome.value}{calls}{seconds}}}'
    )


async def effect(
    database: Database,
    claim: Claim,
    *,
    key: str,
    act: Callable[[Connection], Awaitable[BaseModel]],
    first: bool = True,
) -> Any:
    """Do `act` and keep its outcome under `key`, in one transaction; or return what is kept already.

    The idempotency key of a step is (workflow, key); `first` is as of a `NewDocument`. Raises Fenced, and
    what `act` raises.
    """
    async with database.transaction() as connection:
        await claims.fence(connection, claim)
        cursor = await connection.execute(
            "SELECT value FROM documents WHERE workflow_id = %s AND key = %s", (claim.workflow_id, key)
        )
        if (row := await cursor.fetchone()) is not None:
            return row["value"]
        begun = time.monotonic()
        value = (await act(connection)).model_dump(mode="json")
        await connection.execute(
            "INSERT INTO documents (workflow_id, key, value, first_of) VALUES (%s, %s, %s, %s)",
            (claim.workflow_id, key, Jsonb(value), claim.epoch if first else None),
        )
        seconds = time.monotonic() - begun
        step = Observed(measure="step", labels=(claim.kind,), value=seconds, total=seconds)
        await observations.put(connection, [step])
        await events.tell(connection, StepDone(step=key), claim.workflow_id)
        return value


async def take_back(
    database: Database, claim: Claim, *, key: str, act: Callable[[Connection], Awaitable[None]]
) -> None:
    """Take a document back and do `act`, in one transaction; nothing where it is gone. Raises Fenced."""
    async with database.transaction() as connection:
        await claims.fence(connection, claim)
        cursor = await connection.execute(
            "DELETE FROM documents WHERE workflow_id = %s AND key = %s", (claim.workflow_id, key)
        )
        if cursor.rowcount:
            await act(connection)


async def keep_gate(connection: Connection, workflow_id: str, gate: str) -> None:
    """Keep that a workflow has come by a gate, in the caller's transaction, which is fenced."""
    await connection.execute(
        "INSERT INTO documents (workflow_id, key, value) VALUES (%s, %s, '{}') ON CONFLICT DO NOTHING",
        (workflow_id, f"{GATE_PREFIX}{gate}"),
    )


async def newest(database: Database, workflow_id: str) -> str | None:
    """The key of a workflow's newest document."""
    async with database.connection() as connection:
        cursor = await connection.execute(
            "SELECT key FROM documents WHERE workflow_id = %s ORDER BY created_at DESC, key LIMIT 1",
            (workflow_id,),
        )
        row = await cursor.fetchone()
        return row["key"] if row else None


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
