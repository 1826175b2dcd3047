"""What must hold before anything is started: disk, memory, model folders, ports, the database, GPUs.

Each check takes plain facts and raises ClusterProblem with one line: what is wrong and what to do.
`up` runs them; nothing here starts or changes anything.
"""

import asyncio
import shutil
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from actors.platform.search.encoder import embeddings_folder
from actors.platform.sending import LOOKS
from cluster import bundled_model
from models.config import Config
from models.error_lines import error_line
from models.errors import ClusterProblem
from serve.inference.llm import model_folder

GB = 1024**3
CONVERSION_DISK = 3 * GB
PLAIN_DISK = 1 * GB
# Measured with the bundled models: the parts of Ray and Serve, and what each vLLM process imports.
LOCAL_MEMORY = 2 * GB
CPU_MODEL_MEMORY = 4 * GB
# A process listens and renews a lease beside its pool; agents have small pools, commands a connection each.
CONNECTIONS_APART, SMALL_POOLS = 2, 24
# Agents that ask at the same time whether a request may go out: each has `LOOKS` connections for that.
ASKING_AGENTS = 6


def check_disk(data_dir: Path, *, converting: bool) -> str:
    """Enough free disk for the data folder; returns what is free."""
    free = shutil.disk_usage(data_dir).free
    needed = CONVERSION_DISK if converting else PLAIN_DISK
    if free < needed:
        raise ClusterProblem(
            f"only {free / GB:.1f} GB of disk free at {data_dir}, {needed / GB:.0f} GB are needed: "
            "free some, or set data_dir to another disk"
        )
    return f"{free / GB:.0f} GB disk free"


def check_memory(available: int, needed: int) -> str:
    """Enough memory, both in bytes; returns what is available."""
    if available < needed:
        raise ClusterProblem(
            f"only {available / GB:.1f} GB of memory available, {needed / GB:.0f} GB are needed: "
            "stop other programs, or serve fewer models (serving.models)"
        )
    return f"{available / GB:.0f} GB memory available"


def memory_needed(config: Config) -> int:
    """Bytes that the parts on this machine will take; nothing here when Ray is elsewhere."""
    if config.ray.address is not None:
        return 0
    on_cpu = sum(model.gpus_per_replica == 0 for model in config.serving.models)
    return LOCAL_MEMORY + on_cpu * CPU_MODEL_MEMORY


def available_memory() -> int:
    """Bytes this process could still get: the machine's, or its container's if that is less."""
    import psutil

    available = int(psutil.virtual_memory().available)
    cgroup = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):
        limit = int((cgroup / "memory.max").read_text())
        used = int((cgroup / "memory.current").read_text())
        statistics = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
        # The page cache is counted as used, but is given back when it is wanted.
        available = min(available, limit - used + int(statistics.get("inactive_file", 0)))
    return available


def check_model_folders(config: Config) -> None:
    """Every configured model folder is there; bundled ones are installed.

    Skipped for a cluster elsewhere: its nodes, not this machine, must see the folders.
    """
    for place, model in enumerate(config.serving.models):
        if model.source == "bundled":
            bundled_model.gguf_file()
        elif config.ray.address is None and not (model_folder(config, model) / "config.json").is_file():
            raise ClusterProblem(
                f"the model folder {model_folder(config, model)} is not there or holds no config.json: "
                f"correct serving.models.{place}.source"
            )
    embeddings = config.serving.embeddings
    if embeddings is not None and (embeddings.source == "bundled" or config.ray.address is None):
        embeddings_folder(embeddings.source)


def check_shared(config: Config) -> None:
    """A cluster elsewhere comes with a database elsewhere: ours listens on a Unix socket only."""
    if config.ray.address is not None and config.database.url is None:
        raise ClusterProblem(
            "ray.address is set but database.url is not, and the nodes of that cluster can't reach a "
            "database on this machine: set database.url"
        )


def check_node_folders(config: Config, nodes_without: Callable[[Path, bool], list[str]]) -> None:
    """Every node that may serve a model sees its folder. `nodes_without(folder, gpu)` asks the nodes."""
    for place, model in enumerate(config.serving.models):
        folder = model_folder(config, model)
        if blind := nodes_without(folder, model.gpus_per_replica > 0):
            raise ClusterProblem(
                f"the model folder {folder} is not on {', '.join(blind)}: mount it there, "
                f"or correct serving.models.{place}.source"
            )


def check_port(host: str, port: int, key: str) -> None:
    """Nobody listens there; `key` is the configuration key that sets the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except PermissionError as error:
            raise ClusterProblem(f"port {port} is for root only: set {key} to one above 1023") from error
        except OSError as error:
            taken = f"port {port} on {host} is in use{_user_of(port)}: stop that program, or set {key}"
            raise ClusterProblem(f"{taken} to another port") from error


def check_database(url: str) -> str:
    """The database answers; returns its version."""
    import psycopg

    from models.store.connecting import connect

    try:
        with connect(url, application="signoff status") as connection:
            row = connection.execute("SHOW server_version").fetchone()
    except (psycopg.Error, UnicodeError) as error:
        raise _unreachable(error) from error
    return f"PostgreSQL {row[0].split()[0]}" if row else "PostgreSQL"


def check_database_fits(config: Config, url: str) -> None:
    """A site can work on that database: sessions, its texts, its role, as many connections as it opens."""
    import psycopg

    from models.store import requirements

    try:
        asyncio.run(requirements.check(url, connections=connections_needed(config)))
    except (psycopg.Error, UnicodeError) as error:
        raise _unreachable(error) from error


def connections_needed(config: Config) -> int:
    """How many connections a site opens at the most, with one batch and a command or two."""
    processes = config.runners.count + config.http.replicas + len(("the dispatcher", "a batch"))
    return processes * (config.database.pool_size + CONNECTIONS_APART) + SMALL_POOLS + ASKING_AGENTS * LOOKS


def _unreachable(error: Exception) -> ClusterProblem:
    reason = error_line(str(error) or type(error).__name__)
    return ClusterProblem(f"can't reach the database: {reason}: check that it runs, and database.url")


def check_resources(config: Config, resources: Mapping[str, float]) -> str:
    """The cluster has the GPUs and CPUs that the models ask for at the least; returns what it has."""
    models = [(model, max(1, model.autoscaling.min_replicas)) for model in config.serving.models]
    gpus = sum(model.gpus_per_replica * replicas for model, replicas in models)
    cpus = sum(model.cpus_per_replica * replicas for model, replicas in models)
    if config.serving.embeddings is not None:
        embeddings = config.serving.embeddings
        cpus += embeddings.cpus_per_replica * max(1, embeddings.autoscaling.min_replicas)
    has_gpus, has_cpus = resources.get("GPU", 0), resources.get("CPU", 0)
    if gpus > has_gpus:
        raise ClusterProblem(
            f"the models ask for {gpus} GPUs, the cluster has {has_gpus:g}: add GPU nodes, or lower "
            "gpus_per_replica or min_replicas in serving.models"
        )
    if cpus > has_cpus:
        raise ClusterProblem(
            f"the models ask for {cpus:g} CPUs, the cluster has {has_cpus:g}: raise ray.num_cpus, or lower "
            "cpus_per_replica in serving"
        )
    return f"{has_cpus:g} CPUs, {has_gpus:g} GPUs"


def _user_of(port: int) -> str:
    """Who listens on the port, if we may know."""
    import psutil

    with suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,)
            if listens and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (pid {connection.pid})"
    return ""
