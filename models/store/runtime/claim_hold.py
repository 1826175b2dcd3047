"""Whether a claim still stands, asked on a connection of its own by whoever sends something under it.

The look locks the workflow until the connection is closed. Taking it over, cancelling and settling it wait
for that, so each comes wholly before what is sent, or wholly after. The server ends a look that hangs.
"""

import psycopg

from models.errors import Fenced
from models.runtime.workflows import ClaimMark
from models.store.session import begin, connection_parameters, settings_of

Looking = psycopg.AsyncConnection[tuple[object, ...]]


async def connected(url: str) -> Looking:
    """A connection for one look; closing it ends the look. Raises psycopg.Error."""
    parameters = connection_parameters(url, application="signoff sending")
    connection = await psycopg.AsyncConnection.connect(**parameters, autocommit=True)
    try:
        await begin(connection, settings_of(url))
        await connection.set_autocommit(False)
    except BaseException:
        await connection.close()
        raise
    return connection


async def hold(connection: Looking, mark: ClaimMark, *, seconds: float) -> None:
    """Have the claim stand until the connection is closed, or the server closes it `seconds` from now on.

    Raises:
        Fenced: it is over.
        psycopg.Error: Postgres is away, or somebody else holds the workflow for longer than that.
    """
    limits = ("idle_in_transaction_session_timeout", "lock_timeout")
    await connection.execute(
        "SELECT set_config(name, %s, true) FROM unnest(%s::text[]) AS limits(name)",
        (f"{seconds * 1000:.0f}ms", list(limits)),
    )
    cursor = await connection.execute(
        "SELECT 1 FROM workflows WHERE id = %s AND epoch = %s AND status = 'running' FOR SHARE",
        (mark.workflow_id, mark.epoch),
    )
    if await cursor.fetchone() is None:
        raise Fenced(
            f"workflow {mark.workflow_id} was taken over or has ended (epoch {mark.epoch} is over): "
            "nothing was sent"
        )
