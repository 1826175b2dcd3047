"""`signoff status`: what runs now, asked of each part and not of our own records."""

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from actors.systems.knowledge.browsing.sandbox import chromium_below
from cluster import ray
from cluster.bringup import local_head
from cluster.parts.apps import asked_for
from cluster.plain_text import last_line
from cluster.postgres.tools import database_url
from models.config import Config
from models.error_lines import error_line
from models.errors import ClusterProblem
from models.runtime.outages import Parked
from models.store.runtime.outages import parked_at
from models.store.upkeep.activity import (
    OldTransaction,
    TableSize,
    counts_at,
    old_transactions_at,
    table_sizes_at,
)
from models.text import flat

if TYPE_CHECKING:
    from rich.console import Console

MB = 1024**2
_TABLES_SHOWN = 12
# Of Ray's NodeDeathInfo: EXPECTED_TERMINATION, AUTOSCALER_DRAIN_IDLE.
_LEFT_AS_TOLD = (1, 4)
_COUNTS = ("workflows", "approvals", "deliveries")


class _StatusPart(BaseModel):
    model_config = ConfigDict(frozen=True)


class Node(_StatusPart):
    """A machine of the Ray cluster."""

    address: str
    alive: bool
    cpus: float
    gpus: float


class Agent(_StatusPart):
    """An agent's or a runner's actor. `memory_mb` is absent when it runs on another node.

    `browser` says how its Chromium runs, where it has begun one here.
    """

    name: str
    alive: bool
    state: str
    restarts: int
    memory_mb: int | None
    browser: str | None = None


class App(_StatusPart):
    """A Serve application and how many of its replicas run."""

    name: str
    status: str
    replicas: int


class Status(_StatusPart):
    """Everything. `problems` says what is down or could not be asked, and what to do."""

    nodes: tuple[Node, ...] = ()
    agents: tuple[Agent, ...] = ()
    apps: tuple[App, ...] = ()
    models: tuple[str, ...] = ()
    database: str | None = None
    workflows: dict[str, int] = {}
    approvals: dict[str, int] = {}
    deliveries: dict[str, int] = {}
    parked: tuple[Parked, ...] = ()
    tables: tuple[TableSize, ...] = ()
    old_transactions: tuple[OldTransaction, ...] = ()
    problems: tuple[str, ...] = ()


def collect(config: Config) -> Status:
    """Ask the database and the Ray cluster. A part that is down becomes a problem, not an error."""
    facts: dict[str, object] = {}
    problems = []

    def learn(ask: Callable[[], dict[str, object]]) -> bool:
        try:
            facts.update(ask())
        except ClusterProblem as problem:
            problems.append(str(problem))
            return False
        return True

    learn(lambda: _database(config))
    if learn(lambda: {"nodes": _nodes(config)}):
        learn(lambda: {"agents": _agents(config)})
        learn(lambda: _apps(config))
    found = Status.model_validate(facts)
    problems += shortfalls(config, found, known=facts)
    return found.model_copy(update={"problems": tuple(problems)})


def shortfalls(
    config: Config, found: Status, *, known: Container[str] = ("nodes", "agents", "apps")
) -> list[str]:
    """What should be there of a cluster, and is not; of what could not be asked nothing is `known`."""
    lacking = [f"the node {node.address} is dead" for node in found.nodes if not node.alive]
    if "apps" in known:
        states = {app.name: app.status.lower() for app in found.apps}
        for name in asked_for(config):
            if (state := states.get(name, "not there")) != "running":
                lacking.append(f"the application {name} is {state}")
    if "agents" in known:
        alive = [agent.name for agent in found.agents if agent.alive]
        runners = sum(name.startswith("runner:") for name in alive)
        if runners < config.runners.count:
            lacking.append(f"{runners} of {config.runners.count} runners are alive")
        if not any(name.startswith("dispatcher:") for name in alive):
            lacking.append("no dispatcher is alive, so webhooks wait")
    return [f"{lack}: run `signoff up`" for lack in lacking]


def _database(config: Config) -> dict[str, object]:
    import psycopg

    from actors.platform import systems
    from cluster.checks import check_database

    url = database_url(config)
    version = check_database(url)
    try:
        found = {
            **counts_at(url, kinds=systems.kinds()),
            "parked": tuple(
                waits.model_copy(update={"waits_for": flat(waits.waits_for)}) for waits in parked_at(url)
            ),
            "tables": tuple(table_sizes_at(url)),
            "old_transactions": tuple(
                old_transactions_at(url, older_than_seconds=config.database.old_transaction_seconds)
            ),
        }
    except psycopg.errors.UndefinedTable as error:
        raise ClusterProblem("the database has no tables yet: run `signoff up`") from error
    except psycopg.Error as error:
        raise ClusterProblem(
            f"the database can't be read: {error_line(str(error) or type(error).__name__)}: run `signoff up`"
        ) from error
    return {"database": version, **found}


@contextmanager
def _asking(what: str) -> Iterator[None]:
    """Say in one line that Ray did not answer."""
    try:
        yield
    except Exception as error:  # of many kinds: RayStateApiException, RayServeException, ConnectionError, …
        raise ClusterProblem(
            f"can't ask Ray for {what}: {last_line(error)}: try again, or see Ray's logs and run `signoff up`"
        ) from error


def _nodes(config: Config) -> tuple[Node, ...]:
    if config.ray.address is None and not ray.alive(local_head(config)):
        raise ClusterProblem("the Ray head does not run, or not whole: run `signoff up`")
    ray.connect(_address(config))
    import ray as ray_package

    with _asking("its nodes"):
        return tuple(
            Node(
                address=node["NodeManagerAddress"],
                alive=node["Alive"],
                cpus=node["Resources"].get("CPU", 0),
                gpus=node["Resources"].get("GPU", 0),
            )
            for node in ray_package.nodes()  # type: ignore[no-untyped-call]
            if node["Alive"] or not _left_as_told(node)
        )


def _address(config: Config) -> str:
    return config.ray.address or local_head(config).address


def _left_as_told(node: dict[str, Any]) -> bool:
    """Whether a dead node was stopped or scaled away: Ray goes on listing those."""
    return node.get("DeathReason") in _LEFT_AS_TOLD


def _agents(config: Config) -> tuple[Agent, ...]:
    import ray as ray_package
    from ray.util.state import list_actors

    with _asking("its actors"):
        here = ray_package.get_runtime_context().get_node_id()
        # By address: there may be other Ray clusters on this machine.
        actors = list_actors(
            address=_address(config),
            filters=[("ray_namespace", "=", ray.NAMESPACE)],
            detail=True,
            limit=10_000,
        )
    # Of actors of one name only the last one counts: the others ended when the configuration changed.
    last = {actor.name or actor.actor_id: actor for actor in sorted(actors, key=lambda a: a.state == "ALIVE")}
    return tuple(
        Agent(
            name=name,
            alive=actor.state == "ALIVE",
            state=actor.state,
            restarts=int(actor.num_restarts or 0),
            memory_mb=_memory(pid),
            browser=chromium_below(pid) if pid else None,
        )
        for name, actor in sorted(last.items())
        for pid in [actor.pid if actor.node_id == here and actor.state == "ALIVE" else None]
    )


def _memory(pid: int | None) -> int | None:
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss / MB) if pid else None
    except psutil.Error:
        return None


def _apps(config: Config) -> dict[str, object]:
    import ray.serve as ray_serve

    with _asking("Serve's applications"):
        applications = ray_serve.status().applications
    apps = tuple(
        App(
            name=name,
            status=str(found.status.value),
            replicas=sum(
                count
                for deployment in found.deployments.values()
                for state, count in deployment.replica_states.items()
                if state == "RUNNING"
            ),
        )
        for name, found in sorted(applications.items())
    )
    running = {app.name for app in apps if app.status == "RUNNING"}
    names = [model.name for model in config.serving.models if "llm" in running]
    if config.serving.embeddings is not None and "embeddings" in running:
        names.append(config.serving.embeddings.name)
    return {"apps": apps, "models": tuple(names)}


def waiting(parked: Parked) -> str:
    """What parked work waits for, in a line."""
    count = f"{parked.workflows} workflow" + ("s wait" if parked.workflows != 1 else " waits")
    return f"{count} for {parked.waits_for} since {parked.since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def show(status: Status, console: "Console") -> None:
    """Print for people."""
    from rich.markup import escape
    from rich.table import Table

    def table(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
        shown = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False)
        for row in rows:
            shown.add_row(*row)
        console.print(shown if rows else f"{title}: none")

    table(
        "nodes",
        ("address", "state", "CPUs", "GPUs"),
        [(n.address, "alive" if n.alive else "dead", f"{n.cpus:g}", f"{n.gpus:g}") for n in status.nodes],
    )
    table(
        "agents",
        ("name", "state", "restarts", "memory"),
        [
            (a.name, a.state.lower(), str(a.restarts), "" if a.memory_mb is None else f"{a.memory_mb} MB")
            for a in status.agents
        ],
    )
    for agent in status.agents:
        if agent.browser is not None:
            console.print(f"{agent.name}: {agent.browser}", markup=False)
    table(
        "applications",
        ("name", "state", "replicas"),
        [(app.name, app.status.lower(), str(app.replicas)) for app in status.apps],
    )
    console.print(f"models: {', '.join(status.models) or 'none'}")
    console.print(f"database: {status.database or 'none'}")
    for name in _COUNTS:
        counts = ", ".join(f"{count} {state}" for state, count in getattr(status, name).items())
        console.print(f"{name}: {counts or 'none'}")
    for parked in status.parked:
        console.print(waiting(parked), markup=False)
    table(
        "tables",
        ("name", "size", "rows (about)"),
        [(t.name, f"{t.bytes / MB:.1f} MB", str(t.rows)) for t in status.tables[:_TABLES_SHOWN]],
    )
    for held in status.old_transactions:
        console.print(f"[yellow]{escape(str(held))}: it keeps rows and locks; end it[/]")
    for problem in status.problems:
        console.print(f"[red]{escape(problem)}[/]")
