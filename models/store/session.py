"""What a connection to Postgres is made with and set to, whoever makes it and whatever its server would have.

A role, a database and a server may have settings of their own, and a pooler takes none when a connection is
made: so each is set afterwards. What the URL says itself stays, but for what Signoff is not right without.
"""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from models.database_url import SECRET_PARAMETERS, libpq_form
from models.errors import ConfigInvalid
from models.redaction import keep

# No connection waits for ever: not in a statement, not for a lock, not in a transaction that nobody goes on
# with, and not for a server that does not answer any more. One that nobody needs now waits to be needed.
_OURS = {
    "statement_timeout": "60s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "30s",
    "idle_session_timeout": "0",
    "transaction_timeout": "0",
}
# Times are shown as they are read, and said to be in UTC. The tables are in `public`. What row security would
# hide is refused: rows that are not there for us alone would be work that nobody does.
_HELD = {
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "array_nulls": "on",
    "search_path": "public",
    "row_security": "off",
    "default_transaction_isolation": "read committed",
    "default_transaction_deferrable": "off",
}
_SOCKET = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
# Those that the server's release has. And what is committed is kept, whatever the role would save by less.
_SET = """
SELECT set_config(name, setting, false)
FROM unnest(%(names)s::text[], %(settings)s::text[]) AS ours(name, setting)
WHERE current_setting(name, true) IS NOT NULL
UNION ALL
SELECT set_config('synchronous_commit', 'on', false)
WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
"""


def connection_parameters(url: str, *, application: str) -> dict[str, Any]:
    """What every connection is made with; what the URL says itself stays.

    Raises:
        ConfigInvalid: it is no URL of a database.
    """
    return {"application_name": application, **_SOCKET, **_given(url), "client_encoding": "UTF8"}


def settings_of(url: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What every connection is set to: `more`, where it is to be otherwise; the URL's own are set already."""
    # As in `-c lock_timeout=7s -cwork_mem=8MB --statement-timeout=9s`.
    words = str(_given(url).get("options") or "").split()
    named = (word.partition("=")[0].removeprefix("-c").removeprefix("--") for word in words if "=" in word)
    given = {name.replace("-", "_").lower() for name in named}
    ours = {name: value for name, value in _OURS.items() if name not in given}
    return {**ours, **_HELD, **(more or {})}


def _given(url: str) -> dict[str, Any]:
    """The URL's parts; those that are secret are never shown."""
    try:
        given = conninfo_to_dict(libpq_form(url))
    except ValueError as error:
        raise ConfigInvalid(f"database.url: {error}") from None
    for name in SECRET_PARAMETERS & set(given):
        keep(str(given[name]))
    return given


async def begin(connection: psycopg.AsyncConnection[Any], settings: Mapping[str, str]) -> None:
    """Set a new connection, which commits by itself."""
    await connection.execute(_SET, _arguments(settings))


def begin_now(connection: psycopg.Connection[Any], settings: Mapping[str, str]) -> None:
    """Set a new connection of a command, which commits by itself."""
    connection.execute(_SET, _arguments(settings))


def _arguments(settings: Mapping[str, str]) -> dict[str, list[str]]:
    return {"names": list(settings), "settings": list(settings.values())}
