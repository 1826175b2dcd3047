"""Synchronous connections, for commands: one each, with the settings that every connection has.

Nothing else here opens one, so none of them waits for ever on a server that does not answer any more. What
may take long says so where it connects, with `settings` of its own.
"""

from typing import Any

import psycopg

from models.store.session import begin_now, connection_parameters, settings_of

# Of a statement that takes as long as there are data, and of who waits for such a one of its own.
UNHURRIED = {"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0"}


def connect(
    url: str,
    *,
    application: str,
    autocommit: bool = True,
    settings: dict[str, str] | None = None,
    **more: Any,
) -> psycopg.Connection[Any]:
    """Connect; leaving the connection's block closes it.

    Args:
        application: how the server names it.
        settings: the server's settings that are to be others on this connection.
        more: of `psycopg.connect`, such as `row_factory`.

    Raises:
        psycopg.Error: it can't be reached, or refuses.
    """
    connection: psycopg.Connection[Any] = psycopg.connect(
        **connection_parameters(url, application=application), autocommit=True, **more
    )
    try:
        begin_now(connection, settings_of(url, settings))
        connection.autocommit = autocommit
    except BaseException:
        connection.close()
        raise
    return connection
