"""Configuration of the site itself: its database, its Ray cluster, its HTTP proxy, its runners.

Part of `models.config`.
"""

from typing import Annotated

from pydantic import Field

from models.config.fields import Count, DatabaseUrl, Host, HostAndPort, Port, Positive, Secret, Section


class DatabaseConfig(Section):
    """`url` absent: Postgres from the wheel, in `data_dir/postgres`, over a Unix socket.

    Transactions open for longer than `old_transaction_seconds` are told of in status and metrics.
    """

    url: DatabaseUrl | None = None  # of PostgreSQL 14 or newer, libpq's URL or SQLAlchemy's, as any secret
    pool_size: Count  # connections of each process
    old_transaction_seconds: Positive


class RayConfig(Section):
    """`address` absent: `signoff up` starts a head on this machine."""

    address: HostAndPort | None = None  # an existing cluster's `host:port`
    port: Port  # of the head that `up` starts
    dashboard_port: Port  # likewise
    num_cpus: Count  # logical ones: agents that wait need next to nothing
    object_store_memory_mb: Annotated[int, Field(ge=80)]  # of the head that `up` starts


class HttpConfig(Section):
    """Where Ray Serve's proxy listens, and how many replicas answer Signoff's own endpoints.

    A person may have `requests_per_person` and `streams_per_person` (of events) open in each replica; a
    request's body must be there within `body_seconds`. Whoever asks for `/metrics` sends
    `scrape_token` as a bearer token.
    """

    host: Host  # an address of this machine; `0.0.0.0` for all
    port: Port  # one port for all endpoints
    replicas: Count  # those that answer Signoff's own endpoints
    body_seconds: Positive
    requests_per_person: Count
    streams_per_person: Count
    scrape_token: Secret


class RunnersConfig(Section):
    """The pool that runs workflows. A runner that misses `lease_seconds` loses its workflows.

    `concurrency` workflows at once in each; `reserved_per_kind` of each kind find room even so, so that a
    batch of thousands delays nobody who waits. A workflow that `max_attempts` runners in a row died with
    fails, until somebody begins it again.
    """

    count: Count  # how many there are
    concurrency: Count  # workflows at once in each
    reserved_per_kind: Count
    max_attempts: Count
    lease_seconds: Annotated[float, Field(ge=1)]
    poll_seconds: Positive  # how often one looks for work without being woken
    num_cpus: Annotated[float, Field(ge=0)]  # of each, as Ray counts them
