"""Model calls that no step of a workflow made: of a chat's answer, or of a tool. In Postgres."""

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from models.llm import ModelCall
from models.store.database import Connection


async def put(
    connection: Connection, calls: Sequence[ModelCall], *, step: str, message_id: int | None = None
) -> None:
    """Write them down.

    Args:
        step: what they were made for: `answer`, or the name of a tool.
        message_id: the answer in a chat that is kept here.
    """
    await connection.execute(
        """INSERT INTO model_calls (message_id, step, agent, model, prompt_sha256, prompt_tokens,
                                    completion_tokens, latency_seconds, error)
           SELECT %s, %s, c.agent, c.model, c.prompt_sha256, c.prompt_tokens, c.completion_tokens,
                  c.latency_seconds, c.error
           FROM jsonb_to_recordset(%s) AS c(agent text, model text, prompt_sha256 text, prompt_tokens int,
                completion_tokens int, latency_seconds float8, error text)""",
        (message_id, step, Jsonb([call.model_dump() for call in calls])),
    )
