"""The Ray head that `signoff up` starts: a detached process tree on 127.0.0.1, with token authentication.

Other Ray clusters on the machine are none of our business, so `ray stop`, which ends them all, is
never used: our processes are known by a mark in the environment, which each child inherits. The mark
is the head's temporary folder, where Ray's Unix sockets lie; their paths must be short, hence /tmp.
Ray opens that folder to every user of the machine, so it lies in one that only we may enter.
"""

import os
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.folders import ROOT, ensure_private, short_folder
from cluster.plain_text import last_line
from cluster.state import RayHead
from models.config import Config
from models.errors import ClusterProblem
from serve.admission.sockets import PROXY_CALLBACK

if TYPE_CHECKING:
    import psutil

NAMESPACE = "signoff"
LOOPBACK = "127.0.0.1"
# Despite its name it works on Linux too, and is Ray's only way to keep a whole node on loopback:
# `--node-ip-address=127.0.0.1` alone is replaced by the machine's outside address.
_LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
# What replicas log is in files of their own: on stderr Ray's log monitor would read each line once more.
SERVE_LOGS = {"RAY_SERVE_LOG_TO_STDERR": "0"}
_MARK = "SIGNOFF_CLUSTER"
_START_SECONDS = 180
_SESSIONS_KEPT = 3


def prepare_environment(config: Config) -> None:
    """Set what Ray reads from the environment of this process. Call it before `ray` is imported."""
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # An address left in a shell would send us to some other cluster.
    os.environ.pop("RAY_ADDRESS", None)
    if config.ray.address is None:
        os.environ.update(_LOOPBACK_ONLY)


def token_file() -> Path:
    """Where Ray keeps the token of this user."""
    return Path.home() / ".ray" / "auth_token"


def missing_token() -> str | None:
    """What to do when there is no token to join a cluster elsewhere with; None when there is one."""
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH") or token_file().exists():
        return None
    return f"no Ray token: put the cluster's own into {token_file()} (mode 0600)"


def ensure_token() -> str | None:
    """Make the user's Ray token if there is none; say so, or return None.

    Raises:
        ClusterProblem: it could not be made.
    """
    if missing_token() is None:
        return None
    result = _ray_command(["get-auth-token", "--generate"], dict(os.environ))
    if result.returncode != 0 or not token_file().exists():
        reason = last_line(result.stderr)
        raise ClusterProblem(f"no Ray token: `ray get-auth-token --generate` failed: {reason}")
    token_file().chmod(0o600)
    return f"made a Ray token in {token_file()}: Ray asks every client of its clusters for it"


def session_folder(config: Config) -> Path:
    """The head's temporary folder: sockets, logs, and the packages of jobs."""
    return short_folder("ray", config.data_dir) / "r"


def start_head(config: Config) -> RayHead:
    """Start a head and return where it is. Ray's own Python and ours are the same.

    Raises:
        ClusterProblem: it did not start.
    """
    temp_dir = session_folder(config)
    ensure_private(temp_dir.parent, os.geteuid())
    _forget_old_sessions(temp_dir, kept=_SESSIONS_KEPT)
    # Where the last release had them, open to all.
    _forget_old_sessions(temp_dir.parent, kept=0)
    options = {
        "--node-ip-address": LOOPBACK,
        "--port": config.ray.port,
        "--dashboard-host": LOOPBACK,
        "--dashboard-port": config.ray.dashboard_port,
        "--num-cpus": config.ray.num_cpus,
        "--object-store-memory": config.ray.object_store_memory_mb * 1024 * 1024,
        "--temp-dir": temp_dir,
        # Ports by chance, so that another Ray cluster on this machine is not in the way.
        "--dashboard-agent-listen-port": 0,
        "--ray-client-server-port": _free_port(),
        "--min-worker-port": 0,
        "--max-worker-port": 0,
    }
    arguments = ["start", "--head", "--disable-usage-stats", "--include-dashboard=true"]
    arguments += [f"{name}={value}" for name, value in options.items()]
    result = _ray_command(arguments, _head_environment(temp_dir))
    head = RayHead(
        address=f"{LOOPBACK}:{config.ray.port}",
        dashboard_url=f"http://{LOOPBACK}:{config.ray.dashboard_port}",
        temp_dir=str(temp_dir),
    )
    if result.returncode != 0:
        stop(head)
        raise ClusterProblem(
            f"the Ray head did not start: {last_line(result.stderr or result.stdout)} "
            f"(more in {temp_dir}/session_latest/logs)"
        )
    return head


def alive(head: RayHead) -> bool:
    """Whether the head's parts (control store, raylet, dashboard) live and its two ports answer."""
    names = {_role(process) for process in processes(head)}
    if not {"gcs", "raylet", "dashboard"} <= names:
        return False
    ports = (int(url.rpartition(":")[2]) for url in (head.address, head.dashboard_url))
    return all(answers(LOOPBACK, port) for port in ports)


def processes(head: RayHead) -> "list[psutil.Process]":
    """Every live process of this head: those that bear its mark, and their descendants."""
    import psutil

    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter(["pid", "status"]):
        if process.pid != os.getpid() and _belongs(process, head.temp_dir):
            found[process.pid] = process
    for process in list(found.values()):
        with suppress(psutil.Error):
            found.update({child.pid: child for child in process.children(recursive=True)})
    found.pop(os.getpid(), None)
    return [process for process in found.values() if _living(process)]


def stop(head: RayHead) -> None:
    """End this head's processes, politely and then not. Nothing happens when there are none.

    Raises:
        ClusterProblem: something would not end.
    """
    import psutil

    for send, seconds in (("terminate", 5), ("kill", 10)):
        # Looked up anew each round: a dying raylet may have started a worker meanwhile.
        left = processes(head)
        for process in left:
            with suppress(psutil.NoSuchProcess):
                getattr(process, send)()
        psutil.wait_procs(left, timeout=seconds)
    left = processes(head)
    if left:
        raise ClusterProblem(f"these Ray processes would not end: {[process.pid for process in left]}")


def connect(address: str) -> None:
    """Connect this process to the cluster as a driver in Signoff's namespace; once is enough.

    Raises:
        ClusterProblem: the cluster can't be reached.
    """
    import logging

    import ray

    if ray.is_initialized():
        return
    try:
        ray.init(
            address=address,
            namespace=NAMESPACE,
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=True,
        )
    except Exception as error:  # Ray raises many kinds here: ConnectionError, RuntimeError, RpcError, …
        raise ClusterProblem(
            f"can't connect to Ray at {address}: {last_line(error)}: check that it runs, that ray.address "
            f"is right, and that {token_file()} is its token"
        ) from error


def nodes_without(folder: Path, gpu: bool) -> list[str]:
    """Addresses of the nodes that don't see a model folder; of those with GPUs only, if `gpu`."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    look = ray.remote(num_cpus=0, max_retries=3)(_is_model_folder)
    nodes = ray.nodes()  # type: ignore[no-untyped-call]
    asked = [node for node in nodes if node["Alive"] and (not gpu or node["Resources"].get("GPU", 0))]
    seen = [
        look.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
        ).remote(str(folder))
        for node in asked
    ]
    return [
        str(node["NodeManagerAddress"]) for node, there in zip(asked, ray.get(seen), strict=True) if not there
    ]


def _is_model_folder(folder: str) -> bool:
    return (Path(folder) / "config.json").is_file()


def answers(host: str, port: int) -> bool:
    """Whether something accepts TCP connections there."""
    try:
        with socket.create_connection((host, port), timeout=2):
            return True
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _head_environment(temp_dir: Path) -> dict[str, str]:
    """What every process of the cluster inherits."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("RAY_JOB_")}
    environment.pop("RAY_ADDRESS", None)
    # vLLM is imported by five processes one after another: compiling it anew in each costs minutes.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    # Below this many processes at once Ray does not warn about their number: agents are many and small.
    environment["RAY_worker_maximum_startup_concurrency"] = "64"
    # A job's `python` is the first on the PATH that the raylet was started with.
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    # So that a checkout that is not installed works too.
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    for name in ("no_proxy", "NO_PROXY"):
        # Calls between our own parts never go through the site's proxy.
        environment[name] = ",".join(filter(None, [os.environ.get(name, ""), LOOPBACK, "localhost"]))
    # Processes that rename themselves must leave the mark in /proc readable.
    environment.update({_MARK: str(temp_dir), "SPT_NOENV": "1"})
    environment.update({"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"})
    environment["RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"] = PROXY_CALLBACK
    environment |= SERVE_LOGS
    return environment | _LOOPBACK_ONLY


def _ray_command(arguments: list[str], environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run the `ray` command of this environment, detached from our terminal."""
    try:
        return subprocess.run(
            [sys.executable, "-m", "ray.scripts.scripts", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_START_SECONDS,
            start_new_session=True,
            # Logs, packages of jobs and what agents write are nobody else's.
            umask=0o077,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ClusterProblem(
            f"`ray {arguments[0]}` took over {_START_SECONDS} s: is the machine too busy? Try again"
        ) from error


def _belongs(process: "psutil.Process", temp_dir: str) -> bool:
    import psutil

    with suppress(psutil.Error):
        return process.environ().get(_MARK) == temp_dir
    return False


def _living(process: "psutil.Process") -> bool:
    import psutil

    with suppress(psutil.Error):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def _role(process: "psutil.Process") -> str:
    import psutil

    with suppress(psutil.Error):
        line = " ".join(process.cmdline())
        for role, sign in (("gcs", "gcs_server"), ("raylet", "raylet/raylet"), ("dashboard", "dashboard.py")):
            if sign in line:
                return role
    return "other"


def _forget_old_sessions(temp_dir: Path, *, kept: int) -> None:
    """Keep the logs of the last few sessions, not of all."""
    sessions = sorted(path for path in temp_dir.glob("session_2*") if path.is_dir())
    for session in sessions[: -kept or None]:
        shutil.rmtree(session, ignore_errors=True)
